"""Histories from elsewhere: one module a source. Each reads only, and what it brings in goes through the same doors."""
