"""What `show` tells beside prompts, answers and calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.views.cli.command import ONE, TWO, on_a_terminal, tracklog, transcript_in
from tests.views.cli.written import Log, tool, working_day

QUESTIONS = [
    {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]},
    {"question": "How large?", "header": "Size", "options": []},
]


def shown(home: Path, *words: str) -> str:
    return tracklog("show", ONE, *words, home=home).out


def document(home: Path, id: str = ONE) -> dict[str, Any]:
    found: dict[str, Any] = tracklog("show", id, "--json", home=home).json
    return found


def listing(*states: str) -> dict[str, Any]:
    items = zip(states, ("Look", "Act", "Rest"), strict=False)
    return {"todos": [{"status": state, "content": text, "activeForm": text} for state, text in items]}


def test_a_session_in_two_files_is_told_in_the_order_in_which_it_was_written(tmp_path: Path) -> None:
    whole = working_day()
    first, rest = whole.lines[:8], whole.lines[8:]
    for folder, lines in (("-z", first), ("-a", rest)):
        part = Log()
        part.lines = lines
        part.write(tmp_path / f".claude/projects/{folder}/{ONE}.jsonl")
    told = [line for line in shown(tmp_path).splitlines() if line[:1] in "❯●─"]
    assert [line.partition(" · ")[0] for line in told if line] == [
        "── turn 1",
        "❯ Fix the test.",
        "● I look at it first.",
        "● Fixed.",
        "── turn 2",
        "❯ Why was it red?",
        "● A typo.",
    ]


def test_lines_that_were_not_understood_are_counted_with_the_first_place(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("msg_1", tool("t", "Bash"), stop="tool_use", timestamp=12345)
    path = log.answer("msg_2", "Done.").note({"type": "never-seen"}).write_in(tmp_path)
    place = f"~/{path.relative_to(tmp_path)}"
    said = f"\n! 2 lines not understood, the first is line 2:\n  tracklog records {place}\n\n── turn 1"
    assert said in shown(tmp_path)
    problems = document(tmp_path)["problems"]
    assert [(one["path"], one["line"]) for one in problems] == [(str(path), 2), (str(path), 4)]
    assert problems[1]["what"].startswith("never-seen: ")


def test_a_result_without_a_call_is_shown_where_it_stands(tmp_path: Path) -> None:
    log = Log().prompt("Go.").result("toolu_x", "seven\nlines").answer("msg_1", "Done.")
    path = log.write_in(tmp_path)
    said = "❯ Go.\n\n  ! result without a call toolu_x · line 2 · seven lines\n\n● Done.\n"
    assert said in shown(tmp_path)
    assert document(tmp_path)["strays"] == [{"call": "toolu_x", "path": str(path), "line": 2}]


def test_a_call_that_was_answered_twice_is_marked(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "Bash", command="ls"), stop="tool_use")
    log.result("t", "a").result("t", "b").write_in(tmp_path)
    assert " · answered 2 times\n" in shown(tmp_path)


def test_answers_stand_under_the_call_that_asked(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "AskUserQuestion", questions=QUESTIONS), stop="tool_use")
    answers = {"Which colour?": "Red", "How large?": "Very\x1b[31m"}
    log.result("t", "answered", report={"questions": QUESTIONS, "answers": answers}).write_in(tmp_path)
    said = "  ✓ AskUserQuestion  Which colour? · 1.0 s\n      → Red\n      How large? → Very\\x1b[31m\n"
    assert said in shown(tmp_path)
    assert document(tmp_path)["questions"] == [
        {"call": "t", "question": "Which colour?", "options": ["Red", "Blue"], "answer": "Red"},
        {"call": "t", "question": "How large?", "options": [], "answer": "Very\x1b[31m"},
    ]


def test_the_todo_list_stands_at_the_end_of_each_turn_that_changed_it(tmp_path: Path) -> None:
    log = Log().prompt("Plan.")
    log.answer("m1", tool("t1", "TodoWrite", **listing("pending", "pending")), stop="tool_use")
    log.result("t1", "ok")
    log.answer("m2", tool("t2", "TodoWrite", **listing("completed", "in_progress")), stop="tool_use")
    log.result("t2", "ok").answer("m3", "Planned.").prompt("Talk.").answer("m4", "Talked.")
    log.prompt("Finish.")
    log.answer("m5", tool("t3", "TodoWrite", **listing("completed", "completed", "x")), stop="tool_use")
    path = log.result("t3", "ok").answer("m6", "Finished.").write_in(tmp_path)
    out = shown(tmp_path)
    assert "● Planned.\n\n  todo 1/2 · in progress: Act\n\n── turn 2" in out
    assert "● Talked.\n\n── turn 3" in out
    assert out.endswith("● Finished.\n\n  todo 2/3\n")
    todos = document(tmp_path)["todos"]
    assert [one["line"] for one in todos] == [2, 4, 10]
    assert todos[1] == {
        "at": log.at(4),
        "path": str(path),
        "line": 4,
        "items": [{"status": "completed", "text": "Look"}, {"status": "in_progress", "text": "Act"}],
        "whole": True,
    }


def test_what_the_client_states_of_a_subagent_stands_under_its_call(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "Task", description="Count", prompt="x"), stop="tool_use")
    report = {"status": "completed", "content": [], "totalTokens": 12_345, "totalToolUseCount": 4}
    log.result("t", "7", report=report).write_in(tmp_path)
    assert "  ✓ Task  Count · 1.0 s\n      12.3k tokens, 4 tools stated\n" in shown(tmp_path)


def test_links_and_worktrees_are_told_when_they_change(tmp_path: Path) -> None:
    link = {"type": "pr-link", "sessionId": ONE, "prNumber": 7, "prUrl": "https://example.com/pr/7"}
    tree = {"type": "worktree-state", "sessionId": ONE, "worktreeSession": {"worktreePath": "/srv/side"}}
    log = Log().prompt("Go.").note(tree).note(tree).note(link).note(link)
    path = log.note({**tree, "worktreeSession": None}).answer("m", "Done.").write_in(tmp_path)
    said = "  worktree /srv/side\n  pull request https://example.com/pr/7\n  worktree left\n"
    assert f"❯ Go.\n\n{said}\n● Done.\n" in shown(tmp_path)
    links = document(tmp_path)["links"]
    assert [(one["what"], one["line"]) for one in links] == [
        ("worktree", 2),
        ("worktree", 3),
        ("pull_request", 4),
        ("pull_request", 5),
        ("worktree", 6),
    ]
    assert (links[2]["target"], links[2]["path"]) == ("https://example.com/pr/7", str(path))


def test_permission_modes_stand_in_the_head_and_their_changes_where_they_happen(tmp_path: Path) -> None:
    def mode(value: str) -> dict[str, str]:
        return {"type": "permission-mode", "permissionMode": value, "sessionId": ONE}

    log = Log().note(mode("default")).prompt("Go.").note(mode("default")).note(mode("plan"))
    log.answer("m", "Done.").write_in(tmp_path)
    out = shown(tmp_path)
    assert "\npermissions: default → plan\n" in out
    assert "❯ Go.\n\n  permissions: plan\n\n● Done.\n" in out
    assert document(tmp_path)["permission_modes"] == ["default", "plan"]


def test_a_fork_says_where_it_comes_from_and_how_much_is_copied(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    fork = Log(TWO)
    fork.lines = [{**line, "sessionId": TWO} for line in working_day().lines]
    path = fork.back_to("u-11").prompt("Elsewhere.", timestamp="2026-03-01T18:00:00.000Z").write_in(tmp_path)
    out = tracklog("show", TWO, home=tmp_path).out
    assert "\nforked from 11111111 · 11 lines copied\n" in out
    assert "\ncopied by 22222222\n" in shown(tmp_path)
    told = document(tmp_path, TWO)
    assert (told["forked_from"], told["copied"]) == (
        ONE,
        [{"path": str(path), "first_line": 1, "last_line": 11}],
    )
    assert document(tmp_path)["forks"] == [TWO]


def test_what_the_client_said_in_the_model_s_place_is_a_thin_line_and_no_request(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("msg_1", "Gone.").client("No response requested.")
    log.client("API Error: 500", isApiErrorMessage=True, error="server_error").write_in(tmp_path)
    out = shown(tmp_path)
    assert "● Gone.\n\n  client: No response requested.\n" in out
    assert out.count("API Error: 500") == 1
    assert "\n  ! API error: API Error: 500\n" in out
    turn = document(tmp_path)["turns"][0]
    assert [request["id"] for request in turn["requests"]] == ["msg_1"]
    assert [(one["text"], one["error"]) for one in turn["client_texts"]] == [
        ("No response requested.", None),
        ("", "API Error: 500"),
    ]


def test_hooks_of_no_call_are_counted_and_listed_in_the_document(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", "Done.")
    attachment = {"type": "hook_success", "hookName": "Stop", "hookEvent": "Stop", "toolUseID": "x"}
    line = {**log.lines[-1], "type": "attachment", "uuid": "h", "parentUuid": log.tip}
    del line["message"]
    path = log.note({**line, "attachment": {**attachment, "content": "", "exitCode": 0}}).write_in(tmp_path)
    assert "not shown: 1 hook run (1 Stop; --json)\n" in shown(tmp_path)
    hooks = document(tmp_path)["hooks"]
    assert [(one["event"], one["outcome"], one["path"], one["line"]) for one in hooks] == [
        ("Stop", "success", str(path), 3)
    ]


def test_a_subagent_s_worktree_stands_in_the_head_of_its_thread(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "Task", description="Count", prompt="x"), stop="tool_use")
    log.result("t", "7", report={"agentId": "abc", "status": "completed", "content": []}).write_in(tmp_path)
    Log(isSidechain=True, agentId="abc").prompt("x").answer("s", "7").write(
        transcript_in(tmp_path, f"{ONE}/subagents/agent-abc.jsonl")
    )
    meta = transcript_in(tmp_path, f"{ONE}/subagents/agent-abc.meta.json")
    meta.write_text('{"agentType":"counter","worktreePath":"/srv/side"}')
    assert "\nworktree /srv/side\n" in shown(tmp_path, "--thread", "abc")


def test_on_a_narrow_terminal_no_line_of_these_is_too_wide(tmp_path: Path) -> None:
    log = Log().prompt("Go.").result("x" * 300, "y " * 300)
    asked = [{"question": "日本 " * 99, "options": []}] * 2
    log.answer("m", tool("t", "AskUserQuestion", questions=asked), stop="tool_use")
    log.result("t", "a", report={"questions": asked, "answers": {"日本 " * 99: "日本 " * 99}})
    log.client("word " * 99).note({"type": "pr-link", "sessionId": ONE, "prUrl": "u" * 300})
    log.answer("n", tool("t2", "TodoWrite", todos=[{"status": "in_progress", "content": "日本 " * 99}]))
    log.result("t2", "ok").write_in(tmp_path)
    lines = on_a_terminal("show", ONE, home=tmp_path, env={"NO_COLOR": "1"}).splitlines()
    from rich.cells import cell_len

    assert [line for line in lines if cell_len(line) > 80] == []
    assert [line[:12] for line in lines if line.startswith("  todo")] == ["  todo 0/1 ·"]
