"""What the rest of tracklog asks of Claude Code (`agents/base.py`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tracklog.agents.base import AgentProcesses, AgentReplay, AgentSupport, OpenSessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path, PurePosixPath

    from tracklog.agents.base import ProcessView, Programs
    from tracklog.agents.claude_code.client import ClaudeCodeClient
    from tracklog.agents.claude_code.hooks import ClaudeCodeHooks
    from tracklog.agents.claude_code.logs import ClaudeLogs
    from tracklog.agents.claude_code.usage import ClaudeUsage
    from tracklog.sources.log_file import Agent, LogFile

# Lazy imports: every command knows all agents, and needs one or two of their parts.


class ClaudeCode(AgentSupport):
    """Claude Code."""

    name: Agent = "claude"
    label = "Claude Code"
    verified_release = "2.1.327"
    resume_words = ("claude", "--resume")

    @cached_property
    def logs(self) -> ClaudeLogs:
        from tracklog.agents.claude_code.logs import ClaudeLogs

        return ClaudeLogs()

    @cached_property
    def usage(self) -> ClaudeUsage:
        from tracklog.agents.claude_code.usage import USAGE

        return USAGE

    @cached_property
    def processes(self) -> ClaudeProcesses:
        return ClaudeProcesses()

    @cached_property
    def client(self) -> ClaudeCodeClient:
        from tracklog.agents.claude_code.client import ClaudeCodeClient

        return ClaudeCodeClient()

    @cached_property
    def hooks(self) -> ClaudeCodeHooks:
        from tracklog.agents.claude_code.hooks import ClaudeCodeHooks

        return ClaudeCodeHooks()

    @cached_property
    def replay(self) -> ClaudeReplay:
        return ClaudeReplay()


class ClaudeProcesses(AgentProcesses):
    """Clients that register the session that they have."""

    program = "claude"
    registry_folder = "sessions"
    asks_permissions_here = True

    def view(self, homes: Iterable[Path] = (), *, programs: Programs | None = None) -> ProcessView:
        from tracklog.agents.claude_code.processes import RegistryView  # slow to load

        return RegistryView(homes, find_programs=programs)

    def opened_by(self, pids: Sequence[int], *, homes: Iterable[Path]) -> Mapping[int, OpenSessions]:
        files = [(pid, home / self.registry_folder / f"{pid}.json") for home in homes for pid in pids]
        files = [(pid, file) for pid, file in files if file.exists()]
        if not files:
            return {}
        from tracklog.agents.claude_code.session_registry import registered_session  # slow to load

        found = ((pid, registered_session(file)) for pid, file in reversed(files))  # the first home counts
        return {pid: OpenSessions(ids={session}) for pid, session in found if session}


class ClaudeReplay(AgentReplay):
    """Sessions whose subagents write below the session's own folder."""

    stops_with_last_answer = True

    def place_of(self, file: LogFile, session: str, *, is_main: bool, cwd: str) -> PurePosixPath:
        from tracklog.agents.claude_code.places import place_in_home  # only replays need it

        return place_in_home(file, session, is_main=is_main, cwd=cwd)
