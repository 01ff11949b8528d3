"""The health of logs and index."""
