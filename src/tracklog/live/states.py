"""What a session does now, from all signs of it: a table, and nothing else.

Rules of this room
  1. The newest sign wins; at the same moment the stronger source: hook, registry, log, process. No stronger source
     wins over a newer one: an Esc 200 ms after a PreToolUse would leave the session working for ever.
  2. The registry's status holds until it is rewritten. A newer hook or line beats it for two seconds, in which the file
     has time to follow; if it does not, the file is right: another hook kept the turn going, or refused the prompt.
     A line that follows the file within 300 ms is of the same fact. A goodbye needs no file to follow.
  3. That a call is open ends no wait: the call may be the very one that is asked about. That it has its result puts
     aside what a hook says of it: hooks write when they run, measured up to 600 ms behind the fact.
  4. A process that is gone was ended or has crashed. It ended if it cleaned up behind itself, said goodbye, or had
     nothing to do. Where nobody can say whether it lives, ten minutes of silence make work and waiting unknown; a turn
     that is over stays over. A crash counts from the last sign of life, not from when it was noticed.
  5. A process that began after the newest sign of its session has not done what the log shows as open: it is idle.
  6. No sign is looked at by its place in the list, and nothing here reads a file or a clock.

| the newest sign         | the process is alive     | gone, left properly | gone, file or log left standing | cannot be known          |
|-------------------------|--------------------------|---------------------|---------------------------------|--------------------------|
| working                 | working                  | ended               | crashed                         | working, later unknown   |
| waiting                 | waiting                  | ended               | crashed                         | waiting, later unknown   |
| idle                    | idle                     | ended               | ended                           | idle                     |
| ended                   | ended                    | ended               | ended                           | ended                    |
| none                    | unknown                  | ended               | ended                           | unknown                  |
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from tracklog.live.signs import THINKING, Sign, WaitingFor
from tracklog.model.life import REGISTERS_MS

State = Literal["working", "waiting", "idle", "ended", "crashed", "pending", "lost", "unknown"]

TOGETHER_MS = 300  # signs of one fact from several sources lie so close together
SETTLES_MS = 2_000  # so long may the registry's file lag behind a hook or a line
SILENT_MS = 600_000  # so long does a state stand of which nobody can say whether its process lives
_STRENGTH = {"ask": 4, "hook": 3, "registry": 2, "log": 1, "process": 0}
_BACKGROUND = "something runs in the background"
_NOTHING_SHOWS = "nothing shows whether its process lives"


class Alive(NamedTuple):
    """Whether the process of a session lives, and how we know."""

    life: Literal["alive", "gone", "unknown"]
    why: str = ""
    pid: int | None = None
    has_left: bool = False  # it took its registry file away, or took up another session
    at_ms: int | None = None  # when it left; None: nobody saw it
    is_sure: bool = True  # False: no process was found that could be it
    began_ms: int | None = None  # when the process did, at the latest


UNKNOWN_PROCESS = Alive("unknown")


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
