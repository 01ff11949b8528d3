"""One session: header, conversation, lines, requests."""
