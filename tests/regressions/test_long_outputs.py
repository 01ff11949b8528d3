"""A long output of a tool was shown and searched by its first 2 KB alone.

A person ran a command that printed 30 KB. Claude Code showed the model a preview (`<persisted-output>`), wrote 30,000
characters into the line beside it (`toolUseResult.stdout`) and all of it into `tool-results/<id>.txt`. "Show all" on
the page gave the preview, and `search` found nothing of the rest: only the text of the result was ever looked at.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from tests.views.cli.command import ONE, tracklog, write
from tests.views.web.asking import app_of, ask
from tests.views.web.read_site import site_over
from tracklog.agents.claude_code.output_files import output_path, read_output
from tracklog.reading.tool_outputs import MOST_BYTES
from tracklog.sources.log_file import FileKind, LogFile
from tracklog.views.web.pages.session import lines as lines_module
from tracklog.views.web.pages.session import rows

NAME = "b1.txt"
PRINTED = "".join(f"run {n:4d} counted\n" for n in range(1, 2001))


def line(**fields: Any) -> dict[str, Any]:
    return {"sessionId": ONE, "cwd": "/srv/app", "version": "2.1.197", "isSidechain": False, **fields}


def session(path: str, *, report: dict[str, Any] | None = None, printed: str = PRINTED) -> bytes:
    """A session in which one command printed a lot; `path` is what the log says where the output is."""
    preview = (
        f"<persisted-output>\nOutput too large (34KB). Full output saved to: {path}\n\nPreview (first 2KB):\n"
    )
    content = f"{preview}{printed[:2000]}\n...\n</persisted-output>"
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "count"}}
    back = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content}
    lines = [
        line(
            type="user",
            uuid="u1",
            timestamp="2026-11-15T10:00:00.000Z",
            message={"role": "user", "content": "Go."},
        ),
        line(
            type="assistant",
            uuid="a1",
            parentUuid="u1",
            timestamp="2026-11-15T10:00:01.000Z",
            message={"id": "msg_1", "model": "claude-x", "role": "assistant", "content": [call]},
        ),
        line(
            type="user",
            uuid="u2",
            parentUuid="a1",
            timestamp="2026-11-15T10:00:02.000Z",
            message={"role": "user", "content": [back]},
            toolUseResult={"stdout": printed[:30_000], "stderr": "", "interrupted": False}
            if report is None
            else report,
        ),
    ]
    return b"".join(json.dumps(one).encode() + b"\n" for one in lines)


def home_with(tmp_path: Path, log: bytes, *, output: str | None = PRINTED) -> tuple[Path, Path]:
    """A home of the client with one session; its root, and where its output file is."""
    project = tmp_path / "claude/projects/-srv-app"
    write(project / f"{ONE}.jsonl", log)
    place = project / ONE / "tool-results" / NAME
    if output is not None:
        write(place, output.encode())
    return tmp_path / "claude", place


def here(tmp_path: Path) -> str:
    return f"{tmp_path}/claude/projects/-srv-app/{ONE}/tool-results/{NAME}"


def hits(tmp_path: Path, root: Path, words: str) -> list[dict[str, Any]]:
    found = tracklog("search", f'"{words}"', "--root", root, "--json", home=tmp_path).json["hits"]
    assert isinstance(found, list)
    return found


def output(tmp_path: Path, root: Path) -> dict[str, Any]:
    (only,) = tracklog("show", ONE, "--root", root, "--output", "--json", home=tmp_path).json["outputs"]
    assert isinstance(only, dict)
    return only


def test_all_of_a_long_output_is_found_and_shown_from_its_file(tmp_path: Path) -> None:
    root, _ = home_with(tmp_path, session(here(tmp_path)))
    (hit,) = hits(tmp_path, root, "run 1999 counted")
    assert (hit["line"], hit["kind"], hit["source"]) == (3, "result", "file")
    assert "run 1999 counted" in hit["snippet"]
    assert output(tmp_path, root) == {"call": "toolu_1", "source": "file", "is_whole": True, "text": PRINTED}
    shown = tracklog("show", ONE, "--root", root, home=tmp_path).out
    assert f"output: {len(PRINTED):,} letters from the output file {NAME}" in shown
    assert "output file" in tracklog("search", '"run 1999 counted"', "--root", root, home=tmp_path).out


def test_an_output_file_that_is_gone_comes_from_the_archive(tmp_path: Path) -> None:
    root, place = home_with(tmp_path, session(here(tmp_path)))
    assert tracklog("index", "--root", root, home=tmp_path).code == 0
    shutil.rmtree(place.parent.parent)
    (hit,) = hits(tmp_path, root, "run 1999 counted")
    assert hit["source"] == "archive"
    assert output(tmp_path, root)["source"] == "archive"
    assert tracklog("rebuild", "--root", root, home=tmp_path).code == 0
    assert [one["source"] for one in hits(tmp_path, root, "run 1999 counted")] == ["archive"]


def test_without_the_file_the_report_in_the_log_is_found_and_shown(tmp_path: Path) -> None:
    root, _ = home_with(tmp_path, session(here(tmp_path)), output=None)
    (hit,) = hits(tmp_path, root, "run 1500 counted")
    assert hit["source"] == "log"
    assert hits(tmp_path, root, "run 1999 counted") == []
    assert output(tmp_path, root) == {
        "call": "toolu_1",
        "source": "log",
        "is_whole": False,
        "text": PRINTED[:30_000],
    }


def test_where_only_the_preview_is_left_that_is_said(tmp_path: Path) -> None:
    root, _ = home_with(tmp_path, session(here(tmp_path), report={"mode": "x"}), output=None)
    assert output(tmp_path, root)["source"] == "preview"
    assert "only the client's preview" in tracklog("show", ONE, "--root", root, home=tmp_path).out


@pytest.mark.parametrize("is_folder_a_link", [True, False])
def test_no_output_is_read_through_a_link_or_from_another_folder(
    tmp_path: Path, is_folder_a_link: bool
) -> None:
    secret = write(tmp_path / "elsewhere/tool-results" / NAME, b"run 1999 counted, and a secret\n" * 9999)
    root, place = home_with(tmp_path, session(str(secret)), output=None)
    assert output(tmp_path, root)["source"] == "log"
    place.parent.parent.mkdir(exist_ok=True)
    if is_folder_a_link:
        place.parent.symlink_to(secret.parent)
    else:
        place.parent.mkdir()
        place.symlink_to(secret)
    assert output(tmp_path, root)["source"] == "log"
    assert hits(tmp_path, root, "a secret") == []


def test_a_huge_output_is_read_up_to_a_bound(tmp_path: Path) -> None:
    log = LogFile("claude", FileKind.TRANSCRIPT, tmp_path / f"{ONE}.jsonl", tmp_path, ONE, 0, 0, 0, 0)
    place = output_path(log, NAME)
    assert place is not None
    write(place, b"")
    with place.open("r+b") as stream:
        stream.truncate(MOST_BYTES * 1000)
    read = read_output(place, MOST_BYTES)
    assert read is not None
    assert (len(read.data), read.is_whole) == (MOST_BYTES, False)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\0b"])
def test_a_name_that_leads_elsewhere_has_no_place(tmp_path: Path, name: str) -> None:
    log = LogFile("claude", FileKind.TRANSCRIPT, tmp_path / f"{ONE}.jsonl", tmp_path, ONE, 0, 0, 0, 0)
    assert output_path(log, name) is None


def test_a_subagents_output_lies_in_the_folder_of_its_session(tmp_path: Path) -> None:
    beside = tmp_path / ONE / "subagents/workflows/wf_1/agent-a1.jsonl"
    old = tmp_path / "agent-a1.jsonl"
    for path in (beside, old):
        log = LogFile("claude", FileKind.SUBAGENT, path, tmp_path, ONE, 0, 0, 0, 0)
        assert output_path(log, NAME) == tmp_path / ONE / "tool-results" / NAME


def test_show_all_on_the_page_is_all(tmp_path: Path) -> None:
    root, _ = home_with(tmp_path, session(here(tmp_path)))
    routes = [
        Route("/_/s/{agent}/{id:path}/call", rows.call),
        Route("/_/s/{agent}/{id:path}/text", lines_module.text),
        Route("/_/s/{agent}/{id:path}/find", lines_module.find),
    ]
    app = app_of(routes, site_over(root, tmp_path / "home"))
    call = ask(app, "GET", f"/_/s/claude/{ONE}/call?seq=2").text
    assert f"show all {len(PRINTED):,} letters" in call
    assert f"from the output file {NAME}" in call
    assert "run 2000 counted" in call  # the last lines of a command's output
    assert ask(app, "GET", f"/_/s/claude/{ONE}/find?q=run+1999+counted").json()["hits"] == [3]
    text = ask(app, "GET", f"/_/s/claude/{ONE}/text?seq=3&call=toolu_1").text
    assert "run    1 counted" in text
    assert "run 1999 counted" in text
