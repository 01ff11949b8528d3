"""Collect the events of one log: turns, requests and calls, all at once or as they arrive."""
