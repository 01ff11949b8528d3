"""What tracklog keeps is for its owner alone, and one process writes at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.views.cli.command import SOURCE
from tracklog.errors import UserError
from tracklog.home import Busy, Home, held_lock, make_private_folder, open_private, write_private


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    old = os.umask(request.param)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_home_is_a_folder_that_only_its_owner_may_enter(tmp_path: Path, umask: None) -> None:
    home = Home(tmp_path / "deep" / "home")
    home.make()
    assert mode(home.path) == 0o700


def test_a_home_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    make_private_folder(folder)
    assert mode(folder) == 0o700


@pytest.mark.parametrize("odd", ["a file", "a link to nothing"])
def test_a_home_that_cannot_be_made_is_said(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "home"
    if odd == "a file":
        path.write_bytes(b"")
    else:
        path.symlink_to(tmp_path / "nothing" / "there")
    with pytest.raises(UserError, match="--home"):
        Home(path).make()


def test_files_are_private_from_the_first_moment(tmp_path: Path, umask: None) -> None:
    os.close(open_private(tmp_path / "a", os.O_WRONLY | os.O_CREAT))
    write_private(tmp_path / "b", b"told")
    assert (mode(tmp_path / "a"), mode(tmp_path / "b")) == (0o600, 0o600)
    assert (tmp_path / "b").read_bytes() == b"told"


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, b"the old and longer one")
    with open(path, "rb") as reader:
        write_private(path, b"the new one")
        assert reader.read() == b"the old and longer one"
    assert path.read_bytes() == b"the new one"
    assert os.listdir(tmp_path) == ["file"]


def test_the_lock_is_held_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with held_lock(home), pytest.raises(Busy), held_lock(home):
        pass
    with held_lock(home):
        assert mode(home.lock) == 0o600


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from tracklog.home import Home, held_lock\n"
        "with held_lock(Home(Path(sys.argv[1]))): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, env={"PYTHONPATH": str(SOURCE)}
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Busy), held_lock(Home(tmp_path)):
            pass
        holder.kill()
        holder.wait()
    with held_lock(Home(tmp_path)):
        pass


def test_a_lock_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    (tmp_path / "index.lock").mkdir()
    with pytest.raises(UserError, match=r"index\.lock"), held_lock(Home(tmp_path)):
        pass
