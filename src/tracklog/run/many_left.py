"""The runs of a list whose results nobody wrote down: tracklog was ended while they ran, or a moment too early.

Rules of this room
  1. The register knows them by the key of their task. What stands in the results is not looked at again.
  2. A run whose log holds no answer is none, whatever else is said of it; but what it has cost was spent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from tracklog.model.prices import Prices
from tracklog.run.logs import ChildLogs
from tracklog.run.register import Run
from tracklog.run.results import Result
from tracklog.run.spent import Spent, spent_since
from tracklog.run.wishes import Wish

_NO_ANSWER = ("cancelled", "killed", "crashed")


def left_behind(runs: Iterable[Run], batch: str, recorded: Collection[str]) -> dict[str, list[Run]]:
    """The runs of a list that its results do not know, by the key of their task; the first one first."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        key = run.started.batch
        if key is not None and key.startswith(f"{batch}:") and run.id not in recorded:
            found.setdefault(key, []).append(run)
    return found


def cut_off(run: Run, wish: Wish, *, env: Mapping[str, str], prices: Callable[[], Prices]) -> Result:
    """A run that has no answer: how it ended, as far as somebody said so, and what it has cost."""
    spent = _spent(run, wish, env, prices) if wish.persists else None
    return Result(
        {
            "run": run.id,
            "ended_by": run.ended_by if run.ended_by in _NO_ANSWER else "killed",
            "error": "tracklog was ended before it was",
            "session_id": run.session,
            "cost_micro_usd": run.cost_micro_usd if spent is None else spent.cost_micro_usd,
            "unpriced_requests": 0 if spent is None else spent.total.unpriced_requests,
        }
    )


def _spent(run: Run, wish: Wish, env: Mapping[str, str], prices: Callable[[], Prices]) -> Spent | None:
    session, began_ms = run.session, run.began_ms
    if session is None or began_ms <= 0:
        return None
    cwd = Path(run.started.cwd) if run.started.cwd else wish.cwd
    logs = ChildLogs(wish.agent, cwd, env, since_ns=began_ms * 1_000_000)
    files = logs.files_of(session)
    if files is None:
        return None
    source = logs.files_of(wish.resume) if wish.is_fork and wish.resume is not None else None
    kin = [source] if source is not None else []
    return spent_since(files, kin, prices(), since=datetime.fromtimestamp(began_ms / 1000, UTC))
