"""Errors that one view counted and another did not.

The page of a session said "7 errors" in its header, and its outline showed one: those of subagents were counted in the
header alone. And a call of SendMessage that came back with `success: false` was `ok`, as its block is no error.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conversation.test_thread_page import ID, write_home
from tests.model.lines import LOG, Line, result, session, use, user
from tests.model.lines import reply as said
from tests.views.web.asking import app_of, ask
from tests.views.web.pages.session.test_page import ROUTES
from tests.views.web.read_site import site_over
from tracklog.model.events import Place


def failed(call: str, asked_by: str, *, thread: str | None = None) -> list[Line]:
    more = {"agentId": thread, "isSidechain": True} if thread else {}
    return [
        said(f"ask-{call}", asked_by, f"msg_{call}", use(call, "Bash", command="false"), **more),
        user(
            f"back-{call}",
            f"ask-{call}",
            [{"type": "tool_result", "tool_use_id": call, "content": "Exit code 1", "is_error": True}],
            **more,
        ),
    ]


def subagent(root: Path, *lines: Line) -> None:
    folder = write_home(root, user("u", None, "go")).with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_bytes(b"".join(as_bytes(line) for line in lines))


def as_bytes(line: Line) -> bytes:

    return json.dumps({**line, "sessionId": ID}).encode() + b"\n"


def test_the_outline_and_the_list_of_agents_count_the_errors_of_subagents(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    first = user("w", None, "look", agentId="a1", isSidechain=True)
    subagent(logs, first, *failed("c2", "w", thread="a1"), *failed("c3", "back-c2", thread="a1"))
    write_home(
        logs,
        user("u", None, "go"),
        said("r", "u", "m1", use("c1", "Agent", prompt="look", description="look around")),
        result("b", "r", "c1", toolUseResult={"status": "completed", "agentId": "a1"}),
        *failed("c4", "b"),
    )
    page = ask(app_of(ROUTES, site_over(logs, tmp_path / "home")), "GET", f"/s/claude/{ID}").text
    outline, _, beside = page[page.index('id="outline"') :].partition('id="agents"')
    assert "1 error<" in outline
    assert "2 errors in subagents" in outline
    assert '2 calls · <b class="is-bad">2 errors</b>' in beside


@pytest.mark.parametrize("name", ["SendMessage", "TaskUpdate", "Skill"])
def test_a_call_whose_own_result_reports_failure_is_an_error(name: str) -> None:
    words = '{"success":false,"message":"no agent is called bob"}'
    report = {"success": False, "message": "no agent is called bob"}
    (call,) = session(
        user("u", None, "go"),
        said("a", "u", "m", use("c1", name)),
        result("r", "a", "c1", words, toolUseResult=report),
    ).calls
    assert (call.verdict, call.sureness, call.error) == ("error", "stated", words)
    assert call.evidence == [Place(LOG, 2), Place(LOG, 3)]
    assert "success: false" in call.why


def test_a_call_whose_own_result_reports_success_is_ok() -> None:
    (call,) = session(
        user("u", None, "go"),
        said("a", "u", "m", use("c1", "SendMessage")),
        result("r", "a", "c1", "sent", toolUseResult={"success": True, "message": "sent"}),
    ).calls
    assert call.verdict == "ok"
