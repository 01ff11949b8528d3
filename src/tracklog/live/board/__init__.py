"""Rows of the board: what each session does, who waits for an answer, what it costs."""
