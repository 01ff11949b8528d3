"""`search` did not find what `show` printed of a long output, once its file had come, changed or gone after its line.

Whether a log has to be read again was decided by the log alone. The file of an output is read when the line that names
it is indexed; what it held later was in `show`, which reads it each time, and never in the index.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.regressions.test_long_outputs import PRINTED, here, hits, home_with, output, session
from tests.views.cli.command import ONE, tracklog, with_old_folders, write

LAST = "run 1999 counted"
LONGER = f"{PRINTED}and more of it\n"


def indexed(tmp_path: Path, *options: str, text: str | None = PRINTED) -> tuple[Path, Path]:
    """A home with a session that is indexed; its root, and where its output file is."""
    root, place = home_with(tmp_path, session(here(tmp_path)), output=text)
    place.parent.mkdir(parents=True, exist_ok=True)
    with_old_folders(root)
    assert tracklog("index", "--root", root, *options, home=tmp_path).code == 0
    return root, place


def test_one_that_appears_is_found(tmp_path: Path) -> None:
    root, place = indexed(tmp_path, text=None)
    assert hits(tmp_path, root, LAST) == []
    write(place, PRINTED.encode())
    (hit,) = hits(tmp_path, root, LAST)
    assert (hit["line"], hit["source"]) == (3, "file")


def test_one_that_changes_is_found_as_it_is_now(tmp_path: Path) -> None:
    root, place = indexed(tmp_path)
    write(place, LONGER.encode())
    assert [hit["line"] for hit in hits(tmp_path, root, "and more of it")] == [3]
    write(place, LONGER.replace("more", "less").encode())
    assert hits(tmp_path, root, "and more of it") == []
    assert [hit["line"] for hit in hits(tmp_path, root, "and less of it")] == [3]


def test_one_that_vanishes_is_found_no_more(tmp_path: Path) -> None:
    root, place = indexed(tmp_path, "--no-archive")
    place.unlink()
    assert output(tmp_path, root)["source"] == "log"
    assert hits(tmp_path, root, LAST) == []
    assert [hit["source"] for hit in hits(tmp_path, root, "run 1500 counted")] == ["log"]


def test_one_that_gets_another_name_is_found_no_more(tmp_path: Path) -> None:
    root, place = indexed(tmp_path, "--no-archive")
    place.rename(place.with_name("b2.txt"))
    assert hits(tmp_path, root, LAST) == []
    place.with_name("b2.txt").rename(place)
    assert [hit["source"] for hit in hits(tmp_path, root, LAST)] == ["file"]


def test_a_session_that_moves_with_its_output_is_not_read_again(tmp_path: Path) -> None:
    root, place = indexed(tmp_path)
    project = place.parents[2]
    project.rename(project.with_name("-srv-other"))
    read = tracklog("index", "--root", root, "--json", home=tmp_path).json
    assert read["new_bytes"] == 0
    assert [hit["source"] for hit in hits(tmp_path, root, LAST)] == ["file"]


def test_one_of_a_log_that_only_the_archive_has_is_found(tmp_path: Path) -> None:
    root, place = indexed(tmp_path, text=None)
    (place.parent.parent.parent / f"{ONE}.jsonl").unlink()
    assert hits(tmp_path, root, LAST) == []
    write(place, PRINTED.encode())
    assert [hit["line"] for hit in hits(tmp_path, root, LAST)] == [3]


def test_the_index_is_as_a_new_one(tmp_path: Path) -> None:
    root, place = indexed(tmp_path, text=None)
    write(place, PRINTED.encode())
    files = "select path, generation, bytes, lines, read from files order by path"
    commands = [["sessions"], ["calls"], ["usage"], ["sql", files]]

    def answers() -> list[str]:
        return [tracklog(*one, "--root", root, "--json", home=tmp_path).out for one in commands]

    updated = answers()
    assert place.name in updated[-1]
    assert tracklog("rebuild", "--root", root, home=tmp_path).code == 0
    assert answers() == updated


@pytest.mark.parametrize("name", ["b1.txt", "b2.txt"])
def test_a_log_is_read_again_only_if_it_names_the_file(tmp_path: Path, name: str) -> None:
    root, place = indexed(tmp_path, text=None)
    (log,) = (tmp_path / "claude").rglob("*.jsonl")
    n_bytes = len(PRINTED) + (log.stat().st_size if name == place.name else 0)
    write(place.with_name(name), PRINTED.encode())
    read = tracklog("index", "--root", root, "--json", home=tmp_path).json
    assert read["new_bytes"] == n_bytes
