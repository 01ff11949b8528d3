"""What we changed in whose settings: kept in our home, so that it can be taken back to the last byte.

Rules of this room
  1. A receipt is written before the file is changed: a change without a receipt is worse than the other way round.
  2. Before a file is changed for the first time its bytes are copied into our home, for us alone (0600).
  3. Without receipts (another home, a lost one) our hooks are still found and taken out; only what was empty before is guessed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Collection
from pathlib import Path

import msgspec

from tracklog.live.hook_files import locked
from tracklog.live.hook_settings import Before
from tracklog.live.processes import is_running
from tracklog.store.home import make_private_folder, open_private, write_private

_MOST_BACKUPS = 20  # of one file


class Receipt(msgspec.Struct, omit_defaults=True):
    """What must be known of one file."""

    is_new: bool = False
    blank: str | None = None
    empty: dict[str, str] = {}
    folders: list[str] = []  # that we made for it, the outermost first

    @property
    def before(self) -> Before:
        """As taking out wants it."""
        return Before(self.is_new, self.blank, self.empty)


class Receipts:
    """All receipts of one home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home / "hooks"
        self._path = self._folder / "installed.json"

    def paths(self) -> list[Path]:
        """The files that we have changed."""
        return [Path(path) for path in self._all()]

    def of(self, path: Path) -> Receipt:
        """The receipt of this file; an empty one if there is none."""
        return self._all().get(os.path.realpath(path), Receipt())

    def folders_around(self, target: Path, left: Collection[Path]) -> set[str]:
        """The folders around this file that we made for other files, which are still there or were `left` unfinished.

        Of a file that is gone the user may have removed the folder, too, and made one of the same name.
        """
        around = {str(folder) for folder in target.parents}
        return {
            folder
            for other, receipt in self._all().items()
            if os.path.lexists(other) or Path(other) in left
            for folder in receipt.folders
            if folder in around
        }

    def keep(self, path: Path, receipt: Receipt) -> None:
        """Keeps the receipt of this file."""
        self._make()
        with locked(self._folder):
            self._write({**self._all(), os.path.realpath(path): receipt})

    def forget(self, path: Path) -> None:
        """There is nothing of ours in this file any more."""
        if os.path.realpath(path) not in self._all():
            return
        with locked(self._folder):
            kept = self._all()
            kept.pop(os.path.realpath(path), None)
            self._write(kept)

    def back_up(self, path: Path, data: bytes) -> None:
        """Keeps the bytes of a file as they are before we change them; the newest few of each."""
        folder = self._folder / "backups"
        self._make()
        make_private_folder(folder)
        name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:12]
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        aside = folder / f"{name}-{stamp}-{time.time_ns() % 10**9:09d}-{path.name}"
        with open(open_private(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
            stream.write(data)
        for old in sorted(folder.glob(f"{name}-*"))[:-_MOST_BACKUPS]:
            old.unlink(missing_ok=True)

    def _make(self) -> None:
        if not self._home.exists():
            make_private_folder(self._home)
        make_private_folder(self._folder)

    def _all(self) -> dict[str, Receipt]:
        try:
            data = self._path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        try:
            return msgspec.convert(json.loads(data), dict[str, Receipt])
        except (ValueError, msgspec.ValidationError):  # rule 3: as if it were lost
            return {}

    def _write(self, receipts: dict[str, Receipt]) -> None:
        for left in self._folder.glob(f".{self._path.name}.*"):
            _remove_if_its_writer_is_gone(left)
        whole = msgspec.to_builtins(receipts)
        write_private(self._path, json.dumps(whole, indent=2).encode())  # of a path any byte can be written


def _remove_if_its_writer_is_gone(left: Path) -> None:
    """Remove a temporary file of `write_private`, whose name ends with the id of the process that writes it."""
    writer = left.suffix.removeprefix(".")
    if writer.isascii() and writer.isdigit() and not is_running(int(writer)):
        left.unlink(missing_ok=True)
