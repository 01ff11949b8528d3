"""Commands that show sessions: sessions, show, calls, search and their like."""
