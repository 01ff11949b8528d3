"""`tracklog calls`: every tool call, how it ended, and the lines that prove it."""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple, get_args

import click

from tracklog.app.index.open import Index, indexed
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import Stories
from tracklog.errors import UserError
from tracklog.model.session import Call, Session, Verdict
from tracklog.views.cli.commands.read.indexed_sessions import CallInSession, IndexedStories, calls_of
from tracklog.views.cli.options import reading_options, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.cli.output.terminal import Paper, cut
from tracklog.views.documents.sessions import call_row
from tracklog.views.text.calls import LONGEST, MARKS, answers_words, reason_of, verdict_words, what_it_did
from tracklog.views.text.numbers import took
from tracklog.views.text.printing import answer, answer_json_rows, count, safe, short, talk, tilde

_VERDICTS: tuple[str, ...] = get_args(Verdict)
_TOOL_WIDTH = 14
_WIDE = 110  # columns from which on the names of files have room
_LEAST = 4  # columns that are left to what a call did
_VERDICT_WIDTH = max(map(len, _VERDICTS))


class CallFilter(NamedTuple):
    """Which calls are asked for."""

    tools: tuple[str, ...]
    verdicts: tuple[str, ...]
    slower_than_ms: float | None
    filters: Filters

    def fits(self, call: Call, model: str | None) -> bool:
        """Whether a call is asked for."""
        return (
            (not self.verdicts or call.verdict in self.verdicts)
            and (not self.tools or any(is_tool(call.name, tool) for tool in self.tools))
            and (self.slower_than_ms is None or (call.took_ms or 0) >= self.slower_than_ms)
            and self.filters.fits_time(call.called_at)
            and self.filters.fits_model(model)
        )


@click.command
@click.argument("session", required=False)
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="NAME",
    help="Only this tool, or `mcp__server`. May be repeated.",
)
@click.option(
    "--verdict",
    "verdicts",
    multiple=True,
    type=click.Choice(_VERDICTS),
    metavar="V",
    help=f"Only calls that ended so: {', '.join(_VERDICTS)}. May be repeated.",
)
@click.option(
    "--slow",
    is_flag=False,
    flag_value="0",
    metavar="[MS]",
    help="The slowest first; with a number only those that took so many milliseconds or more.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many calls.")
@sync_option
@reading_options
def calls(
    session: str | None,
    tools: tuple[str, ...],
    verdicts: tuple[str, ...],
    slow: str | None,
    limit: int | None,
    syncs: bool,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Every tool call, how it ended, and the lines that prove it.

    SESSION is an id, the start of one, a file, or @last; without it the calls of all sessions are listed. Each call has
    one verdict: what the log states, or what follows from it (`inferred`). A call that a fork copied is listed once,
    where it was made.

    \b
    tracklog calls @last
    tracklog calls --verdict error --verdict denied --since 7d
    tracklog calls --tool Bash --slow 10000
    """
    session, slower_than_ms = _slowness(session, slow)
    wanted = CallFilter(tools, verdicts, slower_than_ms, filters)
    asked = CallsQuery(wanted, limit, is_slowest_first=slow is not None, as_json=as_json)
    if session is None:
        with indexed(roots, home=home, talk=STDERR, syncs=syncs) as index:
            if index is not None and _answer_from_index(index, agent, asked):
                return
    _answer_from_logs(Stories(roots, agent=agent, filters=filters, home=home), session, asked)


class CallsQuery(NamedTuple):
    """Which calls are asked for, and how they are to be shown."""

    wanted: CallFilter
    limit: int | None
    is_slowest_first: bool
    as_json: bool

    def chosen(self, calls: Iterable[CallInSession]) -> Iterator[CallInSession]:
        """Those of the calls that are wanted, as many as are wanted."""
        found = (one for one in calls if self.wanted.fits(one.call, one.model))
        if not self.is_slowest_first:
            return islice(found, self.limit)
        slowest = (
            heapq.nlargest(self.limit, found, key=_ms) if self.limit else sorted(found, key=_ms, reverse=True)
        )
        return iter(slowest)

    def show(self, found: Iterable[CallInSession]) -> None:
        """The answer."""
        if self.as_json:
            answer_json_rows("calls", (call_row(one.call) for one in found))
        else:
            _show(found, is_in_order=not self.is_slowest_first)


def _answer_from_index(index: Index, agent: str | None, asked: CallsQuery) -> bool:
    """Whether the index could tell; it cannot if it knows nothing of what is meant."""
    stories = IndexedStories(index, agent=agent, filters=asked.wanted.filters)
    if stories.is_empty:
        return False
    stories.say_what_is_not_readable()
    found = stories.calls(asked.wanted.verdicts, with_models=asked.wanted.filters.model is not None)
    needs = _always if asked.as_json else _is_cut
    asked.show(stories.with_inputs(asked.chosen(found), needs=needs))
    _say_what_is_missing(stories.n_not_understood)
    return True


def _answer_from_logs(stories: Stories, session: str | None, asked: CallsQuery) -> None:
    found = asked.chosen(_found(stories, session, as_json=asked.as_json))
    if session is None and not stories.groups and not asked.as_json:
        stories.show_that_there_is_none()
    else:
        asked.show(found)
    _say_what_is_missing(stories.n_not_understood)


def _always(_: CallInSession) -> bool:
    return True


def _is_cut(one: CallInSession) -> bool:
    """Whether what a call did is too long for the index."""
    return one.found is not None and one.found.did is None


def _say_what_is_missing(n_not_understood: int) -> None:
    if n_not_understood:
        lines = count(n_not_understood, "line")
        talk(f"tracklog: {lines} not understood, calls there are missing: `tracklog doctor`")


def is_tool(name: str, wanted: str) -> bool:
    """Whether a call's tool is meant: by its name, or all tools of an MCP server."""
    return name.lower() == wanted.lower() or (
        wanted.startswith("mcp__") and name.lower().startswith(f"{wanted.lower().rstrip('_')}__")
    )


def _slowness(session: str | None, slow: str | None) -> tuple[str | None, float | None]:
    """`--slow SESSION` means the session: the number may be left out."""
    if slow is None:
        return session, None
    try:
        ms = float(slow)
    except ValueError:
        if session is not None:
            raise UserError(f"--slow takes a number of milliseconds, not {slow}") from None
        return slow, 0.0
    if not 0 <= ms < float("inf"):
        raise UserError(f"--slow takes a number of milliseconds, not {slow}")
    return session, ms


def _ms(one: CallInSession) -> float:
    return one.call.took_ms or 0.0


def _found(stories: Stories, session: str | None, *, as_json: bool) -> Iterator[CallInSession]:
    """The sessions' own calls, and copied ones whose original is gone."""
    if session is not None:
        each: Iterable[Session] = [stories.named(session)]
    else:
        draws_as_it_reads = not as_json and sys.stdout.isatty()
        each = stories.each(shows_progress=not draws_as_it_reads)
    known = stories.ids
    return (one for story in each for one in calls_of(story) if not one.is_listed_elsewhere(known))


def _show(found: Iterable[CallInSession], *, is_in_order: bool) -> None:
    """In the order of the logs each file is named once, above its calls; else behind every call."""
    paper = Paper.of_stdout()
    verdicts: Counter[str] = Counter()
    n_inferred = 0
    for path, group in groupby(found, key=lambda listed: listed.path if is_in_order else None):
        if path is not None:
            name = safe(tilde(path))
            answer(paper.painted(short(name, paper.width) if paper.width else name, dim=True))
        for listed in group:
            verdicts[listed.call.verdict] += 1
            n_inferred += listed.call.sureness == "inferred"
            for line in call_lines(listed, paper, below=path):
                answer(line)
    answer(_summary(verdicts, n_inferred))


def call_lines(listed: CallInSession, paper: Paper, *, below: str | None) -> Iterator[str]:
    """A call: what it did and how long it took; where the proof stands; and, if it did not end well, why."""
    call = listed.call
    mark, colour = MARKS[call.verdict]
    is_wide = paper.width is None or paper.width >= _WIDE
    verdict, tool = call.verdict, short(call.name, 40 if is_wide else 20)
    tail = "  ".join(filter(None, [took(call.took_ms), where(call, below, longest=24 if is_wide else 14)]))
    head = f"{verdict:<{_VERDICT_WIDTH}}  {tool:<{_TOOL_WIDTH}}"
    room = None if paper.width is None else max(paper.width - len(head) - len(tail) - 8, _LEAST)
    what = cut(_words(listed), room)
    shown = f"  {paper.painted(mark, fg=colour)} {paper.painted(verdict, fg=colour)}{head[len(verdict) :]}"
    yield f"{shown}  {what}  {paper.painted(tail, dim=True)}".rstrip()
    remarks = " · ".join(dict.fromkeys(filter(None, _remarks(call))))
    if remarks:
        yield paper.painted(cut(f"      {remarks}", paper.width), dim=True)


def _words(listed: CallInSession) -> str:
    if listed.found is not None and listed.found.did is not None:
        return short(listed.found.did, LONGEST)
    return what_it_did(listed.call, cwd=listed.cwd)


def _remarks(call: Call) -> Iterator[str]:
    words = verdict_words(call)
    yield words if words != call.verdict else ""
    yield "" if call.on_active_branch else "on a branch that was left"
    yield answers_words(call)
    is_plain = call.why == call.verdict or (call.verdict == "ok" and call.sureness == "stated")
    yield "" if is_plain else short(call.why, 120)
    yield reason_of(call)


def where(call: Call, below: str | None, *, longest: int) -> str:
    """The lines that prove the verdict: numbers in the file that stands above, other files by name."""
    parts: list[str] = []
    for path, places in groupby(call.evidence, key=lambda place: place.path):
        lines = ",".join(str(place.line) for place in places)
        name = "" if path == below else short(path.rpartition("/")[2], longest)
        parts.append(f"{name}:{lines}")
    return " ".join(parts)


def _summary(verdicts: Counter[str], n_inferred: int) -> str:
    total = sum(verdicts.values())
    if not total:
        return "No calls."
    told = ", ".join(f"{n:,} {verdict}" for verdict, n in verdicts.most_common())
    inferred = f"; {n_inferred:,} inferred" if n_inferred else ""
    return f"{count(total, 'call')}: {told}{inferred}"
