"""What sessions do now, for commands that read logs or the index: the board's own rules, asked once.

Rules
  1. `state_of` decides, as on the board, from the same signs: log, hooks, registry, open questions, processes.
  2. What log and hooks say is kept with the session (`Signs`), so that a later question needs neither of them.
  3. Registries and processes are looked at once for each object, and only when a session needs it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tracklog.agents.base import ProcessView, SessionFacts
from tracklog.agents.supported import support_for
from tracklog.liveness.log_signs import LogSign
from tracklog.model.ids import MAIN
from tracklog.model.states import SILENT_MS, Life, LiveState, Sign, not_ahead, state_of
from tracklog.sources.process_start import programs

if TYPE_CHECKING:
    from tracklog.home import Home
    from tracklog.model.session import Session


_OPEN = ("running", "lost")
_OPEN_OUTCOMES = ("running", "unknown")
_OPEN_STATES = ("running", "crashed", "unknown")


class Signs(msgspec.Struct, array_like=True, frozen=True):
    """What the log and the hooks of a session say that it does."""

    log: LogSign | None = None
    hook: Sign | None = None
    cwd: str | None = None  # the last folder that it worked in
    entrypoint: str | None = None


class KnownOf(NamedTuple):
    """A session, as far as one must know it to say whether its process lives."""

    agent: str
    id: str
    paths: Sequence[str]  # of its logs; where clients hold logs open, those of its main thread
    last_ms: int  # the newest moment that any of its logs names
    signs: Signs


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Signs).decode


class SessionLives:
    """Looks at registries, processes and open questions once, and says of each session what it does."""

    def __init__(
        self, home: Home | None = None, *, homes: Iterable[Path] = (), now_ms: int | None = None
    ) -> None:
        """`home` has the questions that tracklog itself asks. Clients are looked for in `homes`, and in those of the logs."""
        self._home = home
        self._homes = list(homes)
        self.now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        self._views: dict[str, ProcessView] = {}  # by agent

    def state_of(self, known: KnownOf) -> LiveState:
        """What it does now."""
        known = self._without_future(known)
        log = known.signs.log.at(self.now_ms) if known.signs.log is not None else None
        facts = SessionFacts(
            known.id,
            known.paths,
            known.last_ms,
            does=lambda: log.state if log else None,
            cwd=known.signs.cwd,
            entrypoint=known.signs.entrypoint,
        )
        view = self._view(known.agent)
        found = view.registration_of(facts)
        asked = self._asks.get((known.agent, known.id))
        signs = [known.signs.hook, found.sign if found else None, log, asked]
        told = [sign for sign in signs if sign is not None]
        alive = found.alive if found is not None else view.alive(facts)
        return state_of(told, alive, now_ms=self.now_ms, last_ms=known.last_ms)

    def life_of(self, known: KnownOf) -> Life:
        """The same, as the model takes it."""
        known = self._without_future(known)
        state = self.state_of(known)
        life = life_in(state)
        is_fresh = abs(self.now_ms - known.last_ms) <= SILENT_MS
        word = state.alive.life if life.is_alive is not None else "fresh" if is_fresh else "silent"
        return life._replace(word=word)

    def living(self, agent: str, homes: Iterable[Path]) -> set[str]:
        """The sessions whose process lives, or the logs that one has open: whatever else was thought of them."""
        view = self._view(agent)
        view.add_homes(homes)
        opened = view.open_sessions()
        return {*opened.ids, *opened.logs}

    def _without_future(self, known: KnownOf) -> KnownOf:
        """A session whose log was written by a clock ahead of ours, with the times at which it was really written."""
        log = known.signs.log
        if max(known.last_ms, log.sign.at_ms if log is not None else 0) <= self.now_ms:
            return known
        written_ms = max((at for path in known.paths if (at := _written_ms(path)) is not None), default=None)
        if log is not None:
            at_ms = not_ahead(log.sign.at_ms, self.now_ms, written_ms)
            log = log._replace(sign=log.sign._replace(at_ms=at_ms))
        return known._replace(
            last_ms=not_ahead(known.last_ms, self.now_ms, written_ms),
            signs=msgspec.structs.replace(known.signs, log=log),
        )

    def _view(self, agent: str) -> ProcessView:
        """The clients of an agent, at one moment for all questions."""
        if agent not in self._views:
            view = support_for(agent).processes.view(self._homes, programs=lambda: self._programs)
            view.refresh(self.now_ms)
            self._views[agent] = view
        return self._views[agent]

    @cached_property
    def _programs(self) -> dict[int, bytes] | None:
        return programs()

    @cached_property
    def _asks(self) -> dict[tuple[str, str], Sign]:
        if self._home is None or not os.path.isdir(self._home.runs / "now"):
            return {}
        from tracklog.liveness.permission_requests import open_permission_requests  # most sessions do not run

        return {(ask.agent, ask.session): ask.sign for ask in reversed(open_permission_requests(self._home))}


def _written_ms(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return None


def life_in(state: LiveState) -> Life:
    """What a state of the board says of the process."""
    alive = state.alive
    is_alive = {"alive": True, "gone": False}.get(alive.life)
    return Life(
        is_alive, alive.why, alive.is_sure, state.state, tuple(state.evidence), state.since_ms, alive.began_ms
    )


def rests_on_life(session: Session) -> bool:
    """Whether a verdict, an outcome or the state of a subagent depends on whether the process lives."""
    calls = any(call.verdict in _OPEN or call.outcome in _OPEN_OUTCOMES for call in session.calls)
    return calls or any(thread.state in _OPEN_STATES for thread in session.threads if thread.id != MAIN)


def packed(signs: Signs) -> bytes:
    """The signs, to be kept."""
    return _encode(signs)


def unpacked(text: bytes | None) -> Signs | None:
    """What was kept; None if it is of no use."""
    try:
        return _decode(text) if text is not None else None
    except (msgspec.DecodeError, ValueError):
        return None
