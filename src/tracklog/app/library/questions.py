"""`tracklog.usage`, `search`, `sql` and `watch`: questions about all sessions, answered in typed values."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import tzinfo
from typing import TYPE_CHECKING, get_args

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
    zone_in,
)
from tracklog.home import StrPath
from tracklog.model.usage import COUNT_RULES, GROUPS, CountRule, Group, UsageReport

if TYPE_CHECKING:
    from tracklog.app.search import SearchAnswer
    from tracklog.app.sql import Answered, Engine
    from tracklog.live.journal import LiveEvent
    from tracklog.search.tables import By

# Lazy imports: each function loads only what answers it.
_LONGEST_S = 60.0
_MOST_ROWS = 100_000


def usage(
    group: Group = "daily",
    *,
    rule: CountRule = "ours",
    zone: str | tzinfo | None = None,
    as_model: str | None = None,
    with_uncertain: bool = False,
    syncs: bool = True,
    roots: Roots = (),
    agent: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    project: StrPath | None = None,
    model: str | None = None,
    home: StrPath | None = None,
    on_message: OnMessage | None = None,
) -> UsageReport:
    """Tokens and money by day, session, model, project …, as `tracklog usage` counts them.

    From the index where there is one, which is brought up to date first (`syncs`), else from the logs. Money is in
    pico-dollars; days are those of `zone`, this machine's if none is given. `as_model` prices all as if that model had
    done it, `with_uncertain` lists the requests whose figures are not final.
    """
    from tracklog.app.usage import UsageQuery, spent

    check_word("group", group, GROUPS)
    check_word("rule", rule, COUNT_RULES)
    check_agent(agent)
    where = zone_in(zone)
    filters = filters_of(since=since, until=until, project=project, model=model, zone=where)
    asked = UsageQuery(group, rule, where, filters, as_model, with_uncertain=with_uncertain)
    return spent(
        paths_in(roots), agent=agent, home=home_in(home), asked=asked, syncs=syncs, talk=Messages(on_message)
    ).report


def search(
    text: str,
    *,
    pattern: bool = False,
    by: By = "time",
    limit: int = 20,
    syncs: bool = True,
    roots: Roots = (),
    agent: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    project: StrPath | None = None,
    model: str | None = None,
    home: StrPath | None = None,
    on_message: OnMessage | None = None,
) -> SearchAnswer:
    """The prompts, answers, inputs and results that match words and filters (docs/search.md), at most `limit` of them.

    With `pattern`, `text` is one regular expression. The newest come first, or with `by="relevance"` those that fit best. The index is brought up to
    date first, and made if there is none; with `syncs=False` it is asked as it is.
    """
    from tracklog.app.search import SearchQuery
    from tracklog.app.search import search as find
    from tracklog.search.tables import By

    check_word("by", by, get_args(By))
    check_number("limit", limit)
    check_agent(agent)
    query = SearchQuery(
        text,
        roots=paths_in(roots),
        agent=agent,
        filters=filters_of(since=since, until=until, project=project, model=model),
        limit=limit,
        by=by,
        is_pattern=pattern,
        home=home_in(home),
        syncs=syncs,
    )
    return find(query, Messages(on_message))


def sql(
    question: str,
    *,
    engine: Engine = "sqlite",
    limit: int = _MOST_ROWS,
    timeout_s: float = _LONGEST_S,
    syncs: bool = True,
    roots: Roots = (),
    home: StrPath | None = None,
    on_message: OnMessage | None = None,
) -> Answered:
    """The answer to one SELECT over the views of the index (docs/schema.md), at most `limit` rows of it.

    The index is brought up to date first, and made if there is none; with `syncs=False` it is asked as it is.
    """
    from tracklog.app.sql import Engine, answer_question

    check_word("engine", engine, get_args(Engine))
    check_number("limit", limit)
    return answer_question(
        question,
        paths_in(roots),
        home=home_in(home),
        engine=engine,
        limit=limit,
        timeout_s=timeout_s,
        last_resort=nullcontext(),
        syncs=syncs,
        talk=Messages(on_message),
    )


def watch(
    session: str | None = None,
    *,
    events: str | Sequence[str] = (),
    after: int | None = None,
    roots: Roots = (),
    agent: str | None = None,
    project: StrPath | None = None,
    home: StrPath | None = None,
) -> Iterator[LiveEvent]:
    """What happens in running sessions, from now on or behind the event with number `after`; it does not end by itself.

    With a session (its id, the start of that, `@last`) only what happens in it; with `events` only those of these names.
    That events were lost is always told. Close the iterator to stop.
    """
    from tracklog.app.live.watch import WatchQuery, watched_events

    check_number("after", after)
    check_agent(agent)
    names = (events,) if isinstance(events, str) else tuple(events)
    asked = WatchQuery(session, paths_in(roots), agent, home_in(home), after, names, _text(project))
    with watched_events(asked) as happening:
        yield from (event for event in happening.events if asked.wants(event, happening.name))


def _text(project: StrPath | None) -> str | None:
    return None if project is None else os.fspath(project)
