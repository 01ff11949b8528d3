"""Find the lines of a log that are copies of another session's, and who wrote them first."""
