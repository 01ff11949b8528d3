"""Attachments of Claude Code's lines: what the client put into the context by itself."""
