"""The browser's side: a server on loopback that shows the board, sessions, one session, search and health."""
