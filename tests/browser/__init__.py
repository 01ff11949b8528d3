"""The pages in a real browser: what they show, what they do, and what they do not let in."""
