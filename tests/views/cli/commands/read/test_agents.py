from __future__ import annotations

from pathlib import Path

from tests.views.cli.command import ONE, on_a_terminal, tracklog, transcript_in, write
from tests.views.cli.written import PRICE, Log, tool, working_day


def with_subagents_in(home: Path) -> tuple[Path, Path]:
    """A session with one subagent that its call's result names, and one that nobody started."""
    log = Log().prompt("Have it counted.")
    log.answer("msg_1", tool("toolu_a", "Task", description="Count", prompt="Count files."), stop="tool_use")
    log.result("toolu_a", "7", report={"agentId": "abc123", "status": "completed", "content": []})
    main = log.answer("msg_2", "Seven.").write_in(home)
    inner = Log(isSidechain=True, agentId="abc123").prompt("Count files.")
    inner.answer("msg_s", tool("toolu_s", "Bash", command="ls"), stop="tool_use").result("toolu_s", "7 files")
    inner.answer("msg_t", "There are 7.")
    below = inner.write(transcript_in(home, f"{ONE}/subagents/agent-abc123.jsonl"))
    meta = b'{"agentType":"general-purpose","description":"Count","toolUseId":"toolu_a"}'
    write(transcript_in(home, f"{ONE}/subagents/agent-abc123.meta.json"), meta)
    return main, below


def test_the_document_nests_the_threads(tmp_path: Path) -> None:
    main, below = with_subagents_in(tmp_path)
    document = tracklog("agents", ONE, "--json", home=tmp_path).json
    top = document["threads"][0]
    child = top["children"][0]
    joined_by, paths = child.pop("joined_by"), child.pop("paths")
    assert (bool(joined_by), str(below) in paths) == (True, True)
    assert document == {
        "schema_version": 1,
        "threads": [
            {
                "id": "main",
                "parent_thread": None,
                "parent_call": None,
                "type": None,
                "description": None,
                "state": "ended",
                "sureness": "stated",
                "requests": 2,
                "calls": 1,
                "cost_micro_usd": 2 * PRICE,
                "cost_is_lower_bound": False,
                "joined_by": None,
                "warmup": False,
                "paths": [str(main)],
                "children": [
                    {
                        "id": "abc123",
                        "parent_thread": "main",
                        "parent_call": "toolu_a",
                        "type": "general-purpose",
                        "description": "Count",
                        "state": "ended",
                        "sureness": "stated",
                        "requests": 2,
                        "calls": 1,
                        "cost_micro_usd": 2 * PRICE,
                        "cost_is_lower_bound": False,
                        "warmup": False,
                        "children": [],
                    }
                ],
            }
        ],
        "runs": [],
    }


def test_the_tree_is_drawn_with_states_counts_and_links(tmp_path: Path) -> None:
    with_subagents_in(tmp_path)
    first, second = tracklog("agents", ONE, home=tmp_path).out.splitlines()
    assert first == "main  ended  2 requests, 1 call  $0.0001"
    assert second.startswith("└─ abc123  ended  2 requests, 1 call  $0.0001  ← ")
    assert second.endswith("  general-purpose: Count")


def test_a_thread_that_nobody_started_stands_apart(tmp_path: Path) -> None:
    with_subagents_in(tmp_path)
    stray = Log(isSidechain=True, agentId="zzz").prompt("Something else entirely.").answer("msg_z", "Done.")
    stray.write(transcript_in(tmp_path, f"{ONE}/subagents/agent-zzz.jsonl"))
    out = tracklog("agents", ONE, home=tmp_path).out
    assert "\n\nnot joined: the call that started them stands nowhere\nzzz  " in out
    threads = tracklog("agents", ONE, "--json", home=tmp_path).json["threads"]
    assert [thread["id"] for thread in threads] == ["main", "zzz"]


def test_a_session_without_subagents_says_so(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    assert (
        tracklog("agents", "@last", home=tmp_path).out
        == "main  ended  3 requests, 2 calls  $0.0001\nno subagents\n"
    )


def test_on_a_narrow_terminal_no_line_is_too_wide(tmp_path: Path) -> None:
    with_subagents_in(tmp_path)
    path = transcript_in(tmp_path, f"{ONE}/subagents/agent-abc123.meta.json")
    path.write_text(path.read_text().replace("Count", "Count \\u001b[31m" + "日本語 " * 30))
    shown = on_a_terminal("agents", ONE, home=tmp_path, env={"NO_COLOR": "1"})
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


def test_an_unknown_session_is_exit_1(tmp_path: Path) -> None:
    said = "tracklog: no session nosuch: `tracklog sessions` lists them, --root looks elsewhere\n"
    assert tracklog("agents", "nosuch", home=tmp_path) == (1, "", said)
    assert tracklog("agents", home=tmp_path).code == 2
