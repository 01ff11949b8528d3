"""Make a session of folded logs: threads joined to the calls that started them, tasks, and a verdict for each call."""
