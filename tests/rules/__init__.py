"""Noisy series and promtool, to see which alerts they fire."""
