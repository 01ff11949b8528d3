from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import ONE, TWO, on_a_terminal, tracklog, transcript_in
from tests.views.cli.written import PRICE, Log, thought, tool, working_day


def rewound_in(home: Path) -> Path:
    """A conversation whose second prompt was taken back and given anew."""
    log = Log().prompt("Begin.").answer("msg_1", "Begun.")
    fork = log.tip or ""
    log.prompt("Go left.").answer(
        "msg_2", "Went left.", tool("toolu_l", "Bash", command="left"), stop="tool_use"
    )
    log.result("toolu_l", "gone")
    log.back_to(fork).prompt("Go right.").answer("msg_3", "Went right.")
    return log.write_in(home)


def test_the_conversation_can_be_read(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    assert tracklog("show", "@last", home=tmp_path) == (
        0,
        "Fix the test.\n"
        f"{ONE}\n"
        "claude · 2.1.100 · claude-opus-4-6 · /home/dev/project (main)\n"
        "2026-03-01 17:24:42 – 17:24:52 UTC · 2 turns · 2 calls (1 error) · $0.0001\n"
        "\n"
        "── turn 1 · 2026-03-01 17:24:42 · 7.0 s · $0.0001 ──\n"
        "❯ Fix the test.\n"
        "\n"
        "● I look at it first.\n"
        "\n"
        "  ✗ Bash  make test · 2.0 s · error\n"
        "      Exit code 2 / make: *** [test] Error 2\n"
        "  ✓ Read  src/app.py · 2.0 s\n"
        "\n"
        "● Fixed.\n"
        "\n"
        "── turn 2 · 2026-03-01 17:24:50 · 2.0 s · <$0.0001 ──\n"
        "❯ Why was it red?\n"
        "\n"
        "● A typo.\n"
        "  In `app.py`.\n"
        "\n"
        "not shown: 1 thought (--thinking)\n",
        "",
    )


def test_thinking_is_shown_when_it_is_asked_for(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    answer = tracklog("show", "@last", "--thinking", home=tmp_path)
    assert "\n∴ Let me see.\n\n● I look at it first.\n" in answer.out
    assert "not shown" not in answer.out
    turns = tracklog("show", "@last", "--thinking", "--json", home=tmp_path).json["turns"]
    assert [request["thinking"] for request in turns[0]["requests"]] == ["Let me see.", ""]


def test_the_document_has_the_session_and_its_turns(tmp_path: Path) -> None:
    log = working_day()
    log.write_in(tmp_path)
    document = tracklog("show", ONE, "--json", home=tmp_path).json
    listed = tracklog("sessions", "--json", home=tmp_path).json["sessions"]
    first = {"id": "msg_1", "model": "claude-opus-4-6", "at": log.at(2), "text": "I look at it first."}
    second = {"id": "msg_2", "model": "claude-opus-4-6", "at": log.at(8), "text": "Fixed.", "calls": []}
    third = {"id": "msg_3", "model": "claude-opus-4-6", "at": log.at(10), "calls": []}
    tokens = {
        f"{name}_tokens": 0 for name in ("reasoning", "cache_write", "cache_write_5m", "cache_write_1h")
    }
    tokens |= {"input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0, "web_searches": 0}
    sure = {"cost_is_lower_bound": False}
    spent = {
        "tokens": tokens,
        "grouped_by": "message_id",
        "certainty": "final",
        "cost_micro_usd": PRICE,
        **sure,
    }
    plain: dict[str, object] = {
        "stated_ms": None,
        "client_texts": [],
        "interrupted": False,
        "on_active_branch": True,
        "inherited": False,
    }
    assert document == {
        "schema_version": 1,
        "session": listed[0],
        "turns": [
            {
                "n": 1,
                "prompt": "Fix the test.",
                "at": log.at(1),
                "requests": [{**first, "calls": ["toolu_1", "toolu_2"], **spent}, {**second, **spent}],
                "calls": ["toolu_1", "toolu_2"],
                "text": "Fixed.",
                "cost_micro_usd": 2 * PRICE,
                **sure,
                "ended_at": log.at(8),
                "took_ms": 7000.0,
                **plain,
            },
            {
                "n": 2,
                "prompt": "Why was it red?",
                "at": log.at(9),
                "requests": [{**third, "text": "A typo.\nIn `app.py`.", **spent}],
                "calls": [],
                "text": "A typo.\nIn `app.py`.",
                "cost_micro_usd": PRICE,
                **sure,
                "ended_at": log.at(11),
                "took_ms": 2000.0,
                **plain,
            },
        ],
        "todos": [],
        "questions": [],
        "links": [],
        "strays": [],
        "problems": [],
        "hooks": [],
        "permission_modes": [],
        "titles": {"first_prompt": "Fix the test."},
        "retracted": [],
        "forked_from": None,
        "forks": [],
        "copied": [],
        "started_by": None,
        "started": [],
        "continued_by": [],
    }


def test_what_was_left_is_not_shown_but_said(tmp_path: Path) -> None:
    rewound_in(tmp_path)
    out = tracklog("show", ONE, home=tmp_path).out
    assert ("Go right." in out, "Went right." in out, "left." in out) == (True, True, False)
    assert out.endswith("not shown: 1 left branch (--branch all)\n")
    prompts = [turn["prompt"] for turn in tracklog("show", ONE, "--json", home=tmp_path).json["turns"]]
    assert prompts == ["Begin.", "Go right."]


def test_all_branches_are_shown_on_demand_and_the_left_one_says_so(tmp_path: Path) -> None:
    rewound_in(tmp_path)
    out = tracklog("show", ONE, "--branch", "all", home=tmp_path).out
    assert "· left branch ──\n❯ Go left.\n\n● Went left.\n\n  ✓ Bash  left · 1.0 s · left\n" in out
    assert "❯ Go right." in out


def test_one_branch_that_was_left_is_shown_alone(tmp_path: Path) -> None:
    rewound_in(tmp_path)
    branches = tracklog("graph", ONE, "--json", home=tmp_path).json["branches"]
    left = next(branch["id"] for branch in branches if not branch["active"])
    out = tracklog("show", ONE, "--branch", left, home=tmp_path).out
    assert ("Go left." in out, "Went left." in out, "Begun." in out, "right." in out) == (
        True,
        True,
        False,
        False,
    )
    turns = tracklog("show", ONE, "--branch", left, "--json", home=tmp_path).json["turns"]
    assert [(turn["prompt"], turn["on_active_branch"]) for turn in turns] == [("Go left.", False)]


def test_a_subagent_s_thread_is_shown_on_demand(tmp_path: Path) -> None:
    log = Log().prompt("Have it counted.")
    log.answer("msg_1", tool("toolu_a", "Task", description="Count", prompt="Count files."), stop="tool_use")
    log.result("toolu_a", "7", report={"agentId": "abc123", "status": "completed", "content": []})
    log.answer("msg_2", "Seven.").write_in(tmp_path)
    inner = Log(isSidechain=True, agentId="abc123").prompt("Count files.").answer("msg_s", "There are 7.")
    inner.write(transcript_in(tmp_path, f"{ONE}/subagents/agent-abc123.jsonl"))
    out = tracklog("show", ONE, home=tmp_path).out
    assert "  ✓ Task  Count · 1.0 s · agent abc123\n" in out
    assert "There are 7." not in out
    inside = tracklog("show", ONE, "--thread", "abc", home=tmp_path).out
    assert "\nthread abc123: " in inside
    assert "❯ Count files. (agent)\n\n● There are 7.\n" in inside
    assert "Seven." not in inside


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "no session nosuch: `tracklog sessions` lists them, --root looks elsewhere"),
        ([ONE, "--thread", "x"], f"no thread x in this session: `tracklog agents {ONE}` lists them"),
        ([ONE, "--branch", "x"], f"no branch x in this session: `tracklog graph {ONE}` lists them"),
        ([ONE, "--project", "x"], f"the session {ONE} does not fit --since, --until, --project or --model"),
    ],
)
def test_what_is_not_there_is_exit_1_with_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    working_day().write_in(tmp_path)
    assert tracklog("show", *words, home=tmp_path) == (1, "", f"tracklog: {said}\n")
    assert tracklog("show", *words, "--json", home=tmp_path) == (1, "", f"tracklog: {said}\n")


def test_the_start_of_several_sessions_is_wrong_use(tmp_path: Path) -> None:
    Log("aaaa1111-aaaa-4aaa-8aaa-111111111111").prompt("x").write_in(tmp_path)
    Log("aaaa2222-aaaa-4aaa-8aaa-111111111111").prompt("x").write_in(tmp_path)
    answer = tracklog("show", "aaaa", home=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("tracklog: 'aaaa' is the start of 2 sessions (")


def test_the_last_of_a_project_is_found_by_the_filter(tmp_path: Path) -> None:
    Log(TWO, cwd="/srv/other").prompt("Other.").write_in(tmp_path)
    working_day().write_in(tmp_path)
    document = tracklog("show", "@last", "--project", "other", "--json", home=tmp_path).json
    assert document["session"]["id"] == TWO


def test_a_file_outside_of_all_homes_is_a_session_too(tmp_path: Path) -> None:
    path = working_day().write(tmp_path / "elsewhere" / "copy.jsonl")
    (tmp_path / "empty").mkdir()
    answer = tracklog("show", path, home=tmp_path / "empty")
    assert (answer.code, answer.out.splitlines()[:2]) == (0, ["Fix the test.", ONE])


def test_on_a_terminal_words_are_wrapped_and_calls_keep_to_a_line(tmp_path: Path) -> None:
    log = Log().prompt("word " * 60)
    log.answer("msg_1", "日本語 " * 60, tool("toolu_1", "Bash", command="x" * 5000), stop="tool_use")
    log.result("toolu_1", "e" * 5000, is_error=True).write_in(tmp_path)
    shown = on_a_terminal("show", ONE, home=tmp_path, env={"NO_COLOR": "1"}).splitlines()
    assert max(map(len, shown)) <= 80
    assert sum(line.startswith("  ✗ Bash  xxx") for line in shown) == 1
    assert "\x1b[" in on_a_terminal("show", ONE, home=tmp_path)


def test_an_empty_session_says_that_nothing_was_said(tmp_path: Path) -> None:
    Log().note({"type": "summary", "summary": "Old", "leafUuid": "x"}).write_in(tmp_path)
    answer = tracklog("show", ONE, home=tmp_path)
    assert (answer.code, answer.out.splitlines()[-1]) == (0, "Nothing was said here yet.")
    assert tracklog("show", ONE, "--json", home=tmp_path).json["turns"] == []


def test_lone_surrogates_and_escapes_do_no_harm(tmp_path: Path) -> None:
    path = Log().prompt("P").answer("msg_1", thought("T"), "A").write_in(tmp_path)
    attack = "\\ud800\\u001b[31m\\u202e"
    text = path.read_text().replace('"P"', f'"P{attack}"').replace('"A"', f'"A{attack}"')
    path.write_text(text.replace('"T"', f'"T{attack}"'))
    out = tracklog("show", ONE, "--thinking", home=tmp_path).out
    for mark in "❯P", "∴T", "●A":
        assert f"{mark[0]} {mark[1]}�\\x1b[31m\\u202e\n" in out
    turns = tracklog("show", ONE, "--json", home=tmp_path).json["turns"]
    assert (turns[0]["prompt"], turns[0]["text"]) == ("P�\x1b[31m\u202e", "A�\x1b[31m\u202e")
