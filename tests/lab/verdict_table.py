"""Which fate the lab gives to which call, and the verdict it must get: the promise of `tracklog calls`, row by row.

Rules of this room
  1. A row names its call by scenario, tool, a word of the input and its order, and the releases it holds for.
  2. A verdict is asserted only where the log can show it. JSON decisions of PreToolUse hooks leave nothing but their
     reason on 2.0.30 (`decision: block`) and 2.1.197: those rows are not here.
  3. `lines` are the kinds of line that must be among the evidence, beside the line of the call itself.
  4. Some lines a client writes in most plays and not in all (6 of 8, with nothing else changed). Two rows tell then
     what holds if the line is there (`if_written`) and if it is not (`unless_written`).
  5. Rows speak of a log that has come to rest: an hour after the client was last seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.lab.clients import Version

RESULT = ("tool_result",)
NOTICED = ("tool_result", "task-notification")
CUT = ("tool_result", "interruption")
OUTPUT = ("function_call_output",)
NOTED = ("function_call_output", "CommandExecution")
KILLED = "Exit code 137"  # 2.1.325, of what ran when the client was terminated
ENDED = '"exit_code":-1'  # Codex since 0.150, of what ran when the client quit


@dataclass(frozen=True)
class Fate:
    """What became of one call, on the releases from `since` up to (and without) `until`."""

    agent: str
    scenario: str
    tool: str
    word: str
    verdict: str
    outcome: str | None = None
    timed_out: bool = False
    sureness: str | None = None  # None: either will do
    lines: tuple[str, ...] = ()
    nth: int = 0  # of the calls with this tool and word
    since: str = "0"
    until: str = "9999"
    if_written: str = ""
    unless_written: str | None = None

    def holds_for(self, agent: str, version: str, scenario: str, logs: str) -> bool:
        """Whether this row is about that run, whose logs hold this text."""
        within = Version(self.since) <= Version(version) < Version(self.until)
        is_written = self.if_written in logs and (
            self.unless_written is None or self.unless_written not in logs
        )
        return within and is_written and (self.agent, self.scenario) == (agent, scenario)


def _claude(scenario: str, tool: str, word: str, verdict: str, **more: object) -> Fate:
    return Fate("claude", scenario, tool, word, verdict, **more)  # type: ignore[arg-type]


def _codex(scenario: str, tool: str, word: str, verdict: str, **more: object) -> Fate:
    return Fate("codex", scenario, tool, word, verdict, **more)  # type: ignore[arg-type]


CLAUDE_ORDINARY = (
    _claude("parallel_tools", "Bash", "ls -la", "ok", sureness="stated", lines=RESULT),
    _claude("parallel_tools", "Bash", "grep -c", "ok", sureness="stated", lines=RESULT),
    _claude("parallel_tools", "Read", '"limit"', "ok", sureness="stated", lines=RESULT),
    _claude("failing_tools", "Bash", "exit 3", "error", sureness="stated", lines=RESULT),
    _claude("failing_tools", "Read", "missing.txt", "error", sureness="stated", lines=RESULT),
    _claude("failing_tools", "Edit", "absent", "error", sureness="stated", lines=RESULT),
    _claude("failing_tools", "Bash", "No command at all", "error", sureness="stated", lines=RESULT),
    _claude("failing_tools", "NoSuchTool", "", "error", sureness="stated", lines=RESULT),
    _claude("failing_tools", "Bash", "kill -9", "error", sureness="stated", lines=RESULT),
    _claude("mcp_tools", "mcp__lab__fail", "on purpose", "error", sureness="stated", lines=RESULT),
    _claude("mcp_tools", "mcp__lab__slow", "late", "ok", sureness="stated", lines=RESULT),
    _claude("stopping_hooks", "Bash", "echo last", "ok", lines=RESULT),
    _claude("max_turns", "Bash", "ls", "ok", lines=RESULT),
)

CLAUDE_REFUSED = (
    _claude("permission_refusals", "Bash", "echo allowed", "ok", sureness="stated", lines=RESULT),
    _claude("permission_refusals", "Bash", "touch made.txt", "denied", sureness="stated", lines=RESULT),
    _claude("permission_refusals", "Bash", "rm -f", "denied", sureness="stated", lines=RESULT),
    _claude("permission_refusals", "Write", "new.txt", "denied", sureness="stated", lines=RESULT),
    _claude("permission_refusals", "Read", "/etc/hostname", "denied", sureness="stated", lines=RESULT),
    _claude("permission_refusals", "mcp__lab__echo", "hello", "denied", sureness="stated", lines=RESULT),
    _claude("dont_ask", "Bash", "touch made.txt", "denied", sureness="stated", lines=RESULT),
    _claude("plan_mode", "Write", "new.txt", "denied", sureness="stated", lines=RESULT),
    _claude("hook_decisions", "Write", "new.txt", "denied", lines=RESULT),
    _claude("permission_hook", "Write", "new.txt", "denied", lines=RESULT, until="2.1.300"),
    _claude("sitting_permissions", "Bash", "touch made.txt", "ok", sureness="stated", lines=RESULT),
    _claude("sitting_permissions", "Write", "new.txt", "denied", sureness="stated", lines=CUT),
    _claude("sitting_questions", "AskUserQuestion", "Which colour", "ok", lines=RESULT),
    _claude("sitting_questions", "AskUserQuestion", "Which colour", "denied", lines=CUT, nth=1),
    _claude("sitting_refusals", "Write", "one.txt", "denied", sureness="stated", lines=CUT),
    _claude("sitting_refusals", "Write", "two.txt", "denied", lines=RESULT),
    _claude("sitting_refusals", "Write", "three.txt", "denied", sureness="stated", lines=CUT),
    _claude("sitting_feedback", "Write", "new.txt", "denied", sureness="stated", lines=RESULT),
)

CLAUDE_BLOCKED = (
    _claude("hooks", "Bash", "echo allowed", "ok", sureness="stated", lines=RESULT),
    _claude("hooks", "Bash", "echo forbidden", "blocked", sureness="stated", lines=RESULT),
    _claude("hooks", "Write", "new.txt", "blocked", lines=RESULT, until="2.1.150"),
    _claude("hooks", "Write", "new.txt", "blocked", sureness="stated", lines=RESULT, since="2.1.300"),
    _claude("hooks", "Edit", "hello.txt", "ok", sureness="stated", lines=RESULT),
    _claude("hook_decisions", "Bash", "echo hello", "blocked", lines=RESULT, until="2.0.0"),
    _claude(
        "hook_decisions",
        "Bash",
        "echo hello",
        "blocked",
        lines=(*RESULT, "hook_blocking_error"),
        since="2.1.0",
        until="2.1.150",
    ),
    _claude("hook_decisions", "Bash", "echo hello", "blocked", lines=RESULT, since="2.1.300"),
    _claude("hook_decisions", "Read", "hello.txt", "ok", lines=RESULT),
    _claude("permission_hook", "Write", "new.txt", "blocked", lines=RESULT, since="2.1.300"),
    _claude(
        "sitting_permission_hook",
        "Write",
        "new.txt",
        "blocked",
        lines=(*RESULT, "hook_permission_decision"),
        until="2.1.300",
    ),
    _claude("sitting_permission_hook", "Write", "new.txt", "blocked", lines=RESULT, since="2.1.300"),
)

CLAUDE_CUT_SHORT = (
    _claude("interrupt", "Bash", "echo begun", "interrupted", lines=CUT, since="2.1.150"),
    _claude("interrupt", "Bash", "echo second", "interrupted", lines=CUT, since="2.1.150"),
    _claude("sitting_busy", "Bash", "touch started", "ok", lines=RESULT),
    _claude("sitting_busy", "Bash", "touch again", "interrupted", sureness="stated", lines=RESULT),
    _claude("sitting_escape", "Bash", "echo early", "ok", lines=RESULT),
    _claude("sitting_escape", "Bash", "touch started", "interrupted", sureness="stated", lines=RESULT),
    _claude("sitting_escape", "Bash", "echo queued", "interrupted", lines=RESULT),
    _claude(
        "terminate_alone",
        "Bash",
        "echo begun",
        "interrupted",
        lines=RESULT,
        since="2.1.300",
        if_written=KILLED,
    ),
    # Stated where the client left its file of the registry, inferred where it removed that before it ended.
    _claude("terminate_alone", "Bash", "echo begun", "lost", since="2.1.300", unless_written=KILLED),
    _claude("terminate_alone", "Bash", "echo begun", "lost", until="2.1.300"),
    _claude("agent_stopped", "Bash", "touch working", "interrupted", lines=RESULT),
    _claude(
        "sitting_agent", "Agent", "worker", "interrupted", sureness="stated", lines=RESULT, until="2.1.198"
    ),
    _claude("sitting_agent", "Bash", "touch working", "interrupted", lines=RESULT),
    _claude(
        "background_shell", "Bash", "Too slow", "timed_out", sureness="stated", lines=RESULT, until="2.0.0"
    ),
    _claude("mcp_timeout", "mcp__late__echo", "in time", "ok", lines=RESULT),
    _claude("mcp_timeout", "mcp__late__slow", "too late", "timed_out", sureness="stated", lines=RESULT),
    _claude("failing_sibling", "Bash", "nosuch_dir_1", "error", sureness="stated", lines=RESULT),
    _claude(
        "failing_sibling",
        "Bash",
        "echo second",
        "sibling_error",
        sureness="stated",
        lines=RESULT,
        until="2.1.150",
    ),
    _claude("failing_sibling", "Bash", "echo second", "ok", lines=RESULT, since="2.1.150"),
)

CLAUDE_BEHIND = (
    _claude(
        "background_shell", "Bash", "Fail soon", "backgrounded", outcome="error", lines=NOTICED, since="2.1.0"
    ),
    _claude(
        "background_shell",
        "Bash",
        "Fail soon",
        "backgrounded",
        outcome="unknown",
        lines=RESULT,
        since="2.0.0",
        until="2.1.0",
    ),
    _claude(
        "background_shell", "Bash", '"Stay"', "backgrounded", outcome="killed", lines=RESULT, since="2.0.0"
    ),
    _claude(
        "background_shell",
        "Bash",
        "Too slow",
        "backgrounded",
        outcome="ok",
        timed_out=True,
        lines=NOTICED,
        since="2.1.0",
    ),
    _claude(
        "background_shell",
        "Bash",
        "Too slow",
        "backgrounded",
        outcome="unknown",
        timed_out=True,
        lines=RESULT,
        since="2.0.0",
        until="2.1.0",
    ),
    _claude(
        "background_ends", "Bash", "echo fine", "backgrounded", outcome="ok", lines=NOTICED, since="2.1.0"
    ),
    _claude(
        "background_ends", "Bash", "exit 7", "backgrounded", outcome="error", lines=NOTICED, since="2.1.0"
    ),
    _claude(
        "background_ends", "Bash", "echo fine", "backgrounded", outcome="ok", lines=RESULT, until="2.1.0"
    ),
    _claude(
        "background_ends", "Bash", "exit 7", "backgrounded", outcome="error", lines=RESULT, until="2.1.0"
    ),
    _claude("background_agent", "Agent", "scout", "backgrounded", outcome="ok", lines=NOTICED, since="2.1.0"),
    _claude("agent_stopped", "Agent", "worker", "backgrounded", outcome="killed", lines=NOTICED),
    _claude("agent_stopped", "TaskStop", "", "ok", lines=RESULT),
    _claude(
        "sitting_agent",
        "Agent",
        "worker",
        "backgrounded",
        outcome="killed",
        lines=(*RESULT, "queue-operation"),
        since="2.1.198",
    ),
    _claude(
        "sitting_background", "Bash", "sleep 7", "backgrounded", outcome="ok", lines=NOTICED, since="2.1.0"
    ),
    _claude(
        "sitting_background",
        "Bash",
        "sleep 7",
        "backgrounded",
        outcome="unknown",
        lines=RESULT,
        until="2.1.0",
    ),
    _claude(  # 2.1.325 does not always get to write the notice when it is left
        "sitting_left_running",
        "Bash",
        "sleep 60",
        "backgrounded",
        outcome="killed",
        lines=NOTICED,
        until="2.1.300",
    ),
    _claude("dying_agent", "Agent", "unlucky", "error", since="2.1.0", until="2.1.300"),
    _claude("dying_agent", "Task", "unlucky", "error", until="2.1.0"),
    _claude(
        "dying_agent", "Agent", "unlucky", "ok", since="2.1.300"
    ),  # its agent is asked again, and ends well
)

CLAUDE_WITHOUT_RESULT = (
    _claude("kill", "Bash", "echo begun", "lost", sureness="stated", lines=RESULT, since="2.1.300"),
    _claude("kill", "Bash", "echo begun", "abandoned", since="2.1.150", until="2.1.300"),
    _claude("kill_for_good", "Bash", "echo before", "ok", lines=RESULT),
    _claude("kill_for_good", "Bash", "echo begun", "lost"),
    _claude("kill_agent", "Bash", "echo begun", "lost", since="2.1.0"),
    _claude("kill_agent", "Agent", "worker", "lost", since="2.1.0"),
    _claude("left_behind", "Bash", "echo begun", "abandoned"),
)

CODEX = (
    _codex("parallel_commands", "exec_command", "ls -la", "ok", sureness="stated", lines=OUTPUT),
    _codex("parallel_commands", "exec_command", '"false"', "error", sureness="stated", lines=OUTPUT),
    _codex("failing_tools", "no_such_tool", "", "error", sureness="stated", lines=OUTPUT),
    _codex("failing_tools", "exec_command", "exit 3", "error", sureness="stated", lines=OUTPUT),
    _codex("failing_tools", "exec_command", "echo cut", "error", sureness="stated", lines=OUTPUT),
    _codex("failing_tools", "exec_command", "kill -9", "error", sureness="stated", lines=OUTPUT),
    _codex("failing_tools", "exec_command", "/absent", "error", lines=OUTPUT),
    _codex("mcp_tools", "mcp__lab__echo", "hello", "ok", lines=OUTPUT),
    _codex(
        "mcp_tools", "mcp__lab__fail", "on purpose", "error", lines=(*OUTPUT, "McpToolCall"), since="0.150.0"
    ),
    _codex(
        "read_only", "apply_patch", "new.txt", "denied", lines=("custom_tool_call_output",), since="0.150.0"
    ),
    _codex("read_only", "exec_command", "require_escalated", "denied", sureness="stated", lines=OUTPUT),
    _codex("sitting_approvals", "exec_command", "first.txt", "ok", lines=NOTED),
    _codex("sitting_approvals", "exec_command", "second.txt", "denied", lines=(*OUTPUT, "turn_aborted")),
    _codex("interrupt", "exec_command", "echo begun", "interrupted", lines=OUTPUT),
    _codex(
        "interrupt",
        "exec_command",
        "echo begun",
        "interrupted",
        sureness="stated",
        lines=NOTED,
        if_written=ENDED,
    ),
    _codex("sitting_busy", "exec_command", "echo begun", "interrupted", lines=OUTPUT),
    _codex("shell_ends", "exec_command", "read a", "backgrounded", outcome="ok", lines=OUTPUT),
    _codex("shell_ends", "exec_command", "read b", "backgrounded", outcome="error", lines=OUTPUT),
    _codex("shell_ends", "write_stdin", '"bad', "ok", lines=OUTPUT),
    _codex("shell_ends", "write_stdin", "too late", "error", lines=OUTPUT),
    _codex("shell_ends", "exec_command", "echo later", "backgrounded", outcome="ok", lines=OUTPUT),
    _codex(
        "shell_ends",
        "exec_command",
        "read c",
        "backgrounded",
        outcome="killed",
        lines=NOTED,
        if_written=ENDED,
    ),
    _codex("kill", "exec_command", "echo begun", "lost", sureness="stated"),
    _codex("kill_for_good", "exec_command", "echo before", "ok", lines=OUTPUT),
    _codex("kill_for_good", "exec_command", "sleep 9", "lost"),
)

FATES = (
    *CLAUDE_ORDINARY,
    *CLAUDE_REFUSED,
    *CLAUDE_BLOCKED,
    *CLAUDE_CUT_SHORT,
    *CLAUDE_BEHIND,
    *CLAUDE_WITHOUT_RESULT,
    *CODEX,
)


def fates_of(agent: str, version: str, scenario: str, logs: str) -> list[Fate]:
    """The rows about one run, whose logs hold this text."""
    return [fate for fate in FATES if fate.holds_for(agent, version, scenario, logs)]


def scenarios_of(agent: str) -> tuple[str, ...]:
    """The scenarios that have rows."""
    return tuple(sorted({fate.scenario for fate in FATES if fate.agent == agent}))
