from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from tracklog.sources.process_start import NEAR_MS, Alive
from tracklog.sources.processes import cwd_of, processes_named, started_ms_of

_ROLLOUT = re.compile(r"rollout-.*\.jsonl")


class CodexProcess(NamedTuple):
    """A running Codex. It holds the log of each of its sessions open for as long as it lives (0.98.0, 0.166.0)."""

    pid: int
    started_ms: int
    cwd: str | None
    rollouts: frozenset[str] | None  # real paths; None: we may not look


def running_codex(programs: Mapping[int, bytes] | None = None) -> list[CodexProcess]:
    """All Codex processes of this machine that can be seen; `programs`, if the caller has read them already."""
    found = (_codex(process) for process in processes_named("codex", programs))
    return [codex for codex in found if codex is not None]


def codex_of(
    rollout: Path,
    running: Sequence[CodexProcess],
    *,
    cwd: str | None = None,
    started_at_ms: int | None = None,
) -> Alive:
    """Whether the Codex that writes this log lives: it has the log open, or else works in its folder."""
    wanted = os.path.realpath(rollout)
    for one in running:
        if one.rollouts is not None and wanted in one.rollouts:
            why = f"process {one.pid} has the log open"
            return Alive("alive", why, one.pid, began_ms=one.started_ms)
    for one in (hidden for hidden in running if hidden.rollouts is None):
        if _could_be(one, cwd, started_at_ms):
            return Alive("unknown", f"process {one.pid} works in the same folder", one.pid)
    return Alive("gone", "no process has the log open", is_sure=False)


def _could_be(process: CodexProcess, cwd: str | None, started_at_ms: int | None) -> bool:
    is_there = process.cwd is None or cwd is None or process.cwd == cwd
    return is_there and (started_at_ms is None or process.started_ms <= started_at_ms + NEAR_MS)


def _codex(process: psutil.Process) -> CodexProcess | None:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return CodexProcess(process.pid, started_ms_of(process), cwd_of(process), _rollouts_of(process))
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return CodexProcess(process.pid, started_ms_of(process), None, None)


def _rollouts_of(process: psutil.Process) -> frozenset[str] | None:
    try:
        return _rollouts(file.path for file in process.open_files())
    except psutil.AccessDenied:
        return None


def _rollouts(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(os.path.realpath(path) for path in paths if _ROLLOUT.fullmatch(os.path.basename(path)))
