"""Dashboards as code: typed builders that take their names from the catalogue of families."""
