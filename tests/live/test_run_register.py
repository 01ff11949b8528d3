"""The register of runs: what is written comes back, whatever else stands in the file."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.live.live_home import ONE, TWO, a_process
from tracklog.home import Home
from tracklog.live.run_entries import Ended, Parent, RunEntry, SessionNamed, Started
from tracklog.live.run_register import Runs, note_ended, note_named, note_started, runs, start_mark

RUN, OTHER = "00000000000000aa", "00000000000000bb"
AT, LATER = "2026-11-16T12:00:00.000Z", "2026-11-16T12:01:00.000Z"
AT_MS = 1_794_830_400_000


def home_in(folder: Path) -> Home:
    return Home(folder / "ours")


def file_of(home: Home) -> Path:
    home.runs.mkdir(parents=True, exist_ok=True)
    return home.runs / "runs.jsonl"


def started(run: str = RUN, **more: Any) -> Started:
    return Started(run=run, **{"at": AT, "agent": "claude", "session": ONE, **more})


def ended(run: str = RUN, **more: Any) -> Ended:
    return Ended(run=run, **{"at": LATER, "ended_by": "completed", **more})


def runs_of(*words: Started | SessionNamed | Ended) -> Runs:
    found = Runs()
    for word in words:
        found.take(word)
    return found


def test_what_is_noted_comes_back(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    begun = started(
        transcript_path="/logs/one.jsonl",
        cwd="/work",
        how="fork",
        from_=TWO,
        parent=Parent("codex", "t-1"),
        parent_run=OTHER,
        batch="line-3",
        pid=77,
        pid_start="4711",
        name="look around",
    )
    over = ended(session=ONE, exit_code=0, cost_micro_usd=12)
    note_started(home, begun)
    note_ended(home, over)
    assert list(runs(home)) == [RunEntry(begun, None, over)]
    assert json.loads(file_of(home).read_bytes().splitlines()[0]) == {
        "what": "started",
        "v": 1,
        "run": RUN,
        "at": AT,
        "agent": "claude",
        "session": ONE,
        "transcript_path": "/logs/one.jsonl",
        "cwd": "/work",
        "how": "fork",
        "from": TWO,
        "parent_run": OTHER,
        "parent": {"agent": "codex", "session": "t-1"},
        "batch": "line-3",
        "pid": 77,
        "pid_start": "4711",
        "name": "look around",
    }


def test_the_register_is_for_us_alone(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    note_started(home, started())
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home.path, home.runs, file_of(home))]
    assert modes == [0o700, 0o700, 0o600]


def test_a_home_without_a_register_knows_no_runs(tmp_path: Path) -> None:
    found = runs(home_in(tmp_path))
    assert (list(found), found.n_garbage, found.called(ONE)) == ([], 0, [])


def test_garbage_is_counted_and_passed_over(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    note_started(home, started())
    with file_of(home).open("ab") as stream:
        stream.write(
            b'nonsense\n\n  \n[1]\n{"what":"ended"}\n{"v":1}\n\xff\xfe\n{"what":"started","run":7}\n'
        )
        stream.write(b'{"what":"ended","run":"00000000000000aa","ended_by":"error","exit_code":1e999}\n')
        stream.write(b'{"what":"named","run":"00000000000000aa","session":"\\ud800"}\n' + b"[" * 5000 + b"\n")
    note_ended(home, ended())
    found = runs(home)
    assert ([run.ended_by for run in found], found.n_garbage) == (["completed"], 9)


def test_a_word_of_a_later_release_is_no_garbage(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    file_of(home).write_bytes(b'{"v":2,"what":"paused","run":"00000000000000aa"}\n')
    note_started(home, started())
    found = runs(home)
    assert (len(found), found.n_garbage) == (1, 0)


def test_a_field_of_a_later_release_does_no_harm(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    file_of(home).write_bytes(b'{"what":"started","run":"r","agent":"claude","how":"teleport","mood":{}}\n')
    assert [run.started.how for run in runs(home)] == ["teleport"]


def test_a_line_within_which_somebody_was_killed_spoils_only_itself(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    file_of(home).write_bytes(b'{"v":1,"what":"started","run":"0000')
    assert runs(home).n_garbage == 0  # it may still be written
    note_started(home, started())
    found = runs(home)
    assert ([run.id for run in found], found.n_garbage) == ([RUN], 1)


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_what_is_no_file_in_its_place_is_neither_read_nor_written(tmp_path: Path, kind: str) -> None:
    home = home_in(tmp_path)
    path, target = file_of(home), tmp_path / "elsewhere"
    target.write_bytes(b"")
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to(target)
    assert list(runs(home)) == []
    with pytest.raises(OSError, match=r"runs\.jsonl"):
        note_started(home, started())
    assert target.read_bytes() == b""


def test_a_full_disk_is_an_os_error() -> None:
    limited = (
        "import resource, signal, sys, tempfile; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from pathlib import Path; from tracklog.live.run_register import *; from tracklog.home import Home\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # behind the imports, which write to caches\n"
        "with tempfile.TemporaryDirectory() as name:\n"
        "    try:\n"
        "        note_started(Home(Path(name)), Started(run='a' * 16, agent='claude', cwd='x' * 500))\n"
        "    except OSError as error:\n"
        "        print('refused', error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, env=_paths())
    assert (done.stdout.split()[:1], done.stderr) == (["refused"], "")


def _paths() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.defpath}


def test_a_path_with_odd_bytes_and_an_endless_name_are_written_as_far_as_they_can_be(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    note_started(home, started(cwd="/work/\udcff", name="n" * 100_000))
    (run,) = runs(home)
    assert (run.started.cwd, run.started.name) == ("/work/?", "n" * 4096)


def test_the_register_is_read_on_when_it_grows_and_anew_when_it_is_replaced(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    note_started(home, started())
    first = runs(home)
    assert runs(home) is first
    note_ended(home, ended())
    assert runs(home) is first
    assert [run.ended_by for run in first] == ["completed"]
    aside = home.runs / "aside"
    aside.write_bytes(b'{"what":"started","run":"00000000000000bb","agent":"codex"}\n')
    aside.replace(file_of(home))
    assert [run.id for run in runs(home)] == [OTHER]
    file_of(home).unlink()
    assert list(runs(home)) == []


def _write_some(folder: Path, n: int) -> None:
    home = Home(folder)
    for k in range(50):
        note_started(home, started(f"{n:08x}{k:08x}", name="x" * 3000))
        note_ended(home, ended(f"{n:08x}{k:08x}"))


def test_several_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_write_some, [home.path] * 4, range(4)))
    found = runs(home)
    assert (len(found), found.open(), found.n_garbage) == (200, [], 0)


def test_twenty_thousand_lines_are_read_within_a_second_or_two(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    lines = (
        f'{{"v":1,"what":"started","run":"{n:016x}","at":"{AT}","agent":"claude","session":"s-{n}","cwd":"/work",'
        f'"how":"run","pid":1,"pid_start":"1"}}\n{{"what":"ended","run":"{n:016x}","ended_by":"completed"}}\n'
        for n in range(10_000)
    )
    file_of(home).write_text("".join(lines))
    began = time.process_time()
    found = runs(home)
    took_s = time.process_time() - began
    assert (len(found), found.open()) == (10_000, [])
    assert took_s < 3.0  # 0.1 s, where nobody else wants the processor
    began = time.process_time()
    assert runs(home) is found
    assert time.process_time() - began < 0.05


@settings(deadline=None)  # it writes files, and others may write, too
@given(
    st.lists(
        st.one_of(st.binary(max_size=60), st.sampled_from([b'{"what":"started","run":"r","agent":"a"}']))
    )
)
def test_whatever_stands_in_the_register_it_is_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    home = home_in(tmp_path_factory.mktemp("register"))
    file_of(home).write_bytes(b"\n".join(lines))
    found = runs(home)
    assert all(isinstance(run.state(), str) and found.by_session(run.agent, "x") == [] for run in found)


# Who started whom:


def test_a_run_has_the_session_that_was_named_last(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    note_started(home, started(session=None, agent="codex"))
    note_named(home, SessionNamed(run=RUN, session="t-9", transcript_path="/r.jsonl"))
    note_ended(home, ended())
    found = runs(home)
    (run,) = found
    assert (run.session, run.transcript_path, run.ended_by) == ("t-9", "/r.jsonl", "completed")
    assert (found.by_session("codex", "t-9"), found.by_session("claude", "t-9")) == ([run], [])


def test_words_that_come_before_the_beginning_are_kept() -> None:
    found = runs_of(ended(), SessionNamed(run=RUN, session=TWO), started(session=None))
    assert [(run.session, run.ended_by) for run in found] == [(TWO, "completed")]
    assert found.open() == []


def test_the_first_beginning_and_the_first_end_count() -> None:
    found = runs_of(started(name="a"), started(name="b"), ended(), ended(ended_by="killed"))
    assert [(run.started.name, run.ended_by) for run in found] == [("a", "completed")]


def test_children_are_found_by_their_parents_session() -> None:
    child = started(OTHER, session=TWO, parent=Parent("claude", ONE))
    found = runs_of(started(), child)
    assert [run.id for run in found.children_of("claude", ONE)] == [OTHER]
    assert found.children_of("codex", ONE) == found.children_of("claude", TWO) == []


def test_children_of_a_run_whose_session_was_named_later_are_found() -> None:
    found = runs_of(started(session=None, agent="codex"), started(OTHER, session=TWO, parent_run=RUN))
    assert found.children_of("codex", "t-9") == []
    found.take(SessionNamed(run=RUN, session="t-9"))
    (child,) = found.children_of("codex", "t-9")
    assert (child.id, found.parent_of(child)) == (OTHER, Parent("codex", "t-9"))


def test_a_run_that_claims_to_be_its_own_parent_has_none() -> None:
    found = runs_of(started(parent_run=RUN))
    assert found.parent_of(next(iter(found))) is None
    assert found.children_of("claude", ONE) == []


def test_runs_that_go_on_with_a_session_are_known() -> None:
    found = runs_of(started(), started(OTHER, session=TWO, how="fork", from_=ONE))
    assert [run.id for run in found.going_on_from("claude", ONE)] == [OTHER]
    assert found.going_on_from("codex", ONE) == []


def test_a_run_is_called_by_its_id_by_its_session_or_by_the_start_of_that() -> None:
    found = runs_of(started(), started(OTHER, how="resume", from_=ONE), started("c" * 16, session=TWO))
    for text, expected in (
        (RUN, [RUN]),
        (ONE, [OTHER]),
        (ONE[:5].upper(), [OTHER]),
        ("2222", ["c" * 16]),
        ("3", []),
        ("", []),
    ):
        assert [run.id for run in found.called(text)] == expected, text


# Whether it goes on:


def test_a_run_goes_on_while_its_process_lives_and_is_lost_when_that_is_gone() -> None:
    process = a_process()
    run = RunEntry(started(pid=process.pid, pid_start=start_mark(process.pid)))
    assert run.state() == "running"
    process.kill()
    process.wait()
    assert run.state() == "lost"
    assert RunEntry(run.started, None, ended()).state() == "ended"


def test_a_process_of_the_same_number_is_not_the_one_that_was_meant() -> None:
    assert RunEntry(started(pid=os.getpid(), pid_start="1")).state() == "lost"


def test_a_run_without_a_process_is_believed_for_ten_minutes() -> None:
    run = RunEntry(started())
    assert run.state(AT_MS + 599_000) == "running"
    assert run.state(AT_MS + 601_000) == "lost"
    assert RunEntry(started(at="soon")).state(AT_MS) == "lost"


@pytest.mark.parametrize("pid", [0, -1, -(2**63), 2**63 - 1, 2**31, 1 << 22])
def test_a_pid_that_no_system_has_is_gone(pid: int) -> None:
    assert RunEntry(started(pid=pid, pid_start="9" * 30)).state(AT_MS + 601_000) == "lost"


def test_a_process_that_is_gone_has_no_mark() -> None:
    process = a_process()
    assert start_mark(process.pid) == start_mark(process.pid) != start_mark(os.getpid())
    process.kill()
    process.wait()
    assert start_mark(process.pid) is None
