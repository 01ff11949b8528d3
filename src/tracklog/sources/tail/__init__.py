"""Whether a growing file is still the same one, and hints of the system that something changed."""
