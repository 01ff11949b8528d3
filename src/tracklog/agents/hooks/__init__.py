"""The hook format that agents share: where hooks are set up, their command, what they write to the spool."""
