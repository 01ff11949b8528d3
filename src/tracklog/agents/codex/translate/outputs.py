"""Read tool outputs: what happened to the call (docs/formats/codex.md).

Rules
  1. No output carries a flag. The client's header tells, and the sentences that it writes in place of an output;
     never what comes below `Output:`, which a command can print.
  2. Which header is possible depends on the tool: what an MCP server says is never taken for the client's words.
  3. `aborted by user` means a refusal or an interrupt (`rejected`): what follows decides.
  4. The header, and the JSON around an output, are the client's envelope: what they say are fields, and the text of a
     result is what is inside.
"""

import re
from typing import NamedTuple

import msgspec

from tracklog.agents.codex.translate.messages import how_ended
from tracklog.model.events import End, Said

SHELLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"}
)
_PATCHES = frozenset({"apply_patch"})
_SCRIPTS = frozenset({"exec", "wait"})
_STDIN = "write_stdin"
_AGENT_TOOLS = frozenset(
    {"spawn_agent", "wait_agent", "wait", "send_input", "close_agent", "resume_agent", "send_message",
     "followup_task", "list_agents", "interrupt_agent"}
)  # fmt: skip

_COMMAND_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]{0,80}\n)?"
    r"(?:Exit code: (?P<exit>-?\d{1,10})\n)?"
    r"(?:Wall time: (?P<wall>[\d.]{1,15}) seconds(?:\n|\Z))?"
    r"(?:Process exited with code (?P<code>-?\d{1,10})(?:\n|\Z)|Process running with session ID (?P<session>\d{1,15})(?:\n|\Z))?"
)
_SCRIPT_HEAD = re.compile(
    r"Script (?P<how>completed|failed|terminated|running with cell ID (?P<cell>[^\s]{1,256}))\n"
    r"(?:Wall time:? (?P<wall>[\d.]{1,15}) seconds(?:\n|\Z))?"
)
_WALL = re.compile(r"Wall time: (?P<wall>[\d.]{1,15}) seconds(?:\n|\Z)")
_REST_OF_HEAD = re.compile(
    r"(?:Original token count: (?P<tokens>\d{1,15})\n|Total output lines: (?P<lines>\d{1,15})\n){0,4}Output:(?:\n|\Z)"
)
_PATCH_HEAD = re.compile(r"Exit code: -?\d{1,10}\nWall time: [\d.]{1,15} seconds\nOutput:(?:\n|\Z)")
_TIME_LIMIT = re.compile(r"command timed out after \d{1,15} milliseconds")
_TIMED_OUT = 124
_REJECTED = (
    r'Rejected\(\\*"(?:rejected by user|exec command rejected|This action was rejected|'
    r"[^\"]{0,4000}(?:approval policy|blocked by policy|approval settings))"
)

_PATTERNS: tuple[tuple[str, Said, str], ...] = (
    ("aborted by user", "rejected", r"aborted by user(?: after [\d.]+s)?\s*\Z"),
    ("aborted", "interrupted", r"aborted\s*\Z"),
    ("refused by the person", "denied", r"(?:exec command|patch|command) rejected by user\s*\Z"),
    ("refused by the person", "denied", r"user (?:rejected|cancelled|declined) MCP tool call"),
    ("approval policy", "denied", r"approval policy is "),
    ("approval policy", "denied", r"patch rejected: |[^\n]{0,500}; rejected by user approval settings"),
    ("approval policy", "denied", r"`[^\0]{0,8000}?` rejected: "),
    ("approval policy", "denied", r"exec_command failed[^\0]{0,8000}?" + _REJECTED),
    ("automatic reviewer", "denied", r"This action was rejected "),
    ("hook", "blocked", r"(?:Command|Tool call) blocked by PreToolUse hook"),
    ("time limit", "timed_out", _TIME_LIMIT.pattern),
    ("unknown tool", "error", r"unsupported (?:custom tool )?call: "),
    ("bad arguments", "error", r"failed to parse function arguments: "),
    ("failed in the sandbox", "error", r"failed in sandbox"),
    ("failed", "error", r"[\w./]{1,80} (?:verification )?failed\b"),
    ("failed", "error", r"tool call (?:error|failed)\b"),
    ("failed", "error", r"(?:execution )?error: "),
    (
        "not possible",
        "error",
        r"unable to [a-z]+ |\w{1,80} is (?:unavailable in|not (?:allowed|supported|available)) ",
    ),
)
_WORDS = tuple((why, said, re.compile(pattern)) for why, said, pattern in _PATTERNS)  # fmt: skip
_SERVERS_WORDS = {"aborted by user", "refused by the person", "unknown tool", "bad arguments", "hook"}


class OutputMetadata(msgspec.Struct):
    """Metadata that the first clients wrote next to an output."""

    exit_code: int
    duration_seconds: float | None = None


class Structured(msgspec.Struct):
    """The output of `shell` until 2025: JSON in a string."""

    output: str
    metadata: OutputMetadata


class SpawnedAgent(msgspec.Struct):
    """The answer of `spawn_agent` and `wait_agent`."""

    agent_id: str | None = None
    status: dict[str, str | dict[str, str | None]] | None = None


class Reading(NamedTuple):
    """What an output says about its call and about background work."""

    said: Said
    why: str
    exit_code: int | None = None
    took_ms: float | None = None
    task: str | None = None  # what goes on
    end: End | None = None  # of the session that `write_stdin`, or the script that `wait`, asked about
    agent: str | None = None
    agents: tuple[tuple[str, End, str], ...] = ()  # subagents of which it tells
    is_sure: bool = True


class Unpacked(NamedTuple):
    """The text inside the client's envelope, and what only the envelope says."""

    text: str
    whole_tokens: int | None = None  # of the whole output, of which the text may be a part
    whole_lines: int | None = None
    envelope_bytes: int = 0


_structured = msgspec.json.Decoder(Structured)
_answer = msgspec.json.Decoder(SpawnedAgent)


def read_output(
    tool: str | None, text: str, *, head: str | None = None, server: str | None = None
) -> Reading:
    """How a call went; `head` is the first part of an output in several parts, `tool` None if unknown."""
    head = text if head is None else head
    if server is not None:
        return _read_words(head, server=server) or _with_wall_time(head) or Reading("ok", "came back")
    found = _read_header(tool, head) or _read_words(head) or _with_wall_time(head)
    if found is not None:
        return found
    if tool in _AGENT_TOOLS:
        return _read_answer(text)
    return _without_header(tool, head)


def unpacked(tool: str | None, text: str, *, head: str | None = None, server: str | None = None) -> Unpacked:
    """The text without the client's header, or without the JSON around it; the same arguments as `read_output`."""
    inside = _without_envelope(tool, text, text if head is None else head, server)
    return inside._replace(envelope_bytes=_n_bytes(text) - _n_bytes(inside.text))


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _without_envelope(tool: str | None, text: str, head: str, server: str | None) -> Unpacked:
    is_command = server is None and (tool is None or tool in SHELLS or tool in _PATCHES or tool == _STDIN)
    if is_command and (structured := _decode_structured(head)) is not None:
        return Unpacked(structured.output)
    found = _head_of(tool, head, is_command=is_command, server=server)
    if found is None or not found.end():
        return Unpacked(text)
    rest = _REST_OF_HEAD.match(head, found.end())
    end = rest.end() if rest else found.end()
    is_silent = found.re is _COMMAND_HEAD and not (found["exit"] or found["code"] or found["session"])
    if is_silent and rest and (of_patch := _PATCH_HEAD.match(head, end)):
        end = of_patch.end()  # a patch inside of a command: its own header is within the command's
    text = text[end:].removeprefix("\n") if end == len(head) < len(text) else text[end:]
    if rest is None:
        return Unpacked(text)
    tokens, lines = rest["tokens"], rest["lines"]
    return Unpacked(text, int(tokens) if tokens else None, int(lines) if lines else None)


def _head_of(tool: str | None, head: str, *, is_command: bool, server: str | None) -> re.Match[str] | None:
    if server is None and (tool is None or tool in _SCRIPTS) and (found := _SCRIPT_HEAD.match(head)):
        return found
    return _COMMAND_HEAD.match(head) if is_command else _WALL.match(head)


def _read_header(tool: str | None, head: str) -> Reading | None:
    if tool is None or tool in _SCRIPTS:
        script = _read_script(tool, head)
        if script is not None:
            return script
    if tool is None or tool in SHELLS or tool in _PATCHES or tool == _STDIN:
        return _read_structured(head) or _read_command(tool, head)
    return None


def _read_script(tool: str | None, head: str) -> Reading | None:
    found = _SCRIPT_HEAD.match(head)
    if found is None:
        return None
    took, how = _ms(found["wall"]), found["how"]
    if tool == "wait":
        ends: dict[str, End] = {"completed": "ok", "failed": "error", "terminated": "killed"}
        return Reading("ok", "script asked about", took_ms=took, end=ends.get(how, "running"))
    if found["cell"]:
        return Reading("backgrounded", "script runs on", took_ms=took, task=f"cell:{found['cell']}")
    return Reading("ok" if how == "completed" else "error", f"script {how}", took_ms=took)


def _read_command(tool: str | None, head: str) -> Reading | None:
    found = _COMMAND_HEAD.match(head)
    if found is None or not found.end():
        return None
    took, code = _ms(found["wall"]), found["exit"] or found["code"]
    if found["session"]:
        if tool == _STDIN:
            return Reading("ok", "session runs on", took_ms=took, task=found["session"], end="running")
        return Reading("backgrounded", "session runs on", took_ms=took, task=found["session"])
    if code is None:
        return None
    if tool == _STDIN:
        end: End = "ok" if int(code) == 0 else "error"
        return Reading("ok", "session ended", exit_code=int(code), took_ms=took, end=end)
    body = head[found.end() :].partition("Output:\n")[2] if int(code) == _TIMED_OUT else ""
    return _by_exit_code(int(code), took, body)


def _decode_structured(head: str) -> Structured | None:
    if not head.startswith("{"):
        return None
    try:
        return _structured.decode(head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _read_structured(head: str) -> Reading | None:
    found = _decode_structured(head)
    if found is None:
        return None
    seconds = found.metadata.duration_seconds
    took = seconds * 1000 if seconds is not None else None
    return _by_exit_code(found.metadata.exit_code, took, found.output)


def _by_exit_code(code: int, took_ms: float | None, body: str) -> Reading:
    """The client ends a command at its limit with 124 and says so before the output."""
    if code == _TIMED_OUT and _TIME_LIMIT.match(body):
        return Reading("timed_out", "time limit", code, took_ms)
    return Reading("ok" if code == 0 else "error", "exit code", code, took_ms)


def _read_words(head: str, *, server: str | None = None) -> Reading | None:
    wall = _WALL.match(head)
    words = head[wall.end() :] if wall else head
    for why, said, pattern in _WORDS:
        if (server is None or why in _SERVERS_WORDS) and pattern.match(words):
            return Reading(said, why, took_ms=_ms(wall["wall"]) if wall else None)
    return None


def _with_wall_time(head: str) -> Reading | None:
    """A patch inside a command, or an MCP call: the client tells how long, and nothing else."""
    found = _WALL.match(head)
    return Reading("ok", "came back", took_ms=_ms(found["wall"])) if found else None


def _read_answer(text: str) -> Reading:
    if not text.strip():
        return Reading("ok", "came back")
    try:
        answer = _answer.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        is_json = text.lstrip().startswith(("{", "["))
        return Reading("ok", "came back") if is_json else Reading("error", "no answer of the agents")
    told = {agent: how_ended(status) for agent, status in (answer.status or {}).items()}
    agents = tuple((agent, *how) for agent, how in told.items() if how)
    if told and all(status == "not_found" for status in (answer.status or {}).values()):
        return Reading("error", "no such agent")
    return Reading("ok", "came back", agent=answer.agent_id, agents=agents)


def _without_header(tool: str | None, head: str) -> Reading:
    """Commands and patches always have a header, so what has none is a complaint of the client."""
    is_command = tool in SHELLS or tool in _PATCHES or tool == _STDIN
    if is_command and not head.startswith(("Success.", "Done!")):
        return Reading("error", "no header", is_sure=False)
    return Reading("ok", "came back")


def _ms(seconds: str | None) -> float | None:
    try:
        return round(float(seconds) * 1000, 3) if seconds else None
    except ValueError:
        return None  # `1.2.3`: no number after all
