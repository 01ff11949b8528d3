"""The supervisor as a program of its own: how it is started, whom it sees, what it removes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tracklog import supervisor
from tracklog.run.process.prestart import order_for


def kept(
    *argv: str, cwd: str = "/", flags: tuple[str, ...] = (), order: bytes | None = None
) -> tuple[bytes, bytes, bytes]:
    """What the supervisor told of a client, and what this one printed."""
    life, our_life = os.pipe()
    our_told, told = os.pipe()
    ordered, our_order = os.pipe()
    told_what = b"\0" + order_for(argv, cwd=Path(cwd), env={"PATH": os.defpath})
    os.write(our_order, told_what if order is None else order)
    os.close(our_order)
    options = ["--life", str(life), "--told", str(told), "--order", str(ordered)]
    command = [sys.executable, "-I", "-S", *flags, supervisor.__file__, *options]
    done = subprocess.run(
        command, pass_fds=(life, told, ordered), capture_output=True, start_new_session=True, timeout=30
    )
    for descriptor in (life, our_life, told, ordered):
        os.close(descriptor)
    with open(our_told, "rb") as stream:
        return stream.read(), done.stdout, done.stderr


def test_it_tells_pid_and_exit_of_the_client_and_ends() -> None:
    told, out, err = kept("/bin/sh", "-c", "echo $$; echo no >&2; exit 4")
    assert (told, err) == (b"pid %d\nexit 4\n" % int(out), b"no\n")


def test_a_program_that_is_not_there_is_told_by_its_error() -> None:
    assert kept("/no/such/program") == (b"failed 2\n", b"", b"")


def test_the_client_leads_a_group_of_its_own_in_the_supervisors_session() -> None:
    source = "import os; print(os.getpgid(0) == os.getpid(), os.getsid(0) == os.getppid())"
    assert kept(sys.executable, "-c", source)[1] == b"True True\n"


def test_the_client_has_the_variables_that_were_ordered_and_no_others() -> None:
    assert kept("/usr/bin/env")[1] == f"PATH={os.defpath}\n".encode()


def test_it_works_in_the_folder_that_was_ordered_and_says_if_it_cannot(tmp_path: Path) -> None:
    assert kept("/bin/pwd", cwd=str(tmp_path))[1] == f"{tmp_path}\n".encode()
    assert kept("/bin/pwd", cwd=str(tmp_path / "nowhere")) == (b"failed 2\n", b"", b"")


def test_without_an_order_it_ends_and_says_nothing() -> None:
    assert kept("/bin/pwd", order=b"") == (b"", b"", b"")


def test_a_folder_that_was_promised_goes_though_no_order_came(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "settings.json").write_text("{}")
    assert kept("/bin/pwd", order=os.fsencode(folder) + b"\0") == (b"", b"", b"")
    assert not folder.exists()


def test_before_the_client_runs_it_loads_next_to_nothing() -> None:
    """What comes before the client's own line delays every run."""
    told = kept("/bin/sh", "-c", "echo CLIENT >&2; sleep 0.2", flags=("-X", "importtime"))[2]
    loaded = {line.rpartition(b"|")[2].strip() for line in told.partition(b"CLIENT")[0].splitlines()}
    assert {b"select"} <= loaded
    assert not loaded & {b"enum", b"typing", b"ctypes", b"signal", b"subprocess", b"contextlib", b"site"}


def test_both_ways_to_look_at_processes_see_the_same() -> None:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        seen = [
            (look()[child.pid].parent, look()[child.pid].group)
            for look in (supervisor.processes, supervisor.by_ps)
        ]
        assert seen == [(os.getpid(), child.pid)] * 2
        assert child.pid in supervisor.descendants(supervisor.by_ps(), os.getpid())
    finally:
        child.kill()
        child.wait()
        reap_all()


def reap_all() -> None:
    """`by_ps` leaves its own child to who reaps all, as the supervisor does."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def test_a_zombie_does_not_count_as_living() -> None:
    child = subprocess.Popen(["true"])
    until = time.monotonic() + 10
    while supervisor.processes()[child.pid].is_alive and time.monotonic() < until:
        time.sleep(0.01)
    assert supervisor.living(supervisor.processes(), {child.pid}) == {}
    child.wait()


def test_a_process_whose_main_thread_has_ended_lives() -> None:
    """It looks like a zombie until its last thread ends."""
    source = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "print('here', flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    child = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"here\n"
        until = time.monotonic() + 10
        stat = Path(f"/proc/{child.pid}/stat")
        while b") Z" not in stat.read_bytes() and time.monotonic() < until:
            time.sleep(0.01)
        assert b") Z" in stat.read_bytes()
        assert child.pid in supervisor.living(supervisor.processes(), {child.pid})
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.parametrize("has_handles", [True, False])
def test_a_signal_never_reaches_a_process_that_started_at_another_time(
    monkeypatch: pytest.MonkeyPatch, *, has_handles: bool
) -> None:
    """Numbers are used again: who has the pid now may be a stranger."""
    if not has_handles:
        monkeypatch.delattr(os, "pidfd_open")  # as on systems that have none
    child = subprocess.Popen(["sleep", "60"])
    start = supervisor.processes()[child.pid].start
    supervisor.signal_all({child.pid: start + 1}, supervisor.KILL)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.2)
    supervisor.signal_all({child.pid: start}, supervisor.KILL)
    assert child.wait(10) == -9


def test_a_process_that_has_gone_keeps_no_other_from_its_signal() -> None:
    gone, stays = subprocess.Popen(["true"]), subprocess.Popen(["sleep", "60"])
    gone.wait()
    supervisor.signal_all({gone.pid: 1, stays.pid: 0}, supervisor.TERMINATE)
    assert stays.wait(10) == -supervisor.TERMINATE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    (path / "asks").mkdir(parents=True)
    for name in (
        "settings.json",
        "schema.json",
        "keeper",
        ".settings.json.4711",
        "asks/1.json",
        "asks/.2.json.99",
    ):
        (path / name).write_bytes(b"{}")
    os.mkfifo(path / "stop.fifo")
    return path


def test_a_folder_with_what_we_make_is_removed(folder: Path) -> None:
    assert supervisor.clear_folder(str(folder)) is True
    assert os.listdir(folder.parent) == []
    assert supervisor.clear_folder(str(folder)) is True


def test_what_is_not_ours_stays_with_its_folder(folder: Path) -> None:
    (folder / "notes.txt").write_bytes(b"mine")
    (folder / "asks/deep").mkdir()
    (folder / "asks/deep/x.json").write_bytes(b"mine")
    assert supervisor.clear_folder(str(folder)) is False
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    assert left == ["asks", "asks/deep", "asks/deep/x.json", "notes.txt"]


def link_in_place_of_a_file(folder: Path, elsewhere: Path) -> None:
    (folder / "settings.json").unlink()
    (folder / "settings.json").symlink_to(elsewhere / "1.json")


def link_in_place_of_asks(folder: Path, elsewhere: Path) -> None:
    for path in (folder / "asks").iterdir():
        path.unlink()
    (folder / "asks").rmdir()
    (folder / "asks").symlink_to(elsewhere)


def link_in_place_of_the_folder(folder: Path, elsewhere: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(elsewhere)


def folder_in_place_of_a_file(folder: Path, elsewhere: Path) -> None:
    (folder / "settings.json").unlink()
    elsewhere.rename(folder / "settings.json")
    elsewhere.mkdir()
    (folder / "settings.json/1.json").rename(elsewhere / "1.json")


@pytest.mark.parametrize(
    "trick",
    [link_in_place_of_a_file, link_in_place_of_asks, link_in_place_of_the_folder, folder_in_place_of_a_file],
)
def test_no_link_is_followed_and_no_tree_is_walked(
    folder: Path, tmp_path: Path, trick: Callable[[Path, Path], None]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "1.json").write_bytes(b"mine")
    trick(folder, elsewhere)
    supervisor.clear_folder(str(folder))
    assert (elsewhere / "1.json").read_bytes() == b"mine"


def test_a_fifo_in_place_of_the_folder_does_not_hold_anybody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run")
    os.mkfifo(tmp_path / "asks")
    looking = threading.Thread(target=supervisor.clear_folder, args=(str(tmp_path / "run"),), daemon=True)
    looking.start()
    looking.join(5)
    assert (looking.is_alive(), (tmp_path / "run").exists()) == (False, True)
