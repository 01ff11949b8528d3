"""The ledger in the index says what the logs say, whatever happens to them, and reads only what changed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import msgspec
import pytest

from tests.index.indexed_logs import (
    PRICES,
    everything_asked,
    from_index,
    from_logs,
    index_of,
    settle,
    take_in,
)
from tests.oracle.cases import CASES
from tests.oracle.truth import Case
from tests.soak import IS_SOAK
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.resolve import find_logs
from tracklog.app.usage import UsageQuery, with_lines
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.scan import Work
from tracklog.ledger.stored import query
from tracklog.ledger.stored.freshness import is_settled
from tracklog.ledger.stored.refresh import blocks_read, settle_ledger
from tracklog.ledger.stored.tables import put_read_block
from tracklog.model.usage import GROUPS, UsageReport
from tracklog.reading.session_files import group
from tracklog.store.catalogue import change_file, numbers
from tracklog.store.database import Database
from tracklog.store.scope import Scope

DEMO = Path(query.__file__).parents[2] / "demo"
HOMES = (DEMO / "claude", DEMO / "codex")
NOTHING = Filters(None, None, None, None)
ALL = UsageQuery("session", "ours", UTC, NOTHING)
each_case = pytest.mark.parametrize(
    ("number", "case"), [pytest.param(n, case, id=case.name) for n, case in enumerate(CASES)]
)
_PART = 1 if IS_SOAK else 4  # one of so many filtered questions is asked of each case


def said(database: Database, asked: UsageQuery) -> UsageReport:
    """What the index says; which tools an uncertain request called is shown nowhere."""
    found = from_index(database, asked)
    assert found is not None
    uncertain = [msgspec.structs.replace(one, tools=()) for one in with_lines(found.report.uncertain)]
    return msgspec.structs.replace(found.report, uncertain=uncertain)


def assert_same(
    database: Database, roots: Sequence[Path], questions: Iterable[UsageQuery], home: Path
) -> None:
    for asked in questions:
        assert said(database, asked) == from_logs(roots, asked, home=home), asked


@cache
def case_named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def written(case: Case, folder: Path) -> Path:
    case.write(folder)
    return folder


def asked_of(database: Database, number: int) -> list[UsageQuery]:
    """Each group once, and a part of the filters: another part of each case."""
    total = said(database, ALL).total
    models = [total.models[0][:9]] if total.models else []
    middle = []
    if total.first_at and total.last_at:
        first, last = map(datetime.fromisoformat, (total.first_at, total.last_at))
        middle = [first + (last - first) / 2]
    plain = [UsageQuery(kind, "ours", UTC, NOTHING) for kind in GROUPS]
    filtered = [one for one in everything_asked(middle, models) if one.group in ("session", "model")]
    return [
        *plain,
        *filtered[number % _PART :: _PART],
        UsageQuery("daily", "ours", UTC, NOTHING, with_uncertain=True),
    ]


@each_case
def test_the_index_says_what_the_logs_say(number: int, case: Case, tmp_path: Path) -> None:
    root = written(case, tmp_path / "logs")
    with index_of(tmp_path / "home") as database:
        settle(database, [root], with_tools=True)
        assert_same(database, [root], asked_of(database, number), tmp_path / "none")


def test_whatever_is_asked_of_the_demo_is_answered_alike(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES, with_tools=True)
        moments = [datetime(2026, 11, 15, 22, 29, second, tzinfo=UTC) for second in (0, 26, 59)]
        asked = everything_asked([*moments, moments[0] - timedelta(days=1)], ["opus", "gpt", "none such"])
        assert_same(database, HOMES, asked, tmp_path / "none")


@pytest.mark.parametrize("seed", range(6))
def test_settled_again_and_again_it_is_as_if_it_were_settled_once(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    files = {path: data for case in rng.sample(CASES, 3) for path, data in case.files.items()}
    root = tmp_path / "logs"
    root.mkdir()
    with index_of(tmp_path / "home") as database:
        for step in range(5):
            for path, data in files.items():
                _happen(database, root / path, data, rng)
            settle(database, [root])
            with index_of(tmp_path / f"fresh {step}") as fresh:
                settle(fresh, [root])
                assert rows_in(database) == rows_in(fresh)
            plain = [
                UsageQuery(kind, "ours", UTC, NOTHING) for kind in ("daily", "session", "thread", "model")
            ]
            assert_same(database, [root], plain, tmp_path / "none")


def _happen(database: Database, path: Path, data: bytes, rng: random.Random) -> None:
    """A log is left alone, deleted, written whole, or up to some byte."""
    what = rng.choice(["nothing", "delete", "whole", "part", "part"])
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "delete":
        path.unlink(missing_ok=True)
    elif what != "nothing":
        before = path.read_bytes() if path.exists() else b""
        after = data if what == "whole" else data[: rng.randrange(len(data) + 1)]
        if not after.startswith(before):
            database.db.execute(
                "update log_files set generation = generation + 1 where path = ?", (str(path),)
            )
        path.write_bytes(after)


def rows_in(database: Database) -> dict[str, list[str]]:
    """All rows of the ledger with paths in the place of numbers."""
    db = database.db
    logs = {
        "entries": "select log.path, own.session, thread, at_ms, own.model, terms, entrypoint, certainty, input, output,"
        " cache_write, cache_read, counted_offset, tools, beside, inherited_by from entry_rows own",
        "sums": "select log.path, own.* from sum_rows own",
        "keys": "select log.path, own.key from block_keys own",
    }
    found = {
        name: [
            str((row[0], *row[1 + (name == "sums") :]))
            for row in db.execute(f"{asked} join log_files log on log.id = own.file")
        ]
        for name, asked in logs.items()
    }
    found["totals"] = [
        str(row) for row in db.execute("select session, hidden, stated_pico_usd from total_rows")
    ]
    found["parents"] = [str(row) for row in db.execute("select session, parent from parent_rows")]
    found["components"] = [
        str(row)
        for row in db.execute(
            "select own.path, (select min(path) from ledger_logs other where other.component = own.component) "
            "from ledger_logs own where is_counted"
        )
    ]
    return {name: sorted(rows) for name, rows in found.items()}


def test_where_nothing_changed_nothing_is_read(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        assert settle(database, HOMES)
        assert is_settled(database.db, PRICES)
        assert not settle(database, HOMES)


def test_only_the_log_that_grew_is_read(tmp_path: Path) -> None:
    root = written(case_named("fork, parent goes on"), tmp_path / "logs")
    first, *_ = sorted(root.rglob("*.jsonl"))
    with index_of(tmp_path / "home") as database:
        settle(database, [root])
        with first.open("ab") as log:
            log.write(b'{"type":"summary"}\n')
        sessions = take_in(database, find_logs([root]).files)
        n_bytes: list[int] = []
        settle_ledger(database, sessions, PRICES, on_plan=n_bytes.append)
        assert n_bytes == [first.stat().st_size]


def test_other_prices_need_no_log(tmp_path: Path) -> None:
    dear = Prices.load(b'[[price]]\nmodel = "claude-*"\ninput = 1000\noutput = 1000\n')
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES)
        sessions = take_in(database, find_logs(HOMES).files)
        n_bytes: list[int] = []
        assert settle_ledger(database, sessions, dear, on_plan=n_bytes.append)
        assert n_bytes == [0]
        assert is_settled(database.db, dear)
        assert not is_settled(database.db, PRICES)


def test_blocks_of_a_reader_are_taken_as_they_are(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database, index_of(tmp_path / "other") as other:
        sessions = take_in(database, find_logs(HOMES).files)
        for session in sessions:
            work = Work([session], "ours", with_tools=False)
            for file, inputs, body in blocks_read(work, session, numbers(database.db)):
                put_read_block(database.db, file, inputs=inputs, body=body)
        n_bytes: list[int] = []
        assert settle_ledger(database, sessions, PRICES, on_plan=n_bytes.append)
        assert n_bytes == [0]
        settle(other, HOMES)
        assert rows_in(database) == rows_in(other)


def test_a_log_whose_source_is_gone_still_counts(tmp_path: Path) -> None:
    root = written(case_named("fork, parent goes on"), tmp_path / "logs")
    with index_of(tmp_path / "home") as database:
        settle(database, [root])
        before = said(database, ALL)
        files = find_logs([root]).files
        kept = files[0]._replace(stored=tmp_path / "kept.jsonl")
        files[0].path.rename(tmp_path / "kept.jsonl")
        change_file(database.db, numbers(database.db)[str(kept.path)], state="kept")
        settle_ledger(database, group([kept, *files[1:]]), PRICES, with_tools=True)
        assert said(database, ALL) == before


def test_a_part_of_the_index_is_answered_if_nothing_reaches_beyond_it(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES)
        of_codex = from_index(database, ALL, scope=Scope((str(HOMES[1]),)))
        assert of_codex is not None
        assert of_codex.report == from_logs([HOMES[1]], ALL, home=tmp_path / "none")
        assert of_codex.report == from_logs(HOMES, ALL, home=tmp_path / "none", agent="codex")
        of_agent = from_index(database, ALL, agent="codex")
        assert of_agent is not None
        assert of_agent.report == of_codex.report
        nothing = from_index(database, ALL, scope=Scope((str(tmp_path),)))
        assert nothing is not None
        assert nothing.report.rows == []


def test_a_part_that_shares_requests_with_the_rest_is_left_to_the_logs(tmp_path: Path) -> None:
    root = written(case_named("fork, parent goes on"), tmp_path / "logs")
    one, *_ = sorted(root.rglob("*.jsonl"))
    with index_of(tmp_path / "home") as database:
        settle(database, [root])
        assert from_index(database, ALL, scope=Scope((str(one),))) is None


def test_without_a_ledger_the_index_says_nothing(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        take_in(database, find_logs(HOMES).files)
        assert from_index(database, ALL) is None


def test_tools_are_told_if_blocks_have_them(tmp_path: Path) -> None:
    asked = UsageQuery("tool", "ours", UTC, NOTHING)
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES)
        assert from_index(database, asked) is None
        assert settle(database, HOMES, with_tools=True)
        assert said(database, asked) == from_logs(HOMES, asked, home=tmp_path / "none")
