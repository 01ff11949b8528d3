"""The index for a question: open it, bring it up to date, in the background if that takes long."""
