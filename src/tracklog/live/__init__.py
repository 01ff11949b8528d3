"""What is running now: processes, states, hooks, and the journal of what was seen."""
