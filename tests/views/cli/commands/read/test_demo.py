from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.views.cli.command import SOURCE, Answer, tracklog, write

SHIPPED = SOURCE / "tracklog" / "demo"


def contents(top: Path) -> dict[str, bytes]:
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def on_the_demo(*arguments: str, place: Path, home: Path) -> Answer:
    return tracklog(*arguments, "--root", place / "claude", "--root", place / "codex", "--json", home=home)


def test_the_sample_is_written_as_it_is_shipped(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    answer = tracklog("demo", place, "--json", home=tmp_path)
    shipped = contents(SHIPPED)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "schema_version": 1,
        "path": str(place),
        "files": len(shipped),
        "bytes": sum(map(len, shipped.values())),
        "roots": [str(place / "claude"), str(place / "codex")],
    }
    written = contents(place)
    assert written.pop(".tracklog-demo").startswith(b"The sample home of tracklog.")
    assert written == shipped


def test_the_sample_is_read_to_the_last_key_and_byte(tmp_path: Path) -> None:
    tracklog("demo", tmp_path / "demo", home=tmp_path)
    verified = on_the_demo("verify", place=tmp_path / "demo", home=tmp_path)
    assert (verified.code, verified.json["identical"], verified.json["skipped"]) == (0, True, [])
    doctor = on_the_demo("doctor", place=tmp_path / "demo", home=tmp_path).json
    assert (doctor["unknown"], doctor["broken"], {row["reading"] for row in doctor["coverage"]}) == (
        [],
        [],
        {"read"},
    )
    versions = {(row["agent"], row["version"]) for row in doctor["coverage"] if row["version"]}
    assert versions == {
        ("claude", "2.0.30"),
        ("claude", "2.1.100"),
        ("claude", "2.1.197"),
        ("codex", "0.98.0"),
        ("codex", "0.166.0"),
    }


def test_the_sample_has_every_kind_of_file_that_it_promises(tmp_path: Path) -> None:
    tracklog("demo", tmp_path / "demo", home=tmp_path)
    rows = on_the_demo("places", place=tmp_path / "demo", home=tmp_path).json["places"]
    assert {(row["agent"], row["kind"]): row["files"] for row in rows} == {
        ("claude", "history"): 1,
        ("claude", "transcript"): 4,
        ("claude", "subagent"): 6,
        ("claude", "meta"): 2,
        ("claude", "tool_result"): 1,
        ("codex", "history"): 1,
        ("codex", "transcript"): 2,
    }


def test_the_sample_is_small_and_tells_of_no_machine(tmp_path: Path) -> None:
    shipped = contents(SHIPPED)
    assert sum(map(len, shipped.values())) < 600_000
    traces = re.compile(
        rb"/tmp/|/work/|/root/|/Users/|127\.0\.0\.1|localhost|https?://[a-z]|sk-[A-Za-z0-9]{8}|@[a-z]+\.(?:com|org)"
    )
    assert {
        name: traces.findall(content) for name, content in shipped.items() if traces.search(content)
    } == {}


def test_without_a_folder_it_goes_to_tracklog_s_own_home_which_is_for_its_user_alone(tmp_path: Path) -> None:
    own = tmp_path / "own"
    assert (
        tracklog("demo", "--json", home=tmp_path, env={"TRACKLOG_HOME": str(own)}).json["path"]
        == f"{own}/demo"
    )
    assert own.stat().st_mode & 0o777 == 0o700
    usual = tracklog("demo", "--json", home=tmp_path).json["path"]
    assert Path(usual).is_relative_to(tmp_path)
    assert Path(usual).parts[-2:] == ("tracklog", "demo")


def test_a_second_time_makes_whole_what_is_left_and_keeps_what_was_added(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    tracklog("demo", place, home=tmp_path)
    (place / "claude/history.jsonl").unlink()
    write(place / "codex/history.jsonl", b"changed\n")
    write(place / "claude/mine.txt", b"mine\n")
    assert tracklog("demo", place, home=tmp_path).code == 0
    now = contents(place)
    assert now.pop("claude/mine.txt") == b"mine\n"
    now.pop(".tracklog-demo")
    assert now == contents(SHIPPED)


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "full/claude/history.jsonl", b"precious\n")
    answer = tracklog("demo", tmp_path / "full", home=tmp_path)
    place = tmp_path / "full"
    assert answer == (
        2,
        "",
        f"tracklog: {place} holds other files: name an empty folder, or one that is not there yet\n",
    )
    assert contents(place) == {"claude/history.jsonl": b"precious\n"}


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    write(tmp_path / "file", b"")
    answer = tracklog("demo", tmp_path / "file" / "demo", home=tmp_path)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith(f"tracklog: cannot write the demo to {tmp_path}/file/demo: ")


def test_the_commands_that_it_shows_work_as_they_stand(tmp_path: Path) -> None:
    out = tracklog("demo", tmp_path / "a place", home=tmp_path).out
    assert out.startswith("The sample home is in ~/a place: 17 files, ")
    shown = [line.strip() for line in out.splitlines() if line.startswith("  tracklog ")]
    assert [line.split()[1] for line in shown] == [
        "serve",
        "sessions",
        "show",
        "calls",
        "usage",
        "doctor",
        "verify",
    ]
    for line in shown[1:]:  # the first one goes on until it is told to end
        words = [word.replace("~", str(tmp_path)) for word in shlex.split(line)[1:]]
        answer = tracklog(*words, home=tmp_path)
        assert (answer.code, answer.err) == (0, "")
