"""How far an earlier watch came: where the next one goes on, so that nothing is lost and nothing told twice.

Rules of this room
  1. It is written down when a watch ends, and every now and then. What a killed one had told since stands in its journal.
  2. What cannot be read is as if nobody had watched before.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from tracklog.live.journal import LiveEvent
from tracklog.live.states import LiveState
from tracklog.store.home import write_private

_NAME = "before.json"


class ToldState(msgspec.Struct, frozen=True, array_like=True):
    """A state, as far as it is told apart from others."""

    state: str
    waiting_for: str | None = None
    call: str | None = None
    doing: str | None = None  # where no call says it


class Before(msgspec.Struct):
    """What was told so far."""

    n: int = 0  # the last event
    sizes: dict[str, int] = {}  # of each log, by path: how far it was told
    spool: str = ""  # how far the spool was told, in its own words
    states: dict[str, ToldState] = {}  # of each session, by `agent:id`
    lines: set[tuple[str, int, str]] = set()  # lines that were told behind that: path, number and time


_decode = msgspec.json.Decoder(Before).decode


def told_state(state: LiveState) -> ToldState:
    """A call is the same in whatever words: what Codex calls `exec_command` in its log is `Bash` for its hooks."""
    return ToldState(state.state, state.waiting_for, state.call, None if state.call else state.doing)


def key_of(agent: str | None, session: str | None) -> str:
    """How a session is called here."""
    return f"{agent}:{session}"


def read_before(folder: Path, behind: Iterable[LiveEvent]) -> Before | None:
    """What an earlier watch wrote down, and what its journal has behind that; None if nobody watched before."""
    try:
        before = _decode((folder / _NAME).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    for event in behind:
        if event.n <= before.n:
            continue
        if event.path is not None and event.line is not None:
            before.lines.add((event.path, event.line, event.at))
        if event.event == "state_changed":
            facts = event.data
            call = facts.get("call")
            before.states[key_of(event.agent, event.session)] = ToldState(
                str(facts.get("state")), facts.get("waiting_for"), call, None if call else facts.get("doing")
            )
    return before


def write_before(folder: Path, before: Before) -> None:
    """Writes it down. Of a path that is no text it is not remembered how far it was told."""
    sizes = {path: size for path, size in before.sizes.items() if _is_text(path)}
    states = {key: state for key, state in before.states.items() if _is_text(repr(state) + key)}
    kept = Before(before.n, sizes, before.spool, states)
    try:
        write_private(folder / _NAME, msgspec.json.encode(kept))
    except UnicodeEncodeError:
        write_private(folder / _NAME, msgspec.json.encode(Before(before.n, sizes, before.spool)))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
