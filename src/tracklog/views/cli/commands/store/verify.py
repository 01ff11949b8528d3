"""`tracklog verify`: proves that reading loses nothing."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from tracklog.app.logs.verify import ArchiveProof, Verification, VerifyResult, verify_logs
from tracklog.errors import NOT_FINE
from tracklog.home import tilde
from tracklog.views.cli.commands.read.places import show_nothing_found, show_skipped
from tracklog.views.cli.options import A_PATH, shared_options
from tracklog.views.cli.output.drawing import line, painted, table
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.places import skipped_rows
from tracklog.views.text.printing import answer_json, count, size

_FILES_SHOWN = 40


@click.command
@click.argument("paths", nargs=-1, type=A_PATH, metavar="[PATH]...")
@shared_options
def verify(
    paths: tuple[Path, ...],
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Prove that reading loses nothing.

    Reads each log to its end, puts the pieces together again and compares: the bytes must be identical. PATH is a
    log or a folder of logs; without one, all logs in their usual places are checked. Where there is an archive, its
    copy of each log is compared with the log, and what only the archive has must come out of it whole. Exits with 1
    if a file is not identical or cannot be read to its end, and also if there are broken lines: nothing of them is
    lost either, but whoever wrote them lost something.
    """
    checked = verify_logs(paths, roots, agent=agent, home=home, talk=STDERR)
    skipped = [*checked.found.skipped, *checked.unproved]
    if as_json:
        files = [msgspec.to_builtins(proof) for proof in checked.proofs]
        answer_json(
            {
                "identical": checked.identical,
                "files": files,
                "skipped": skipped_rows(skipped),
                "archive": _archive_document(checked.archive),
            }
        )
    elif checked.found.files or checked.archive.logs:
        _show(checked)
        show_skipped(skipped)
    else:
        show_nothing_found(checked.found, default=not roots and not paths)
    if not checked.identical or checked.broken:
        raise click.exceptions.Exit(NOT_FINE)


def _archive_document(proof: ArchiveProof) -> dict[str, object]:
    return {**msgspec.structs.asdict(proof), "damaged": skipped_rows(proof.damaged)}


def _show(checked: Verification) -> None:
    if checked.proofs or checked.unproved:
        _show_verdict(checked)
        _show_counts(checked)
    _show_archive(checked.archive)
    odd = [proof for proof in checked.proofs if not proof.identical or proof.unknown or proof.broken]
    if odd:
        line()
        _show_files(odd)


def _show_verdict(checked: Verification) -> None:
    different = [proof for proof in checked.proofs if not proof.identical]
    files = count(len(checked.proofs), "file")
    if different:
        line(
            painted("✗ ", "red"), f"{count(len(different), 'file')} of {len(checked.proofs):,} not identical"
        )
    elif checked.unproved:
        unread = count(len(checked.unproved), "file")
        line(painted("✗ ", "red"), f"{files} identical, {unread} could not be read to the end")
    else:
        line(painted("✓ ", "green"), f"{files} identical, byte by byte")


def _show_counts(checked: Verification) -> None:
    total = {
        name: sum(getattr(proof, name) for proof in checked.proofs)
        for name in ("bytes", "lines", "read", "unknown", "broken", "recovered")
    }
    rate = f"{size(round(total['bytes'] / max(checked.seconds, 0.001)))}/s"
    line(f"  {count(total['lines'], 'line')}, {size(total['bytes'])} in {checked.seconds:.1f} s, {rate}")
    line(
        f"  {total['read']:,} read, {total['unknown']:,} unknown, {total['broken']:,} broken"
        f" ({count(total['recovered'], 'record')} recovered)"
    )


def _show_archive(proof: ArchiveProof) -> None:
    if not proof.logs:
        return
    mark = painted("✗ ", "red") if proof.damaged else painted("✓ ", "green")
    line(mark, f"archive: {count(proof.identical, 'log')} the same, {proof.only_here:,} only there and whole")
    if proof.outdated:
        line(f"  {count(proof.outdated, 'log')} rewritten since: `tracklog index` archives them")
    for one in proof.damaged[:_FILES_SHOWN]:
        line(painted("  damaged ", "red"), f"{tilde(one.path)}: {one.why}")


def _show_files(odd: list[VerifyResult]) -> None:
    heads = [painted(name, "dim") for name in ("unknown", "broken", "recovered", "of lines", "file")]
    rows = [
        (
            f"{proof.unknown:,}",
            painted(f"{proof.broken:,}", "red" if proof.broken else ""),
            f"{proof.recovered:,}",
            f"{proof.lines:,}",
            ("" if proof.identical else "NOT IDENTICAL  ") + tilde(proof.path),
        )
        for proof in sorted(odd, key=lambda proof: (proof.identical, -proof.broken, -proof.unknown))
    ]
    table([heads, *rows[:_FILES_SHOWN]], ">>>><")
    if len(rows) > _FILES_SHOWN:
        line(f"  … and {count(len(rows) - _FILES_SHOWN, 'file')} more: --json lists all")
