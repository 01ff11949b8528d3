from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import both_agents, on_a_terminal, tracklog, write
from tracklog.errors import UserError
from tracklog.views.cli.commands.live.serve import port_of_environment


def test_bare_tracklog_on_a_terminal_shows_its_glance_and_then_serves(tmp_path: Path) -> None:
    both_agents(tmp_path)
    shown = on_a_terminal(home=tmp_path, env={"NO_COLOR": "1"}).splitlines()
    link = next(line for line in shown if line.startswith("http://127.0.0.1:"))
    assert shown[0] == "claude  ~/.claude"
    assert "/sign-in?code=" in link
    assert shown[shown.index(link) - 1] == ""
    assert shown[shown.index(link) + 1].endswith("/ until Ctrl-C")
    assert (tmp_path / ".local/share/tracklog/token").stat().st_mode & 0o777 == 0o600


def test_where_there_are_no_logs_the_sample_is_served(tmp_path: Path) -> None:
    shown = on_a_terminal(home=tmp_path, env={"NO_COLOR": "1"}).splitlines()
    assert shown[0] == "No logs found."
    assert [line for line in shown if line.startswith("http://127.0.0.1:")] != []


def test_an_empty_root_is_not_served(tmp_path: Path) -> None:
    shown = on_a_terminal("--root", tmp_path, home=tmp_path, env={"NO_COLOR": "1"})
    assert ("No logs found." in shown, "http://" in shown) == (True, False)


def test_without_a_terminal_nothing_is_served(tmp_path: Path) -> None:
    both_agents(tmp_path)
    answer = tracklog(home=tmp_path)
    assert (answer.code, "http://" in answer.out, answer.err) == (0, False, "")


def test_a_home_that_cannot_be_written_to_is_said_on_a_terminal_and_is_no_failure(tmp_path: Path) -> None:
    both_agents(tmp_path)
    own = write(tmp_path / "own", b"")
    shown = on_a_terminal(home=tmp_path, env={"NO_COLOR": "1", "TRACKLOG_HOME": str(own)})
    assert ("cannot use" in shown, "http://" in shown) == (True, False)


def test_a_root_that_is_not_there_is_said(tmp_path: Path) -> None:
    answer = tracklog("serve", "--no-open", "--root", tmp_path / "gone", home=tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"tracklog: cannot read {tmp_path / 'gone'}")


@pytest.mark.parametrize("port", ["-1", "65536", "x", ""])
def test_a_port_that_is_none_is_wrong_use(tmp_path: Path, port: str) -> None:
    answer = tracklog("serve", "--port", port, home=tmp_path)
    assert (answer.code, answer.out) == (2, "")


def test_the_port_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, expected in (("", None), ("0", 0), ("8000", 8000)):
        monkeypatch.setenv("TRACKLOG_PORT", given)
        assert port_of_environment() == expected
    for wrong in ("x", "65536", "-1", "8000 "):
        monkeypatch.setenv("TRACKLOG_PORT", wrong)
        with pytest.raises(UserError, match="TRACKLOG_PORT is"):
            port_of_environment()


def test_a_token_that_cannot_be_trusted_is_said(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    (own / "token").symlink_to(tmp_path / "elsewhere")
    answer = tracklog("serve", "--no-open", home=tmp_path, env={"TRACKLOG_HOME": str(own)})
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        f"tracklog: the token {own}/token cannot be trusted: symbolic link; remove it, and a new one is made\n"
    )
