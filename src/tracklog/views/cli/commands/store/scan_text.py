"""What `tracklog scan` shows on a terminal: how many secrets of which kind, where, and what to do about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracklog.home import tilde
from tracklog.views.cli.commands.read.places import show_skipped
from tracklog.views.cli.output.drawing import line, painted, table
from tracklog.views.text.printing import count, short_id, size

if TYPE_CHECKING:
    from tracklog.app.secrets import LoggedSecret, ScanResult

_SHOWN = 40
_DIGITS = 8


def show_scan(result: ScanResult, *, shows_all: bool) -> None:
    """The verdict, the kinds, the places, and what comes next."""
    _show_verdict(result)
    if result.standing:
        _show_kinds(result.standing)
        _show_places(result.standing, shows_all=shows_all)
    show_skipped(result.skipped)
    if result.standing:
        _show_what_next(result.standing)


def _show_verdict(result: ScanResult) -> None:
    if not result.n_files and not result.n_unscanned:
        line(painted("! ", "yellow"), "nothing was looked through: there are no logs")
        return
    logs = f"{count(result.n_files, 'log')}, {size(result.n_bytes)}"
    new = f"; {size(result.n_new_bytes)} of it new" if 0 < result.n_new_bytes < result.n_bytes else ""
    left = f"; {count(result.n_allowed, 'place')} allowed" if result.n_allowed else ""
    if result.standing:
        values = len({one.hash for one in result.standing})
        line(painted("✗ ", "red"), f"{count(values, 'secret')} in {logs}{new}{left}")
    elif result.n_unscanned:
        line(painted("✗ ", "red"), f"no secrets found in {logs}{new}{left}")
    else:
        line(painted("✓ ", "green"), f"no secrets in {logs}{new}{left}")
    if result.n_unscanned:
        line(
            f"  {count(result.n_unscanned, 'place')} could not be looked through: nobody knows what stands there"
        )


def _show_kinds(standing: Sequence[LoggedSecret]) -> None:
    by_kind: dict[str, list[LoggedSecret]] = {}
    for one in standing:
        by_kind.setdefault(one.kind, []).append(one)
    heads = [painted(name, "dim") for name in ("kind", "secrets", "times", "places", "sessions")]
    rows = [
        (
            kind,
            f"{len({one.hash for one in those}):,}",
            f"{sum(one.times for one in those):,}",
            f"{len({(one.path, one.line) for one in those}):,}",
            f"{len({(one.agent, one.session) for one in those if one.session}):,}",
        )
        for kind, those in sorted(by_kind.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]
    line()
    table([heads, *rows], "<>>>>", gives_way=0)


def _show_places(standing: Sequence[LoggedSecret], *, shows_all: bool) -> None:
    shown = standing if shows_all else standing[:_SHOWN]
    heads = [painted(name, "dim") for name in ("kind", "hash", "times", "session", "place")]
    rows = [
        (
            one.kind,
            one.hash[:_DIGITS],
            f"{one.times:,}",
            short_id(one.session) if one.session else "",
            f"{tilde(one.path)}:{one.line}" + (" (only in the archive)" if one.only_here else ""),
        )
        for one in shown
    ]
    line()
    table([heads, *rows], "<<><<")
    if len(shown) < len(standing):
        line(f"  … and {count(len(standing) - len(shown), 'place')} more: --all shows them")


def _show_what_next(standing: Sequence[LoggedSecret]) -> None:
    line()
    line(
        "A secret that stands in a log was seen by a model and by whoever reads the log: replace it where it is used."
    )
    line("One that may stay:  ", f"tracklog scan --allow {standing[0].hash[:_DIGITS]} --why '…'")
