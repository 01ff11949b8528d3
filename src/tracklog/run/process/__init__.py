"""The process of a child session: start it under a supervisor, feed it, end it, clean up after it."""
