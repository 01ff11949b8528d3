"""What `tracklog index` does, and says: kept apart from its options, as it is asked again and again (cli/fast_path.py)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracklog.app.index.open import asked_roots, is_archiving, synced, written
from tracklog.home import Home, tilde, tracklog_home
from tracklog.index.tables_health import LogTotals, totals
from tracklog.sources.log_file import Root
from tracklog.store.database import DamagedIndex, Database, reading
from tracklog.store.scope import scope_of
from tracklog.views.text.printing import answer, answer_json, count, size

if TYPE_CHECKING:
    from tracklog.index.sync import Synced


_MUCH = 16_000_000  # bytes: who had to wait for those does not wait for tidying, too


def bring_up_to_date(
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    as_json: bool,
    is_full: bool = False,
    archives: bool | None = None,
) -> None:
    """Reads what is new into the index, and says what it holds now."""
    ours = Home(tracklog_home(home))
    began = time.monotonic()

    asked = asked_roots(roots, agent=agent, home=home)
    scope = scope_of(root.path for root in asked)
    still = None if is_full or archives is not None else totals_if_still(ours, asked)

    def work(database: Database) -> tuple[Synced | None, LogTotals]:
        chosen = _choose(database, archives)
        done = synced(database, asked, with_archive=chosen, is_full=is_full)
        if not done.is_nothing and done.grown_bytes < _MUCH:
            from tracklog.app.index.open_ledger import settle
            from tracklog.app.prices import load_prices

            settle(database, load_prices(home))
        if chosen and not done.is_nothing and done.n_bytes < _MUCH:
            from tracklog.archive.recompress import tend

            tend(database, now_ns=time.time_ns())
        return done, totals(database.db, scope)

    done, known = (None, still) if still is not None else written(ours, work)
    seconds = round(time.monotonic() - began, 3)
    if as_json:
        answer_json(_document(known, done, seconds))
    else:
        _show(known, done, seconds, ours)


def totals_if_still(home: Home, roots: list[Root]) -> LogTotals | None:
    """What the index holds, if it knows everything already: then nothing else is loaded."""
    from tracklog.index.freshness import is_still

    try:
        with reading(home) as database:
            if database is not None and is_still(database.db, roots, spool=home.spool):
                return totals(database.db, scope_of(root.path for root in roots))
    except DamagedIndex:
        return None  # who writes it will see to that
    return None


def _choose(database: Database, archives: bool | None) -> bool:
    if archives is None:
        return is_archiving(database)
    from tracklog.store.database import put_setting

    with database.transaction() as db:
        put_setting(db, "archive", "on" if archives else "off")
    return archives


def _document(known: LogTotals, done: Synced | None, seconds: float) -> dict[str, Any]:
    return {
        "files": known.files,
        "bytes": known.bytes,
        "lines": known.lines,
        "read": known.read,
        "unknown": known.unknown,
        "broken": known.broken,
        "recovered": known.recovered,
        "sessions": known.sessions,
        "seconds": seconds,
        "only_here": known.only_here,
        "new_files": done.n_files if done else 0,
        "new_bytes": done.n_bytes if done else 0,
        "problems": done.problems if done else [],
    }


def _show(known: LogTotals, done: Synced | None, seconds: float, home: Home) -> None:
    if done is None or done.is_nothing:
        answer("Nothing is new.")
    elif done.n_files:
        rate = f", {size(int(done.n_bytes / seconds))}/s" if seconds > 0.5 else ""
        answer(f"Read {size(done.n_bytes)} of {count(done.n_files, 'file')} in {seconds:.1f} s{rate}.")
    if done is not None and done.n_gone:
        answer(f"{count(done.n_gone, 'log')} gone since: the archive keeps them.")
    answer(
        f"{count(known.sessions, 'session')} in {count(known.files, 'file')}, {size(known.bytes)}"
        + (f"; {count(known.only_here, 'session')} only here" if known.only_here else "")
        + f". The index is in {tilde(str(home.path))}."
    )
