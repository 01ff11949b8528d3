"""Select sessions of a list: which fit the filters, how many of each kind, a page of them, and what they come to.

Rules
  1. A facet counts what a click on one of its values would show: the other filters hold, its own does not.
  2. A page begins behind a session and its value in the order, not behind a number of rows: new sessions shift nothing.
  3. What is not known comes last in every order.
  4. The sessions of a selection are those that were there when its connection began to read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from tracklog.clock import NO_TIME
from tracklog.ledger.stored.tables_costs import SUMMED_COSTS, SessionCost, cost_json, costs_at
from tracklog.sessions.listed import (
    Cursor,
    FacetCount,
    FacetKind,
    Key,
    Month,
    Name,
    Page,
    SelectionTotals,
    SessionFilter,
    TableSession,
    months_of,
    table_session,
    use_in,
)
from tracklog.sessions.tables_columns import session_lines
from tracklog.sessions.tables_list_values import LIST, Condition, ListValues, all_of, with_any
from tracklog.store.surrogates import as_text, storable

_MOST = 100  # models whose sessions are counted
_TIME = "time"
_PARTS = 1_000_000_000  # sums are added up in two parts: SQLite's integers end at 2^63
_LARGEST = (1 << 63) - 1
_SORTS = {
    "last": f"nullif(s.last_ms, {NO_TIME})",
    "started": f"nullif(s.started_ms, {NO_TIME})",
    "cost": "c.cost_pico_usd",
    "tokens": "coalesce(c.output_tokens, 0)",
    "calls": "s.calls",
    "errors": "s.errors",
    "turns": "s.turns",
    "subagents": "s.subagents",
    "duration": "s.active_ms",
    "title": "s.title",
    "project": "s.project",
    "model": "s.model",
}
_BY_COST = frozenset({"cost", "tokens"})
_SPENT = ("tokens", "output_tokens", "cost_pico_usd", "most_pico_usd")
_SUMMED = ("turns", "calls", "errors", "subagents", "copies")


class SessionSelection:
    """The sessions that match a filter.

    `states` are those of sessions that live now. `spent` is the cost in a period, instead of the whole cost.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        wanted: SessionFilter,
        *,
        states: Mapping[Name, str] | None = None,
        spent: Mapping[str, SessionCost] | None = None,
        is_counted: bool = True,
    ) -> None:
        self._db = db
        self.wanted = wanted
        self.is_counted = is_counted  # whether the costs of sessions were counted
        self._spent = spent
        self._live_by_name = states or {}
        self.values = ListValues(db)
        self._filters = dict(self._made(wanted))

    def _made(self, wanted: SessionFilter) -> Iterable[tuple[str, Condition]]:
        """The conditions of the given filters, by name."""
        values = self.values
        if wanted.project is not None:
            yield "project", with_any(values.in_project(wanted.project))
        if wanted.agent is not None:
            yield "agent", ("s.agent = ?", [storable(wanted.agent)])
        if wanted.model is not None:
            yield "model", with_any(values.models_meant(wanted.model))
        if wanted.state is not None:
            yield "state", self._in_state(wanted.state)
        if wanted.tool is not None or wanted.verdict is not None:
            yield "use", with_any(values.uses_meant(wanted.tool, wanted.verdict))
        if wanted.has_period:
            yield _TIME, _during(wanted.since_ms, wanted.until_ms)
        if wanted.words:
            found = [storable(word.lower()) for word in wanted.words]
            yield "words", (" and ".join("instr(s.words, ?)" for _ in found), found)

    @cached_property
    def _live(self) -> dict[int, str]:
        """The rows of sessions that live now, with their states."""
        asked = "select row from list_rows where session = ? and agent = ?"
        found = ((name, state) for name, state in self._live_by_name.items())
        rows = (
            (self._db.execute(asked, (storable(id), agent)).fetchone(), state) for (agent, id), state in found
        )
        return {row[0]: state for row, state in rows if row is not None}

    def _in_state(self, state: str) -> Condition:
        now = [row for row, its in self._live.items() if its == state]
        return (
            f"(s.row in {LIST} or s.state = ? and s.row not in {LIST})",
            [json.dumps(now), storable(state), json.dumps(list(self._live))],
        )

    def state_of(self, session: TableSession) -> str:
        """The current state of a session, else its stored one."""
        return self._live_by_name.get((session.agent, session.id), session.state)

    def _where(self, *names: str) -> Condition:
        """The condition of all filters but these."""
        return all_of(one for name, one in self._filters.items() if name not in names)

    def rows(self) -> Condition:
        """The rows of the selected sessions, as a query."""
        where, values = self._where()
        return f"select s.row from list_rows s where {where}", values

    def n_without(self, *names: str) -> int:
        """How many pass all filters but these."""
        return self._count(*self._where(*names))

    def _count(self, where: str, values: list[Any]) -> int:
        return int(self._one(f"select count(*) from list_rows s where {where}", values)[0])

    def _one(self, asked: str, values: list[Any]) -> Any:
        return self._db.execute(asked, values).fetchone()

    @cached_property
    def total(self) -> int:
        """How many sessions are selected."""
        return self.n_without()

    @cached_property
    def n_sessions(self) -> int:
        """How many there are, selected or not."""
        return self._count("true", [])

    def projects(self) -> list[FacetCount]:
        """The projects that lead to any session."""
        counts, names = self._counts(FacetKind.PROJECT, "project"), self.values.of(FacetKind.PROJECT)
        labels = self.values.project_labels
        return _ranked(
            FacetCount(labels.get(names[id], names[id]), labels.get(names[id], names[id]), n)
            for id, n in counts.items()
        )

    def agents(self) -> list[FacetCount]:
        """The agents that do."""
        return _ranked(
            FacetCount(as_text(name), as_text(name), n) for name, n in self._grouped("s.agent", "agent")
        )

    def models(self) -> list[FacetCount]:
        """The models that do; of very many the commonest."""
        counts, names = self._counts(FacetKind.MODEL, "model"), self.values.of(FacetKind.MODEL)
        common = _ranked(FacetCount(names[id], names[id], n) for id, n in counts.items())
        return _ranked(one._replace(n=self._n_with_model(one)) for one in common[:_MOST])

    def _n_with_model(self, one: FacetCount) -> int:
        ids = self.values.models_meant(one.value)
        return one.n if len(ids) == 1 else self._n_with(ids, "model")

    def state_facet(self) -> list[FacetCount]:
        """The states that do."""
        where, values = self._where("state")
        live = json.dumps(list(self._live))
        asked = f"select s.state, count(*) from list_rows s where {where} and s.row not in {LIST} group by s.state"
        counts = {as_text(state): n for state, n in self._db.execute(asked, [*values, live])}
        found = self._db.execute(
            f"select s.row from list_rows s where {where} and s.row in {LIST}", [*values, live]
        )
        for (row,) in found:
            counts[self._live[row]] = counts.get(self._live[row], 0) + 1
        return _ranked(FacetCount(name, name, n) for name, n in counts.items())

    def tools(self) -> list[FacetCount]:
        """Facet of tools: called at all, or with the verdict of the filter."""
        verdict, names = self.wanted.verdict, self.values
        meant: dict[str, list[int]] = {}
        if verdict is None:
            counts = self._counts(FacetKind.TOOL, "use")
            meant = {name: [id] for id, name in names.of(FacetKind.TOOL).items()}
        else:
            counts = self._counts(FacetKind.USE, "use")
            for id, name in names.of(FacetKind.USE).items():
                tool, how = use_in(name)
                if how == verdict:
                    meant.setdefault(tool.lower(), []).append(id)
        found = []
        for tool, ids in meant.items():
            n = counts.get(ids[0], 0) if len(ids) == 1 else self._n_with(ids, "use")
            if n and names.has_narrower_tools(tool):
                n = self._n_with(names.uses_meant(tool, verdict), "use")
            found.append(FacetCount(tool, names.tool_labels.get(tool, tool), n))
        return _ranked(found)

    def verdicts(self) -> list[FacetCount]:
        """Facet of verdicts: of any call, or of the tool of the filter."""
        tool, names = self.wanted.tool, self.values.of(FacetKind.VERDICT)
        if tool is None:
            counts = [(names[id], n) for id, n in self._counts(FacetKind.VERDICT, "use").items()]
        else:
            counts = [
                (name, self._n_with(self.values.uses_meant(tool, name), "use")) for name in names.values()
            ]
        return _ranked(FacetCount(one, one.replace("_", " "), n) for one, n in counts)

    def _counts(self, kind: FacetKind, name: str) -> dict[int, int]:
        """For each value of a kind how many sessions its choice as this filter would show."""
        where, values = self._where(name)
        ids = json.dumps(list(self.values.of(kind)))
        meant = "" if where == "true" else f" and +row in (select s.row from list_rows s where {where})"
        asked = f"select value, count(*) from facets where value in {LIST}{meant} group by value"
        return dict(self._db.execute(asked, [ids, *values]).fetchall())

    def _grouped(self, column: str, name: str) -> list[tuple[Any, int]]:
        where, values = self._where(name)
        asked = f"select {column}, count(*) from list_rows s where {where} group by 1"
        return self._db.execute(asked, values).fetchall()

    def _n_with(self, ids: Iterable[int], name: str) -> int:
        """How many sessions have any of these values, and pass all filters but this one."""
        return self._count(*all_of([with_any(ids), self._where(name)]))

    def months(self) -> list[tuple[Month, int]]:
        """The months in which the sessions were active, without the filter by time; the latest first."""
        timed = (f"s.started_ms <> {NO_TIME} and s.last_ms <> {NO_TIME}", list[Any]())
        where, values = all_of([timed, self._where(_TIME)])
        return months_of(
            self._db.execute(f"select s.started_ms, s.last_ms from list_rows s where {where}", values)
        )

    def n_during(self, since_ms: int | None, until_ms: int | None) -> int:
        """How many another time would show."""
        return self._count(*all_of([_during(since_ms, until_ms), self._where(_TIME)]))

    def newest_without(self, *names: str) -> TableSession | None:
        """The last alive of those that pass all filters but these."""
        where, values = self._where(*names)
        order = "s.last_ms desc, s.agent desc, s.session desc"
        found = self._one(f"select s.row from list_rows s where {where} order by {order} limit 1", values)
        return None if found is None else sessions_at(self._db, [found[0]])[found[0]]

    def page(self, sort: str, *, is_descending: bool, after: Cursor | None, most: int) -> Page:
        """So many of them, behind the cursor."""
        key, (where, values) = _SORTS[sort], self._where()
        source, given = self._costs if sort in _BY_COST else ("list_rows s", [])
        behind, its = (
            ("true", list[Any]()) if after is None else _behind(key, after, is_descending=is_descending)
        )
        way = "desc" if is_descending else "asc"
        found: list[tuple[int, Key, str, str]] = []
        for known, order in (
            ("is not null", f"1 {way}, s.agent {way}, s.session {way}"),
            ("is null", "s.agent, s.session"),
        ):
            if len(found) <= most:
                asked = (
                    f"select s.row, {key}, s.agent, s.session from {source} where {where} and {key} {known} and {behind} "
                    f"order by {order.replace('1', key, 1)} limit ?"
                )
                found += self._db.execute(asked, [*given, *values, *its, most + 1 - len(found)])
        n_before = self._n_until(source, given, behind, its) if after is not None else 0
        shown = found[:most]
        next = Cursor(shown[-1][1], *map(as_text, shown[-1][2:])) if len(found) > most else None
        sessions = sessions_at(self._db, [row for row, *_ in shown])
        listed = [sessions[row] for row, *_ in shown if row in sessions]
        return Page(listed, self.total, n_before, next, self._spent_by(listed))

    def _n_until(self, source: str, given: list[Any], behind: str, its: list[Any]) -> int:
        """How many come before a cursor, or are where it is."""
        where, values = self._where()
        asked = f"select count(*) from {source} where {where} and {behind}"
        return self.total - int(self._one(asked, [*given, *values, *its])[0])

    @cached_property
    def _costs(self) -> tuple[str, list[Any]]:
        """SQL source of sessions joined with their costs, as `s` and `c`."""
        if self._spent is None:
            return "list_rows s left join cost_rows c on c.session = s.session", []
        columns = [f"value ->> {n} as {name}" for n, name in enumerate(SUMMED_COSTS)]
        costs = ", ".join(
            ("cast(value ->> 0 as text) as session", *columns[1:])
        )  # of a text SQLite makes an index
        source = f"list_rows s left join (select {costs} from json_each(?)) c on c.session = s.session"
        return source, [cost_json(self._spent)]

    def _spent_by(self, sessions: list[TableSession]) -> Mapping[str, SessionCost]:
        """Costs of sessions, by their ids."""
        if not self.is_counted:
            return {}
        return costs_at(self._db, [one.id for one in sessions]) if self._spent is None else self._spent

    def sums(self) -> SelectionTotals:
        """Totals of the selected sessions."""
        source, given = self._costs
        where, values = self._where()
        is_counted = self.is_counted
        flags = ("c.cost_pico_usd is null and c.requests > 0", "c.is_lower_bound", "c.partial_requests")
        columns = [f"s.{name}" for name in ("active_ms", "wall_ms", *_SUMMED)]
        columns += [part for name in _SPENT for part in (f"c.{name} / {_PARTS}", f"c.{name} % {_PARTS}")]
        summed = ", ".join(f"total({one})" for one in (*columns, *flags))
        found = self._one(f"select {summed} from {source} where {where}", [*given, *values])
        active_ms, wall_ms, turns, calls, errors, subagents, copies = found[:7]
        spent, (unpriced, lower, partial) = found[7:-3], found[-3:] if is_counted else (0, 0, 0)
        tokens, output_tokens, cost, most = (
            int(high) * _PARTS + int(low) if is_counted else 0
            for high, low in zip(spent[::2], spent[1::2], strict=True)
        )
        return SelectionTotals(
            sessions=self.total,
            active_ms=active_ms,
            wall_ms=wall_ms,
            turns=int(turns),
            calls=int(calls),
            errors=int(errors),
            subagents=int(subagents),
            copies=int(copies),
            tokens=tokens,
            output_tokens=output_tokens,
            cost_pico_usd=cost,
            most_pico_usd=most,
            is_lower_bound=bool(lower or unpriced),
            partial_requests=int(partial),
            unpriced=int(unpriced),
        )


def sessions_at(db: sqlite3.Connection, rows: Iterable[int]) -> dict[int, TableSession]:
    """The listed sessions with these rows."""
    wanted = list(rows)
    asked = f"select row, active_ms, subagents, copies, state from list_rows where row in {LIST}"
    numbers = {row: rest for row, *rest in db.execute(asked, (json.dumps(wanted),))}
    lines = session_lines(db, wanted)
    return {
        row: table_session(lines[row], active_ms=active_ms, subagents=subagents, copies=copies)
        for row, (active_ms, subagents, copies, _) in numbers.items()
        if row in lines
    }


def _ranked(found: Iterable[FacetCount]) -> list[FacetCount]:
    """Those that lead to most sessions first; those that lead to none not at all."""
    kept = (one for one in found if one.n)
    return sorted(kept, key=lambda one: (-one.n, one.label.lower(), one.value))


def _during(since_ms: int | None, until_ms: int | None) -> Condition:
    """The sessions that lived in a span; one that says no time is in none that has a beginning or an end."""
    if since_ms is None and until_ms is None:
        return "true", []
    where, values = f"s.last_ms >= ? and s.started_ms <> {NO_TIME}", [max(since_ms or 0, 0)]
    return (where, values) if until_ms is None else (f"{where} and s.started_ms < ?", [*values, until_ms])


def _behind(key: str, after: Cursor, *, is_descending: bool) -> Condition:
    name = [storable(after.agent), storable(after.id)]
    if after.value is None:
        return f"({key} is null and (s.agent, s.session) > (?, ?))", name
    sign, value = "<" if is_descending else ">", after.value
    if isinstance(value, int):
        value = min(max(value, -_LARGEST), _LARGEST)
    return f"({key} is null or ({key}, s.agent, s.session) {sign} (?, ?, ?))", [storable(value), *name]
