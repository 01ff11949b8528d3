"""`tracklog carried`: what it cost to send each result, prompt and attachment along again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from tracklog.app.context_cost import KINDS, ContextReport, Kind, Thing, context_report, cost_of_things
from tracklog.app.scope.filters import Filters
from tracklog.home import tilde
from tracklog.model.ids import CallId
from tracklog.model.session import Call, Session
from tracklog.model.usage import micro
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.sessions import Row
from tracklog.views.text.calls import what_it_did
from tracklog.views.text.numbers import money, share, short_number
from tracklog.views.text.printing import answer_json, count, excerpt, short_id

# Lazy imports: rich takes longer to load than most answers, and --json needs none of it.

_SHOWN = 20
_WIDE = 110  # columns from which on everything has room
_LONGEST = 120
_BAR = 20
KIND_WORDS: dict[Kind, str] = {
    "result": "results of tools",
    "prompt": "prompts",
    "attachment": "attachments",
    "injected": "texts that the client put in",
    "reply": "the model's own words",
    "beginning": "instructions and tools",
    "unseen": "what no log explains",
}


@click.command
@click.argument("session")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most so many: {_SHOWN} unless told otherwise, with --json all.",
)
@reading_options
def carried(
    session: str,
    limit: int | None,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """What it cost to send each thing along again and again, the dearest first.

    SESSION is an id, the start of one, a file, or @last. Whatever stands in a conversation is sent with every later
    request, until a compaction drops it: a large result costs most long after it was read. Sizes are measured by how
    much the prompt grew; those marked ~ are estimated from bytes. Subagents carry their own things.

    \b
    tracklog carried @last
    tracklog carried 3f2a --limit 5
    """
    found = context_report(session, roots, agent=agent, filters=filters, home=home, talk=STDERR)
    most = limit if limit or as_json else _SHOWN
    if as_json:
        answer_json(_document(found, most))
    else:
        _show(found, most or len(found.listed))


def _document(found: ContextReport, most: int | None) -> Row:
    calls = {call.id: call for call in found.session.calls}
    rows = [_row(rank, thing, calls, found.session) for rank, thing in enumerate(found.listed[:most], 1)]
    return {
        "session": found.session.id,
        "cost_micro_usd": micro(found.cost.cost_pico_usd),
        "cost_is_lower_bound": found.cost.is_lower_bound,
        "prompt_cost_micro_usd": micro(found.prompts_pico_usd),
        "kinds": [_kind_row(kind, found.of_kind(kind)) for kind in KINDS],
        "carried": rows,
    }


def _kind_row(kind: Kind, things: Sequence[Thing]) -> Row:
    return {
        "kind": kind,
        "things": len(things),
        "read_tokens": sum(thing.read_tokens for thing in things),
        "cost_micro_usd": micro(cost_of_things(things)),
    }


def _row(rank: int, thing: Thing, calls: dict[CallId, Call], session: Session) -> Row:
    is_priced = thing.n_unpriced_reads < thing.n_reads
    return {
        "rank": rank,
        "kind": thing.kind,
        "name": thing.name,
        "call": thing.call,
        "what": _what(thing, calls, session),
        "thread": thing.thread,
        "path": thing.place.path if thing.place else None,
        "line": thing.place.line if thing.place else None,
        "bytes": thing.n_bytes,
        "tokens": thing.tokens,
        "estimated": not thing.is_measured,
        "reads": thing.n_reads,
        "unpriced_reads": thing.n_unpriced_reads,
        "read_tokens": thing.read_tokens,
        "first_cost_micro_usd": micro(thing.first_pico_usd) if is_priced else None,
        "carried_cost_micro_usd": micro(thing.again_pico_usd) if is_priced else None,
        "cost_micro_usd": micro(thing.cost_pico_usd) if is_priced else None,
    }


def _what(thing: Thing, calls: dict[CallId, Call], session: Session) -> str:
    """Describe an item in a few words: the summary of a call, or how a text begins."""
    call = calls.get(thing.call) if thing.call is not None else None
    return what_it_did(call, cwd=session.cwd) if call is not None else excerpt(thing.text, _LONGEST)


def _show(found: ContextReport, most: int) -> None:
    from tracklog.views.cli.output.drawing import line, painted, table

    shown = found.listed[:most]
    if not shown:
        line("Nothing was carried along: no request of this session says what it used.")
        return
    table([[painted(tilde(found.session.paths[0]), "dim")]], "<", indent=0)
    _show_things(found, shown)
    n_more = len(found.listed) - len(shown)
    if n_more:
        line(painted(f"… and {count(n_more, 'cheaper thing')}: --limit N shows more", "dim"))
    _show_kinds(found)
    if any(not thing.is_measured for thing in shown):
        line(painted("~ estimated from bytes: how much the prompt grew by it could not be measured", "dim"))


def _show_things(found: ContextReport, shown: Sequence[Thing]) -> None:
    from tracklog.views.cli.output.drawing import console, painted, table

    is_wide = console().width >= _WIDE
    calls = {call.id: call for call in found.session.calls}
    names = ["#", "cost", "first", "again", "reads", "tokens", "what", "where"]
    kept = [name for name in names if is_wide or name not in ("#", "first")]
    lines = [[painted(name, "dim") for name in kept]]
    for rank, thing in enumerate(shown, 1):
        cells = _cells(rank, thing, _what(thing, calls, found.session), found.session)
        lines.append([painted(*cells[name]) for name in kept])
    sides = "".join("<" if name in ("what", "where") else ">" for name in kept)
    table(lines, sides, gives_way=kept.index("what"), indent=0, keeps_the_end=False)


def _cells(rank: int, thing: Thing, what: str, session: Session) -> dict[str, tuple[str, str]]:
    is_priced = thing.n_unpriced_reads < thing.n_reads
    return {
        "#": (f"{rank:,}", "dim"),
        "cost": (_money(thing.cost_pico_usd, is_priced=is_priced), "bold"),
        "first": (_money(thing.first_pico_usd, is_priced=is_priced), ""),
        "again": (_money(thing.again_pico_usd, is_priced=is_priced), ""),
        "reads": (f"{thing.n_reads:,}", ""),
        "tokens": (f"{'' if thing.is_measured else '~'}{short_number(thing.tokens)}", ""),
        "what": (_told(thing, what), ""),
        "where": (_where(thing, session), "dim"),
    }


def _told(thing: Thing, what: str) -> str:
    if thing.kind in ("result", "attachment"):
        return f"{thing.name} {what}".strip()
    return f"{'prompt' if thing.kind == 'prompt' else thing.name}: {what}"


def _money(pico: int, *, is_priced: bool) -> str:
    return money(pico) if is_priced else "–"


def _where(thing: Thing, session: Session) -> str:
    """The line; in a log that is not the session's main one, with whose it is."""
    line = f":{thing.place.line}" if thing.place else ""
    return line if thing.thread == session.main.id else f"{short_id(thing.thread)}{line}"


def _show_kinds(found: ContextReport) -> None:
    from tracklog.views.cli.output.drawing import Cell, bar, line, painted, table

    tokens = Counter({kind: sum(one.read_tokens for one in found.of_kind(kind)) for kind in KINDS})
    costs = {kind: cost_of_things(found.of_kind(kind)) for kind in KINDS}
    whole = found.prompts_pico_usd
    sizes = tokens if whole is None else Counter({kind: costs[kind] or 0 for kind in KINDS})
    rows: list[list[Cell]] = [
        [
            money(costs[kind]) if whole is not None else f"{short_number(tokens[kind])} tokens",
            bar([(sizes[kind], "cyan")], sizes.total(), width=_BAR),
            share(sizes[kind], sizes.total()),
            KIND_WORDS[kind],
        ]
        for kind, size in sizes.most_common()
        if size
    ]
    line("")
    cost = (
        f"cost {money(whole)}"
        if whole is not None
        else f"read {short_number(tokens.total())} tokens, unpriced"
    )
    line(painted(f"The prompts {cost}{_of_all(found)}:", "bold"))
    table(rows, "><><", gives_way=3, indent=2, keeps_the_end=False)


def _of_all(found: ContextReport) -> str:
    cost, is_lower_bound = found.cost
    if cost is None or not cost:
        return ""
    return f" of the session's {'at least ' if is_lower_bound else ''}{money(cost)}"
