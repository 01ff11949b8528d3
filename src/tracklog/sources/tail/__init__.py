"""Follow a growing file: its new bytes, whether it is still the same file, and hints that something changed."""
