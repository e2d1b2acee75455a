"""The HTTP side: metrics, health, the API and the page."""
