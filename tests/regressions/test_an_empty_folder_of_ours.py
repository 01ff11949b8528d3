"""`hooks install --project`, then `--local`, then both uninstalled: an empty `.claude` that we had made was left.

Only the receipt of the first file knew that the folder was ours. It was forgotten when that file was taken out, and the
folder was not empty then.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from tests.regressions.test_a_killed_hooks_install import hooks, names, project

ORDERS = list(permutations(("--project", "--local")))


@pytest.mark.parametrize("removed", ORDERS)
@pytest.mark.parametrize("installed", ORDERS)
def test_the_last_uninstall_removes_the_folder(
    installed: tuple[str, str], removed: tuple[str, str], tmp_path: Path
) -> None:
    folder = project(tmp_path)
    for level in installed:
        hooks("install", level, home=tmp_path)
    for level in removed:
        assert folder.exists()
        hooks("uninstall", level, home=tmp_path)
    assert not folder.exists()


def test_a_folder_that_the_user_made_or_uses_is_kept(tmp_path: Path) -> None:
    folder = project(tmp_path)
    folder.mkdir()
    for command in ("install", "uninstall"):
        for level in ("--project", "--local"):
            hooks(command, level, home=tmp_path)
    assert names(folder) == []

    folder.rmdir()
    for level in ("--project", "--local"):
        hooks("install", level, home=tmp_path)
    (folder / "notes.md").write_text("mine")
    for level in ("--project", "--local"):
        hooks("uninstall", level, home=tmp_path)
    assert names(folder) == ["notes.md"]


def test_a_folder_that_the_user_made_in_place_of_ours_is_kept(tmp_path: Path) -> None:
    folder = project(tmp_path)
    hooks("install", "--project", home=tmp_path)
    (folder / "settings.json").unlink()
    folder.rmdir()
    folder.mkdir()
    hooks("install", "--local", home=tmp_path)
    hooks("uninstall", "--local", home=tmp_path)
    assert names(folder) == []


def test_one_home_in_the_folder_of_another_goes_with_the_last(tmp_path: Path) -> None:
    project(tmp_path)
    homes = {"CLAUDE_CONFIG_DIR": tmp_path / "new" / "claude", "CODEX_HOME": tmp_path / "new" / "codex"}
    env = {name: str(path) for name, path in homes.items()}
    for command in ("install", "uninstall"):
        for agent in ("claude", "codex"):
            hooks(command, "--agent", agent, home=tmp_path, env=env)
    assert not (tmp_path / "new").exists()
