"""`tracklog archive`: how much the archive holds, and how to make it smaller."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracklog.app.archive import (
    ArchiveTotals,
    Recompression,
    archive_totals,
    archived_logs,
    prune_archive,
    recompress_archive,
    refuse_without_archive,
)
from tracklog.errors import UserError
from tracklog.home import Home, tilde, tracklog_home
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.numbers import moment_in_seconds
from tracklog.views.text.printing import answer, answer_json, count, percent, safe, size, talk

if TYPE_CHECKING:
    from tracklog.app.archive import Pruning

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
    meant = archived_logs(roots, agent)
    refuse_without_archive(ours)
    if recompresses:
        done = recompress_archive(ours, talk=STDERR)
        if as_json:
            answer_json(_recompression_document(done))
        else:
            _show_recompression(done)
    elif prunes:
        plan = prune_archive(
            ours,
            meant,
            older_than_days=older_than,
            to_bytes=to_size,
            may_lose=is_forced,
            dry_run=dry_run,
            talk=STDERR,
        )
        if as_json:
            answer_json(_pruning_document(plan, dry_run=dry_run))
        else:
            is_too_much = to_size is not None and plan.left_bytes > to_size
            _show_pruning(plan, dry_run=dry_run, is_too_much=is_too_much)
    else:
        totals = archive_totals(ours, meant)
        if as_json:
            answer_json(_document(totals, ours))
        else:
            _show_totals(totals, ours)


def _document(totals: ArchiveTotals, home: Home) -> dict[str, Any]:
    contents = totals.contents_bytes
    return {
        "path": str(home.archive),
        "logs": totals.logs,
        "contents_bytes": contents,
        "stored_bytes": totals.stored_bytes,
        "saving": round(1 - totals.stored_bytes / contents, 4) if contents else 0.0,
        "only_here": totals.only_here,
        "only_here_bytes": totals.only_here_bytes,
        "past": totals.past,
        "recompressed": totals.recompressed,
        "pruned": totals.pruned,
        "oldest_at": moment_in_seconds(totals.oldest_ns) if totals.oldest_ns is not None else None,
    }


def _show_totals(totals: ArchiveTotals, home: Home) -> None:
    contents, stored = totals.contents_bytes, totals.stored_bytes
    share = f" ({percent(stored, contents)})" if contents else ""
    answer(f"{count(totals.logs, 'log')}, {size(contents)}, stored in {size(stored)}{share}")
    answer(f"  {count(totals.only_here, 'log')} only here, {size(totals.only_here_bytes)}")
    if totals.past:
        answer(f"  {count(totals.past, 'log')} as they were before they were rewritten")
    if totals.pruned:
        answer(f"  {count(totals.pruned, 'log')} pruned")
    if totals.oldest_ns is not None:
        answer(f"  the oldest of {moment_in_seconds(totals.oldest_ns)[:10]}")
    answer(f"in {safe(tilde(home.archive))}")


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


def _recompression_document(done: Recompression) -> dict[str, Any]:
    return {
        "recompressed": done.logs,
        "before_bytes": done.before_bytes,
        "after_bytes": done.after_bytes,
        "swept": done.swept,
        "problems": done.problems,
    }


def _show_recompression(done: Recompression) -> None:
    for problem in done.problems:
        talk(f"tracklog: {problem}")
    answer(f"{count(done.logs, 'log')}: {size(done.before_bytes)} became {size(done.after_bytes)}")
    if done.swept:
        answer(f"{count(done.swept, 'file')} that a killed process had left behind taken away")
