"""From records to events, one module per agent."""
