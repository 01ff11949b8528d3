"""What the rest of tracklog asks of Codex (`agents/base.py`)."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from tracklog.agents.base import AgentProcesses, AgentReplay, AgentSupport, OpenSessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path, PurePosixPath

    from tracklog.agents.base import ProcessView, Programs
    from tracklog.agents.codex.client import CodexClient
    from tracklog.agents.codex.hooks import CodexHooks
    from tracklog.agents.codex.logs import CodexLogs
    from tracklog.agents.codex.usage import CodexUsage
    from tracklog.sources.log_file import Agent, LogFile

# Lazy imports: every command knows all agents, and needs one or two of their parts.


class Codex(AgentSupport):
    """Codex."""

    name: Agent = "codex"
    label = "Codex"
    verified_release = "0.169.0"
    resume_words = ("codex", "resume")

    @cached_property
    def logs(self) -> CodexLogs:
        from tracklog.agents.codex.logs import CodexLogs

        return CodexLogs()

    @cached_property
    def usage(self) -> CodexUsage:
        from tracklog.agents.codex.usage import USAGE

        return USAGE

    @cached_property
    def processes(self) -> CodexProcesses:
        return CodexProcesses()

    @cached_property
    def client(self) -> CodexClient:
        from tracklog.agents.codex.client import CodexClient

        return CodexClient()

    @cached_property
    def hooks(self) -> CodexHooks:
        from tracklog.agents.codex.hooks import CodexHooks

        return CodexHooks()

    @cached_property
    def replay(self) -> CodexReplay:
        return CodexReplay()


class CodexProcesses(AgentProcesses):
    """Clients that are recognised by their open logs."""

    program = "codex"
    holds_logs_open = True
    names_log_late = True

    def view(self, homes: Iterable[Path] = (), *, programs: Programs | None = None) -> ProcessView:
        from tracklog.agents.codex.processes import OpenLogsView  # slow to load

        return OpenLogsView(homes, find_programs=programs)

    def opened_by(self, pids: Sequence[int], *, homes: Iterable[Path]) -> Mapping[int, OpenSessions]:
        if not any(self._may_be_client(pid) for pid in pids):
            return {}
        from tracklog.agents.codex.processes import OpenLogsView  # slow to load

        return OpenLogsView(homes).opened_by_each()

    def _may_be_client(self, pid: int) -> bool:
        """By its name; where names cannot be read so easily, any process may be one."""
        try:
            with open(f"/proc/{pid}/comm", "rb") as comm:
                return self.program.encode() in comm.read().lower()
        except OSError:
            return not os.path.exists("/proc/self/stat")


class CodexReplay(AgentReplay):
    """Sessions in which each thread is a rollout of its own."""

    asks_only_to_leave_sandbox = True

    def leaves_sandbox(self, tool_input: bytes) -> bool:
        return b"require_escalated" in tool_input

    def place_of(self, file: LogFile, session: str, *, is_main: bool, cwd: str) -> PurePosixPath:  # noqa: ARG002 (a rollout's name says it all)
        from tracklog.agents.codex.places import place_in_home  # only replays need it

        return place_in_home(file)
