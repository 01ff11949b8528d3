"""One session: its conversation, threads and branches (`show`), and its last answer (`final`)."""
