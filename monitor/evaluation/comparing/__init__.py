"""Comparing systems: the numbers, and how they are shown."""
