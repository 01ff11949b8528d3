"""The tree of a conversation: which line follows which, and which branch is the living one."""
