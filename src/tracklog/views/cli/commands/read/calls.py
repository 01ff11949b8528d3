"""`tracklog calls`: every tool call, how it ended, and the lines that prove it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import get_args

import click

from tracklog.app.calls import CallsQuery, ListedCall, list_calls
from tracklog.app.scope.filters import Filters
from tracklog.errors import UserError
from tracklog.home import tilde
from tracklog.model.session import Call, Verdict
from tracklog.views.cli.options import reading_options, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.cli.output.terminal import Paper, cut
from tracklog.views.documents.sessions import call_row
from tracklog.views.text.calls import LONGEST, MARKS, answers_words, reason_of, verdict_words, what_it_did
from tracklog.views.text.numbers import took
from tracklog.views.text.printing import answer, answer_json_rows, count, safe, short, talk

_VERDICTS: tuple[str, ...] = get_args(Verdict)
_TOOL_WIDTH = 14
_WIDE = 110  # columns from which on the names of files have room
_LEAST = 4  # columns that are left to what a call did
_VERDICT_WIDTH = max(map(len, _VERDICTS))


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
    query = CallsQuery(
        roots=roots,
        session=session,
        agent=agent,
        filters=filters,
        tools=tools,
        verdicts=verdicts,
        slower_than_ms=slower_than_ms,
        is_slowest_first=slow is not None,
        limit=limit,
        home=home,
        syncs=syncs,
    )
    draws_as_it_reads = not as_json and sys.stdout.isatty()
    with list_calls(query, STDERR, with_inputs=as_json, shows_progress=not draws_as_it_reads) as found:
        if as_json:
            answer_json_rows("calls", (call_row(one.call) for one in found))
        elif found.has_sessions:
            _show(found, is_in_order=slow is None)
        else:
            from tracklog.views.cli.commands.read.places import show_no_session  # seldom needed

            show_no_session(roots, agent=agent, filters=filters, home=home)
        if n := found.n_not_understood:
            talk(f"tracklog: {count(n, 'line')} not understood, calls there are missing: `tracklog doctor`")


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


def _show(found: Iterable[ListedCall], *, is_in_order: bool) -> None:
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


def call_lines(listed: ListedCall, paper: Paper, *, below: str | None) -> Iterator[str]:
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


def _words(listed: ListedCall) -> str:
    if listed.did is not None:
        return short(listed.did, LONGEST)
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
