"""Make events of Codex's records."""
