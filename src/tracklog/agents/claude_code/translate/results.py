"""Translate tool results: what happened to the call (docs/formats/claude_code.md#tool-results).

Rules
  1. What the client states (`permissionDecision`) wins over words, and words over `toolDenialKind`, which has one name
     for several fates.
  2. Words count only in a result that is an error: a command can print anything. The words that the client writes in
     good results (a command moved to the background) count only where `toolUseResult` does not contradict.
     A result that is no error, but whose `toolUseResult` says `success: false` (SendMessage, TaskUpdate, Skill), failed.
  3. The same words mean *No* and *Esc* (`rejected`): what follows decides, and that is the fold's to see.
"""

import re
from typing import Any

import msgspec
from msgspec import Raw

from tracklog.agents.claude_code.records.envelope import DocumentBlock, Image, ToolResult
from tracklog.agents.claude_code.records.messages import PermissionDecision, UserLine
from tracklog.agents.claude_code.translate.texts import end_of, inside
from tracklog.agents.hooks.events import TIME_LIMIT
from tracklog.model.events import End, LogEvent, Said, TaskSeen, ToolReturned
from tracklog.model.ids import CallId, TaskId, ThreadId
from tracklog.model.records import opened

REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected"
_FEEDBACK = "the user said:"

_NO_CODE = r"(?!Exit code )"  # a command that failed may have printed the rest
_WORDS: tuple[tuple[str, Said, str], ...] = (
        ("session ended before its result", "outcome_unknown", r"\[Tool call interrupted: the session ended"),
        ("rejected, with the person's words", "denied", re.escape(REJECTED) + r"[^\0]*?the user said:"),
        ("rejected or interrupted", "rejected", re.escape(REJECTED)),
        ("cancelled with the call beside it", "cancelled", r"The user doesn't want to take this action right now"),
        ("interrupted", "interrupted", r"(?:Exit code 137\n)?\[Request interrupted by user"),
        ("a parallel call failed", "sibling_error", r"(?:<tool_use_error>)?Sibling tool call errored"),
        ("a parallel call failed", "sibling_error", r"(?:<tool_use_error>)?Cancelled: parallel tool call"),
        ("hook", "blocked", r"PreToolUse:[^\n]{0,200}? hook error: "),
        ("hook", "blocked", r"[^\n]{1,100} operation blocked by hook:\n"),
        ("hook", "blocked", r"Hook PreToolUse:[^\n]{1,100} denied this tool"),
        ("hook asked, nobody answered", "denied", r"Hook PreToolUse:[^\n]{1,100} asked for confirmation"),
        ("permission rule", "denied", r"Permission (?:to use|to read|to write|to edit|for this tool use)[^\0]{0,2000}?denied"),
        ("permission rule", "denied", r"<tool_use_error>File is in a directory that is (?:denied|ignored) by your permission"),
        ("nobody could be asked", "denied", r"Claude requested permissions? to [^\0]{0,2000}?haven't granted it yet"),
        ("nobody could be asked", "denied", r"This (?:Bash )?command (?:\([^\0]{0,2000}?\) )?requires (?:multiple )?approval"),
        ("nobody could be asked", "denied", _NO_CODE + r"[^\n]{0,2000}? needs approval\. "),
        ("nobody could be asked", "denied", _NO_CODE + r"[^\n]{0,2000}? was blocked\. For security, Claude Code"),
        ("plan mode", "denied", r"Cannot [^\n]{1,2000} while in plan mode"),
        ("plan mode", "denied", r"Exit plan mode\?\s*\Z"),
    ("nobody could be asked", "denied", r"Answer questions\?\s*\Z"),
        ("auto mode", "denied", _NO_CODE + r"(?:Auto mode is unavailable|[^\n]{0,200}auto mode classifier)"),
        ("time limit", "timed_out", TIME_LIMIT.pattern),
        ("killed with the client, or by itself", "cut_off", r"Exit code 137(?:\n|\Z)"),
)  # fmt: skip
_ERRORS = tuple((why, said, re.compile(pattern)) for why, said, pattern in _WORDS)
_DENIALS: dict[str, tuple[str, Said]] = {
    "interrupted": ("session ended before its result", "outcome_unknown"),
    "cancelled": ("a parallel call failed", "sibling_error"),
    "automode-blocked": ("auto mode", "denied"),
    "automode-unavailable": ("auto mode", "denied"),
    "permission-rule": ("permission rule", "denied"),
    "user-rejected": ("nobody could be asked", "denied"),
}
_LAUNCHED = {"async_launched", "remote_launched", "teammate_spawned"}
_IN_BACKGROUND = re.compile(
    r"(?:Command running in background with ID: |Command was manually backgrounded by user with ID: )(\w+)"
)
_ASYNC_AGENT = re.compile(r"Async agent launched successfully\.[^\0]{0,300}?agentId: (\w+)")
_SIDE_FILE = re.compile(r"\A<persisted-output>\n[^\n]{0,200}Full output saved to: ([^\n]+)")
_PREVIEW = "<persisted-output>\n"
_PREVIEW_BEGINS = "\nPreview (first 2KB):\n"
_COMPARED = 200  # letters
_CODE_AT_END = re.compile(r"(?:\A|\n)\[Exit code: (-?[0-9]{1,9})\]\s*\Z")
_LAST_LETTERS = 100
_STOPPED = re.compile(r"Successfully (?:stopped task|killed shell): (\w+)")


class TaskReport(msgspec.Struct):
    """What TaskOutput reports about a task."""

    task_id: str | None = None
    status: str | None = None
    exit_code: int | None = msgspec.field(default=None, name="exitCode")


class ToolResultFields(msgspec.Struct, rename="camel"):
    """The few keys of `toolUseResult` that tell how a call went, of whatever tool."""

    status: str | None = None
    agent_id: str | None = None
    task_id: str | None = None
    background_task_id: str | None = None
    backgrounded_by_user: bool | None = None
    assistant_auto_backgrounded: bool | None = None
    timed_out_after_ms: float | None = None
    interrupted: bool | None = None
    was_interrupted: bool | None = None
    duration_ms: float | None = None
    total_duration_ms: float | None = None
    duration_seconds: float | None = None
    persisted_output_path: str | None = None
    retrieval_status: str | None = msgspec.field(default=None, name="retrieval_status")
    task: TaskReport | None = None
    shell_id: str | None = None
    exit_code: int | None = None
    message: str | None = None
    error: str | None = None
    success: bool | None = None
    workflow_name: str | None = None
    timeout_ms: float | None = None


_report = msgspec.json.Decoder(ToolResultFields)
_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(ToolResultFields)}
_NOTHING = ToolResultFields()
_BRACE = ord("{")


def returned(record: UserLine, block: ToolResult, where: dict[str, Any]) -> list[LogEvent]:
    """The events of one result: what came back, and what it says about something in the background."""
    text, report, is_error = block.text, _read_report(record.tool_use_result), bool(block.is_error)
    why, said = _said(record, text, report, is_error=is_error)
    task, is_sure = _background(text, report, is_error=is_error)
    if task is not None and said == "ok":
        why, said = "runs in the background", "backgrounded"
    at_end = None if block.is_error else _code_at_end(text)
    is_preview = text.startswith(_PREVIEW)
    more = _more_than_preview(record, text) if is_preview else ""
    event = ToolReturned(
        **where,
        call=CallId(block.tool_use_id) if block.tool_use_id else None,
        said=said,
        why=why,
        text=text,
        is_error=block.is_error,
        report=record.tool_use_result,
        exit_code=block.exit_code if block.is_error else at_end,
        is_code_only_of_shell=at_end is not None,
        task=TaskId(task) if task and said == "backgrounded" else None,
        agent=_agent(block, text, report),
        timed_out=_timed_out(report),
        took_ms=_took_ms(report),
        decision=_in_words(record.permission_decision),
        feedback=record.user_feedback or _feedback(said, text),
        side_file=report.persisted_output_path or _side_file(text),
        full_text=more,
        text_source="log" if more else "preview" if is_preview else "result",
        is_text_whole=not is_preview,
        n_images=_n_pictures(block),
        is_headless=record.entrypoint == "sdk-cli",
        is_sure=is_sure,
    )
    return [event, *_task_seen(block, text, report, where)]


def _said(record: UserLine, text: str, report: ToolResultFields, *, is_error: bool) -> tuple[str, Said]:
    decision = record.permission_decision
    if decision is not None and decision.decision == "reject":
        return ("hook", "blocked") if decision.source == "hook" else (_in_words(decision) or "", "denied")
    if is_error:
        for why, said, pattern in _ERRORS:
            if pattern.match(text):
                return why, said
    denial = _DENIALS.get(record.tool_denial_kind or "")
    if denial:
        return denial
    if report.interrupted or report.was_interrupted:
        return "interrupted", "interrupted"
    if is_error:
        return "error", "error"
    return ("its own result says success: false", "error") if report.success is False else ("came back", "ok")


def _background(text: str, report: ToolResultFields, *, is_error: bool) -> tuple[str | None, bool]:
    """The id of what goes on in the background, and whether the client's own fields say so."""
    if is_error or report.error:
        return None, True
    if report.background_task_id:
        return report.background_task_id, True
    if report.status in _LAUNCHED:
        return report.agent_id or report.task_id or "", True
    if report.task_id and (report.workflow_name or report.timeout_ms is not None):
        return report.task_id, True
    if report is not _NOTHING:
        return None, True
    found = _IN_BACKGROUND.match(text) or _ASYNC_AGENT.match(text)
    return (found[1], False) if found else (None, True)


def _code_at_end(text: str) -> int | None:
    """The exit code in a last line `[Exit code: N]`, as foreign clients write it: of a shell it is one."""
    found = _CODE_AT_END.search(text, max(len(text) - _LAST_LETTERS, 0))
    return int(found[1]) if found else None


def _timed_out(report: ToolResultFields) -> bool | None:
    if report.timed_out_after_ms is not None:
        return True
    asked = report.backgrounded_by_user or report.assistant_auto_backgrounded or report.status in _LAUNCHED
    return False if asked else None


def _took_ms(report: ToolResultFields) -> float | None:
    if report.total_duration_ms is not None:
        return report.total_duration_ms
    if report.duration_ms is not None:
        return report.duration_ms
    return report.duration_seconds * 1000 if report.duration_seconds is not None else None


def _agent(block: ToolResult, text: str, report: ToolResultFields) -> ThreadId | None:
    said = report.agent_id or (block.agent_id if "agentId: " in text else None)
    return ThreadId(said) if said else None


def _feedback(said: Said, text: str) -> str | None:
    return text.partition(_FEEDBACK)[2].strip() or None if said == "denied" and _FEEDBACK in text else None


def _side_file(text: str) -> str | None:
    found = _SIDE_FILE.match(text) if text.startswith(_PREVIEW) else None
    return found[1].strip() if found else None


def _more_than_preview(record: UserLine, text: str) -> str:
    """What `toolUseResult` holds of an output of which the result is only a preview.

    Of several results in a record it is of one: the one with the same beginning.
    """
    said = _words_of(opened(record.tool_use_result)) if record.tool_use_result else ""
    if len(said) <= len(text):
        return ""
    results = [part for part in record.message.content if isinstance(part, ToolResult)]
    begins = text.partition(_PREVIEW_BEGINS)[2][:_COMPARED].strip()
    return said if len(results) == 1 or said[: 2 * _COMPARED].lstrip().startswith(begins) else ""


def _words_of(report: Any) -> str:
    """The output in a tool's report: of a shell, a search, a file that was read, a tool of an MCP server."""
    if isinstance(report, dict):
        stdout, stderr, file = report.get("stdout"), report.get("stderr"), report.get("file")
        if isinstance(stdout, str):
            return f"{stdout}\n{stderr}" if isinstance(stderr, str) and stderr.strip() else stdout
        if isinstance(file, dict):
            return _words_of(file.get("content"))
        return next(filter(None, (_words_of(report.get(key)) for key in ("content", "result", "output"))), "")
    if isinstance(report, list):
        parts = (part.get("text") for part in report if isinstance(part, dict))
        return "\n".join(part for part in parts if isinstance(part, str))
    return report if isinstance(report, str) else ""


def _n_pictures(block: ToolResult) -> int:
    if not isinstance(block.content, list):
        return 0
    return sum(isinstance(part, (Image, DocumentBlock)) for part in block.content)


def _in_words(decision: PermissionDecision | None) -> str | None:
    if decision is None:
        return None
    reason = decision.reason_code or decision.source or decision.reason_type
    return " ".join(word for word in (decision.decision, reason) if word) or None


def _task_seen(
    block: ToolResult, text: str, report: ToolResultFields, where: dict[str, Any]
) -> list[LogEvent]:
    """What TaskOutput, BashOutput, TaskStop and KillShell tell; the asking call knows the task where they do not."""
    if block.is_error:
        return []
    asked_by = CallId(block.tool_use_id) if block.tool_use_id else None
    if report is _NOTHING or not _tells_of_task(report):
        return _told_by_words(text, asked_by, where)
    if report.message:
        stopped = _STOPPED.search(report.message)
        return [_seen(where, stopped[1], "killed", asked_by, None)] if stopped else []
    if report.task is not None:
        task, status, code = report.task.task_id, report.task.status, report.task.exit_code
    else:
        task, status, code = report.shell_id, report.status, report.exit_code
    end = end_of((status or "").strip())
    return [_seen(where, task, end, asked_by, code)] if end is not None else []


def _tells_of_task(report: ToolResultFields) -> bool:
    if report.shell_id or (report.task is not None and report.retrieval_status):
        return True
    return bool(report.message and _STOPPED.search(report.message))


def _told_by_words(text: str, asked_by: CallId | None, where: dict[str, Any]) -> list[LogEvent]:
    """The same from the text alone, as in subagents' logs, which often lack the report."""
    stopped = _STOPPED.search(text) if text.startswith('{"message":"Successfully ') else None
    if stopped:
        return [_seen(where, stopped[1], "killed", asked_by, None, is_by_words=True)]
    if not text.startswith(("<retrieval_status>", "<status>")):
        return []
    end = end_of((inside(text, "status") or "").strip())
    code = _number(inside(text, "exit_code"))
    return (
        [_seen(where, inside(text, "task_id"), end, asked_by, code, is_by_words=True)]
        if end is not None
        else []
    )


def _seen(
    where: dict[str, Any],
    task: str | None,
    end: End,
    asked_by: CallId | None,
    code: int | None,
    *,
    is_by_words: bool = False,
) -> TaskSeen:
    return TaskSeen(
        **where,
        task=TaskId(task.strip()) if task and task.strip() else None,
        end="error" if end == "ok" and code else end,
        asked_by=asked_by,
        exit_code=code,
        is_by_words=is_by_words,
    )


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 12 else None


def _read_report(raw: Raw) -> ToolResultFields:
    if not raw or memoryview(raw)[0] != _BRACE:
        return _NOTHING
    try:
        return _report.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _pick(opened(raw))


def _pick(value: Any) -> ToolResultFields:
    """The keys that fit, where a key of the same name has another shape."""
    if not isinstance(value, dict):
        return _NOTHING
    found = ToolResultFields()
    for key, field in _FIELDS.items():
        if key in value:
            try:
                setattr(found, field.name, msgspec.convert(value[key], field.type))
            except msgspec.ValidationError:
                continue  # a key of another tool that happens to have this name
    return found
