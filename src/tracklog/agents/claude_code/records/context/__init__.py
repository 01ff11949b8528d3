"""Attachments of Claude Code's lines: what the client put into the context by itself.

`attachments` has their line, the list of all kinds, hooks, reminders and queued prompts; `files` has files and memory, `state` the
session's model, modes and budgets, `tools` what is on offer.
"""
