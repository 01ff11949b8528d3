"""Recover the result of a run whose tracklog was killed before it had one: what the log holds was paid for, and counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from tracklog.agents.supported import support_for
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.live.run_entries import RunEntry
from tracklog.model.run_request import RunRequest
from tracklog.run.find_logs import ChildLogs
from tracklog.run.launch import prices_of
from tracklog.run.log_facts import collect, spent_since
from tracklog.run.result import Ending, Result, result_of


def recover(
    run: RunEntry,
    request: RunRequest,
    *,
    home: Home,
    env: Mapping[str, str] | None = None,
    prices: Callable[[], Prices] | None = None,
) -> Result | None:
    """The result of such a run, from its log; None if the last turn has no complete answer."""
    env = os.environ if env is None else env
    session, began_ms = run.session, run.began_ms
    if session is None or not request.persists or began_ms <= 0:
        return None
    cwd = Path(run.started.cwd) if run.started.cwd else Path(request.cwd)
    logs = ChildLogs(request.agent, cwd, env, since_ns=began_ms * 1_000_000)
    collected = collect(lambda: logs.files_of(session), since_ms=began_ms, cwd=cwd, said=None, patience_s=0)
    files = logs.files_of(session)
    if files is None or not collected.is_finished:
        return None
    related = [
        found for one in (request.resume,) if request.is_fork and one and (found := logs.files_of(one))
    ]
    ended_ms = files.changed_ns // 1_000_000
    return result_of(
        Ending(
            run=run.id,
            request=request,
            stream=support_for(request.agent).client.stream(),
            session=session,
            transcript_path=str(logs.path_of(session)),
            stop=None,
            exit_code=None,
            took_ms=max(ended_ms - began_ms, 0),
            stop_text=None,
            has_stop=False,
            collected=collected,
            spent=spent_since(
                files,
                related,
                (prices or prices_of(home))(),
                since=datetime.fromtimestamp(began_ms / 1000, UTC),
            ),
            last_words="",
            is_recovered=True,
        )
    )
