"""Serve the board, sessions, search and health to a browser, on loopback."""
