"""`tracklog verify`: proves that reading loses nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from tracklog.pipeline.verify import Proof
from tracklog.pipeline.verify import verify as prove
from tracklog.sources.found import LogFile, Skipped
from tracklog.views.cli.choosing import find_logs
from tracklog.views.cli.drawing import line, painted, table
from tracklog.views.cli.ending import NOT_FINE
from tracklog.views.cli.options import A_PATH, shared_options
from tracklog.views.cli.places import show_nothing_found, show_skipped, skipped_rows
from tracklog.views.cli.printing import answer_json, count, size, tilde
from tracklog.views.cli.progress import progress

_FILES_SHOWN = 40


class Checked(NamedTuple):
    """The proofs, and what there is no proof for."""

    proofs: list[Proof]
    unproved: list[Skipped]  # logs that could not be read to their end
    seconds: float

    @property
    def identical(self) -> bool:
        """Whether every log came back byte by byte; one that cannot be read to its end spoils it."""
        return all(proof.identical for proof in self.proofs) and not self.unproved

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
    home: Path | None,  # noqa: ARG001 (every command takes it)
    as_json: bool,
) -> None:
    """Prove that reading loses nothing.

    Reads each log to its end, puts the pieces together again and compares: the bytes must be identical. PATH is a
    log or a folder of logs; without one, all logs in their usual places are checked. Exits with 1 if a file is not
    identical or cannot be read to its end, and also if there are broken lines: nothing of them is lost either, but
    whoever wrote them lost something.
    """
    found = find_logs(paths or roots, agent=agent)
    checked = _check(found.files, called=_names_of_links(paths))
    skipped = [*found.skipped, *checked.unproved]
    if as_json:
        files = [msgspec.to_builtins(proof) for proof in checked.proofs]
        answer_json({"identical": checked.identical, "files": files, "skipped": skipped_rows(skipped)})
    elif found.files:
        _show(checked)
        show_skipped(skipped)
    else:
        show_nothing_found(found, default=not roots and not paths)
    if not checked.identical or checked.broken:
        raise click.exceptions.Exit(NOT_FINE)


def _names_of_links(paths: Sequence[Path]) -> dict[Path, Path]:
    """A link is read where it points, and reported as the person called it."""
    return {path.resolve(): path for path in paths if path.is_symlink() and not path.is_dir()}


def _check(files: Sequence[LogFile], *, called: Mapping[Path, Path]) -> Checked:
    started, done = time.monotonic(), 0
    checked = Checked([], [], 0.0)

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
                checked.proofs.append(result)
    return checked._replace(seconds=time.monotonic() - started)


def _show(checked: Checked) -> None:
    _show_verdict(checked)
    _show_counts(checked)
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


def _show_files(odd: list[Proof]) -> None:
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
