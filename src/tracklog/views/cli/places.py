"""`tracklog places`: where the agents keep their logs, and how much is there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import click

from tracklog.sources.found import Place, Skipped
from tracklog.sources.places import places as summed
from tracklog.views.cli.choosing import Found, find_logs
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.printing import answer, answer_json, count, safe, size, tilde

_EXAMPLES_SHOWN = 3


@click.command
@shared_options
def places(agent: str | None, roots: tuple[Path, ...], home: Path | None, as_json: bool) -> None:  # noqa: ARG001
    """Where the agents keep their logs, and how much is there.

    Lists files and bytes by agent, place and kind of file, and says what was left alone and why: symbolic links,
    pipes, folders that may not be entered. Nothing is read but names and sizes; only logs outside of an agent's
    home are opened, to see whose they are.
    """
    found = find_logs(roots, agent=agent)
    if as_json:
        answer_json({"places": place_rows(found), "skipped": skipped_rows(found.skipped)})
    elif found.files:
        show_places(found)
        show_skipped(found.skipped)
    else:
        show_nothing_found(found, default=not roots)


def place_rows(found: Found) -> list[dict[str, object]]:
    """The places as the contract names their fields."""
    return [{**row._asdict(), "path": str(row.path), "kind": row.kind.value} for row in summed(found.files)]


def skipped_rows(skipped: Iterable[Skipped]) -> list[dict[str, str]]:
    """What was left alone, as the contract names its fields."""
    return [{"path": str(one.path), "why": one.why} for one in skipped]


def show_places(found: Found) -> None:
    """One block per agent and place, then the total."""
    from tracklog.views.cli.drawing import line, painted, table

    for (agent, path), rows in groupby(_by_agent(summed(found.files)), key=lambda row: (row.agent, row.path)):
        line(painted(agent or "unknown agent", "bold"), "  ", tilde(path))
        table([(row.kind.value, *count(row.files, "file").split(), size(row.bytes)) for row in rows], "<><>")
    line(painted("total", "bold"), f"  {count(len(found.files), 'file')}, {size(found.bytes)}")


def show_skipped(skipped: list[Skipped]) -> None:
    """What was left alone: each reason with its count and the first places."""
    from tracklog.views.cli.drawing import line, painted, table

    if not skipped:
        return
    line()
    line(painted("skipped", "bold"))
    for why, n in Counter(one.why for one in skipped).most_common():
        examples = [one.path for one in skipped if one.why == why][:_EXAMPLES_SHOWN]
        more = f" (the first {_EXAMPLES_SHOWN} of {n:,})" if n > _EXAMPLES_SHOWN else ""
        line(f"  {why}{more}")
        table([(tilde(path),) for path in examples], "<", indent=4)


def show_nothing_found(found: Found, *, default: bool) -> None:
    """Where we looked in vain, and what to do about it."""
    answer("No logs found.")
    reasons = {one.path: one.why for one in found.skipped}
    for root in found.roots:
        answer(f"  looked in {safe(tilde(root.path))}: {reasons.get(root.path, 'no logs')}")
    if default and not found.roots:
        config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        answer(f"  looked for ~/.claude, {safe(tilde(config))}/claude and ~/.codex: none exists")
    show_skipped([one for one in found.skipped if one.path not in {root.path for root in found.roots}])
    answer("")
    answer("Logs elsewhere?  tracklog places --root DIR")
    answer("                 or set CLAUDE_CONFIG_DIR and CODEX_HOME, as for the agents")
    answer("No logs yet?     tracklog demo")
    answer("                 writes a small sample home to try everything on")


def _by_agent(rows: list[Place]) -> list[Place]:
    return sorted(rows, key=lambda row: (row.agent is None, row.agent or "", str(row.path)))
