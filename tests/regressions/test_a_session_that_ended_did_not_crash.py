"""`sessions` and `show` said that a session had ended, and `agents` that its main thread had crashed.

The client was closed, or went on with another session after `/clear`, while a call was open: there is no file in its
registry that names the session. The state of the main thread was worked out anew, from the call that never came back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import ONE, tracklog, with_old_folders
from tests.views.cli.written import Log, tool


@pytest.mark.parametrize("is_indexed", [True, False], ids=["with an index", "without"])
def test_its_main_thread_has_ended_as_well(is_indexed: bool, tmp_path: Path) -> None:
    log = Log(version="2.1.327").prompt("Look.").answer("msg_1", "Yes.", stop="tool_use")
    log.lines[-1]["message"]["content"].append(tool("toolu_1", "Bash", command="sleep 9"))
    log.write_in(tmp_path)
    (tmp_path / ".claude/sessions").mkdir()
    if is_indexed:
        with_old_folders(tmp_path)
        tracklog("index", home=tmp_path)
    session = tracklog("sessions", "--json", home=tmp_path).json["sessions"][0]["state"]
    shown = tracklog("show", ONE, "--json", home=tmp_path).json["session"]["state"]
    thread = tracklog("agents", ONE, "--json", home=tmp_path).json["threads"][0]["state"]
    (call,) = tracklog("calls", ONE, "--json", home=tmp_path).json["calls"]
    assert (session, shown, thread, call["verdict"]) == ("ended", "ended", "ended", "lost")
