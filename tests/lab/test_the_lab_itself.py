"""What the lab claims about itself: its servers, its clients, its runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.lab.anthropic_api import AnthropicApi
from tests.lab.clients import Unobtainable, Version, install
from tests.lab.harvest import neutral
from tests.lab.homes import LAB, Home
from tests.lab.openai_api import OpenAiApi
from tests.lab.process import ClientExit
from tests.lab.run import LabRun
from tests.lab.scenarios import CLAUDE, CODEX, scenarios_for
from tests.lab.script import Script, filled
from tests.lab.words import CLOSING, Json, Say, Scenario, call, if_offered, reply

QUESTION: Json = {
    "model": "claude-test",
    "stream": True,
    "tools": [{"name": "Bash"}],
    "messages": [{"role": "user", "content": "please look"}],
}


def _posted(url: str, document: Json) -> str:
    request = urllib.request.Request(url, json.dumps(document).encode(), {"content-type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
        return str(answer.read().decode())


def _events(stream: str) -> list[Json]:
    return [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")]


def test_a_client_ends_as_its_scenario_says(lab_run: LabRun) -> None:
    assert lab_run.as_told, lab_run.exits[-1].stderr[-2000:] or lab_run.exits[-1].stdout[-2000:]


def test_every_line_a_client_wrote_is_one_json_object(lab_run: LabRun) -> None:
    assert all(isinstance(line, dict) for line in lab_run.lines())


@pytest.mark.lab_of(agent="claude")
def test_every_answered_request_stands_in_the_transcripts_and_nothing_else_does(lab_run: LabRun) -> None:
    written = {line["message"]["id"] for line in lab_run.lines() if line.get("type") == "assistant"}
    ours = {e.message_id: e for e in lab_run.exchanges}
    begun = {i for i, e in ours.items() if e.outcome in ("cut", "held", "hung_up")}  # may be there in part
    answered = {i for i, e in ours.items() if e.outcome == "complete" and e.kind in ("story", "warmup")}
    from_the_api = {
        i for i in written if i.startswith("msg_")
    }  # the client's own errors have ids of their own
    assert from_the_api - begun == answered


@pytest.mark.lab_of(agent="codex")
def test_every_answered_request_is_counted_in_the_rollouts(lab_run: LabRun) -> None:
    counted = {usage["output_tokens"] for line in lab_run.lines() for usage in _usages(line)}
    assert {e.usage["output_tokens"] for e in lab_run.story()} <= counted


def _usages(line: Json) -> list[Json]:
    payload = line["payload"]
    if line["type"] == "token_usage_record":
        return [payload["usage"]]
    if payload.get("type") == "token_count" and payload["info"]:
        return [payload["info"]["last_token_usage"]]
    return []


@pytest.mark.lab_of(agent="claude", scenarios=("parallel_tools", "background_shell"))
def test_the_registry_file_of_a_living_client_names_its_session(lab_run: LabRun) -> None:
    if Version(lab_run.version) < Version("2.1.0"):
        assert lab_run.glimpses == []
        return
    seen = [json.loads(g.content) for g in lab_run.glimpses if g.content]
    assert {s["sessionId"] for s in seen} == set(lab_run.session_ids)


@pytest.mark.lab_of(agent="claude", scenarios=("hooks",))
def test_the_watching_hook_heard_of_every_tool(lab_run: LabRun) -> None:
    events = lab_run.home.root / "hook-events.jsonl"
    heard = [json.loads(line) for line in events.read_text().splitlines()]
    asked = [h["tool_name"] for h in heard if h["hook_event_name"] == "PreToolUse"]
    assert asked == ["Bash", "Bash", "Write", "Read", "Edit"]


def test_every_scenario_of_an_agent_has_a_name_of_its_own() -> None:
    for stories in (CLAUDE, CODEX):
        names = [s.name for s in stories]
        assert sorted(set(names)) == sorted(names)


def test_an_old_release_is_spared_the_scenarios_it_cannot_play() -> None:
    assert "fork" in {s.name for s in scenarios_for("claude", "2.0.30")}
    assert "fork" not in {s.name for s in scenarios_for("claude", "1.0.60")}


def test_the_stream_of_an_answer_ends_with_the_usage_that_is_logged() -> None:
    script = Script("test", {"main": [reply(Say("hello"), call("Bash", command="{{cwd}}/x"))]})
    with AnthropicApi(script, {"cwd": "/there"}) as api:
        events = _events(_posted(f"{api.url}/v1/messages", QUESTION))
    assert [e["type"] for e in events if e["type"] != "content_block_delta"] == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_stop",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    sent = "".join(e["delta"].get("partial_json", "") for e in events if e["type"] == "content_block_delta")
    assert json.loads(sent) == {"command": "/there/x"}
    (exchange,) = api.exchanges
    assert exchange.usage == events[-2]["usage"]
    assert exchange.usage["output_tokens"] > events[0]["message"]["usage"]["output_tokens"]
    assert (exchange.outcome, exchange.thread, exchange.blocks) == ("complete", "main", ["text", "tool_use"])


def test_the_same_script_gives_the_same_ids_and_numbers() -> None:
    answers = []
    for _ in range(2):
        with AnthropicApi(Script("seed", {"main": []}), {}) as api:
            answers.append(_posted(f"{api.url}/v1/messages", QUESTION))
    assert answers[0] == answers[1]
    assert _events(answers[0])[0]["message"]["id"].startswith("msg_01")


def test_a_responses_stream_ends_with_the_usage_that_is_logged() -> None:
    question = {"model": "gpt-test", "input": [{"type": "message", "role": "user", "content": "look"}]}
    with OpenAiApi(Script("test", {"main": []}), {}) as api:
        events = _events(_posted(f"{api.url}/v1/responses", question))
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["usage"] == api.exchanges[0].usage
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "All done. Final answer: 42."


def test_a_scripted_error_is_an_error_of_the_api() -> None:
    with (
        AnthropicApi(Script("test", {"main": [reply(status=529)]}), {}) as api,
        pytest.raises(urllib.error.HTTPError) as failure,
    ):
        _posted(f"{api.url}/v1/messages", QUESTION)
    assert failure.value.code == 529
    assert api.exchanges[0].outcome == "error"


def test_a_cut_stream_breaks_before_its_end() -> None:
    script = Script("test", {"main": [reply(Say("one"), Say("two"), cut_after=1)]})
    with AnthropicApi(script, {}) as api, pytest.raises(Exception, match="IncompleteRead"):
        _posted(f"{api.url}/v1/messages", QUESTION)
    assert (api.exchanges[0].outcome, api.exchanges[0].usage) == ("cut", {})


def test_a_way_out_of_loopback_is_refused_and_noted() -> None:
    with AnthropicApi(Script("test", {}), {}) as api:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"https": api.url}))
        with pytest.raises(urllib.error.URLError):
            opener.open("https://example.invalid/", timeout=10)
    assert api.strays == ["example.invalid:443"]


def test_threads_are_told_apart_by_their_mark_and_run_out_into_the_closing_words() -> None:
    first, second = reply(Say("first")), reply(Say("second"))
    script = Script("test", {"main": [first], "scout": [second]})
    turns = [script.next("[scout] look", set()), script.next("please", set()), script.next("please", set())]
    assert [(t.thread, t.k, t.reply) for t in turns] == [
        ("scout", 0, second),
        ("main", 0, first),
        ("main", 1, CLOSING),
    ]


def test_a_reply_whose_tools_are_not_offered_is_passed_over() -> None:
    script = Script("test", {"main": [reply(if_offered(call("Old"))), reply(call("New", "Newer"))]})
    turn = script.next("please", {"Newer"})
    assert (turn.k, turn.blocks) == (1, (call("Newer"),))


def test_holes_are_filled_at_any_depth() -> None:
    blocks = (call("Write", paths=["{{cwd}}/a", {"b": "{{cwd}}"}]), Say("{{home}}"))
    assert filled(blocks, {"cwd": "/w", "home": "/h"}) == (
        call("Write", paths=["/w/a", {"b": "/w"}]),
        Say("/h"),
    )


def test_the_mcp_server_answers_requests_and_says_when_a_tool_failed() -> None:
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "fail", "arguments": {"text": "x"}},
        },
    ]
    done = subprocess.run(
        [sys.executable, LAB / "mcp_server.py"],
        input="".join(json.dumps(a) + "\n" for a in asked),
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["id"] for a in answers] == [1, 2]
    assert answers[1]["result"] == {"content": [{"type": "text", "text": "fail failed: x"}], "isError": True}


def test_versions_compare_by_their_numbers() -> None:
    assert max(["2.1.99", "2.1.100", "2.0.300"], key=Version) == "2.1.100"


def test_a_machine_without_npm_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TRACKLOG_LAB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(Unobtainable, match="npm is not installed"):
        install("claude", "1.2.3")


FAKE_NPM = """#!/bin/sh
# npm install --no-audit --no-fund --prefix DIR PACKAGE
echo "$6" >> "{log}"
sleep 0.2
mkdir -p "$5/node_modules/.bin" && echo x > "$5/node_modules/.bin/claude"
"""


def test_a_half_install_is_redone_and_a_whole_one_is_used_by_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "npm.log"
    npm = tmp_path / "npm"
    npm.write_text(FAKE_NPM.format(log=log))
    npm.chmod(0o755)
    cache = tmp_path / "cache"
    (cache / "claude-1.2.3" / "node_modules").mkdir(parents=True)  # an install that was never finished
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TRACKLOG_LAB_CACHE", str(cache))
    both = [threading.Thread(target=install, args=("claude", "1.2.3")) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert install("claude", "1.2.3") == cache / "claude-1.2.3" / "node_modules" / ".bin" / "claude"
    assert log.read_text() == "@anthropic-ai/claude-code@1.2.3\n"


def test_a_harvested_log_speaks_of_no_place_on_this_machine(tmp_path: Path) -> None:
    program = tmp_path / "cache" / "claude-1.2.3" / "node_modules" / ".bin" / "claude"
    left = ClientExit([str(program)], 0, "", "", 1.0, timed_out=False)
    run = LabRun("claude", "1.2.3", Scenario("x", (), {}), Home(Path("/tmp/ab12")), [left], [], [], [])
    told = b'{"cwd":"/tmp/ab12/project","at":"-tmp-ab12-project","url":"http://127.0.0.1:40123/v1"}'
    assert neutral(told, run) == (
        b'{"cwd":"/home/dev/project","at":"-home-dev-project","url":"http://127.0.0.1:18080/v1"}'
    )
