"""Which lines of a log are copies of another session's, and who wrote them first."""
