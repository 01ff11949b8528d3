"""A session whose logs lie in several project folders, read by one of its paths.

A session that was resumed in another folder has a log in each project. `tracklog calls PATH` showed the calls of all,
`tracklog.read(PATH)` only those of the folder that the path names: 15, 17 or 127 of 159, whichever path was given.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tracklog as package
from tests.views.cli.command import ONE, TWO, tracklog
from tests.views.cli.written import Log, tool, working_day


def scattered(home: Path) -> list[Path]:
    """The logs of a session that went on in another project, and a subagent of it there."""
    first = working_day().write_in(home)
    project = first.parent.parent / "-home-dev-other"
    later = Log(ONE, cwd="/home/dev/other").prompt("Go on here.")
    for line in later.lines:
        line["uuid"] = "later-1"
        line["timestamp"] = "2026-03-01T18:00:00.000Z"
    later.tip = "later-1"
    later.answer("msg_20", tool("toolu_20", "Bash", command="ls"), stop="tool_use")
    later.lines[-1] |= {"uuid": "later-2", "timestamp": "2026-03-01T18:00:01.000Z"}
    agent = Log(ONE, cwd="/home/dev/other", isSidechain=True, agentId="a1").prompt("Look.")
    agent.answer("msg_30", tool("toolu_30", "Read", file_path="x"), stop="tool_use")
    return [
        first,
        later.write(project / f"{ONE}.jsonl"),
        agent.write(project / ONE / "subagents" / "agent-a1.jsonl"),
    ]


def test_whichever_log_is_named_the_calls_are_those_of_the_whole_session(tmp_path: Path) -> None:
    paths = scattered(tmp_path)
    Log(TWO).prompt("Another session.").write_in(tmp_path)
    listed = {row["id"] for row in tracklog("calls", ONE, "--json", home=tmp_path).json["calls"]}
    assert listed == {"toolu_1", "toolu_2", "toolu_20", "toolu_30"}
    for path in paths:
        assert {call.id for call in package.read(path).calls} == listed
        assert {row["id"] for row in tracklog("calls", path, "--json", home=tmp_path).json["calls"]} == listed


def test_a_folder_of_logs_is_looked_through_where_it_is_given_as_a_root(tmp_path: Path) -> None:
    one = working_day().write(tmp_path / "a" / "full.jsonl")
    more = Log(ONE).prompt("More.").answer("msg_40", tool("toolu_40", "Bash", command="ls"), stop="tool_use")
    for n, line in enumerate(more.lines):
        line |= {"uuid": f"more-{n}", "parentUuid": f"more-{n - 1}" if n else None}
    other = more.write(tmp_path / "b" / "full.jsonl")
    for path in (one, other):
        document = tracklog("calls", path, "--root", tmp_path, "--json", home=tmp_path).json
        calls = {call.id for call in package.read(path, roots=[tmp_path]).calls}
        assert calls == {row["id"] for row in document["calls"]} == {"toolu_1", "toolu_2", "toolu_40"}


def test_the_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = scattered(tmp_path)
    monkeypatch.chdir(first.parent)
    assert len(package.read(first.name).calls) == 4
