"""How long a call took, how long of that it ran, and how long it waited for a person.

| what is known | `run_ms` | `waited_ms` |
|---|---|---|
| it was denied or blocked | 0 | as below |
| the client, the tool or our hook states how long it ran | that | as below |
| a tool that only asks the person (a question, a plan) | 0 | from its line to its result |
| our hook heard that a permission was asked for | the rest of the time between its lines | from then to its start, or to the result if it never started |
| the result says that the settings allowed it | the time between its lines | 0 |
| the person said no, and no other call was beside it | 0 | from its line to its result |
| none of these | None | None |

The time between the lines of a call holds everything: hooks, the permission, calls before it that ran one by one.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from tracklog.model.assemble.verdicts import Judgement
from tracklog.model.events import HookRan, ToolReturned
from tracklog.model.fold.thread import CallFacts
from tracklog.model.states import asked_by

TookBy = Literal["stated", "log_times"]
_LONGEST_MS = 366 * 86_400_000
_NEVER_RAN = ("denied", "blocked")
_BY_SETTINGS = "accept config"


class CallTimes(NamedTuple):
    """The durations of a call in milliseconds; None where nothing says them."""

    took_ms: float | None
    took_by: TookBy | None
    run_ms: float | None
    waited_ms: float | None


def times_of(
    facts: CallFacts, result: ToolReturned | None, judged: Judgement, *, is_alone: bool
) -> CallTimes:
    """The durations of a call; `is_alone`: no other call was asked for along with it."""
    stated = _stated(facts, result)
    span = between_ms(facts.called.at, result.at if result else None)
    took_ms = stated if stated is not None else span
    took_by: TookBy | None = None if took_ms is None else "log_times" if stated is None else "stated"
    if asked_by(facts.called.name) is not None:
        return CallTimes(took_ms, took_by, None if span is None else 0.0, span)
    never_ran = judged.verdict in _NEVER_RAN
    waited = _waited(facts, result, span, is_refused=never_ran and is_alone and _is_by_person(result))
    run_ms = 0.0 if never_ran else stated
    if run_ms is None and span is not None and waited is not None:
        run_ms = max(round(span - waited, 3), 0.0)
    return CallTimes(took_ms, took_by, run_ms, waited)


def between_ms(start: str | None, end: str | None) -> float | None:
    """Milliseconds between two times of a log; None where one is missing or they run backwards."""
    if start is None or end is None:
        return None
    try:
        took = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError):
        return None
    return round(took * 1000, 3) if took >= 0 else None


def earlier(at: str | None, by_ms: float | None) -> str | None:
    """A time of a log, so many milliseconds before."""
    if at is None or by_ms is None or not 0 <= by_ms < _LONGEST_MS:
        return None
    try:
        moment = datetime.fromisoformat(at) - timedelta(milliseconds=by_ms)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _stated(facts: CallFacts, result: ToolReturned | None) -> float | None:
    for note in facts.reports:
        if note.took_ms is not None:
            return note.took_ms
    if result is not None and result.took_ms is not None:
        return result.took_ms
    return next((hook.call_took_ms for hook in facts.hooks if hook.call_took_ms is not None), None)


def _waited(
    facts: CallFacts, result: ToolReturned | None, span: float | None, *, is_refused: bool
) -> float | None:
    asked = next((hook for hook in facts.hooks if hook.is_heard and hook.outcome == "asked"), None)
    if asked is not None:
        return between_ms(asked.at, _started(facts.hooks) or (result.at if result is not None else None))
    if result is not None and result.decision == _BY_SETTINGS:
        return 0.0
    return span if is_refused else None


def _started(hooks: list[HookRan]) -> str | None:
    """When our hook knows a call to have begun: its end, less the time that it ran."""
    return next((began for hook in hooks if (began := earlier(hook.at, hook.call_took_ms))), None)


def _is_by_person(result: ToolReturned | None) -> bool:
    return result is not None and (result.said == "rejected" or result.why == "refused by the person")
