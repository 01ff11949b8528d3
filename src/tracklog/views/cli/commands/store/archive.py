"""`tracklog archive`: how much the archive holds, and how to make it smaller."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracklog.archive.tables import ArchivedLog, archived_rows
from tracklog.errors import NotThere, UserError
from tracklog.home import Home, tracklog_home
from tracklog.store.database import Database, reading
from tracklog.store.scope import Scope, scope_of
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.numbers import moment_in_seconds
from tracklog.views.text.printing import answer, answer_json, count, percent, safe, size, talk, tilde

if TYPE_CHECKING:
    from tracklog.index.prune import Pruning

_AGE = re.compile(r"(\d{1,6})(d|w|mo?|y)?")
_DAYS = {"d": 1, "w": 7, "mo": 30, "y": 365}
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?([kMGT]?)B?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SHOWN = 10


def _days(ctx: click.Context, option: click.Parameter, text: str | None) -> int | None:  # noqa: ARG001
    if text is None:
        return None
    match = _AGE.fullmatch(text)
    if match is None:
        raise UserError(f"not an age: {text!r}; write 90d, 12w, 6mo or 1y")
    if match[2] == "m":  # minutes, wherever else a time is asked for
        raise UserError(f"{text}: minutes or months? say {match[1]}mo or {int(match[1]) * _DAYS['mo']}d")
    return int(match[1]) * _DAYS[match[2] or "d"]


def _n_bytes(ctx: click.Context, option: click.Parameter, text: str | None) -> int | None:  # noqa: ARG001
    if text is None:
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UserError(f"not a size: {text!r}; write 500MB or 5GB")
    return int(float(match[1]) * _FACTORS[match[2].lower()])


@click.command
@click.option("--status", "shows_status", is_flag=True, help="How much it holds. The default.")
@click.option("--prune", "prunes", is_flag=True, help="Take out logs that still stand at their source.")
@click.option(
    "--recompress", "recompresses", is_flag=True, help="Compress all that is cold once more, and tidy up."
)
@click.option(
    "--older-than",
    callback=_days,
    metavar="AGE",
    help="Prune what was last written before: 90d, 12w, 6mo, 1y.",
)
@click.option(
    "--to-size", callback=_n_bytes, metavar="SIZE", help="Prune the oldest until all fits: 500MB, 5GB."
)
@click.option(
    "--force", "is_forced", is_flag=True, help="Prune also what only the archive has. It is lost for ever."
)
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@shared_options
def archive(
    shows_status: bool,
    prunes: bool,
    recompresses: bool,
    older_than: int | None,
    to_size: int | None,
    is_forced: bool,
    dry_run: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """How much the archive holds; make it smaller.

    Every log that is indexed is kept there, compressed, one `.zst` for each: `zstdcat` turns it back into the log.
    Sessions that an agent deletes live on in it; `tracklog restore` puts them back. --prune takes out only what still
    stands at its source, byte for byte, unless it is forced.

    \b
    tracklog archive
    tracklog archive --prune --older-than 90d --dry-run
    tracklog archive --prune --to-size 5GB
    """
    if shows_status + prunes + recompresses > 1:
        raise UserError("--status, --prune, --recompress: one at a time")
    if not prunes and (older_than is not None or to_size is not None or is_forced or dry_run):
        raise UserError("--older-than, --to-size, --force and --dry-run go with --prune")
    if prunes and older_than is None and to_size is None:
        raise UserError("say what is to go: --prune --older-than 90d, or --prune --to-size 5GB")
    ours = Home(tracklog_home(home))
    meant = _Meant(scope_of(roots) if roots else None, agent)
    if not ours.has_index():
        raise NotThere("there is no archive yet: `tracklog index` makes it")
    if recompresses:
        _recompress(ours, as_json=as_json)
    elif prunes:
        _prune(ours, meant, older_than, to_size, is_forced=is_forced, dry_run=dry_run, as_json=as_json)
    else:
        _status(ours, meant, as_json=as_json)


class _Meant:
    """Which logs are asked for."""

    def __init__(self, scope: Scope | None, agent: str | None) -> None:
        self._scope = scope
        self._agent = agent

    def holds(self, log: ArchivedLog) -> bool:
        is_there = self._scope is None or self._scope.holds(log.path)
        return is_there and self._agent in (None, log.agent)


def _status(home: Home, meant: _Meant, *, as_json: bool) -> None:
    with reading(home) as database:
        if database is None:
            raise NotThere("the index was made by another release: `tracklog index` brings it up to date")
        logs = [log for log in archived_rows(database.db, with_pruned=True) if meant.holds(log)]
    status = _summed(logs, home)
    if as_json:
        answer_json(status)
    else:
        _show_status(status, home)


def _summed(logs: Sequence[ArchivedLog], home: Home) -> dict[str, Any]:
    held = [log for log in logs if not log.is_pruned]
    contents, stored = _contents(held), sum(log.archived.stored_bytes for log in held)
    lost = [log for log in held if log.is_current and log.state == "kept"]
    return {
        "path": str(home.archive),
        "logs": len(held),
        "contents_bytes": contents,
        "stored_bytes": stored,
        "saving": round(1 - stored / contents, 4) if contents else 0.0,
        "only_here": len(lost),
        "only_here_bytes": _contents(lost),
        "past": sum(log.is_only_here for log in held) - len(lost),
        "recompressed": sum(log.is_cold for log in held),
        "pruned": len(logs) - len(held),
        "oldest_at": moment_in_seconds(held[0].mtime_ns) if held else None,
    }


def _contents(logs: Sequence[ArchivedLog]) -> int:
    return sum(log.archived.contents_bytes for log in logs)


def _show_status(status: dict[str, Any], home: Home) -> None:
    logs, contents, stored = status["logs"], status["contents_bytes"], status["stored_bytes"]
    share = f" ({percent(stored, contents)})" if contents else ""
    answer(f"{count(logs, 'log')}, {size(contents)}, stored in {size(stored)}{share}")
    answer(f"  {count(status['only_here'], 'log')} only here, {size(status['only_here_bytes'])}")
    if status["past"]:
        answer(f"  {count(status['past'], 'log')} as they were before they were rewritten")
    if status["pruned"]:
        answer(f"  {count(status['pruned'], 'log')} pruned")
    if status["oldest_at"]:
        answer(f"  the oldest of {status['oldest_at'][:10]}")
    answer(f"in {safe(tilde(home.archive))}")


def _prune(
    home: Home,
    meant: _Meant,
    older_than: int | None,
    to_size: int | None,
    *,
    is_forced: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    from tracklog.app.index.update import written
    from tracklog.index.prune import plan_pruning, prune

    def work(database: Database) -> Pruning:
        plan = plan_pruning(
            database,
            now_ns=time.time_ns(),
            older_than_days=older_than,
            to_bytes=to_size,
            may_lose=is_forced,
            is_meant=meant.holds,
        )
        if not dry_run:
            prune(database, plan.gone)
        return plan

    plan = written(home, work, talk=STDERR)
    if as_json:
        answer_json(_pruning_document(plan, dry_run=dry_run))
    else:
        _show_pruning(plan, dry_run=dry_run, is_too_much=to_size is not None and plan.left_bytes > to_size)


def _pruning_document(plan: Pruning, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "freed_bytes": plan.freed_bytes,
        "left_bytes": plan.left_bytes,
        "pruned": [
            {"path": log.path, "stored_bytes": log.archived.stored_bytes, "only_here": log.is_only_here}
            for log in plan.gone
        ],
        "spared": [{"path": log.path, "why": why} for log, why in plan.spared],
    }


def _show_pruning(plan: Pruning, *, dry_run: bool, is_too_much: bool) -> None:
    verb = "would free" if dry_run else "freed"
    answer(f"{verb} {size(plan.freed_bytes)} of {count(len(plan.gone), 'log')}; {size(plan.left_bytes)} stay")
    lost = sum(log.is_only_here for log in plan.gone)
    if lost:
        answer(f"  {count(lost, 'log')} of them {'would be' if dry_run else 'were'} only here")
    if len(plan.gone) > lost:
        answer("  what stands at its source is archived again when it grows, or by `tracklog index --full`")
    for log, why in plan.spared[:_SHOWN]:
        answer(f"  kept {safe(tilde(log.path))}: {why}")
    if len(plan.spared) > _SHOWN:
        answer(f"  … and {len(plan.spared) - _SHOWN:,} more: --json lists all")
    if is_too_much:
        talk(
            "tracklog: that is still more than was asked for: the rest stands nowhere else (--force takes it out)"
        )


def _recompress(home: Home, *, as_json: bool) -> None:
    from tracklog.app.index.update import written
    from tracklog.archive.recompress import recompress, sweep

    swept, done = written(
        home,
        lambda database: (sweep(database), recompress(database, now_ns=time.time_ns())),
        talk=STDERR,
    )
    if as_json:
        answer_json(
            {
                "recompressed": done.n_logs,
                "before_bytes": done.before_bytes,
                "after_bytes": done.after_bytes,
                "swept": swept,
                "problems": done.problems,
            }
        )
        return
    for problem in done.problems:
        talk(f"tracklog: {problem}")
    answer(f"{count(done.n_logs, 'log')}: {size(done.before_bytes)} became {size(done.after_bytes)}")
    if swept:
        answer(f"{count(swept, 'file')} that a killed process had left behind taken away")
