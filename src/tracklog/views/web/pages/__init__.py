"""One package per page."""
