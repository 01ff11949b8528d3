from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.store.made_index import AT, ONE, TWO, made_index
from tests.views.cli.command import (
    TIME_LIMIT_S,
    Answer,
    both_agents,
    command,
    environment,
    on_a_terminal,
    tracklog,
)
from tracklog.store.public_views import VIEWS

ENGINES = ("sqlite", "duckdb")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("user")
    made_index(folder / "tracklog")
    return folder


def sql(home: Path, *arguments: str | Path) -> Answer:
    return tracklog(*_words(home, *arguments), home=home)


def _words(home: Path, *arguments: str | Path) -> list[str | Path]:
    return ["sql", "--home", home / "tracklog", "--root", "/home/dev", "--no-sync", *arguments]


def rows(home: Path, question: str, *arguments: str) -> list[list[Any]]:
    found: list[list[Any]] = sql(home, question, "--json", *arguments).json["rows"]
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_an_answer_is_columns_rows_and_whether_there_was_more(home: Path, engine: str) -> None:
    asked = "select agent, only_here as gone, id from sessions order by agent"
    assert sql(home, asked, "--json", "--engine", engine).json == {
        "schema_version": 1,
        "columns": ["agent", "gone", "id"],
        "rows": [["claude", 0, ONE], ["codex", 1, TWO]],
        "truncated": False,
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_more_rows_than_asked_for_are_cut_and_said(home: Path, engine: str) -> None:
    done = sql(home, "select id from sessions", "--json", "--limit", "1", "--engine", engine)
    assert (len(done.json["rows"]), done.json["truncated"], done.code) == (1, True, 0)
    assert done.err == "tracklog: only the first 1 row: --limit gives more\n"
    assert sql(home, "select id from sessions", "--json", "--limit", "2", "--engine", engine).err == ""


@pytest.mark.parametrize(
    ("engine", "question"),
    [
        (
            "sqlite",
            "with recursive n(i) as (select 1 union all select i + 1 from n) select zeroblob(900000) from n",
        ),
        ("duckdb", "select repeat('x', 900000)::blob from range(100)"),
    ],
)
def test_an_answer_too_large_is_cut_and_said(home: Path, engine: str, question: str) -> None:
    done = sql(home, question, "--engine", engine)
    assert (done.code, done.out.count("<900,000 bytes>")) == (0, 71)
    assert done.err == (
        "tracklog: only the first 71 rows: an answer holds at most 64.0 MB; ask for fewer columns, or for less of each\n"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrong_question_ends_in_one_line_that_helps(home: Path, engine: str) -> None:
    done = sql(home, "select titel from sessions", "--engine", engine)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.endswith("; did you mean title?\n")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_question_that_would_write_is_refused(home: Path, engine: str) -> None:
    before = (home / "tracklog/index.db").read_bytes()
    done = sql(home, "create table mine (n integer)", "--engine", engine)
    assert (done.code, done.out) == (2, "")
    assert done.err == "tracklog: not authorized: questions only read, so one SELECT is all that is allowed\n"
    assert (home / "tracklog/index.db").read_bytes() == before


def test_values_of_all_kinds_become_json(home: Path) -> None:
    asked = "select 1, 1.5, 'x', null, x'00ff', 9e999, cast(x'ff' as text), x'61eda080'"
    assert rows(home, asked) == [[1, 1.5, "x", None, "00ff", None, "�", "a\ud800"]]
    asked = "select 1.5, date '2026-03-01', [1, 2], {'a': 'b'}, true, 'x'::blob, 'nan'::double, 170141183460469231731687303715884105727"
    assert rows(home, asked, "--engine", "duckdb") == [
        [1.5, "2026-03-01", [1, 2], {"a": "b"}, True, "78", None, 170141183460469231731687303715884105727]
    ]


def test_a_spreadsheet_gets_numbers_as_numbers_and_no_formulas(home: Path) -> None:
    done = sql(
        home, "select title, 12 as \"=n\", x'ff' as b, null as nil from sessions order by agent", "--csv"
    )
    assert list(csv.reader(io.StringIO(done.out))) == [
        ["title", "'=n", "b", "nil"],
        ["'=1+1 \\x1b[31mred", "12", "ff", ""],
        ["数え上げ", "12", "ff", ""],
    ]


def test_in_a_pipe_nothing_is_cut_and_no_escape_gets_through(home: Path) -> None:
    done = sql(home, "select title, turns, models, x'00ff' as raw from sessions order by agent")
    assert done.out.splitlines() == [
        "title             turns  models               raw",
        '=1+1 \\x1b[31mred      1  ["claude-opus-4-6"]  <2 bytes>',
        "数え上げ              1  null                 <2 bytes>",
    ]


def test_on_a_terminal_rows_are_as_wide_as_it_is(home: Path) -> None:
    shown = on_a_terminal(*_words(home, "select * from sessions"), home=home, columns=100)
    wide = on_a_terminal(*_words(home, "select id, path, started_at from sessions"), home=home, columns=60)
    assert all(len(line) <= 60 for line in wide.splitlines() if "\x1b" not in line)
    assert "…" in shown
    assert AT[:4] in wide


def test_an_answer_without_rows_says_so(home: Path) -> None:
    done = sql(home, "select id, title from sessions where 0")
    assert (done.code, done.out) == (0, "id  title\nNo rows.\n")
    assert sql(home, "select id from sessions where 0", "--json").json["rows"] == []


def test_the_question_can_stand_in_a_file_or_come_from_stdin(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    file.write_text("-- how many?\nselect count(*) from sessions;\n")
    assert sql(home, "--file", file, "--json").json["rows"] == [[2]]
    for given in ([], ["-"]):
        done = subprocess.run(
            command(*_words(home, "--json", *given)),
            env=environment(home),
            input=b"select count(*) from calls",
            capture_output=True,
            check=True,
        )
        assert json.loads(done.stdout)["rows"] == [[2]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["select 1", "--file", "q.sql"], "give the question or --file, not both"),
        (["--file", "nowhere.sql"], "cannot read nowhere.sql: does not exist"),
        (["select 1", "--csv", "--json"], "--csv or --json, not both"),
        ([], "no question was asked: give one SELECT, or try `tracklog sql --schema`"),
    ],
)
def test_wrong_use_is_said_in_one_line(home: Path, arguments: list[str], said: str) -> None:
    done = sql(home, *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"tracklog: {said}\n")


@pytest.mark.parametrize("given", ["0", "-1", "soon", "10h", "1e9", "9999999"])
def test_what_is_no_time_limit_is_refused(home: Path, given: str) -> None:
    done = sql(home, "select 1", f"--timeout={given}")
    assert (done.code, done.out) == (2, "")
    assert "is no time limit" in done.err


def test_the_schema_needs_no_index(tmp_path: Path) -> None:
    views = tracklog("sql", "--schema", "--json", home=tmp_path).json["views"]
    assert [view["name"] for view in views] == [*(view.name for view in VIEWS), "costs"]
    assert views[0]["columns"][0] == {"name": "id", "type": "text", "what": "The id of the session."}
    shown = tracklog("sql", "--schema", home=tmp_path)
    assert (shown.code, shown.err) == (0, "")
    assert all(f"\n  {column.name} " in shown.out for view in VIEWS for column in view.columns)


def test_without_an_index_and_without_sync_that_is_said(tmp_path: Path) -> None:
    done = tracklog("sql", "select 1", "--no-sync", home=tmp_path, env={"TRACKLOG_HOME": str(tmp_path / "t")})
    assert (done.code, done.err) == (1, "tracklog: there is no index yet: `tracklog index` makes it\n")


ENDLESS = {
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
    "duckdb": "select count(*) from range(1000000000) a, range(1000000000) b where a.range % 7 = b.range % 5",
}


def wait_until_it_works(pid: int) -> None:
    """Wait until a process has opened the index and then used the CPU for a while."""
    process = psutil.Process(pid)
    deadline = time.monotonic() + TIME_LIMIT_S
    opened_at_s = None
    while opened_at_s is None or process.cpu_times().user < opened_at_s + 0.2:
        assert time.monotonic() < deadline
        if opened_at_s is None and any(file.path.endswith("index.db") for file in process.open_files()):
            opened_at_s = process.cpu_times().user
        time.sleep(0.01)


@pytest.mark.parametrize("engine", ENGINES)
def test_ctrl_c_ends_a_question(home: Path, engine: str) -> None:
    words = command(*_words(home, ENDLESS[engine], "--timeout", "60s", "--engine", engine))
    with subprocess.Popen(words, env=environment(home), stderr=subprocess.PIPE, text=True) as asked:
        wait_until_it_works(asked.pid)
        asked.send_signal(signal.SIGINT)
        _, said = asked.communicate(timeout=20)
    assert said == "tracklog: interrupted\n"
    assert asked.returncode in (
        130,
        -signal.SIGINT,
    )  # the latter where Python itself was interrupted while it imports


@pytest.mark.parametrize("engine", ENGINES)
def test_a_question_without_end_is_ended(home: Path, engine: str) -> None:
    done = sql(home, ENDLESS[engine], "--timeout", "300ms", "--engine", engine)
    assert (done.code, done.out) == (1, "")
    assert (
        done.err == "tracklog: the question took longer than 0.3 s: ask for less, or give it more --timeout\n"
    )


def test_words_and_json_can_be_asked_for(home: Path) -> None:
    found = "select line from texts where id in (select rowid from words where words match 'frobnicate')"
    assert rows(home, found) == [[3]]
    assert rows(home, "select value from sessions, json_each(models)") == [["claude-opus-4-6"]]


def test_who_has_no_duckdb_is_told_how_to_get_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "duckdb.py").write_text("raise ImportError\n")
    paths = {"PYTHONPATH": f"{tmp_path}:{environment(home)['PYTHONPATH']}"}
    for words in (_words(home, "select 1", "--engine", "duckdb"), _words(home, tmp_path / "out")):
        words[0] = "parquet" if words[-1] == tmp_path / "out" else "sql"
        done = tracklog(*words, home=home, env=paths)
        said = "tracklog: DuckDB is not installed: `pip install 'tracklog[duckdb]'`\n"
        assert (done.code, done.out, done.err) == (2, "", said)
    assert not (tmp_path / "out").exists()


def test_the_costs_of_all_requests_add_up_to_what_usage_says(tmp_path: Path) -> None:
    tracklog("demo", tmp_path / "demo", home=tmp_path)
    roots: list[str | Path] = ["--root", tmp_path / "demo/claude", "--root", tmp_path / "demo/codex"]
    ours = {"TRACKLOG_HOME": str(tmp_path / "tracklog")}
    usage = tracklog("usage", "agent", *roots, "--json", home=tmp_path).json["rows"]
    for engine in ENGINES:
        asked = (
            "select agent, count(*), sum(output_tokens), round(sum(cost_pico_usd) / 1e6) "
            "from ledger left join costs using (id) group by agent order by agent"
        )
        found = tracklog("sql", asked, *roots, "--json", "--engine", engine, home=tmp_path, env=ours)
        assert found.json["rows"] == [
            [row["key"], row["requests"], row["output_tokens"], row["cost_micro_usd"]]
            for row in sorted(usage, key=lambda row: str(row["key"]))
        ]


def test_a_question_sees_what_stands_in_the_roots_alone(home: Path) -> None:
    asked: list[str | Path] = [
        "sql",
        "--home",
        home / "tracklog",
        "--no-sync",
        "select id from sessions",
        "--json",
    ]
    assert tracklog(*asked, "--root", "/home/dev/.codex", home=home).json["rows"] == [[TWO]]
    assert tracklog(*asked, "--root", "/home/dev/.codex", "--engine", "duckdb", home=home).json["rows"] == [
        [TWO]
    ]
    assert tracklog(*asked, home=home).json["rows"] == []


def test_a_function_that_looks_at_no_clock_is_ended_all_the_same(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    question = "select instr(hex(zeroblob(450000)), hex(zeroblob(225000)) || '1')"
    found = tracklog("sql", question, "--timeout", "200ms", home=tmp_path)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("tracklog: the question took longer than 0.2 s")
