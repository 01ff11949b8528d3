"""Make events of Claude Code's records."""
