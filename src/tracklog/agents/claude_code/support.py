"""What the rest of tracklog asks of Claude Code (`agents/base.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracklog.agents.base import AgentProcesses, AgentReplay, AgentSupport

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from tracklog.sources.log_file import Agent, LogFile


class ClaudeCode(AgentSupport):
    """Claude Code."""

    name: Agent = "claude"
    label = "Claude Code"
    path_names_session = True

    @property
    def processes(self) -> AgentProcesses:
        from tracklog.agents.claude_code.processes import ClaudeProcesses  # loaded when it is asked for

        return ClaudeProcesses()

    @property
    def replay(self) -> AgentReplay:
        return ClaudeReplay()


class ClaudeReplay(AgentReplay):
    """Sessions whose subagents write below the session's own folder."""

    stops_with_last_answer = True

    def place_of(self, file: LogFile, session: str, *, is_main: bool, cwd: str) -> PurePosixPath:
        from tracklog.agents.claude_code.places import place_in_home  # only replays need it

        return place_in_home(file, session, is_main=is_main, cwd=cwd)
