"""Commands that start sessions: run, resume, fork."""
