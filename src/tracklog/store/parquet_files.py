"""The views as a folder of Parquet files, for whatever reads such.

Rules of this room
  1. A folder is written aside and renamed when it is whole; it replaces only what an earlier run wrote, file by file.
  2. Files are 0600, folders 0700: they hold what the logs hold.
  3. `VIEW/agent=…/month=…/data_N.parquet`: rows lie by agent and, where they have a time, by month. The names of the
     folders are columns, as all readers of such folders (Hive's way) understand them.
  4. A view without rows is one file without rows: its columns are there all the same.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tracklog.errors import UserError
from tracklog.sources.reasons import why_failed
from tracklog.store.asking import COSTS
from tracklog.store.duck import duck, load
from tracklog.store.public_views import SCHEMA_VERSION, VIEWS, View

if TYPE_CHECKING:
    import duckdb

MARK = "_tracklog.json"  # readers of Parquet pass over names that begin with _
_MAKER = "tracklog parquet"


class Written(NamedTuple):
    """What became of a view."""

    view: str
    rows: int
    files: int
    bytes: int


def write_parquet(db: sqlite3.Connection, folder: Path) -> list[Written]:
    """Writes all views of the index, and `costs`, which the connection must have."""
    place = folder.resolve()
    with _told_plainly(place):
        refuse_if_foreign(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
        try:
            written = _write_all(db, aside)
            _swap(aside, place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return written


def refuse_if_foreign(folder: Path) -> None:
    """Only what an earlier run wrote may be replaced."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    ours = _files_of_ours(folder)
    if ours is None:
        raise UserError(f"{folder} is not empty and was not made by `{_MAKER}`: name another folder")
    foreign = sorted(set(_files_in(folder)) - ours)
    if foreign:
        raise UserError(f"{folder} holds {foreign[0]}, which `{_MAKER}` did not write: name another folder")


def _files_of_ours(folder: Path) -> set[str] | None:
    try:
        mark = json.loads((folder / MARK).read_bytes())
        return {MARK, *map(str, mark["files"])} if mark["made_by"] == _MAKER else None
    except (OSError, ValueError, TypeError, KeyError):  # no mark of ours, whatever it is
        return None


def _files_in(folder: Path) -> Iterator[str]:
    for at, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(at, name), folder)


def _write_all(db: sqlite3.Connection, aside: Path) -> list[Written]:
    spill = aside / ".spill"
    spill.mkdir(mode=0o700)
    with duck(threads="1", temp_directory=str(spill)) as connection:  # one thread: one file for each month
        written = [_write(connection, db, view, aside) for view in (*VIEWS, COSTS)]
    shutil.rmtree(spill, ignore_errors=True)
    mark = {
        "made_by": _MAKER,
        "schema_version": SCHEMA_VERSION,
        "rows": {one.view: one.rows for one in written},
        "files": sorted(_files_in(aside)),
    }
    (aside / MARK).write_text(json.dumps(mark, indent=2) + "\n", "utf-8")
    _close_to_others(aside)
    return written


def _write(connection: duckdb.DuckDBPyConnection, db: sqlite3.Connection, view: View, aside: Path) -> Written:
    n_rows = load(connection, db, view)
    folder = aside / view.name
    if n_rows and _parted_by(view):
        connection.execute(_copy(view, folder, f", partition_by ({', '.join(_parted_by(view))})"))
    else:
        folder.mkdir(mode=0o700)
        connection.execute(_copy(view, folder / "data_0.parquet", ""))
    connection.execute(f"drop table {view.name}")
    files = [path for path in folder.rglob("*") if path.is_file()]
    return Written(view.name, n_rows, len(files), sum(path.stat().st_size for path in files))


def _parted_by(view: View) -> list[str]:
    has_agent = any(column.name == "agent" for column in view.columns)
    return [*(("agent",) if has_agent else ()), *(("month",) if view.time else ())]


def _copy(view: View, to: Path, more: str) -> str:
    """A month is taken from what looks like a date; a log may hold any text."""
    month = f", nullif(regexp_extract(\"{view.time}\", '^\\d{{4}}-(0[1-9]|1[0-2])'), '') as month"
    quoted = str(to).replace("'", "''")
    rows = f"select *{month if view.time else ''} from {view.name}"
    return f"copy ({rows}) to '{quoted}' (format parquet, compression zstd{more})"


def _close_to_others(folder: Path) -> None:
    folder.chmod(0o700)
    for at, folders, files in os.walk(folder):
        _chmod_all((os.path.join(at, name) for name in folders), 0o700)
        _chmod_all((os.path.join(at, name) for name in files), 0o600)


def _chmod_all(paths: Iterable[str], mode: int) -> None:
    for path in paths:
        os.chmod(path, mode)


def _swap(aside: Path, place: Path) -> None:
    """Puts the new folder where the old one was, which goes only then."""
    if not place.exists() or not any(place.iterdir()):
        os.rename(aside, place)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    os.rename(place, old)
    os.rename(aside, place)
    shutil.rmtree(old)


@contextmanager
def _told_plainly(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write {place}: {why_failed(error)}") from error
