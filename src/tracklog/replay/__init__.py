"""Record a session and play it again, for tests and demonstrations.

Public: `play`, `recording`. May import `reading`.
"""
