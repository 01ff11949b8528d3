"""What really happened: records become events, events become sessions."""
