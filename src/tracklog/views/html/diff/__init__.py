"""Differences of files as HTML."""
