"""Newest release of each client whose logs this build reads without an unknown kind or key.

The lab plays every scenario with exactly these releases. `make update-pins` raises them.
"""

from __future__ import annotations

VERIFIED_CLIENTS = {
    "claude": "2.1.327",
    "codex": "0.169.0",
}
