from __future__ import annotations

import json
import stat
from pathlib import Path

import duckdb
import pytest

from tests.store.made_index import made_index
from tests.views.cli.command import Answer, tracklog
from tracklog.sql.ask import COSTS
from tracklog.sql.duckdb_views import TYPES
from tracklog.store.public_views import VIEWS


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("user")
    made_index(folder / "tracklog")
    return folder


@pytest.fixture(scope="module")
def written(home: Path) -> Path:
    assert parquet(home, home / "out").code == 0
    return home / "out"


def parquet(home: Path, to: Path | str, *more: str) -> Answer:
    options = ("--home", home / "tracklog", "--root", "/home/dev", "--no-sync")
    return tracklog("parquet", to, *options, *more, home=home)


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_rows_lie_by_agent_and_month(written: Path) -> None:
    assert {
        name for name in tree(written) if name.startswith(("sessions/", "files/", "costs/", "threads/"))
    } == {
        "sessions/agent=claude/month=2026-03/data_0.parquet",
        "sessions/agent=codex/month=2026-04/data_0.parquet",
        "files/agent=claude/data_0.parquet",
        "files/agent=codex/data_0.parquet",
        "threads/agent=claude/data_0.parquet",
        "costs/data_0.parquet",
    }
    assert "texts/agent=claude/month=__HIVE_DEFAULT_PARTITION__/data_0.parquet" in tree(written)


@pytest.mark.parametrize("view", [*VIEWS, COSTS], ids=lambda view: view.name)
def test_a_folder_has_the_columns_of_its_view_with_their_types(view: object, written: Path) -> None:
    assert hasattr(view, "columns")
    name = getattr(view, "name", "")
    found = duckdb.execute(f"describe select * from read_parquet('{written}/{name}/**/*.parquet')").fetchall()
    types = {row[0]: row[1] for row in found}
    assert types.pop("month", "VARCHAR") == "VARCHAR"
    assert types == {column.name: TYPES[column.type] for column in view.columns}


def test_the_rows_are_those_of_the_view(home: Path, written: Path) -> None:
    asked = "select id, agent, title, turns, only_here from sessions order by agent"
    from_index = tracklog(
        "sql", asked, "--json", "--home", home / "tracklog", "--root", "/home/dev", "--no-sync", home=home
    ).json["rows"]
    from_files = duckdb.execute(asked.replace("sessions", f"'{written}/sessions/**/*.parquet'")).fetchall()
    assert from_files == [tuple(row) for row in from_index]


def test_nobody_else_may_read_them(written: Path) -> None:
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in [written, *written.rglob("*")]}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_nothing_is_left_beside_the_folder(home: Path, written: Path) -> None:
    assert {path.name for path in home.iterdir() if path.name.startswith(".out")} == set()


def test_what_an_earlier_run_wrote_is_replaced(home: Path, tmp_path: Path) -> None:
    to = tmp_path / "out"
    assert parquet(home, to).code == 0
    (to / "sessions/agent=claude/month=2026-03/data_0.parquet").write_bytes(b"old")
    before = tree(to)
    assert parquet(home, to).code == 0
    assert tree(to) == before
    assert duckdb.execute(f"select count(*) from '{to}/sessions/**/*.parquet'").fetchall() == [(2,)]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_of_somebody_else_is_left_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = parquet(home, tmp_path)
    said = f"{tmp_path} is not empty and was not made by `tracklog parquet`: name another folder"
    assert (done.code, done.out, done.err) == (2, "", f"tracklog: {said}\n")
    assert tree(tmp_path) == {"mine.txt"}


def test_a_file_that_somebody_put_into_our_folder_is_not_lost(home: Path, tmp_path: Path) -> None:
    to = tmp_path / "out"
    parquet(home, to)
    (to / "notes.txt").write_text("mine")
    done = parquet(home, to)
    said = f"{to} holds notes.txt, which `tracklog parquet` did not write: name another folder"
    assert (done.code, done.err) == (2, f"tracklog: {said}\n")
    assert (to / "notes.txt").read_text() == "mine"


def test_a_mark_that_is_not_ours_does_not_open_a_folder(home: Path, tmp_path: Path) -> None:
    for mark in ("[]", "{}", '{"made_by": "tracklog parquet"}', "no json"):
        (tmp_path / "_tracklog.json").write_text(mark)
        assert parquet(home, tmp_path).code == 2
        assert tree(tmp_path) == {"_tracklog.json"}


def test_a_file_in_the_place_of_the_folder_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    assert parquet(home, tmp_path / "out").code == 2
    assert (tmp_path / "out").read_text() == "mine"


def test_an_empty_folder_and_one_with_an_odd_name_will_do(home: Path, tmp_path: Path) -> None:
    to = tmp_path / 'it\'s * "here"'
    to.mkdir()
    assert parquet(home, to).code == 0
    assert "sessions/agent=codex/month=2026-04/data_0.parquet" in tree(to)


def test_a_link_is_followed_and_stays(home: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert parquet(home, tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert "_tracklog.json" in tree(tmp_path / "real")


def test_where_nothing_can_be_written_one_line_says_so(home: Path) -> None:
    done = parquet(home, "/proc/out")
    assert (done.code, done.err.count("\n"), done.err[:32]) == (2, 1, "tracklog: cannot write /proc/out")


def test_what_was_written_is_told(home: Path, tmp_path: Path) -> None:
    document = parquet(home, tmp_path / "out", "--json").json
    assert document["path"] == str(tmp_path / "out")
    assert [one["name"] for one in document["views"]] == [*(view.name for view in VIEWS), "costs"]
    assert [one["rows"] for one in document["views"]] == [2, 1, 1, 1, 1, 2, 1, 1, 2, 3, 2, 2, 3]
    of_disk = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*.parquet"))
    assert sum(one["bytes"] for one in document["views"]) == of_disk
    shown = parquet(home, tmp_path / "other").out.splitlines()
    assert shown[0].split() == ["view", "rows", "files", "size"]
    assert shown[1].split()[:3] == ["sessions", "2", "2"]


def test_a_view_without_rows_keeps_its_columns(home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    options = ("--home", home / "tracklog", "--root", tmp_path / "empty", "--no-sync")
    assert tracklog("parquet", tmp_path / "out", *options, home=home).code == 0
    for view in VIEWS:
        found = duckdb.execute(f"select * from '{tmp_path}/out/{view.name}/**/*.parquet'")
        assert [column[0] for column in found.description or ()] == [
            column.name for column in view.columns
        ] + (["month"] if view.time else [])
    mark = json.loads((tmp_path / "out/_tracklog.json").read_text())
    assert set(mark["rows"]) == {*(view.name for view in VIEWS), "costs"}
