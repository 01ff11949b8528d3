"""Questions about log files: where they are, how each line was read, whether anything was lost."""
