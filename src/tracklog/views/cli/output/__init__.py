"""Writing to a terminal: colour, width, pager, progress, a screen that is redrawn."""
