"""What the rest of tracklog asks of Codex (`agents/base.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracklog.agents.base import AgentProcesses, AgentReplay, AgentSupport

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from tracklog.sources.log_file import Agent, LogFile


class Codex(AgentSupport):
    """Codex."""

    name: Agent = "codex"
    label = "Codex"
    log_names_sources = True

    @property
    def processes(self) -> AgentProcesses:
        from tracklog.agents.codex.processes import CodexProcesses  # loaded when it is asked for

        return CodexProcesses()

    @property
    def replay(self) -> AgentReplay:
        return CodexReplay()


class CodexReplay(AgentReplay):
    """Sessions in which each thread is a rollout of its own."""

    threads_have_own_ids = True
    asks_only_to_leave_sandbox = True

    def leaves_sandbox(self, tool_input: bytes) -> bool:
        return b"require_escalated" in tool_input

    def place_of(self, file: LogFile, session: str, *, is_main: bool, cwd: str) -> PurePosixPath:  # noqa: ARG002 (a rollout's name says it all)
        from tracklog.agents.codex.places import place_in_home  # only replays need it

        return place_in_home(file)
