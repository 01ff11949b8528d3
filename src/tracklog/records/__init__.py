"""One line → one faithful record, per agent. This room knows no files, no clock, no database."""
