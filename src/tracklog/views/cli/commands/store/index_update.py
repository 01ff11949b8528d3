"""Draw what `tracklog index` did; apart from its options, because scripts ask often (cli/fast_path.py)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracklog.app.index.open import asked_roots, bring_up_to_date
from tracklog.home import Home, tilde, tracklog_home
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, count, size

if TYPE_CHECKING:
    from tracklog.app.index.open import LogTotals, Synced


def update(
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    as_json: bool,
    is_full: bool = False,
    archives: bool | None = None,
) -> None:
    """Read what is new into the index, and print what it holds now."""
    ours, began = Home(tracklog_home(home)), time.monotonic()
    asked = asked_roots(roots, agent=agent, home=home)
    done = bring_up_to_date(ours, asked, talk=STDERR, is_full=is_full, archives=archives)
    seconds = round(time.monotonic() - began, 3)
    if as_json:
        answer_json(_document(done.known, done.synced, seconds))
    else:
        _show(done.known, done.synced, seconds, ours)


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
