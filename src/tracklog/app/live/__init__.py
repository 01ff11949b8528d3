"""The board and the stream of events, for the terminal and the browser."""
