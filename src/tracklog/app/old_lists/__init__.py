"""Lists of sessions and calls in memory, for the pages."""
