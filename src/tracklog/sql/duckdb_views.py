"""The views in DuckDB: queries that are too large for SQLite, and export as Parquet files.

Rules
  1. DuckDB is an optional dependency: without it, the error says how to install it.
  2. It works on copies in its own memory, can reach no file or network while a user's query runs, and loads no
     extension: its reader of SQLite would have to be downloaded.
  3. Columns have the types that docs/schema.md names: text is VARCHAR, integer BIGINT, real DOUBLE.
  4. A Parquet folder is written under a temporary name and renamed when complete; it replaces only files that an
     earlier run wrote.
  5. Files are 0600, folders 0700: they hold what the logs hold.
  6. `VIEW/agent=…/month=…/data_N.parquet`: rows are partitioned by agent and, where they have a time, by month. The
     names of the folders are columns, as readers of such folders (Hive partitioning) understand them.
  7. A view without rows is one file without rows, so that its columns are there all the same.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tracklog.errors import UserError, why_failed
from tracklog.sql.ask import (
    COSTS,
    Answered,
    TooLong,
    WrongQuestion,
    checked,
    fetched,
    names_meant,
    views_named,
)
from tracklog.store.public_views import SCHEMA_VERSION, VIEWS, PublicView
from tracklog.store.surrogates import as_text

if TYPE_CHECKING:
    import duckdb

# Lazy imports: duckdb is an extra: it may be missing.


TYPES = {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE"}
HOW_TO_GET_IT = "DuckDB is not installed: `pip install 'tracklog[duckdb]'`"
_AT_ONCE = 5_000  # rows
_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # a name in a question must not mean a variable of ours
}
_NAMED = re.compile(r'(?:with name|column(?: named)?) "?([^"\s]+)"?')


@contextmanager
def duck(**settings: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty DuckDB in memory."""
    try:
        import duckdb
    except ImportError as error:
        raise UserError(HOW_TO_GET_IT) from error
    connection = duckdb.connect(":memory:", config={**_SETTINGS, **settings})
    try:
        yield connection
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise UserError(f"DuckDB cannot go on: {str(error).splitlines()[0]}") from error
    finally:
        connection.close()


def load(connection: duckdb.DuckDBPyConnection, db: sqlite3.Connection, view: PublicView) -> int:
    """Copies a view from the index into a table of the same name; returns the number of rows."""
    columns = ", ".join(f'"{column.name}" {TYPES[column.type]}' for column in view.columns)
    connection.execute(f"create table {view.name} ({columns})")
    lists = (f"unnest(${n}::{TYPES[column.type]}[])" for n, column in enumerate(view.columns, 1))
    insert = f"insert into {view.name} select {', '.join(lists)}"
    n_rows = 0
    rows = db.execute(f"select * from {view.name}")
    while part := rows.fetchmany(_AT_ONCE):
        connection.execute(insert, _by_column(view, part))
        n_rows += len(part)
    return n_rows


def ask_duck(db: sqlite3.Connection, question: str, *, limit: int, timeout_s: float) -> Answered:
    """Runs one query in DuckDB over the views that it names."""
    text, named = checked(question), views_named(question)
    with duck(temp_directory="") as connection:  # data must not be spilled into some folder
        for view in (*VIEWS, COSTS):
            if view.name in named:
                load(connection, db, view)
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        return _asked(connection, text, limit=limit, timeout_s=timeout_s)


def _by_column(view: PublicView, rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    columns = zip(view.columns, zip(*rows, strict=True), strict=True)
    return [
        [_without_halves(value) for value in values] if column.type == "text" else list(values)
        for column, values in columns
    ]


def _without_halves(value: Any) -> Any:
    """A text as DuckDB accepts it: one with lone surrogates, stored as bytes, gets them replaced."""
    if isinstance(value, bytes):
        text: str = as_text(value)
        return text.encode("utf-8", "replace").decode()
    return value


def _asked(connection: duckdb.DuckDBPyConnection, question: str, *, limit: int, timeout_s: float) -> Answered:
    """Runs a query in another thread, so that this one can react to the time limit and Ctrl-C."""
    import duckdb

    with ThreadPoolExecutor(1) as aside:
        asked = aside.submit(_answer, connection, question, limit)
        try:
            return asked.result(timeout_s)
        except TimeoutError as error:
            connection.interrupt()
            raise TooLong(timeout_s) from error
        except KeyboardInterrupt:
            connection.interrupt()
            raise
        except duckdb.Error as error:
            raise WrongQuestion(_words_of(error)) from error


def _answer(connection: duckdb.DuckDBPyConnection, question: str, limit: int) -> Answered:
    connection.execute(_one_select(connection, question))
    rows, is_truncated = fetched(iter(connection.fetchone, None), limit)
    columns = [column[0] for column in connection.description or ()]
    return Answered(columns, rows, is_truncated)


def _one_select(connection: duckdb.DuckDBPyConnection, question: str) -> duckdb.Statement:
    import duckdb

    statements = connection.extract_statements(question)
    if not statements:
        raise WrongQuestion("no question was asked: give one SELECT, or try `tracklog sql --schema`")
    if len(statements) > 1:
        raise WrongQuestion("one question at a time: there is something behind the first `;`")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise WrongQuestion("not authorized: questions only read, so one SELECT is all that is allowed")
    return statements[0]


def _words_of(error: Exception) -> str:
    said = str(error).strip().splitlines()[0]
    if "parameters" in said:
        return "the question has placeholders (?): write the values themselves"
    found = _NAMED.search(said) if "Function" not in said else None
    return f"{said}{names_meant(found[1], is_column='column' in said)}" if found else said


MARK = "_tracklog.json"  # readers of Parquet pass over names that begin with _
_MAKER = "tracklog parquet"


class Written(NamedTuple):
    """What was written for a view."""

    view: str
    rows: int
    files: int
    bytes: int


def write_parquet(db: sqlite3.Connection, folder: Path) -> list[Written]:
    """Writes all views of the index, and `costs`, which the connection must have, as Parquet."""
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
    """Raises UserError if a folder holds files that no earlier run wrote."""
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


def _write(
    connection: duckdb.DuckDBPyConnection, db: sqlite3.Connection, view: PublicView, aside: Path
) -> Written:
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


def _parted_by(view: PublicView) -> list[str]:
    has_agent = any(column.name == "agent" for column in view.columns)
    return [*(("agent",) if has_agent else ()), *(("month",) if view.time else ())]


def _copy(view: PublicView, to: Path, more: str) -> str:
    """The COPY statement of a view; the month comes only from texts that look like a date."""
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
    """Replaces the old folder by the new one, and only then deletes the old one."""
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
