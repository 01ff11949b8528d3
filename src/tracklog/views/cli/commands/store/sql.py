"""`tracklog sql`: any question to the index, in SQL, over views that stay."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import click

from tracklog.app.sql import LARGEST_ANSWER, Answered, Engine, answer_question, described_views, too_long
from tracklog.errors import NOT_FINE, UserError, why_failed
from tracklog.views.cli.commands.store.sql_rows import answer_csv, answer_json_answer
from tracklog.views.cli.options import A_PATH, home_option, json_option, root_option, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer_json, count, size, talk

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)?")
_SECONDS = {"ms": 0.001, "s": 1, None: 1, "m": 60}
_LONGEST_TIMEOUT_S = 86_400
_GRACE_S = 1.0
_MOST_BYTES = 1_000_000


def _duration(ctx: click.Context, param: click.Parameter, text: str) -> float:  # noqa: ARG001 (click's signature)
    found = _DURATION.fullmatch(text)
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds <= _LONGEST_TIMEOUT_S:
        raise click.BadParameter(f"{text!r} is no time limit: give 10s, 500ms or 2m")
    return seconds


@click.command
@click.argument("question", metavar="[QUERY]", required=False)
@click.option("--file", "file", type=A_PATH, metavar="FILE", help="Read the question from this file.")
@click.option("--schema", "with_schema", is_flag=True, help="Show the views and their columns.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="At most so many rows.",
)
@click.option(
    "--timeout",
    "timeout_s",
    callback=_duration,
    default="10s",
    show_default=True,
    metavar="TIME",
    help="Give up after this time: 500ms, 10s, 2m.",
)
@click.option(
    "--engine",
    type=click.Choice(["sqlite", "duckdb"]),
    default="sqlite",
    show_default=True,
    help="Who answers. DuckDB needs the extra tracklog[duckdb].",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows for a spreadsheet.")
@sync_option
@root_option
@home_option
@json_option
def sql(
    question: str | None,
    file: Path | None,
    with_schema: bool,
    limit: int,
    timeout_s: float,
    engine: Engine,
    as_csv: bool,
    syncs: bool,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Ask the index anything, in SQL.

    QUERY is one SELECT over the views that --schema lists (docs/schema.md); `-` or nothing reads it from stdin. It can
    only read, and ends after --timeout. Money stands in `costs`, by the `id` of `ledger`.

    \b
    tracklog sql "select name, count(*) from calls where verdict = 'error' group by 1"
    tracklog sql "select model, sum(cost_pico_usd) / 1e12 as usd
                  from ledger join costs using (id) group by 1"
    tracklog sql --file question.sql --csv > answer.csv
    """
    if with_schema:
        _show_schema(as_json=as_json)
        return
    if as_csv and as_json:
        raise UserError("--csv or --json, not both")
    text = _question(question, file)
    found = answer_question(
        text,
        roots,
        home=home,
        engine=engine,
        limit=limit,
        timeout_s=timeout_s,
        last_resort=_last_resort(timeout_s),
        syncs=syncs,
        talk=STDERR,
    )
    _show(found, as_json=as_json, as_csv=as_csv)
    if found.is_truncated:
        talk(f"tracklog: only the first {count(len(found.rows), 'row')}: {_what_gives_more(found, limit)}")


def _what_gives_more(found: Answered, limit: int) -> str:
    if len(found.rows) == limit:
        return "--limit gives more"
    return f"an answer holds at most {size(LARGEST_ANSWER)}; ask for fewer columns, or for less of each"


@contextmanager
def _last_resort(timeout_s: float) -> Iterator[None]:
    """Ends the process if the question does not end: SQLite looks at no clock inside one function over a huge text."""

    def give_up() -> None:
        talk(f"tracklog: {too_long(timeout_s)}")
        os._exit(NOT_FINE)

    timer = Timer(timeout_s + _GRACE_S, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _show(found: Answered, *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        answer_json_answer(found)
    elif as_csv:
        answer_csv(found)
    else:
        from tracklog.views.cli.commands.store.sql_table import show_rows  # only here: it draws

        show_rows(found)


def _show_schema(*, as_json: bool) -> None:
    if as_json:
        answer_json({"views": described_views()})
        return
    from tracklog.views.cli.commands.store.sql_table import show_schema  # --json needs no rich

    show_schema(described_views())


def _question(given: str | None, file: Path | None) -> str:
    if file is not None:
        if given is not None:
            raise UserError("give the question or --file, not both")
        return _in_file(file)
    if given not in (None, "-"):
        return str(given)
    if given is None and sys.stdin.isatty():
        raise UserError("no question was asked: give one SELECT, or try `tracklog sql --schema`")
    return _as_text(sys.stdin.buffer.read(_MOST_BYTES + 1), "stdin")


def _in_file(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return _as_text(stream.read(_MOST_BYTES + 1), str(file))
    except OSError as error:
        raise UserError(f"cannot read {file}: {why_failed(error)}") from error


def _as_text(data: bytes, where: str) -> str:
    if len(data) > _MOST_BYTES:
        raise UserError(f"the question in {where} is too long")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"the question in {where} is no UTF-8") from error
