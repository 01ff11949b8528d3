from __future__ import annotations

from collections.abc import Mapping

import psutil

from tracklog.agents.base import RunningClient
from tracklog.sources.processes import cwd_of, processes_named, started_ms_of


def running_claude(programs: Mapping[int, bytes] | None = None) -> list[RunningClient]:
    """All processes of Claude Code on this machine that can be seen; `programs`, if the caller has read them already."""
    found = (_claude(process) for process in processes_named("claude", programs))
    return [claude for claude in found if claude is not None]


def _claude(process: psutil.Process) -> RunningClient | None:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return RunningClient(process.pid, started_ms_of(process), cwd_of(process))
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return RunningClient(process.pid, started_ms_of(process), None)
