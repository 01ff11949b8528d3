"""The command line. `main` is the entry; a command's module is imported when it runs."""
