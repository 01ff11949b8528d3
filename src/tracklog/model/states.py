"""Decide what a session does now, from all signs of it.

Rules
  1. A sign is what one source says of one session at its newest; a source has at most one.
  2. The newest sign wins; at the same moment the stronger source: hook, registry, log, process. No stronger source
     wins over a newer one: an Esc 200 ms after a PreToolUse would leave the session working for ever.
  3. Hooks and log lines say that something happened at a moment. The registry's status holds until it is
     rewritten. A newer hook or line beats it for two seconds, in which the file has time to follow; if it does
     not, the file is right: another hook kept the turn going, or refused the prompt. A line that follows the file
     within 300 ms is of the same fact. A goodbye needs no file to follow. A permission request that tracklog
     received itself holds as long as it is open.
  4. An open call ends no wait: it may be the very call that needs the permission. The result of a call overrides
     what a hook says of that call: hooks write when they run, measured up to 600 ms behind the fact.
  5. A process that is gone was ended or has crashed. It ended if it cleaned up behind itself, said goodbye, or had
     nothing to do. If nothing shows whether it lives, ten minutes of silence make work and waiting unknown; a turn
     that is over stays over. A crash counts from the last sign of life, not from when it was noticed.
  6. A process that began after the newest sign of its session has not done what the log shows as open: it is idle.
  7. The order of the signs in a list does not matter, and nothing here reads a file or a clock.
  8. `where` is for people and scripts: it names the hook, the file or the line, never a path of the machine.

| the newest sign         | the process is alive     | gone, left properly | gone, file or log left behind    | cannot be known          |
|-------------------------|--------------------------|---------------------|----------------------------------|--------------------------|
| working                 | working                  | ended               | crashed                          | working, later unknown   |
| waiting                 | waiting                  | ended               | crashed                          | waiting, later unknown   |
| idle                    | idle                     | ended               | ended                            | idle                     |
| ended                   | ended                    | ended               | ended                            | ended                    |
| none                    | unknown                  | ended               | ended                            | unknown                  |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from tracklog.model.call_summary import told
from tracklog.sources.process_start import UNKNOWN_PROCESS, Alive

Source = Literal["hook", "registry", "log", "process", "ask"]
Doing = Literal["working", "waiting", "idle", "ended"]
WaitingFor = Literal["permission", "answer", "plan"]
THINKING = "thinking"
_LONGEST_DOING = 200
_ASKING: Mapping[str, WaitingFor] = {
    "AskUserQuestion": "answer",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "request_user_input": "answer",
}


class Sign(NamedTuple):
    """What a source says that a session does since `at_ms`."""

    source: Source
    state: Doing
    at_ms: int
    doing: str | None = None  # `Bash: npm test`, `thinking`
    call: str | None = None
    waiting_for: WaitingFor | None = None
    where: str = ""  # `hook PermissionRequest`, `sessions/4410.json`, `log line 312`
    has_background: bool = False
    open_calls: tuple[str, ...] = ()  # calls without a result, oldest first
    over: frozenset[str] = frozenset()  # calls of this turn that have their result


def not_ahead(at_ms: int, now_ms: int, written_ms: int | None = None) -> int:
    """A moment, unless a clock was ahead: then when its file was last written, so that it does not move with each question."""
    return at_ms if at_ms <= now_ms else min(now_ms, now_ms if written_ms is None else written_ms)


def asked_by(tool: str | None) -> WaitingFor | None:
    """What a call of this tool waits for by itself: such a tool does nothing but ask the person."""
    return _ASKING.get(tool or "")


def told_call(tool: str | None, given: Any, cwd: str | None = None) -> str:
    """A call in a few words, on one line: `Bash: npm test`."""
    words = " ".join(told(given, cwd).split())
    name = tool or "a tool"
    said = f"{name}: {words}" if words else name
    return said if len(said) <= _LONGEST_DOING else f"{said[: _LONGEST_DOING - 1]}…"


REGISTERS_MS = 10_000  # a client writes lines before it registers


class Life(NamedTuple):
    """Whether the process lives (None: nobody knows), what says so, and what the session does."""

    is_alive: bool | None = None
    why: str = ""  # `process 4410 lives`
    is_sure: bool = True  # False: no process was found that could be it
    state: str | None = None  # as the board says it; None: nobody looked
    evidence: tuple[str, ...] = ()
    since_ms: int | None = None
    began_ms: int | None = None  # when the process did, at the latest
    word: str | None = None  # on what verdicts of open calls rest: `alive`, `gone`, `fresh`, `silent`

    def at_call(self, called_ms: int) -> Life:
        """The same for a call: a process that began after it never made it."""
        if self.is_alive and self.began_ms is not None and 0 <= called_ms < self.began_ms - REGISTERS_MS:
            return self._replace(
                is_alive=False, why="it was made before the process that now has the session"
            )
        return self


NOT_LOOKED = Life()
State = Literal["working", "waiting", "idle", "ended", "crashed", "pending", "lost", "unknown"]
TOGETHER_MS = 300  # signs of one fact from several sources lie so close together
SETTLES_MS = 2_000  # so long may the registry's file lag behind a hook or a line
SILENT_MS = 600_000  # a state lasts so long if nothing shows whether its process lives
_STRENGTH = {"ask": 4, "hook": 3, "registry": 2, "log": 1, "process": 0}
_BACKGROUND = "something runs in the background"
_NOTHING_SHOWS = "nothing shows whether its process lives"


class LiveState(msgspec.Struct, frozen=True, kw_only=True):
    """What a session does, since when, and what that rests on."""

    state: State
    waiting_for: WaitingFor | None = None
    doing: str | None = None
    call: str | None = None
    since_ms: int | None = None
    evidence: list[str] = []
    pid: int | None = None
    has_background: bool = False
    alive: Alive = UNKNOWN_PROCESS  # what it rests on, too


def state_of(signs: Sequence[Sign], alive: Alive, *, now_ms: int, last_ms: int = 0) -> LiveState:
    """The state that all signs of a session add up to; `last_ms` is the newest moment that its logs name."""
    return msgspec.structs.replace(_state_of(signs, alive, now_ms, min(last_ms, now_ms)), alive=alive)


def _state_of(signs: Sequence[Sign], alive: Alive, now_ms: int, last_ms: int) -> LiveState:
    past = [sign._replace(at_ms=min(sign.at_ms, now_ms)) for sign in signs]  # no clock is ahead of ours
    happened = _last_happening(past)
    asked = _newest(sign for sign in past if sign.source == "ask")  # it is there only while it is open
    happened = _newest(one for one in (happened, _begun(past, alive)) if one is not None)
    winner = asked or _decided(_newest(sign for sign in past if sign.source == "registry"), happened, now_ms)
    if winner is None:
        state: State = "ended" if alive.life == "gone" else "unknown"
        since_ms = alive.at_ms or (last_ms or None if state == "ended" else None)
        return LiveState(state=state, since_ms=since_ms, evidence=_evidence([], alive), pid=alive.pid)
    if alive.life == "gone":
        last_ms = max(last_ms, *(sign.at_ms for sign in past))
        return _gone(winner, happened, alive, last_ms)
    if alive.life == "unknown" and winner.state != "ended" and _is_silent(past, now_ms):
        alive = alive if alive.why else alive._replace(why=_NOTHING_SHOWS)
        if winner.state != "idle":
            evidence = _evidence([winner], alive)
            return LiveState(state="unknown", since_ms=winner.at_ms, evidence=evidence, pid=alive.pid)
    return _told(winner, happened, past, alive)


def _begun(past: list[Sign], alive: Alive) -> Sign | None:
    """That a process began after all that is known of its session: what was being done then, another one did."""
    began_ms = alive.began_ms if alive.life == "alive" else None
    if began_ms is None or not past or max(sign.at_ms for sign in past) >= began_ms - REGISTERS_MS:
        return None
    return Sign("process", "idle", began_ms, where=alive.why)


def pending(asked_ms: int, parent: LiveState, where: str) -> LiveState:
    """The state of work that was asked for and has no log yet: lost when the one who asked for it is no more."""
    is_lost = parent.state in ("ended", "crashed")
    return LiveState(
        state="lost" if is_lost else "pending",
        since_ms=asked_ms,
        evidence=[where, *(parent.evidence if is_lost else [])],
        pid=parent.pid,
    )


def _last_happening(signs: list[Sign]) -> Sign | None:
    """The newest of hooks, lines and processes, without what was outrun by another."""
    happened = [sign for sign in signs if sign.source not in ("registry", "ask")]
    over = {call for sign in happened for call in sign.over}
    current = [one for one in happened if one.call not in over]
    waits = [one for one in current if one.state == "waiting"]
    return _newest(one for one in current if not _leaves_open(one, waits))


def _leaves_open(sign: Sign, waits: list[Sign]) -> bool:
    """Whether all it says is that calls are open, one of which is waited for."""
    return sign.state == "working" and any(
        wait.source != sign.source and (wait.call in sign.open_calls if wait.call else _is_before(sign, wait))
        for wait in waits
    )


def _is_before(sign: Sign, wait: Sign) -> bool:
    """Whether calls were open when a wait began that names none; what is newer says that the wait is over."""
    return bool(sign.open_calls) and sign.at_ms <= wait.at_ms + SETTLES_MS


def _newest(signs: Iterable[Sign]) -> Sign | None:
    return max(signs, key=_rank, default=None)


def _rank(sign: Sign) -> tuple[int, int, str]:
    """Newer before older, stronger before weaker; the rest only makes the order of the list not matter."""
    return sign.at_ms, _STRENGTH[sign.source], repr(sign._replace(over=frozenset()))


def _decided(level: Sign | None, happened: Sign | None, now_ms: int) -> Sign | None:
    """Who is right: what the registry says until it says otherwise, or what happened since."""
    if level is None or happened is None:
        return level or happened
    if happened.at_ms <= level.at_ms:
        return level
    if happened.state == "ended":  # a goodbye holds; its file goes when all hooks have run
        return happened
    if now_ms - happened.at_ms > SETTLES_MS:
        return level
    if level.state == "waiting" and happened.state == "working" and happened.open_calls:
        return level
    if happened.source != "hook" and happened.at_ms - level.at_ms <= TOGETHER_MS:
        return level
    return happened


def _gone(winner: Sign, happened: Sign | None, alive: Alive, last_ms: int) -> LiveState:
    is_well = alive.has_left or winner.state in ("idle", "ended")
    was_in = _detail(winner, happened)
    return LiveState(
        state="ended" if is_well else "crashed",
        doing=None if is_well else was_in.doing,
        call=None if is_well else was_in.call,
        since_ms=winner.at_ms if winner.state == "ended" else alive.at_ms or last_ms,
        evidence=_evidence([winner], alive),
        pid=alive.pid,
    )


def _is_silent(signs: list[Sign], now_ms: int) -> bool:
    return now_ms - max(sign.at_ms for sign in signs) > SILENT_MS


def _told(winner: Sign, happened: Sign | None, signs: list[Sign], alive: Alive) -> LiveState:
    agreeing = sorted((one for one in signs if _agrees(one, winner)), key=_rank)
    detail = _detail(winner, happened)
    background = winner.state == "idle" and any(one.has_background for one in (winner, *agreeing))
    return LiveState(
        state=winner.state,
        waiting_for=_waiting_for(winner, detail),
        doing=_BACKGROUND if background else _doing(winner, detail),
        call=detail.call if winner.state in ("working", "waiting") else None,
        since_ms=_since(winner, detail, agreeing),
        evidence=_evidence([winner, *([detail] if detail.call else []), *agreeing], alive),
        pid=alive.pid,
        has_background=background,
    )


def _agrees(sign: Sign, winner: Sign) -> bool:
    """Whether it says the same of the same time: the registry's word holds on, others pass."""
    is_near = sign.source == "registry" or winner.at_ms - sign.at_ms <= SETTLES_MS
    return sign != winner and sign.state == winner.state and is_near


def _detail(winner: Sign, happened: Sign | None) -> Sign:
    """The sign that knows the call: the registry says that a session works or waits, but not in what."""
    is_busy = winner.state in ("working", "waiting") and winner.call is None
    if is_busy and happened is not None and happened.state in ("working", "waiting"):
        return happened
    return winner


def _waiting_for(winner: Sign, detail: Sign) -> WaitingFor | None:
    """For what it waits; a call that does nothing but ask knows that better (2.1.197 calls all of it a permission)."""
    if winner.state != "waiting":
        return None
    return detail.waiting_for if detail.state == "waiting" and winner.waiting_for else winner.waiting_for


def _doing(winner: Sign, detail: Sign) -> str | None:
    if winner.state == "working":
        return detail.doing or winner.doing or THINKING
    if winner.state == "waiting":
        return detail.doing if detail.call else winner.doing
    return None


def _since(winner: Sign, detail: Sign, agreeing: list[Sign]) -> int:
    """Since when it does what it does: the beginning of the call it works in, the first sign of a wait."""
    if winner.state == "working":
        return max(winner.at_ms, detail.at_ms)
    close = [one.at_ms for one in agreeing if 0 <= winner.at_ms - one.at_ms <= SETTLES_MS]
    return min([winner.at_ms, *close])


def _evidence(signs: Sequence[Sign], alive: Alive) -> list[str]:
    return list(dict.fromkeys(text for text in (*(one.where for one in signs), alive.why) if text))
