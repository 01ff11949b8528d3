"""`tracklog verify`: proves that reading loses nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from tracklog.app.index.open import Index, indexed
from tracklog.app.scope.resolve import found_at_source
from tracklog.archive.tables import archived_rows
from tracklog.errors import NOT_FINE
from tracklog.reading.verify import ArchiveCheck, ArchiveProof, VerifyResult
from tracklog.reading.verify import verify as prove
from tracklog.sources.log_file import LogFile, Skipped
from tracklog.store.file_stamps import stamps
from tracklog.store.scope import scope_of
from tracklog.views.cli.commands.read.places import show_nothing_found, show_skipped, skipped_rows
from tracklog.views.cli.options import A_PATH, shared_options
from tracklog.views.cli.output.drawing import line, painted, table
from tracklog.views.cli.output.progress import progress
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer_json, count, size, tilde

_FILES_SHOWN = 40


class Checked(NamedTuple):
    """The proofs, and what there is no proof for."""

    proofs: list[VerifyResult]
    unproved: list[Skipped]  # logs that could not be read to their end
    archive: ArchiveProof
    seconds: float

    @property
    def identical(self) -> bool:
        """Whether every log came back byte by byte, from its source and from the archive.

        One that cannot be read to its end spoils it.
        """
        all_came_back = all(proof.identical for proof in self.proofs)
        return all_came_back and not self.unproved and not self.archive.damaged

    @property
    def broken(self) -> int:
        """Broken pieces in all files."""
        return sum(proof.broken for proof in self.proofs)


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
    with indexed(roots, home=home, talk=STDERR, syncs=not paths, settles=False) as index:
        found = found_at_source(paths or roots, agent=agent, home=home)
        check = _archive_check(index, [*paths, *roots], agent=agent)
        checked = _check(found.files, called=_names_of_links(paths), check=check, index=index)
    skipped = [*found.skipped, *checked.unproved]
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
    elif found.files or checked.archive.logs:
        _show(checked)
        show_skipped(skipped)
    else:
        show_nothing_found(found, default=not roots and not paths)
    if not checked.identical or checked.broken:
        raise click.exceptions.Exit(NOT_FINE)


def _names_of_links(paths: Sequence[Path]) -> dict[Path, Path]:
    """A link is read where it points, and reported as the person called it."""
    return {path.resolve(): path for path in paths if path.is_symlink() and not path.is_dir()}


def _archive_check(index: Index | None, given: Sequence[Path], *, agent: str | None) -> ArchiveCheck | None:
    """What the archive has of the logs that are asked for."""
    if index is None:
        return None
    scope = scope_of(given) if given else index.scope
    logs = [log for log in archived_rows(index.database.db) if scope.holds(log.path)]
    return ArchiveCheck(index.database.home.archive, [log for log in logs if agent in (None, log.agent)])


def _archive_document(proof: ArchiveProof) -> dict[str, object]:
    return {**msgspec.structs.asdict(proof), "damaged": skipped_rows(proof.damaged)}


def _check(
    files: Sequence[LogFile],
    *,
    called: Mapping[Path, Path],
    check: ArchiveCheck | None,
    index: Index | None,
) -> Checked:
    started, done = time.monotonic(), 0
    checked = Checked([], [], ArchiveProof(), 0.0)
    known = {path: stamp for path, *stamp in stamps(index.database.db)} if index else {}

    def tell(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes

    with progress("verifying", sum(file.size for file in files), done=lambda: done):
        for file in files:
            result, name = prove(file, tell=tell), called.get(file.path, file.path)
            if isinstance(result, Skipped):
                checked.unproved.append(result._replace(path=name))
            else:
                result.path = str(name)
                if check is not None:
                    result.archived = check.compare(file, stamp=known.get(str(file.path), []))
                checked.proofs.append(result)
        archive = ArchiveProof() if check is None else check.rest()
    return checked._replace(archive=archive, seconds=time.monotonic() - started)


def _show(checked: Checked) -> None:
    if checked.proofs or checked.unproved:
        _show_verdict(checked)
        _show_counts(checked)
    _show_archive(checked.archive)
    odd = [proof for proof in checked.proofs if not proof.identical or proof.unknown or proof.broken]
    if odd:
        line()
        _show_files(odd)


def _show_verdict(checked: Checked) -> None:
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


def _show_counts(checked: Checked) -> None:
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
