"""Ranking metrics: one registry, vectorised kernels, one file per family."""
