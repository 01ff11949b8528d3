"""Requests, their costs and their projects did not join in SQL.

`ledger join costs` dropped each request without a count, although docs/schema.md promises null for its cost.
`requests.id = ledger.key` joined none of Codex's requests: the ledger called them by their figures, the session by their
line. And a session that changed its folder before the first answer was of one project in `sessions` and of another in
`usage project`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import ONE, rollout_in, tracklog, write
from tests.views.cli.written import PRICE, Log

THREAD = "019a24c9-ea2a-7dd0-bce4-6965486ab43d"
AT = "2026-03-01T10:00:{:02d}.000Z"


def rows(home: Path, query: str) -> list[list[Any]]:
    """What a query answers."""
    found: list[list[Any]] = tracklog("sql", query, "--json", home=home).json["rows"]
    return found


def rollout(*, comes_first: bool, n: int = 3) -> bytes:
    """A thread of Codex whose requests each call a tool; a count follows each, or stands before it as until 0.50."""
    lines: list[dict[str, Any]] = [
        {"type": "session_meta", "payload": {"id": THREAD, "cwd": "/home/dev/app", "cli_version": "0.50.0"}},
        {"type": "turn_context", "payload": {"cwd": "/home/dev/app", "model": "gpt-5", "turn_id": "t1"}},
        _item("message", role="user", content=[{"type": "input_text", "text": "Look."}]),
    ]
    for one in range(1, n + 1):
        figures = {
            "input_tokens": 100 * one,
            "cached_input_tokens": 0,
            "output_tokens": one,
            "total_tokens": 101 * one,
        }
        count = {
            "type": "event_msg",
            "payload": {
                "type": "token_count",
                "info": {"total_token_usage": figures, "last_token_usage": figures},
            },
        }
        call = _item("function_call", name="shell", arguments='{"command":["ls"]}', call_id=f"call_{one}")
        output = _item("function_call_output", call_id=f"call_{one}", output="fine")
        lines += [count, call, output] if comes_first else [call, count, output]
    return b"".join(
        json.dumps({"timestamp": AT.format(at), **line}).encode() + b"\n" for at, line in enumerate(lines)
    )


def _item(type: str, **more: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": type, **more}}


@pytest.mark.parametrize("comes_first", [False, True])
def test_each_request_of_codex_has_its_count_under_its_own_id(tmp_path: Path, *, comes_first: bool) -> None:
    write(rollout_in(tmp_path), rollout(comes_first=comes_first))
    assert tracklog("index", home=tmp_path).code == 0
    joined = rows(
        tmp_path,
        "select c.id, l.output_tokens from requests r join ledger l on l.key = r.id and l.session = r.session "
        "join calls c on c.request = r.id order by 1",
    )
    assert joined == [["call_1", 1], ["call_2", 2], ["call_3", 3]]
    assert rows(tmp_path, "select count(*) from ledger") == [[3]]


def test_a_count_that_comes_later_gets_its_id_too(tmp_path: Path) -> None:
    whole = rollout(comes_first=False)
    first = rollout(comes_first=False, n=2)
    assert whole.startswith(first)
    path = write(rollout_in(tmp_path), first)
    assert tracklog("index", home=tmp_path).code == 0
    with path.open("ab") as log:
        log.write(whole[len(first) :])
    query = "select count(*) from ledger l join requests r on r.id = l.key"
    assert rows(tmp_path, query) == [[3]]


def test_the_list_of_uncertain_requests_names_them_as_their_sessions_do(tmp_path: Path) -> None:
    """An answer of Codex that no count follows."""
    cut = rollout(comes_first=False).splitlines(keepends=True)
    write(rollout_in(tmp_path), b"".join(cut[:6] + cut[6:7]))
    uncertain = [
        tracklog("usage", "--uncertain", "--json", home=tmp_path).json["uncertain"],
    ]
    assert tracklog("index", home=tmp_path).code == 0
    uncertain.append(tracklog("usage", "--uncertain", "--json", home=tmp_path).json["uncertain"])
    [(id,)] = rows(tmp_path, "select id from requests order by n desc limit 1")
    assert [[one["key"] for one in some] for some in uncertain] == [[id], [id]]
    assert rows(tmp_path, "select key from ledger where certainty = 'missing'") == [[id]]


def test_every_row_of_the_ledger_has_a_row_of_costs(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("msg_1", "Fine.").answer("msg_2", "No figures.")
    del log.lines[-1]["message"]["usage"]
    log.write_in(tmp_path)
    assert tracklog("index", home=tmp_path).code == 0
    found = rows(tmp_path, "select key, cost_micro_usd from ledger join costs using (id) order by key")
    assert found == [["msg_1", PRICE], ["msg_2", None]]


def test_a_session_is_of_one_project_everywhere(tmp_path: Path) -> None:
    log = Log(cwd="/home/dev/first").prompt("Go elsewhere.").answer("msg_1", "Fine.")
    log.lines[1]["cwd"] = "/home/dev/second"
    log.write_in(tmp_path)

    def said() -> list[Any]:
        usage = tracklog("usage", "project", "--json", home=tmp_path).json["rows"]
        listed = tracklog("sessions", "--json", home=tmp_path).json["sessions"]
        of_project = tracklog("usage", "--project", "first", "--json", home=tmp_path).json["total"]
        return [usage[0]["key"], listed[0]["project"], of_project["requests"]]

    assert said() == ["first", "first", 1]
    assert tracklog("index", home=tmp_path).code == 0
    assert said() == ["first", "first", 1]
    assert rows(tmp_path, "select session, project from ledger") == [[ONE, "first"]]
    assert (
        tracklog("usage", "tool", "--project", "first", "--json", home=tmp_path).json["total"]["requests"]
        == 1
    )
