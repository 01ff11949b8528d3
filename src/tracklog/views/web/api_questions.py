"""What the API is asked: for each question its parameters, and the use case and document that answer it.

Rules
  1. From outside come only values of the parameters in the table here, and names of sessions, never paths.
  2. The answer is what the command of the same name prints with `--json`.
  3. The server brings the index up to date before a question that needs it; the question itself does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

from tracklog.app.calls import CallsQuery, list_calls
from tracklog.app.doctor.examine import examine
from tracklog.app.live.top import board_now
from tracklog.app.prices import load_prices, own_prices_path, price_list
from tracklog.app.scope.filters import Filters, zone_meant
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.scope.resolve import find_logs
from tracklog.app.search import SearchQuery, search
from tracklog.app.session.final import final, why_no_answer
from tracklog.app.session.show import agents, graph, show
from tracklog.app.sessions import SessionsQuery, list_sessions
from tracklog.app.talk import Talk
from tracklog.app.usage import UsageQuery, spent
from tracklog.clock import local_zone, name_of
from tracklog.errors import NotThere, UserError
from tracklog.model.session import Verdict
from tracklog.model.usage import COUNT_RULES, GROUPS
from tracklog.views.documents.board import top_document
from tracklog.views.documents.conversation import conversation_document, graph_document, threads_document
from tracklog.views.documents.final import final_document
from tracklog.views.documents.places import doctor_document, places_document
from tracklog.views.documents.prices import prices_document, why_unpriced
from tracklog.views.documents.search import search_document
from tracklog.views.documents.sessions import call_row, sessions_document
from tracklog.views.documents.usage import ORDERS, UsageProvenance, listed, usage_document
from tracklog.views.text.numbers import BASES
from tracklog.views.text.printing import json_rows, json_text
from tracklog.views.web.api_parameters import (
    AGENT,
    FILTERS,
    FLAG,
    LIMIT,
    NUMBER,
    TEXT,
    WORD,
    Parameter,
    moment,
    number_from_1,
    one_of,
    shaped,
    value_of,
    values_of,
)

_SESSION = re.compile(r"@last|(?!.*\.json)[0-9A-Za-z][0-9A-Za-z_.:-]{0,199}")
_MOST_HITS, _HITS = 1_000, 20


class ApiQuery(NamedTuple):
    """A question as it was asked."""

    name: str
    what: str | None  # what the address names: a session, a group, a model
    values: Mapping[str, Any]

    @property
    def agent(self) -> str | None:
        """Whose logs are meant."""
        agent: str | None = self.values.get("agent")
        return agent

    @property
    def filters(self) -> Filters:
        """Which sessions are meant."""
        return Filters(*(self.values.get(name) for name in Filters._fields))


class ApiContext(NamedTuple):
    """Where the answer comes from: our home, and the folders of logs; and what hears messages."""

    home: Path
    roots: Sequence[Path]
    talk: Talk

    def session(self, asked: ApiQuery) -> SessionQuery:
        """The session that is asked for."""
        return SessionQuery(asked.what or "", self.roots, asked.agent, asked.filters, self.home)


class ApiQuestion(NamedTuple):
    """A question that the API answers."""

    answer: Callable[[ApiQuery, ApiContext], str]
    parameters: Mapping[str, Parameter]
    takes: re.Pattern[str] | None = None  # what the address may name
    needs_it: bool = False
    syncs: bool = False  # whether it is answered from the index, which must be up to date


def query_of(name: str, what: str | None, given: Iterable[tuple[str, str]]) -> ApiQuery:
    """The question that a request asks; raises UserError for what may not be asked."""
    question, pairs = QUESTIONS[name], list(given)
    if name == "search":
        words = [value for key, value in pairs if key == "q"]
        what, pairs = words[-1] if words else what, [pair for pair in pairs if pair[0] != "q"]
    texts = shaped(question.parameters, pairs)
    if what is None and question.needs_it:
        raise UserError("say what to search for: ?q=" if name == "search" else f"name a session: {name}/ID")
    if what is not None and (question.takes is None or not question.takes.fullmatch(what)):
        raise UserError(f"{what[:60]!r} is not to be asked for here")
    return ApiQuery(name, what, values_of(name, question.parameters, texts))


def _places(asked: ApiQuery, at: ApiContext) -> str:
    return json_text(places_document(find_logs(at.roots, agent=asked.agent)))


def _sessions(asked: ApiQuery, at: ApiContext) -> str:
    query = SessionsQuery(
        at.roots, asked.agent, asked.filters, asked.values.get("limit"), at.home, syncs=False
    )
    return json_text(sessions_document(list_sessions(query, at.talk)))


def _doctor(asked: ApiQuery, at: ApiContext) -> str:
    return json_text(doctor_document(examine(at.roots, agent=asked.agent, home=at.home, talk=at.talk)))


def _show(asked: ApiQuery, at: ApiContext) -> str:
    values = asked.values
    found = show(at.session(asked), thread=values.get("thread"), branch=values.get("branch"), talk=at.talk)
    return json_text(conversation_document(found, with_thinking="thinking" in values))


def _final(asked: ApiQuery, at: ApiContext) -> str:
    session, last_text = at.session(asked), "last-text" in asked.values
    found = final(session, last_text=last_text, talk=at.talk)
    if found.text is None:
        raise NotThere(why_no_answer(session.session, found.whole_session, last_text=last_text))
    return json_text(final_document(found))


def _agents(asked: ApiQuery, at: ApiContext) -> str:
    return json_text(threads_document(agents(at.session(asked), talk=at.talk)))


def _graph(asked: ApiQuery, at: ApiContext) -> str:
    return json_text(graph_document(graph(at.session(asked), talk=at.talk)))


def _calls(asked: ApiQuery, at: ApiContext) -> str:
    values = asked.values
    query = CallsQuery(
        roots=at.roots,
        session=asked.what,
        agent=asked.agent,
        filters=asked.filters,
        tools=values.get("tool", ()),
        verdicts=values.get("verdict", ()),
        slower_than_ms=values.get("slow"),
        is_slowest_first="slow" in values,
        limit=values.get("limit"),
        home=at.home,
        syncs=False,
    )
    with list_calls(query, at.talk) as found:
        return "".join(json_rows("calls", (call_row(one.call) for one in found)))


def _search(asked: ApiQuery, at: ApiContext) -> str:
    values = asked.values
    query = SearchQuery(
        asked.what or "",
        at.roots,
        asked.agent,
        asked.filters,
        limit=values.get("limit", _HITS),
        by=values.get("by", "time"),
        is_pattern="regex" in values,
        home=at.home,
        syncs=False,
    )
    return json_text(search_document(search(query, at.talk)))


def _usage(asked: ApiQuery, at: ApiContext) -> str:
    values, now = asked.values, datetime.now(UTC)
    zone = values.get("zone") or local_zone()
    basis = values.get("cost", "ours")
    query = UsageQuery(
        value_of("usage", "[GROUP]", one_of(GROUPS), asked.what or "daily"),
        values.get("count", "ours"),
        zone,
        Filters(
            _usage_moment(values, "since", zone),
            _usage_moment(values, "until", zone),
            values.get("project"),
            values.get("model"),
        ),
        values.get("as-model"),
        _usage_moment(values, "as-of", UTC),
        "uncertain" in values,
    )
    found = spent(at.roots, agent=asked.agent, home=at.home, asked=query, syncs=False, talk=at.talk)
    rows = listed(
        found.report,
        by=values.get("by"),
        basis=basis,
        is_reversed="reverse" in values,
        limit=values.get("limit"),
    ).rows
    manner = UsageProvenance(query.rule, basis, name_of(zone), query.as_model, values.get("as-of"))
    document = usage_document(found.report, rows, manner, now=now, with_uncertain=query.with_uncertain)
    return json_text(document)


def _usage_moment(values: Mapping[str, Any], name: str, zone: tzinfo) -> datetime | None:
    """A time of the zone that is asked for, so it can only be read when all values are known."""
    if name not in values:
        return None
    read = partial(moment, is_end=name == "until", zone=zone)
    return cast(datetime, value_of("usage", f"--{name}", read, values[name]))


def _prices(asked: ApiQuery, at: ApiContext) -> str:
    known = load_prices(at.home)
    models = price_list(known, asked.what)
    if asked.what is not None and not models:
        raise NotThere(why_unpriced(asked.what, own_prices_path(at.home)))
    return json_text(prices_document(models, known))


def _top(asked: ApiQuery, at: ApiContext) -> str:
    rows = board_now(at.roots, agent=asked.agent, home=at.home, shows_all="all" in asked.values)
    return json_text(top_document(rows))


QUESTIONS: Mapping[str, ApiQuestion] = {
    "places": ApiQuestion(_places, AGENT),
    "doctor": ApiQuestion(_doctor, AGENT),
    "sessions": ApiQuestion(_sessions, {**FILTERS, "limit": LIMIT}, syncs=True),
    "show": ApiQuestion(
        _show,
        {**FILTERS, "thinking": FLAG, "branch": Parameter(WORD), "thread": Parameter(WORD)},
        takes=_SESSION,
        needs_it=True,
    ),
    "final": ApiQuestion(_final, {**FILTERS, "last-text": FLAG}, takes=_SESSION, needs_it=True),
    "calls": ApiQuestion(
        _calls,
        {
            **FILTERS,
            "tool": Parameter(TEXT, is_repeatable=True),
            "verdict": Parameter(WORD, one_of(get_args(Verdict)), is_repeatable=True),
            "slow": Parameter(NUMBER, float),
            "limit": LIMIT,
        },
        takes=_SESSION,
        syncs=True,
    ),
    "agents": ApiQuestion(_agents, FILTERS, takes=_SESSION, needs_it=True),
    "graph": ApiQuestion(_graph, FILTERS, takes=_SESSION, needs_it=True),
    "usage": ApiQuestion(
        _usage,
        {
            **FILTERS,
            "since": Parameter(TEXT),
            "until": Parameter(TEXT),
            "zone": Parameter(WORD, zone_meant),
            "cost": Parameter(WORD, one_of(BASES)),
            "count": Parameter(WORD, one_of(COUNT_RULES)),
            "as-model": Parameter(TEXT),
            "as-of": Parameter(WORD),
            "uncertain": FLAG,
            "by": Parameter(WORD, one_of(ORDERS)),
            "reverse": FLAG,
            "limit": LIMIT,
        },
        takes=WORD,
        syncs=True,
    ),
    "search": ApiQuestion(
        _search,
        {
            **FILTERS,
            "limit": Parameter(NUMBER, number_from_1(_MOST_HITS)),
            "by": Parameter(WORD, one_of(("time", "relevance"))),
            "regex": FLAG,
        },
        takes=TEXT,
        needs_it=True,
        syncs=True,
    ),
    "top": ApiQuestion(_top, {**AGENT, "all": FLAG}),
    "prices": ApiQuestion(_prices, {}, takes=TEXT),
}
