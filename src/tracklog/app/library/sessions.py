"""`tracklog.read`, `tracklog.sessions` and `tracklog.calls`: sessions read whole, from logs and archive."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import get_args

from tracklog.app.calls import CallsQuery, calls_in_logs
from tracklog.app.library.parameters import (
    Messages,
    Moment,
    OnMessage,
    Roots,
    check_agent,
    check_number,
    check_word,
    filters_of,
    home_in,
    paths_in,
)
from tracklog.app.prices import load_prices
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionReader
from tracklog.errors import NotThere
from tracklog.home import Home, StrPath
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.request_costs import Costs
from tracklog.model.session import Call, Session, Verdict
from tracklog.model.usage import micro
from tracklog.reading.session_files import SessionFiles
from tracklog.reading.session_reader import session_at

_LOGS = (".jsonl", ".json", ".zst", ".gz")  # what a name of a file ends in, and no id


def read(
    session: StrPath,
    *,
    roots: Roots = (),
    agent: str | None = None,
    home: StrPath | None = None,
    on_message: OnMessage | None = None,
) -> Session:
    """Read one session whole: threads, turns, requests with tokens and costs, calls with their verdicts.

    `session` is the path of any of its files, its id, the start of that, the id of a run, or `@last`. By path, its
    other files are found in the folder around it, which is looked at once for many of its logs; of a session of Claude
    Code its logs in the other projects of that home. By id, and by the path of a log that is gone, the
    agents' homes and the archive are looked at. `roots` are searched instead, as with `--root`. What tracklog's hook received about it is taken from `home`.

    Raises `NotThere` where there is no such session, `UserError` where a path cannot be read.
    """
    check_agent(agent)
    ours, where = home_in(home), paths_in(roots)
    is_path = _is_path(session)
    if not is_path or not os.path.exists(session):
        reader = SessionReader(where, agent=agent, filters=Filters(), home=ours, talk=Messages(on_message))
        try:
            found = reader.named(os.fspath(session))
        except NotThere:
            if not is_path:
                raise
        else:
            return _priced(found, reader.files_of(found), load_prices(ours))
    near = session_at(session, where)
    others = [one for one in near.kin.sessions if one is not near.files]
    return _priced(near.read(Home(ours)), [near.files, *others], load_prices(ours))


def sessions(
    *,
    roots: Roots = (),
    agent: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    project: StrPath | None = None,
    model: str | None = None,
    home: StrPath | None = None,
    on_message: OnMessage | None = None,
) -> Iterator[Session]:
    """Read all sessions that fit, the last changed first, also those that only the archive has.

    The folders are looked at once. Each session is read when the iterator comes to it, and only one is in memory.
    """
    check_agent(agent)
    ours = home_in(home)
    filters = filters_of(since=since, until=until, project=project, model=model)
    reader = SessionReader(
        paths_in(roots), agent=agent, filters=filters, home=ours, talk=Messages(on_message)
    )
    prices = load_prices(ours)
    return (_priced(one, reader.files_of(one), prices) for one in reader.each())


def calls(
    session: StrPath | None = None,
    *,
    tools: str | Sequence[str] = (),
    verdicts: Verdict | Sequence[Verdict] = (),
    slower_than_ms: float | None = None,
    slowest_first: bool = False,
    limit: int | None = None,
    roots: Roots = (),
    agent: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    project: StrPath | None = None,
    model: str | None = None,
    home: StrPath | None = None,
    on_message: OnMessage | None = None,
) -> Iterator[Call]:
    """The calls of one session, or of all that fit, with their results, as `tracklog calls` lists them.

    Sessions are read whole, one after the other; `tracklog.sql` asks the index about calls, which is faster where the
    results do not matter. A call that a fork copied comes once, from the session that made it.
    """
    check_agent(agent)
    check_number("limit", limit)
    meant = (verdicts,) if isinstance(verdicts, str) else tuple(verdicts)
    for verdict in meant:
        check_word("verdicts", verdict, get_args(Verdict))
    query = CallsQuery(
        roots=paths_in(roots),
        session=None if session is None else os.fspath(session),
        agent=agent,
        filters=filters_of(since=since, until=until, project=project, model=model),
        tools=(tools,) if isinstance(tools, str) else tuple(tools),
        verdicts=meant,
        slower_than_ms=slower_than_ms,
        is_slowest_first=slowest_first,
        limit=limit,
        home=home_in(home),
    )
    return (one.call for one in calls_in_logs(query, Messages(on_message)))


def _is_path(session: StrPath) -> bool:
    """An id has no separator and no ending of a log, and is no file here."""
    if not isinstance(session, str):
        return True
    return not session or os.sep in session or session.endswith(_LOGS) or os.path.exists(session)


def _priced(session: Session, files: Sequence[SessionFiles], prices: Prices) -> Session:
    """The session with what its requests used and cost; `files`: its own, then those of sessions with shared history."""
    costs = Costs(session, files, prices)
    for request in session.requests:
        spent = costs.spending(request.id)
        request.tokens, request.certainty = spent.tokens, spent.certainty
        request.cost_micro_usd = micro(spent.cost.cost_pico_usd)
        request.cost_is_lower_bound = spent.cost.is_lower_bound
    return session
