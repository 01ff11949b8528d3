"""The same views in DuckDB, for questions that are too large for SQLite, and for Parquet.

Rules of this room
  1. DuckDB is an extra: who does not have it is told how to get it.
  2. It works on copies in its own memory, reaches no file and no net while somebody's question runs, and loads nothing:
     its reader of SQLite would have to be downloaded.
  3. Columns have the types that docs/schema.md names: text is VARCHAR, integer BIGINT, real DOUBLE.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tracklog.errors import UserError
from tracklog.store.asking import (
    COSTS,
    Answered,
    TooLong,
    WrongQuestion,
    checked,
    fetched,
    names_meant,
    views_named,
)
from tracklog.store.odd_texts import as_text
from tracklog.store.public_views import VIEWS, View

if TYPE_CHECKING:
    import duckdb

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


def load(connection: duckdb.DuckDBPyConnection, db: sqlite3.Connection, view: View) -> int:
    """Copies a view from the index into a table of the same name; how many rows that was."""
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
    """The answer of DuckDB to one question over the views that it names."""
    text, named = checked(question), views_named(question)
    with duck(
        temp_directory=""
    ) as connection:  # what does not fit into memory must not lie about in some folder
        for view in (*VIEWS, COSTS):
            if view.name in named:
                load(connection, db, view)
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        return _asked(connection, text, limit=limit, timeout_s=timeout_s)


def _by_column(view: View, rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    columns = zip(view.columns, zip(*rows, strict=True), strict=True)
    return [
        [_without_halves(value) for value in values] if column.type == "text" else list(values)
        for column, values in columns
    ]


def _without_halves(value: Any) -> Any:
    """Texts with half a character are kept as bytes (odd_texts.py); DuckDB takes whole ones only."""
    if isinstance(value, bytes):
        text: str = as_text(value)
        return text.encode("utf-8", "replace").decode()
    return value


def _asked(connection: duckdb.DuckDBPyConnection, question: str, *, limit: int, timeout_s: float) -> Answered:
    """Asks in a thread of its own: while DuckDB works, a thread hears neither of the clock nor of Ctrl-C."""
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
