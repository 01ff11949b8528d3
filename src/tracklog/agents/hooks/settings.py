"""Our hooks in the text of settings: put in, found, and taken out again without a trace.

Claude Code (settings.json) and Codex (hooks.json) share the form:
    {"hooks": {"<Event>": [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}

Rules
  1. Ours is a group of its own, the last of its event: groups of others keep their places, by which Codex knows them.
  2. We write only what we can take back: before a text is given out it is tried that taking out gives the old text.
  3. Of a container that was empty before we remember what stood between its brackets; others that get empty were ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tracklog.agents.hooks.command import is_our_command
from tracklog.sources.settings_text import (
    Addition,
    Container,
    Edit,
    JsonMember,
    Malformed,
    appended,
    applied,
    array_at,
    cut,
    is_blank,
    object_at,
    root_of,
    style_of,
    value_at,
)

Handlers = Mapping[str, Mapping[str, Any]]  # by event


class InstalledHooks(NamedTuple):
    """What must be known of a text to take our hooks out of it to the last byte."""

    is_new: bool = False  # there was no file
    blank: str | None = None  # the whole text, if it was blank
    empty: Mapping[
        str, str
    ] = {}  # the containers that held nothing, by path: the text between their brackets


class LocatedHook(NamedTuple):
    """A hook in the text of a settings file."""

    event: str
    group: int
    position: int  # in its group
    matcher: str | None
    handler: Mapping[str, Any]


def with_hooks(text: str | None, handlers: Handlers) -> tuple[str, InstalledHooks]:
    """The text with our hooks in it, which it must not hold yet."""
    groups = {event: {"hooks": [dict(one)]} for event, one in handlers.items()}
    if text is None or is_blank(text):
        before = InstalledHooks(is_new=text is None, blank=text)
        style = style_of(text or "")
        new = f"{text or ''}{style.written({'hooks': _lists(groups)}, '', on_lines=True)}{style.newline}"
    else:
        edits, before = _additions(text, groups)
        new = applied(text, edits)
    if without_hooks(new, before) != text:
        raise Malformed(new, 0, "our hooks could not be taken out again as they were put in")
    return new, before


def _lists(groups: Mapping[str, Any]) -> dict[str, Any]:
    return {event: [group] for event, group in groups.items()}


def _additions(text: str, groups: Mapping[str, Any]) -> tuple[list[Edit], InstalledHooks]:
    root, style = root_of(text), style_of(text)
    empty = {} if root.parts else {"": text[root.open + 1 : root.close]}
    part = root.last("hooks")
    if part is None:
        edit = appended(text, root, [Addition("hooks", _lists(groups))], style)
        return [edit], InstalledHooks(empty=empty)
    hooks = object_at(text, part.value, "hooks")
    if not hooks.parts:
        empty["hooks"] = text[hooks.open + 1 : hooks.close]
    edits, missing = [], []
    for event, group in groups.items():
        place = hooks.last(event)
        if place is None:
            missing.append(Addition(event, [group]))
            continue
        there = array_at(text, place.value, f"hooks.{event}")
        if not there.parts:
            empty[f"hooks.{event}"] = text[there.open + 1 : there.close]
        edits.append(appended(text, there, [Addition(None, group)], style))
    if missing:
        edits.append(appended(text, hooks, missing, style))
    return edits, InstalledHooks(empty=empty)


def without_hooks(text: str, before: InstalledHooks) -> str | None:
    """The text without our hooks; None if nothing is left of a file that we made."""
    if is_blank(text):
        return text
    root = root_of(text)
    edits, gone = _cuts_in(text, root, before)
    if not edits and not gone:
        return text
    if len(gone) == len(root.parts) and (before.is_new or before.blank is not None):
        return before.blank
    return applied(text, [*edits, *cut(root, gone, before.empty.get("", ""))])


def _cuts_in(text: str, root: Container, before: InstalledHooks) -> tuple[list[Edit], set[int]]:
    """What is to be cut inside of members of the root, and which members go as a whole."""
    edits: list[Edit] = []
    gone: set[int] = set()
    for n, part in enumerate(root.parts):
        if part.key != "hooks" or text[part.value] != "{":
            continue
        hooks = object_at(text, part.value, "hooks")
        inner, events = _cuts_in_hooks(text, hooks, before)
        is_emptied = bool(events) and len(events) == len(hooks.parts)
        if is_emptied and "hooks" not in before.empty:
            gone.add(n)
        else:
            edits += [*inner, *cut(hooks, events, before.empty.get("hooks", ""))] if events or inner else []
    return edits, gone


def _cuts_in_hooks(text: str, hooks: Container, before: InstalledHooks) -> tuple[list[Edit], set[int]]:
    edits: list[Edit] = []
    gone: set[int] = set()
    for n, part in enumerate(hooks.parts):
        if text[part.value] != "[":
            continue
        groups = array_at(text, part.value, "an event")
        inner, emptied = _cuts_in_event(text, groups)
        path = f"hooks.{part.key}"
        if emptied and len(emptied) == len(groups.parts) and path not in before.empty:
            gone.add(n)
        elif emptied or inner:
            edits += [*inner, *cut(groups, emptied, before.empty.get(path, ""))]
    return edits, gone


def _cuts_in_event(text: str, groups: Container) -> tuple[list[Edit], set[int]]:
    edits: list[Edit] = []
    gone: set[int] = set()
    for n, group in enumerate(groups.parts):
        handlers = _handlers_of(text, group)
        ours = {i for i, part in enumerate(handlers.parts) if _is_ours(text, part)} if handlers else set()
        if handlers and ours and len(ours) == len(handlers.parts):
            gone.add(n)
        elif handlers and ours:
            edits += cut(handlers, ours)
    return edits, gone


def _handlers_of(text: str, group: JsonMember) -> Container | None:
    if text[group.value] != "{":
        return None
    part = object_at(text, group.value, "a group").last("hooks")
    return array_at(text, part.value, "hooks") if part and text[part.value] == "[" else None


def _is_ours(text: str, part: JsonMember) -> bool:
    value, _ = value_at(text, part.value)
    return isinstance(value, dict) and is_our_command(value.get("command"))


def our_hooks(text: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Our hooks anywhere in the text, by event."""
    if is_blank(text):
        return []
    found: list[tuple[str, Mapping[str, Any]]] = []
    for part in root_of(text).parts:
        if part.key == "hooks" and text[part.value] == "{":
            found += _ours_in(text, object_at(text, part.value, "hooks"))
    return found


def _ours_in(text: str, hooks: Container) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for part in hooks.parts:
        groups = array_at(text, part.value, "an event").parts if text[part.value] == "[" else ()
        for handlers in filter(None, (_handlers_of(text, group) for group in groups)):
            ours = [one for one in handlers.parts if _is_ours(text, one)]
            yield from ((part.key or "", value_at(text, one.value)[0]) for one in ours)


def holds_just(text: str | None, handlers: Handlers) -> bool:
    """Whether our hooks in the text are these and no others."""
    if text is None:
        return False
    wanted = [(event, {**one, "timeout": str(one["timeout"])}) for event, one in handlers.items()]
    return sorted(our_hooks(text), key=_by_event) == sorted(wanted, key=_by_event)


def _by_event(pair: tuple[str, Mapping[str, Any]]) -> str:
    return pair[0]


def hooks_in(document: Any) -> Iterator[LocatedHook]:
    """Every hook of a document of this form, in the order in which it lists them."""
    events = document.get("hooks") if isinstance(document, dict) else None
    for event, groups in events.items() if isinstance(events, dict) else ():
        for n, group in enumerate(groups if isinstance(groups, list) else ()):
            yield from _hooks_of(event, n, group)


def _hooks_of(event: str, n: int, group: Any) -> Iterator[LocatedHook]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    for i, one in enumerate(handlers if isinstance(handlers, list) else ()):
        if isinstance(one, dict):
            matcher = group.get("matcher")
            yield LocatedHook(event, n, i, matcher if isinstance(matcher, str) else None, one)
