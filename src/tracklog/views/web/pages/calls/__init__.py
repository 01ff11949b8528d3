"""The list of calls."""
