"""The folder of tracklog's own files: its paths, its lock, and private permissions.

Rules
  1. Everything here may hold what a log holds: folders are 0700, files 0600, from the moment they are made.
  2. A file is replaced as a whole: written under another name, then renamed.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracklog.errors import UserError

_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS)
_OURS = frozenset(
    {
        "allowed.toml",
        "archive",
        "demo",
        "hooks",
        "live",
        "prices.toml",
        "redaction.key",
        "runs",
        "serve",
        "statusline.json",
        "spool",
        "token",
    }
)


class Busy(Exception):  # noqa: N818 - a state, not a mistake
    """Another process is writing the index."""


class NotWritable(UserError):  # noqa: N818 - a state
    """Our folder, or a file in it, is read-only."""


class Home:
    """The folder of our own files."""

    def __init__(self, path: Path, index_name: str = "index.db") -> None:
        self.path = path
        self._index_name = index_name

    @property
    def index(self) -> Path:
        """The database of the index."""
        return self.path / self._index_name

    @property
    def lock(self) -> Path:
        """The lock that the writer holds."""
        return self.path / "index.lock"

    @property
    def archive(self) -> Path:
        """The bytes of all logs."""
        return self.path / "archive"

    @property
    def live(self) -> Path:
        """The folder of the live journal."""
        return self.path / "live"

    @property
    def runs(self) -> Path:
        """Child sessions that we started: a register of all, and a private folder for each running one."""
        return self.path / "runs"

    @property
    def spool(self) -> Path:
        """The folder of what hooks received."""
        return self.path / "spool"

    @property
    def prices(self) -> Path:
        """The user's own prices, if there are any."""
        return self.path / "prices.toml"

    @property
    def statusline(self) -> Path:
        """Today's figures for the status line."""
        return self.path / "statusline.json"

    def has_index(self) -> bool:
        """Whether there is an index; raises an error if the folder may not be entered."""
        try:
            return self.index.exists()
        except OSError as error:
            raise _not_usable(self.path, error) from error

    def is_writable(self) -> bool:
        """Whether an index can be created or changed here: SQLite makes files next to it."""
        return os.access(self.path, os.W_OK | os.X_OK) and (
            not self.index.exists() or os.access(self.index, os.W_OK)
        )

    def make(self) -> None:
        """Makes the folder private; raises UserError if others may enter it and it holds files that are not ours."""
        try:
            is_open = self.path.is_dir() and self.path.stat().st_mode & 0o077
            strange = [name for name in os.listdir(self.path) if not _is_ours(name)] if is_open else []
        except OSError as error:
            raise _not_usable(self.path, error) from error
        if strange:
            raise UserError(
                f"{self.path} is open to others and holds other files: name a folder of its own with --home"
            )
        make_private_folder(self.path)


def make_private_folder(folder: Path) -> None:
    """Makes a folder that no other user may enter; an existing one is closed to others."""
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(_PRIVATE_FOLDER)
    except OSError as error:
        raise _not_usable(folder, error) from error


def _not_usable(path: Path, error: OSError) -> UserError:
    kind = NotWritable if error.errno in _REFUSALS else UserError
    return kind(f"cannot use {path}: {error.strerror}; name another folder with --home")


def _is_ours(name: str) -> bool:
    """Whether a file in our folder is one that tracklog or its user makes."""
    return name.startswith(("index.", ".")) or name in _OURS


def open_private(path: Path, flags: int) -> int:
    """Opens a file that no other user may read; returns its descriptor."""
    return os.open(path, flags | os.O_CLOEXEC, _PRIVATE_FILE)


def write_private(path: Path, data: bytes) -> None:
    """Writes a private file, replacing any old one as a whole."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(open_private(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as stream:
            stream.write(data)
        os.replace(aside, path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def held_lock(home: Home) -> Iterator[None]:
    """Holds the writer's lock; raises Busy if another process has it, NotWritable if the home is read-only."""
    with held_lock_at(home.lock):
        if not home.is_writable():
            raise _not_usable(home.path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        yield


@contextmanager
def held_lock_at(path: Path) -> Iterator[None]:
    """Holds a lock file; raises Busy if another process has it, NotWritable if it cannot be made."""
    try:
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise _not_usable(path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy from error
        yield
    finally:
        os.close(descriptor)


def tracklog_home(given: Path | None) -> Path:
    """The given folder, else the system's place for user data."""
    if given is not None:
        return given.absolute()
    from platformdirs import user_data_path  # not where a home is named

    return user_data_path("tracklog")


StrPath = str | os.PathLike[str]


def usual_home() -> Path:
    """Where tracklog keeps its files if nobody says otherwise: `TRACKLOG_HOME`, else the system's place."""
    named = os.environ.get("TRACKLOG_HOME")
    return tracklog_home(Path(named) if named else None)


def tilde(path: StrPath) -> str:
    """The path as people write it: with ~ for the home directory."""
    text, home = os.fspath(path), os.environ.get("HOME", "").rstrip("/")
    return f"~{text[len(home) :]}" if home and f"{text}/".startswith(f"{home}/") else text
