"""A session that consists only of a subagent's log was listed and shown, but `path` and `restore` did not find it.

Claude Code 2.0 wrote `agent-a1.jsonl` next to the transcripts: only its lines say of which session it is. With the
transcript deleted, `sessions` listed the session and `show ID` printed it; `path ID`, `restore ID`, `show` with the start
of the id and `path @last` said that there was no such session.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import ONE, tracklog, transcript_in
from tests.views.cli.written import Log, working_day

BESIDE, BELOW = "agent-a1.jsonl", f"{ONE}/subagents/agent-a1.jsonl"


def written(home: Path, name: str) -> Path:
    log = Log(isSidechain=True, agentId="a1").prompt("Look.").answer("msg_a1", "Nothing.")
    return log.write(transcript_in(home, name))


@pytest.mark.parametrize("name", [BESIDE, BELOW])
@pytest.mark.parametrize("text", [ONE, ONE[:8], ONE.upper(), "@last"])
def test_it_is_found_by_every_command(name: str, text: str, tmp_path: Path) -> None:
    log = written(tmp_path, name)
    assert tracklog("path", text, home=tmp_path).out == f"{log}\n"
    assert tracklog("show", text, "--json", home=tmp_path).json["session"]["id"] == ONE
    tracklog("index", home=tmp_path)
    content = log.read_bytes()
    log.unlink()
    assert tracklog("path", text, home=tmp_path).out == f"{log}\n"
    assert tracklog("show", text, "--json", home=tmp_path).json["session"]["id"] == ONE
    assert tracklog("restore", text, home=tmp_path).code == 0
    assert log.read_bytes() == content


def test_a_file_that_is_no_log_does_not_take_its_place(tmp_path: Path) -> None:
    # the output of a tool, which is newer than the log, was named as the file that the session is written to
    log = written(tmp_path, BELOW)
    output = transcript_in(tmp_path, f"{ONE}/tool-results/b1.txt")
    output.parent.mkdir()
    output.write_text("run 1: counted\n")
    assert tracklog("path", ONE, home=tmp_path).out == f"{log}\n"
    tracklog("index", home=tmp_path)
    log.unlink()
    assert tracklog("path", ONE[:8], home=tmp_path).out == f"{log}\n"


def test_one_that_lies_beside_a_transcript_belongs_to_it(tmp_path: Path) -> None:
    written(tmp_path, BESIDE)
    main = working_day().write_in(tmp_path)
    for text in (ONE, ONE[:8], "@last"):
        assert tracklog("path", text, home=tmp_path).out == f"{main}\n"
