"""One module per command, by what it is for: read, live, run, money, store."""
