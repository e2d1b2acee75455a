"""Offline: judgments and rankings from files."""
