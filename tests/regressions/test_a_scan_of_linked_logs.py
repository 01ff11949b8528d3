"""`scan` skipped a log or a folder that was a symbolic link, named it, and exited with 0 as if all had been looked through."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import both_agents, tracklog, transcript_in, user_line, write


def scan(home: Path, *words: str | Path) -> int:
    return tracklog("scan", *words, home=home, env={"TRACKLOG_HOME": str(home / "ours")}).code


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("link", ["linked.jsonl", "../-srv-linked"])
def test_a_log_behind_a_link_was_not_looked_through(tmp_path: Path, link: str, named: bool) -> None:
    both_agents(tmp_path)
    outside = write(tmp_path / "outside/b0000000-0000-4000-8000-000000000000.jsonl", user_line())
    folder = transcript_in(tmp_path).parent
    (folder / link).symlink_to(outside if link.endswith("jsonl") else outside.parent)
    assert scan(tmp_path, *([tmp_path / ".claude"] if named else [])) == 1


@pytest.mark.parametrize("named", [False, True])
def test_a_link_to_what_was_looked_through_hides_nothing(tmp_path: Path, named: bool) -> None:
    both_agents(tmp_path)
    log = write(transcript_in(tmp_path), user_line())
    log.with_name("again.jsonl").symlink_to(log)
    log.with_name("ring.jsonl").symlink_to(".")
    log.with_name("gone.jsonl").symlink_to("nowhere")
    assert scan(tmp_path, *([tmp_path / ".claude"] if named else [])) == 0


def test_a_linked_setting_is_no_log(tmp_path: Path) -> None:
    both_agents(tmp_path)
    for name in ("settings.json", "CLAUDE.md", "skills/a"):
        (tmp_path / "dotfiles" / name).mkdir(parents=True)
    for name in ("settings.json", "CLAUDE.md", "skills"):
        (tmp_path / ".claude" / name).symlink_to(tmp_path / "dotfiles" / name)
    assert scan(tmp_path) == 0
