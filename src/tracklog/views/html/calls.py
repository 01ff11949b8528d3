"""A call, unfolded: what was asked for, what came back, when, and the lines that prove it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from markupsafe import Markup

from tracklog.model.call_values import own_side_file
from tracklog.model.events import HookRan, Place, ToolReturned
from tracklog.pipeline.thread_lines import ThreadLines
from tracklog.pipeline.thread_page import CallDetail
from tracklog.records.base import opened
from tracklog.views.cli.call_words import source_words, stated_words, verdict_words
from tracklog.views.html.call_changes import NOT_MADE
from tracklog.views.html.call_diffs import diffs_of_call
from tracklog.views.html.code import code
from tracklog.views.html.given_forms import form_of
from tracklog.views.html.markdown import markdown
from tracklog.views.html.numbered import numbered
from tracklog.views.html.patches import FileDiff
from tracklog.views.html.pictures import Pictures, pictures_of
from tracklog.views.html.plain import shown
from tracklog.views.html.terminal import last_lines, terminal

MOST_LETTERS = 16_000
_LINES = 40
_SHORT = 160  # letters
_COMMANDS = ("command", "cmd", "script")
_REPORTERS = frozenset(
    {"Task", "Agent", "spawn_agent", "wait_agent"}
)  # what they bring back is written for people
_SHOWN_AS_LINES = frozenset({"old_string", "new_string", "new_source", "content", "edits", "input", "patch"})
_SHELLS = frozenset(
    {"Bash", "PowerShell", "shell", "exec_command", "local_shell", "shell_command", "container.exec"}
)


class Given(NamedTuple):
    """A part of an input; a short one is a text on one line."""

    name: str
    html: Markup
    short: str | None = None
    n_cut: int = 0  # letters that are not shown


class Came(NamedTuple):
    """A result."""

    words: str
    html: Markup
    call: str  # as the log calls it: the same id may come again
    seq: int | None
    n_hidden: int  # lines that are not shown
    length: int
    pictures: Pictures
    at: str | None
    is_prose: bool
    source: str = ""  # where its text was read, if not in the result itself


class Proof(NamedTuple):
    """A line that proves something."""

    path: str
    line: int
    seq: int | None


class PhaseView(NamedTuple):
    """A moment in the life of a call."""

    what: str
    at: str | None
    proof: Proof


class CallView(NamedTuple):
    """All that its page tells of a call."""

    id: str
    seq: int | None
    name: str
    verdict: str
    words: str
    why: str
    stated: str
    given: list[Given]
    ran: list[Given]
    files: list[FileDiff]  # that it changed, or was to change
    is_made: bool  # whether it came to that
    came: list[Came]
    phases: list[PhaseView]
    evidence: list[Proof]
    hooks: list[HookRan]
    error: str
    decision: str
    feedback: str
    exit_code: int | None
    spawned: str | None
    parallel_with: list[str]
    inherited_by: list[str]


def call_view(detail: CallDetail, *, lines: ThreadLines) -> CallView:
    """The call as its template shows it."""
    call = detail.call
    report = next((one.report for one in reversed(detail.results) if one.report), None)
    files = diffs_of_call(detail.input, opened(report) if report else None)
    return CallView(
        id=call.id,
        seq=detail.seq,
        name=shown(call.name),
        verdict=call.verdict,
        words=verdict_words(call),
        why=call.why,
        stated=stated_words(call),
        given=_given(detail.input, call.name, hides=_SHOWN_AS_LINES if files else frozenset()),
        ran=_given(detail.ran_input, call.name, hides=frozenset()) if detail.ran_input is not None else [],
        files=files,
        is_made=call.verdict not in NOT_MADE,
        came=[_came(one, detail, lines) for one in detail.results],
        phases=[PhaseView(one.what, one.at, _proof(one.place, lines)) for one in call.phases],
        evidence=[_proof(one, lines) for one in call.evidence],
        hooks=detail.hooks,
        error=call.error or "",
        decision=call.decision or "",
        feedback=call.feedback or "",
        exit_code=call.exit_code,
        spawned=call.spawned,
        parallel_with=list(call.parallel_with),
        inherited_by=list(call.inherited_by),
    )


def _proof(place: Place, lines: ThreadLines) -> Proof:
    return Proof(place.path, place.line, lines.seq_of(place.path, place.line))


def _given(given: Any, name: str, *, hides: frozenset[str]) -> list[Given]:
    if given is None:
        return []
    if not isinstance(given, dict):
        return [] if hides else [_long("", given, name)]
    return [_part(str(key), value, name) for key, value in given.items() if key not in hides]


def _part(key: str, value: Any, tool: str) -> Given:
    is_whole = len(value if isinstance(value, str) else _as_json(value)) <= MOST_LETTERS
    if is_whole and (form := form_of(key, value, tool=tool)) is not None:
        return Given(shown(key), form)
    is_short = isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) <= _SHORT)
    if is_short and "\n" not in str(value) and not (tool in _SHELLS and key in _COMMANDS):
        return Given(shown(key), Markup(), shown(value if isinstance(value, str) else json.dumps(value)))
    return _long(key, value, tool)


def _long(key: str, value: Any, tool: str) -> Given:
    """A part that has lines of its own."""
    if isinstance(value, str):
        text, language = value, "bash" if tool in _SHELLS and key in _COMMANDS else None
    else:
        text, language = _as_json(value), "json"
    html = code(text[:MOST_LETTERS], language=language)
    return Given(shown(key), html, n_cut=max(len(text) - MOST_LETTERS, 0))


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except (RecursionError, ValueError):
        return "nested too deep to show"


def _came(result: ToolReturned, detail: CallDetail, lines: ThreadLines) -> Came:
    tool = detail.call.name
    text = result.fullest_text
    part, n_hidden = last_lines(text, _LINES) if tool in _SHELLS else (text, 0)
    seq = lines.seq_of(result.place.path, result.place.line)
    words = [result.said, "a note of a later resume" if result.why == "resumed" else ""]
    return Came(
        words=", ".join(word for word in words if word),
        html=markdown(part) if tool in _REPORTERS else _output(part[:MOST_LETTERS], detail.input),
        is_prose=tool in _REPORTERS,
        call=result.call or "",
        seq=seq,
        n_hidden=n_hidden,
        length=len(text),
        source=source_words(
            result.text_source, own_side_file(result.side_file), is_whole=result.is_text_whole
        ),
        pictures=pictures_of(lines.raw(seq), result.n_images) if seq else Pictures(),
        at=result.at,
    )


def _output(text: str, given: Any) -> Markup:
    """A file that was read, as code; anything else as a terminal shows it."""
    path = given.get("file_path") if isinstance(given, dict) else None
    return (numbered(text, path=path) if isinstance(path, str) else None) or terminal(text)
