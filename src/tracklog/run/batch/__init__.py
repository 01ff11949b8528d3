"""Many child sessions from one list, in parallel, with results in a file."""
