"""Each killed `hooks install` left a file `.settings.json.tracklog-…` in the user's folder, and no later one removed it.

A kill just after a new file got its name left a second name of it, and the next install or uninstall refused: "has other
names (hard links)". And an install that made `.claude` and was killed left the folder after `uninstall`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.views.cli.command import TIME_LIMIT_S, environment, tracklog

# Kills the process where it first calls a function of the system this way, or just after it.
KILLED_AT = {
    "while the file is written": "import os; os.fsync = lambda _: die()",
    "before a new file gets its name": "import os; os.link = lambda *_: die()",
    "when a new file has its name": "import os; link = os.link; os.link = lambda *names: (link(*names), die())",
    "while our receipt is written": "import os; os.replace = lambda *_: die()",
    "when an old file was replaced": "import time; sleep = time.sleep; time.sleep = lambda s: sleep(s) if s else die()",
}
RECEIPT = "while our receipt is written"
OLD = [at for at in KILLED_AT if "a new file" not in at and at != RECEIPT]
NEW = [at for at in KILLED_AT if "an old file" not in at and at != RECEIPT]
DYING = "import os, signal\ndef die(): os.kill(os.getpid(), signal.SIGKILL)\n"
MAIN = "\nfrom tracklog.__main__ import main\nmain()"


def kill(at: str, *arguments: str, home: Path) -> None:
    """Run `tracklog hooks` in the home until it is killed."""
    words = [sys.executable, "-c", DYING + KILLED_AT[at] + MAIN, "hooks", *arguments]
    ended = subprocess.run(
        words, env=environment(home), cwd=home / "p", capture_output=True, timeout=TIME_LIMIT_S
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def project(home: Path) -> Path:
    """The `.claude` of a project in this home, which is not there yet."""
    (home / ".claude").mkdir()
    (home / "p").mkdir()
    return home / "p" / ".claude"


def hooks(*arguments: str, home: Path, env: Mapping[str, str] | None = None) -> None:
    told = tracklog("hooks", *arguments, home=home, cwd=home / "p", env=env)
    assert told.code == 0, told.err


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("at", NEW)
def test_the_next_install_removes_what_a_killed_one_left(at: str, tmp_path: Path) -> None:
    folder = project(tmp_path)
    kill(at, "install", "--project", home=tmp_path)
    assert any(".tracklog-" in name for name in names(folder))
    hooks("install", "--project", home=tmp_path)
    assert names(folder) == ["settings.json"]
    hooks("uninstall", "--project", home=tmp_path)
    assert not folder.exists()


@pytest.mark.parametrize("level", ["--project", None])
@pytest.mark.parametrize("at", NEW)
def test_uninstall_removes_what_a_killed_install_left(at: str, level: str | None, tmp_path: Path) -> None:
    folder = project(tmp_path)
    kill(at, "install", "--project", home=tmp_path)
    hooks("uninstall", *([level] if level else []), home=tmp_path)
    assert not folder.exists()


@pytest.mark.parametrize("next_one", ["install", "uninstall"])
@pytest.mark.parametrize("killed", ["install", "uninstall"])
@pytest.mark.parametrize("at", OLD)
def test_settings_of_the_user_are_as_they_were(at: str, killed: str, next_one: str, tmp_path: Path) -> None:
    folder = project(tmp_path)
    folder.mkdir()
    (folder / "settings.json").write_text('{"model":"opus"}')
    if killed == "uninstall":
        hooks("install", "--project", home=tmp_path)
    kill(at, killed, "--project", home=tmp_path)
    hooks(next_one, "--project", home=tmp_path)
    assert names(folder) == ["settings.json"]
    hooks("uninstall", "--project", home=tmp_path)
    assert (folder / "settings.json").read_text() == '{"model":"opus"}'
    assert names(folder) == ["settings.json"]


def test_an_install_of_another_level_removes_it_too(tmp_path: Path) -> None:
    folder = project(tmp_path)
    kill("before a new file gets its name", "install", "--project", home=tmp_path)
    hooks("install", "--local", home=tmp_path)
    assert names(folder) == ["settings.local.json"]
    hooks("uninstall", "--local", home=tmp_path)
    assert not folder.exists()


def test_an_edit_of_the_user_under_our_name_is_kept(tmp_path: Path) -> None:
    folder = project(tmp_path)
    folder.mkdir()
    (folder / "settings.json").write_text('{"model":"opus"}')
    kill("when an old file was replaced", "install", "--project", home=tmp_path)
    (left,) = folder.glob(".settings.json.tracklog-*")
    left.write_text('{"model":"sonnet"}')  # an editor that had the replaced file open
    others = [".settings.json.tracklog-notes", ".settings.json.swp", f"{left.name}.kept"]
    for other in others:
        (folder / other).write_text("of the user")
    hooks("install", "--project", home=tmp_path)
    assert names(folder) == sorted(["settings.json", left.name, *others])
    assert left.read_text() == '{"model":"sonnet"}'


def test_the_next_install_removes_a_receipt_that_was_not_finished(tmp_path: Path) -> None:
    project(tmp_path)
    kill(RECEIPT, "install", "--project", home=tmp_path)
    (receipts,) = tmp_path.rglob("hooks/.installed.json.*")
    living = receipts.with_suffix(f".{os.getpid()}")
    living.write_text("{")
    hooks("install", "--project", home=tmp_path)
    assert names(receipts.parent) == [living.name, "installed.json"]
