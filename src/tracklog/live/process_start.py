"""When a process started: what tells it apart from a later one of the same number. It loads little."""

from __future__ import annotations

from pathlib import Path

_START_TICKS = (
    19  # of the fields of /proc/<pid>/stat behind the name, which may hold anything (proc(5), field 22)
)


def start_ticks(pid: int) -> int | None:
    """In ticks since the machine started, as clients note it on Linux; None if it is gone, or there is no /proc."""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
        return int(told.rpartition(b")")[2].split()[_START_TICKS])
    except (OSError, ValueError, IndexError):
        return None
