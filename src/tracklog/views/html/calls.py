"""Render an unfolded call: its input, results, timing, and the lines that prove its verdict.

Inputs made for people are rendered as forms: checklists, questions with their options, plans, tasks.

Rules
  1. A form is used only where it shows all that a value says: ids and the same words in another form may be left out.
     Anything else is JSON.
  2. The result is safe HTML.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from markupsafe import Markup

from tracklog.app.pages.session import CallDetail, ThreadLines
from tracklog.model.assemble.values import own_side_file
from tracklog.model.call_summary import ChecklistItem, listed_steps
from tracklog.model.diff.calls import NOT_MADE
from tracklog.model.events import HookRan, Place, ToolReturned
from tracklog.model.records import opened
from tracklog.views.html.code import code, numbered
from tracklog.views.html.diffs import FileDiff, diffs_of_call
from tracklog.views.html.legible import legible, shown
from tracklog.views.html.markdown import markdown
from tracklog.views.html.pictures import Pictures, pictures_of
from tracklog.views.html.terminal import last_lines, terminal
from tracklog.views.text.calls import source_words, stated_words, verdict_words

_MOST_STEPS = 500
_STATUSES = frozenset({"pending", "in_progress", "completed"})
_PROSE = {"plan": frozenset({"ExitPlanMode"}), "prompt": frozenset({"Task", "Agent", "spawn_agent"})}
_KEYS_OF_A_QUESTION = {"question", "header", "options", "multiSelect", "id"}
_KEYS_OF_AN_OPTION = {"label", "description"}


def form_of(key: str, value: Any, *, tool: str) -> Markup | None:
    """A part of an input in its own form; None if there is none for it."""
    if isinstance(value, str):
        return _prose(value) if tool in _PROSE.get(key, ()) else None
    if key in ("todos", "plan"):
        steps = listed_steps(value)
        return _steps(steps) if steps is not None and len(steps) <= _MOST_STEPS else None
    if key == "questions" and _are_questions(value):
        return _joined(map(_question, value))
    return None


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup().join(parts)


def _prose(text: str) -> Markup:
    return Markup('<div class="md">{}</div>').format(markdown(text))


def _steps(steps: list[ChecklistItem]) -> Markup:
    return Markup('<ul class="to-do">{}</ul>').format(_joined(map(_step, steps)))


def _step(step: ChecklistItem) -> Markup:
    """One item of a checklist; an unknown status is shown in its own words."""
    word = shown(step.status.replace("_", " "), most=40)
    looks = f"to-do-{step.status}" if step.status in _STATUSES else "to-do-other"
    return Markup('<li class="{}"><span class="status">{}</span> {}</li>').format(
        looks, word, legible(step.text)
    )


def _are_questions(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= _MOST_STEPS and all(map(_is_question, value))


def _is_question(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() <= _KEYS_OF_A_QUESTION:
        return False
    options = value.get("options", [])
    return (
        isinstance(value.get("question"), str)
        and isinstance(value.get("header", ""), str)
        and isinstance(value.get("multiSelect", False), bool)
        and isinstance(value.get("id", ""), str)
        and isinstance(options, list)
        and len(options) <= _MOST_STEPS
        and all(map(_is_option, options))
    )


def _is_option(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() <= _KEYS_OF_AN_OPTION
        and isinstance(value.get("label"), str)
        and isinstance(value.get("description", ""), str)
    )


def _question(value: dict[str, Any]) -> Markup:
    head = (
        Markup('<span class="status">{}</span> ').format(shown(value["header"]))
        if value.get("header")
        else ""
    )
    several = Markup(' <span class="muted">several may be chosen</span>') if value.get("multiSelect") else ""
    options = _joined(map(_option, value.get("options", [])))
    return Markup('<div class="asked"><p>{}{}{}</p>{}</div>').format(
        head, legible(value["question"]), several, Markup("<ul>{}</ul>").format(options) if options else ""
    )


def _option(value: dict[str, Any]) -> Markup:
    words = value.get("description")
    more = Markup(' <span class="muted">{}</span>').format(legible(words)) if words else ""
    return Markup("<li><b>{}</b>{}</li>").format(legible(value["label"]), more)


MOST_LETTERS = 16_000
_LINES = 40
_SHORT = 160  # letters
_COMMANDS = ("command", "cmd", "script")
_REPORTERS = frozenset({"Task", "Agent", "spawn_agent", "wait_agent"})  # their results are prose for people
_SHOWN_AS_LINES = frozenset({"old_string", "new_string", "new_source", "content", "edits", "input", "patch"})
_SHELLS = frozenset(
    {"Bash", "PowerShell", "shell", "exec_command", "local_shell", "shell_command", "container.exec"}
)


class InputField(NamedTuple):
    """A part of an input; a short one is a text on one line."""

    name: str
    html: Markup
    short: str | None = None
    n_cut: int = 0  # letters that are not shown


class Came(NamedTuple):
    """A result."""

    words: str
    html: Markup
    call: str  # its id in the log, which may occur again
    seq: int | None
    n_hidden: int  # lines that are not shown
    length: int
    pictures: Pictures
    at: str | None
    is_prose: bool
    source: str = ""  # where its text was read, if not in the result itself


class EvidenceLine(NamedTuple):
    """A line that proves a phase or the verdict."""

    path: str
    line: int
    seq: int | None


class PhaseView(NamedTuple):
    """A phase of a call."""

    what: str
    at: str | None
    proof: EvidenceLine


class CallView(NamedTuple):
    """All that the page shows of a call."""

    id: str
    seq: int | None
    name: str
    verdict: str
    words: str
    why: str
    stated: str
    given: list[InputField]
    ran: list[InputField]
    files: list[FileDiff]  # that it changed, or would have changed
    is_made: bool  # whether it did change them
    came: list[Came]
    phases: list[PhaseView]
    evidence: list[EvidenceLine]
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


def _proof(place: Place, lines: ThreadLines) -> EvidenceLine:
    return EvidenceLine(place.path, place.line, lines.seq_of(place.path, place.line))


def _given(given: Any, name: str, *, hides: frozenset[str]) -> list[InputField]:
    if given is None:
        return []
    if not isinstance(given, dict):
        return [] if hides else [_long("", given, name)]
    return [_part(str(key), value, name) for key, value in given.items() if key not in hides]


def _part(key: str, value: Any, tool: str) -> InputField:
    is_whole = len(value if isinstance(value, str) else _as_json(value)) <= MOST_LETTERS
    if is_whole and (form := form_of(key, value, tool=tool)) is not None:
        return InputField(shown(key), form)
    is_short = isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) <= _SHORT)
    if is_short and "\n" not in str(value) and not (tool in _SHELLS and key in _COMMANDS):
        return InputField(shown(key), Markup(), shown(value if isinstance(value, str) else json.dumps(value)))
    return _long(key, value, tool)


def _long(key: str, value: Any, tool: str) -> InputField:
    """A part as a block of lines."""
    if isinstance(value, str):
        text, language = value, "bash" if tool in _SHELLS and key in _COMMANDS else None
    else:
        text, language = _as_json(value), "json"
    html = code(text[:MOST_LETTERS], language=language)
    return InputField(shown(key), html, n_cut=max(len(text) - MOST_LETTERS, 0))


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
