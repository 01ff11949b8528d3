"""The private folder of a running child: for us alone, and gone when nobody uses it."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

from tracklog.home import Home
from tracklog.run.process.private_dir import make_private, note_process
from tracklog.run.process.supervise import sweep

RUN = "0123456789abcdef"
OTHER = "fedcba9876543210"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def left_in(home: Home) -> list[str]:
    return sorted(os.listdir(home.runs / "now"))


def renoted(folder: Path, note: str) -> None:
    """As if somebody else had made the folder."""
    (folder / "keeper").write_text(note)


def ended_process(folder: Path) -> None:
    """Notes a process that has ended since."""
    (folder / "keeper").unlink()
    child = subprocess.Popen(["sleep", "60"])
    note_process(folder, child.pid)
    child.kill()
    child.wait()


def test_folders_files_and_fifo_are_for_us_alone(home: Home) -> None:
    before = os.umask(0)
    try:
        made = make_private(home, RUN)
        settings = made.write("settings.json", b"{}")
    finally:
        os.umask(before)
    assert made.fifo == made.path / "stop.fifo"
    assert stat.S_ISFIFO(made.fifo.stat().st_mode)
    paths = [home.path, home.runs, home.runs / "now", made.path, made.fifo, settings, made.path / "keeper"]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in paths]
    assert modes == [0o700, 0o700, 0o700, 0o700, 0o600, 0o600, 0o600]
    assert settings.read_bytes() == b"{}"


def test_it_is_removed_with_all_that_we_make_and_a_second_time_nothing_happens(home: Home) -> None:
    made = make_private(home, RUN)
    made.write("settings.json", b"{}")
    made.write("schema.json", b"{}")
    made.remove()
    made.remove()
    assert left_in(home) == []


def test_a_file_that_nobody_would_remove_is_not_made(home: Home) -> None:
    made = make_private(home, RUN)
    for name in ("other.json", "../settings.json", ""):
        with pytest.raises(ValueError, match="does not know this name"):
            made.write(name, b"")


def test_a_run_has_one_folder(home: Home) -> None:
    make_private(home, RUN)
    with pytest.raises(FileExistsError):
        make_private(home, RUN)
    assert sorted(os.listdir(home.runs / "now" / RUN)) == ["keeper", "stop.fifo"]


def test_a_folder_in_use_is_not_swept(home: Home) -> None:
    made = make_private(home, RUN)
    assert (sweep(home), left_in(home)) == (0, [RUN])
    made.remove()


def test_a_folder_is_in_use_while_one_of_two_lives(home: Home) -> None:
    made = make_private(home, RUN)
    ended_process(made.path)
    note_process(made.path, os.getpid())
    assert (sweep(home), left_in(home)) == (0, [RUN])


def test_the_folder_of_processes_that_have_ended_is_swept(home: Home) -> None:
    made = make_private(home, RUN)
    make_private(home, OTHER)
    made.write("settings.json", b"{}")
    ended_process(made.path)
    assert (sweep(home), left_in(home)) == (1, [OTHER])


def test_a_pid_that_is_another_process_now_does_not_keep_a_folder(home: Home) -> None:
    made = make_private(home, RUN)
    pid, started, domain = (made.path / "keeper").read_text().split()
    renoted(made.path, f"{pid} {int(started) + 1} {domain}\n")
    assert (sweep(home), left_in(home)) == (1, [])


def test_a_folder_of_another_container_is_believed_for_a_week(home: Home) -> None:
    made = make_private(home, RUN)
    renoted(made.path, "4194999 12 linux:another-machine:pid:[1]\n")
    assert (sweep(home), left_in(home)) == (0, [RUN])
    os.utime(made.path, (0, time.time() - 8 * 24 * 3600))
    assert (sweep(home), left_in(home)) == (1, [])


@pytest.mark.parametrize("note", ["", "garbage\n", "\0\xff", "0 1 x\n", "-1 1 x\n", "99999999999999 1 x\n"])
def test_a_folder_without_a_note_may_be_about_to_get_one(home: Home, note: str) -> None:
    made = make_private(home, RUN)
    renoted(made.path, note)
    assert (sweep(home), left_in(home)) == (0, [RUN])
    os.utime(made.path, (0, time.time() - 120))
    assert (sweep(home), left_in(home)) == (1, [])


def test_what_is_no_folder_of_a_run_is_not_swept(home: Home, tmp_path: Path) -> None:
    make_private(home, RUN).remove()
    now = home.runs / "now"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/settings.json").write_bytes(b"mine")
    (now / OTHER).symlink_to(tmp_path / "mine")
    (now / "notes").mkdir()
    (now / RUN).write_bytes(b"a file")
    for path in (tmp_path / "mine", now / "notes", now / RUN):
        os.utime(path, (0, 0))
    assert (sweep(home), left_in(home)) == (0, sorted([RUN, OTHER, "notes"]))
    assert (tmp_path / "mine/settings.json").read_bytes() == b"mine"


def test_a_fifo_or_a_link_in_place_of_the_note_holds_nobody(home: Home, tmp_path: Path) -> None:
    for run, make in ((RUN, os.mkfifo), (OTHER, lambda path: path.symlink_to(tmp_path / "x"))):
        note = make_private(home, run).path / "keeper"
        note.unlink()
        make(note)
    began = time.monotonic()
    sweep(home)
    assert time.monotonic() - began < 30


def test_without_a_home_there_is_nothing_to_sweep(home: Home) -> None:
    assert sweep(home) == 0
    assert not home.path.exists()


def test_a_home_that_cannot_be_used_is_an_os_error_and_no_mistake_of_the_user(home: Home) -> None:
    """The run goes on without a folder."""
    home.path.write_bytes(b"a file")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        make_private(home, RUN)


def test_where_a_file_system_has_no_fifos_there_is_a_folder_without_one(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "mkfifo", refused)
    made = make_private(home, RUN)
    assert (made.fifo, os.listdir(made.path)) == (None, ["keeper"])


def test_when_it_cannot_be_made_whole_nothing_is_left(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "mkfifo", full)
    with pytest.raises(OSError, match="No space left"):
        make_private(home, RUN)
    assert left_in(home) == []
