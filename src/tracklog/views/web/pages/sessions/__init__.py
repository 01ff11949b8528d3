"""The list of sessions."""
