"""The rows of the dashboards, one idea a file."""
