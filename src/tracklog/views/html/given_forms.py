"""Inputs that are made for people, as people would have them: things to do, questions with their options, plans, tasks.

Rules of this room
  1. A form is used only where it shows all that a value says: ids and the same words in another form may be left out.
     Anything else is JSON.
  2. The result is HTML that is safe already.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from tracklog.model.telling import Step, listed_steps
from tracklog.views.html.markdown import markdown
from tracklog.views.html.plain import legible, shown

_MOST_STEPS = 500
_STATUSES = frozenset({"pending", "in_progress", "completed"})
_PROSE = {"plan": frozenset({"ExitPlanMode"}), "prompt": frozenset({"Task", "Agent", "spawn_agent"})}
_KEYS_OF_A_QUESTION = {"question", "header", "options", "multiSelect", "id"}
_KEYS_OF_AN_OPTION = {"label", "description"}


def form_of(key: str, value: Any, *, tool: str) -> Markup | None:
    """A part of an input as a form of its own; None if there is none for it."""
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


def _steps(steps: list[Step]) -> Markup:
    return Markup('<ul class="to-do">{}</ul>').format(_joined(map(_step, steps)))


def _step(step: Step) -> Markup:
    """One thing to do; a status that we do not know is said in its own words."""
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
