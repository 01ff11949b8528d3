from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tracklog.secrets.tables import LoggedSecret
    from tracklog.sources.log_file import Skipped


class ScanResult(NamedTuple):
    """What a scan found, and what it could not look at."""

    standing: list[LoggedSecret]
    skipped: list[Skipped]
    n_unscanned: int  # of the skipped, those of which nobody knows whether they are clean
    n_files: int
    n_bytes: int
    n_new_bytes: int
    n_allowed: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found, and all was looked at."""
        return not self.standing and not self.n_unscanned


class ScanQuery(NamedTuple):
    """Which logs are meant, and where our own files are."""

    agent: str | None
    roots: tuple[Path, ...]
    home: Path | None
    since: datetime | None

    @property
    def since_ns(self) -> int | None:
        """The moment as files have it."""
        return None if self.since is None else int(self.since.timestamp() * 1_000_000_000)
