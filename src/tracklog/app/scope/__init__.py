"""Which sessions a question is about: filters, a session's name made into its logs, reading them."""
