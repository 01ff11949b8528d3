"""Follow running sessions: their logs, hooks and processes, and the events that come of them."""
