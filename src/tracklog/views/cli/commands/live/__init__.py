"""Commands for what runs now: top, serve, watch, wait, hooks, replay."""
