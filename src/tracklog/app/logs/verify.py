"""Prove that reading loses nothing: each log, and the archive's copy of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.app.index.open import Index, indexed
from tracklog.app.scope.resolve import ResolvedLogs, found_at_source
from tracklog.app.talk import QUIET, Talk
from tracklog.archive.tables import archived_rows
from tracklog.reading.verify import ArchiveCheck, verify
from tracklog.reading.verify import ArchiveProof as ArchiveProof
from tracklog.reading.verify import VerifyResult as VerifyResult
from tracklog.sources.log_file import Skipped
from tracklog.store.file_stamps import stamps
from tracklog.store.scope import scope_of


class Verification(NamedTuple):
    """The proofs, and what there is no proof for."""

    found: ResolvedLogs
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


def verify_logs(
    paths: Sequence[Path],
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    talk: Talk = QUIET,
) -> Verification:
    """Read the logs that are named, or all in their usual places, to their end, and compare."""
    with indexed(roots, home=home, talk=talk, syncs=not paths, settles=False) as index:
        found = found_at_source(paths or roots, agent=agent, home=home, talk=talk)
        check = _archive_check(index, [*paths, *roots], agent=agent)
        return _verified(found, called=_names_of_links(paths), check=check, index=index, talk=talk)


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


def _verified(
    found: ResolvedLogs,
    *,
    called: Mapping[Path, Path],
    check: ArchiveCheck | None,
    index: Index | None,
    talk: Talk,
) -> Verification:
    started = time.monotonic()
    checked = Verification(found, [], [], ArchiveProof(), 0.0)
    known = {path: stamp for path, *stamp in stamps(index.database.db)} if index else {}
    with talk.progress("verifying") as (set_total, advance):
        set_total(found.bytes)
        for file in found.files:
            result, name = verify(file, tell=advance), called.get(file.path, file.path)
            if isinstance(result, Skipped):
                checked.unproved.append(result._replace(path=name))
            else:
                result.path = str(name)
                if check is not None:
                    result.archived = check.compare(file, stamp=known.get(str(file.path), []))
                checked.proofs.append(result)
        archive = ArchiveProof() if check is None else check.rest()
    return checked._replace(archive=archive, seconds=time.monotonic() - started)
