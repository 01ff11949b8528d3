"""The tree of subagents: each link to the call that spawned it, and how each ended."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.lines import (
    REJECTED,
    STOPPED,
    Line,
    at,
    block,
    folded,
    notice,
    record,
    reply,
    result,
    session,
    use,
    user,
)
from tracklog.agents.claude_code.records import JOURNAL_READER, META_READER
from tracklog.model.fold.log import FileFold
from tracklog.model.session import Session, Thread

GO = user("u", None, "go", timestamp=at(1))
END = {"stop_reason": "end_turn"}


def spawn(call: str = "c1", name: str = "Agent", **input: Any) -> Line:
    return reply(f"a-{call}", "u", f"m-{call}", use(call, name, **input), timestamp=at(2))


def agent(
    id: str, *lines: Line, prompt: str = "work", path: str | None = None, second: float = 3
) -> FileFold:
    """The log of a subagent; it ends in good order unless lines are given."""
    asked = user(f"{id}-u", None, prompt, timestamp=at(second))
    ended = lines or (reply(f"{id}-a", f"{id}-u", f"{id}-m", "done", message=END),)
    own = [{**line, "isSidechain": True, "agentId": id} for line in (asked, *ended)]
    return folded(*own, path=path or f"agent-{id}.jsonl", thread=id)


def meta(id: str, **fields: Any) -> FileFold:
    line = {"agentType": "Explore", **fields}
    return folded(line, path=f"agent-{id}.meta.json", thread=id, reader=META_READER)


def only(made: Session) -> Thread:
    [thread] = [thread for thread in made.threads if thread.id != "main"]
    return thread


def link(thread: Thread) -> tuple[str | None, str | None, str, str | None]:
    return thread.parent_thread, thread.parent_call, thread.sureness, thread.joined_by


def test_the_meta_file_names_the_call() -> None:
    thread = only(session(GO, spawn(), agent("a1"), meta("a1", toolUseId="c1", description="look")))
    assert link(thread) == ("main", "c1", "stated", "it names the call")
    assert (thread.type, thread.description, thread.paths) == ("Explore", "look", ["agent-a1.jsonl"])


@pytest.mark.parametrize(
    "fields",
    [
        {"toolUseResult": {"status": "completed", "agentId": "a1"}},
        {"toolUseResult": {"status": "async_launched", "agentId": "a1"}},
    ],
)
def test_the_call_s_result_names_the_agent(fields: Line) -> None:
    thread = only(session(GO, spawn(), result("r", "a-c1", "c1", "x", **fields), agent("a1")))
    assert link(thread) == ("main", "c1", "stated", "the call's result names it")


def test_the_words_of_the_result_name_the_agent() -> None:
    back = result("r", "a-c1", "c1", "the answer\nagentId: a1 (for resuming)")
    assert link(only(session(GO, spawn(name="Task"), back, agent("a1")))) == (
        "main", "c1", "stated", "the call's result names it",
    )  # fmt: skip


def test_a_result_of_another_tool_that_names_an_agent_spawned_nothing() -> None:
    back = result("r", "a-c1", "c1", "agentId: a1")
    assert link(only(session(GO, spawn(name="Bash"), back, agent("a1")))) == (None, None, "stated", None)


def test_progress_of_the_call_names_the_agent() -> None:
    line = record(
        "progress",
        "p",
        "a-c1",
        data={"type": "agent_progress", "agentId": "a1"},
        parentToolUseID="c1",
        toolUseID="x",
    )
    thread = only(session(GO, spawn(), line, agent("a1")))
    assert link(thread) == ("main", "c1", "stated", "progress of the call names it")


def test_a_notice_names_agent_and_call() -> None:
    told = user("n", "a-c1", notice("a1", "completed", tool_use_id="c1"))
    assert link(only(session(GO, spawn(), told, agent("a1")))) == (
        "main",
        "c1",
        "stated",
        "a notice names both",
    )


def test_a_workflow_s_run_holds_its_agents() -> None:
    back = result(
        "r",
        "a-c1",
        "c1",
        "started",
        toolUseResult={"taskId": "w1", "workflowName": "review", "runId": "wf_7"},
    )
    thread = only(
        session(
            GO, spawn(name="Workflow"), back, agent("a1", path="s1/subagents/workflows/wf_7/agent-a1.jsonl"),
            folded({"type": "started", "key": "k", "agentId": "a1", "label": "first"}, path="s1/journal.jsonl", reader=JOURNAL_READER),
        )
    )  # fmt: skip
    assert link(thread) == ("main", "c1", "stated", "the workflow's run holds it")
    assert (thread.type, thread.description) == ("workflow-subagent", "first")


def test_an_agent_in_another_run_s_folder_is_not_the_workflow_s() -> None:
    back = result(
        "r",
        "a-c1",
        "c1",
        "started",
        toolUseResult={"taskId": "w1", "workflowName": "review", "runId": "wf_7"},
    )
    made = session(
        GO, spawn(name="Workflow"), back, agent("a1", path="s1/subagents/workflows/wf_8/agent-a1.jsonl")
    )
    assert [thread.id for thread in made.unjoined] == ["a1"]


def test_the_same_prompt_is_a_guess() -> None:
    wish = spawn(prompt="find it", description="search", subagent_type="Explore")
    thread = only(session(GO, wish, agent("a1", prompt="find it")))
    assert link(thread) == ("main", "c1", "inferred", "the same prompt")
    assert (thread.description, thread.type) == ("search", "Explore")


def test_the_same_description_is_the_last_guess() -> None:
    thread = only(
        session(
            GO,
            spawn(description="search", prompt="x"),
            agent("a1", prompt="y"),
            meta("a1", description="search"),
        )
    )
    assert link(thread) == ("main", "c1", "inferred", "the same description")


def test_of_two_agents_with_the_same_prompt_the_earlier_has_the_earlier_call() -> None:
    wishes = [spawn("c1", prompt="count"), spawn("c2", prompt="count")]
    made = session(
        GO, *wishes, agent("late", prompt="count", second=9), agent("soon", prompt="count", second=4)
    )
    assert {thread.id: thread.parent_call for thread in made.main.children} == {"soon": "c1", "late": "c2"}


def test_a_call_that_has_its_agent_is_not_guessed_for_another() -> None:
    back = result("r", "a-c1", "c1", "x", toolUseResult={"status": "completed", "agentId": "a1"})
    made = session(GO, spawn(prompt="count"), back, agent("a1", prompt="count"), agent("a2", prompt="count"))
    assert [thread.id for thread in made.main.children] == ["a1"]
    assert [thread.id for thread in made.unjoined] == ["a2"]


def test_a_thread_that_no_call_is_found_for_stays() -> None:
    made = session(GO, spawn(prompt="x"), agent("a1", prompt="something else"))
    assert [(thread.id, link(thread)) for thread in made.unjoined] == [("a1", (None, None, "stated", None))]
    assert [thread.id for thread in made.threads] == ["main", "a1"]


def test_agents_of_agents_stand_below_them() -> None:
    inner = [
        reply("a1-a", "a1-u", "a1-m", use("c2", "Agent", prompt="deeper")),
        result("a1-r", "a1-a", "c2", toolUseResult={"status": "completed", "agentId": "a2"}),
    ]
    outer = result("r", "a-c1", "c1", toolUseResult={"status": "completed", "agentId": "a1"})
    made = session(GO, spawn(), outer, agent("a1", *inner), agent("a2", prompt="deeper"))
    [first] = made.main.children
    [second] = first.children
    assert (first.id, second.id, link(second)) == (
        "a1",
        "a2",
        ("a1", "c2", "stated", "the call's result names it"),
    )
    assert {call.id: call.spawned for call in made.calls} == {"c1": "a1", "c2": "a2"}


def test_the_meta_file_may_name_only_the_thread_above() -> None:
    made = session(GO, agent("a1"), agent("a2"), meta("a2", parentAgentId="a1"))
    [top] = made.unjoined
    assert (top.id, [child.id for child in top.children]) == ("a1", ["a2"])


def test_a_warm_up_is_told_apart() -> None:
    made = session(GO, agent("a1", prompt="Warmup"), agent("a2", prompt="Warmup the engine"))
    assert {thread.id: thread.is_warmup for thread in made.unjoined} == {"a1": True, "a2": False}


def test_a_warm_up_that_called_tools_was_work() -> None:
    made = session(GO, agent("a1", reply("a1-a", "a1-u", "m", use("c9")), prompt="Warmup"))
    assert [thread.is_warmup for thread in made.unjoined] == [False]


def test_a_circle_of_threads_is_cut() -> None:
    first = agent("a1", reply("a1-a", "a1-u", "m1", use("c1", "Agent")), prompt="x")
    second = agent("a2", reply("a2-a", "a2-u", "m2", use("c2", "Agent")), prompt="y")
    made = session(GO, first, second, meta("a1", toolUseId="c2"), meta("a2", toolUseId="c1"))
    assert sorted(thread.id for thread in made.threads) == ["a1", "a2", "main"]
    assert len(made.unjoined) == 1


def test_a_thread_cannot_spawn_itself() -> None:
    made = session(
        GO,
        agent("a1", reply("a1-a", "a1-u", "m1", use("c1", "Agent"))),
        meta("a1", toolUseId="c1", parentAgentId="a1"),
    )
    assert [link(thread)[:2] for thread in made.unjoined] == [(None, None)]


def inline(id: str, parent: str | None, line: Line) -> Line:
    return {**line, "uuid": id, "parentUuid": parent, "isSidechain": True}


def test_old_sidechains_in_the_main_log_are_threads_of_their_own() -> None:
    made = session(
        GO,
        spawn("c1", "Task", prompt="one"),
        spawn("c2", "Task", prompt="two"),
        inline("x", None, user("", None, "one")),
        inline("y", None, user("", None, "two")),
        inline("x2", "x", reply("", None, "mx", use("cx"))),
        inline("y2", "y", reply("", None, "my", "y done")),
        inline("x3", "x2", result("", None, "cx")),
        inline("x4", "x3", reply("", None, "mx2", "x done")),
        result("r1", "a-c1", "c1"),
    )
    assert [(t.id, t.parent_call, t.joined_by, [r.id for r in t.requests]) for t in made.main.children] == [
        ("x", "c1", "the same prompt", ["mx", "mx2"]),
        ("y", "c2", "the same prompt", ["my"]),
    ]
    assert [request.id for request in made.main.requests] == ["m-c1", "m-c2"]
    assert "x2" not in made.active_nodes


def test_what_the_parent_s_log_repeats_stands_in_for_a_missing_log() -> None:
    message = {"type": "assistant", "message": {"role": "assistant", "id": "m9", "content": [use("c9")]}}
    back = {"type": "user", "message": {"role": "user", "content": [block("c9")]}}
    copies = [
        record("progress", f"p{n}", "a-c1", parentToolUseID="c1", toolUseID="x", data={"type": "agent_progress", "agentId": "a1", "message": one})
        for n, one in enumerate((message, back))
    ]  # fmt: skip
    thread = only(session(GO, spawn(), *copies))
    assert (thread.id, thread.parent_call, [(call.id, call.verdict) for call in thread.calls]) == (
        "a1",
        "c1",
        [("c9", "ok")],
    )
    with_log = only(session(GO, spawn(), *copies, agent("a1")))
    assert ([request.id for request in with_log.requests], with_log.calls) == (["a1-m"], [])


def test_a_copy_of_an_agent_s_log_that_was_cut_short_does_not_win() -> None:
    whole = [reply("a1-a", "a1-u", "m9", use("c9")), result("a1-r", "a1-a", "c9")]
    for paths in (("a/agent-a1.jsonl", "b/agent-a1.jsonl"), ("b/agent-a1.jsonl", "a/agent-a1.jsonl")):
        made = session(GO, agent("a1", *whole, path=paths[0]), agent("a1", whole[0], path=paths[1]))
        assert [call.verdict for call in made.calls] == ["ok"]
        assert only(made).paths == [*paths]  # the whole one first


def test_a_sidechain_record_written_again_behind_its_parent_is_one_call() -> None:
    early = inline("y", "x", reply("", None, "m9", use("c9")))
    made = session(GO, early, inline("x", None, user("", None, "work")), early)
    assert [call.id for call in made.calls] == ["c9"]


def test_a_call_that_a_forked_agent_copied_is_the_main_thread_s() -> None:
    made = session(GO, spawn(), BACK, agent("a1", reply("a1-a", "a1-u", "m-c1", use("c1", "Agent")), CUT))
    assert [(call.id, call.thread, call.verdict) for call in made.calls] == [
        ("c1", "main", "ok"),
        ("c9", "a1", "lost"),
    ]


def test_a_result_that_only_the_copy_of_a_call_has_counts() -> None:
    copied = [reply("a1-a", "a1-u", "m-c1", use("c1", "Agent")), result("a1-r", "a1-a", "c1", "answer")]
    made = session(GO, spawn(), agent("a1", *copied))
    assert [(call.id, call.thread, call.verdict) for call in made.calls] == [("c1", "main", "ok")]


def test_the_same_id_in_another_request_is_another_call() -> None:
    made = session(GO, spawn(), BACK, agent("a1", reply("a1-a", "a1-u", "other", use("c1"))))
    assert [(call.id, call.thread, call.verdict) for call in made.calls] == [
        ("c1", "main", "ok"),
        ("c1@a1", "a1", "lost"),
    ]


CUT = reply("a1-a", "a1-u", "a1-m", use("c9"), timestamp=at(4))
FAILED = reply(
    "a1-b", "a1-u", "a1-m2", "API Error: 400", isApiErrorMessage=True, message={"model": "<synthetic>"}
)
LAUNCHED = result("r", "a-c1", "c1", "launched", toolUseResult={"status": "async_launched", "agentId": "a1"})
BACK = result("r", "a-c1", "c1", "answer", toolUseResult={"status": "completed", "agentId": "a1"})


@pytest.mark.parametrize(
    ("main", "lines", "state", "verdict", "outcome"),
    [
        ([BACK], [], "ended", "ok", None),
        ([BACK], [FAILED], "failed", "error", None),
        ([LAUNCHED], [], "ended", "backgrounded", "ok"),
        ([LAUNCHED], [FAILED], "failed", "backgrounded", "error"),
        ([LAUNCHED], [CUT], "unknown", "backgrounded", "unknown"),
        ([LAUNCHED], [CUT, user("a1-i", "a1-a", STOPPED)], "killed", "backgrounded", "killed"),
        ([LAUNCHED, user("n", "r", notice("a1", "killed"))], [CUT], "killed", "backgrounded", "killed"),
        ([LAUNCHED, user("n", "r", notice("a1", "completed"))], [CUT], "ended", "backgrounded", "ok"),
        ([result("r", "a-c1", "c1", STOPPED, is_error=True, toolUseResult={"agentId": "a1"})], [CUT], "killed", "interrupted", None),
    ],
)  # fmt: skip
def test_how_a_thread_ended_is_told_by_its_log_and_by_its_call(
    main: list[Line], lines: list[Line], state: str, verdict: str, outcome: str | None
) -> None:
    made = session(GO, spawn(), *main, agent("a1", *lines))
    call = made.main.calls[0]
    assert (only(made).state, call.verdict, call.outcome, call.spawned) == (state, verdict, outcome, "a1")


def test_a_main_thread_that_was_interrupted_has_ended() -> None:
    assert session(GO, user("i", "u", STOPPED)).main.state == "ended"
    assert session(GO).main.state == "unknown"


def test_a_thread_in_a_living_session_is_running() -> None:
    assert only(session(GO, spawn(), LAUNCHED, agent("a1", CUT), is_alive=True)).state == "running"


def test_an_agent_that_the_person_stopped_is_killed_and_its_refused_call_interrupted() -> None:
    refused = result("a1-r", "a1-a", "c9", REJECTED, is_error=True)
    made = session(GO, spawn(), agent("a1", CUT, refused), meta("a1", toolUseId="c1", stoppedByUser=True))
    assert only(made).state == "killed"
    assert [(call.verdict, call.why) for call in only(made).calls] == [
        ("interrupted", "its subagent was stopped")
    ]


def test_no_inside_an_agent_that_went_on_is_denied_but_not_for_sure() -> None:
    refused = result("a1-r", "a1-a", "c9", REJECTED, is_error=True)
    on = reply("a1-b", "a1-r", "a1-m2", "another way", message=END)
    made = session(GO, spawn(), BACK, agent("a1", CUT, refused, on))
    assert [(call.verdict, call.sureness) for call in only(made).calls] == [("denied", "inferred")]


def test_agents_stand_on_the_branch_of_the_call_that_spawned_them() -> None:
    again = [user("v", None, "another way", timestamp=at(20)), reply("b", "v", "m9", "ok")]
    made = session(GO, spawn(), BACK, *again, agent("a1", CUT))
    [call] = only(made).calls
    assert (call.verdict, call.on_active_branch) == ("abandoned", False)


def test_a_worktree_and_a_name_are_told() -> None:
    thread = only(session(GO, agent("a1"), meta("a1", worktreePath="/w/t", name="scout", model="claude-y")))
    assert (thread.worktree, thread.name, thread.model) == ("/w/t", "scout", "claude-y")


def test_a_meta_file_without_a_log_is_no_thread() -> None:
    made = session(GO, spawn(), meta("a1", toolUseId="c1"))
    assert [thread.id for thread in made.threads] == ["main"]
    assert made.calls[0].spawned is None


def test_a_broken_line_in_a_journal_is_a_problem_and_nothing_more() -> None:
    journal = folded(b'{"torn', path="a/journal.jsonl", reader=JOURNAL_READER)
    alone, beside = session(GO, spawn()), session(GO, spawn(), journal)
    assert [problem.place.path for problem in beside.problems] == ["a/journal.jsonl"]
    assert (beside.active_nodes, beside.branches) == (alone.active_nodes, alone.branches)
    assert beside.main == alone.main


def test_a_call_that_a_fork_of_the_conversation_copied_is_one_call_of_the_main_thread() -> None:
    copied = reply("a1-b", "a1-u", "m-c1", use("c1", "Agent", prompt="look"))
    made = session(GO, spawn(), agent("a1", copied, result("a1-r", "a1-b", "c1", "done")))
    assert [(call.id, call.thread, call.verdict) for call in made.calls] == [("c1", "main", "ok")]


def test_the_same_id_in_another_request_of_another_thread_is_another_call() -> None:
    again = reply("a1-b", "a1-u", "other", use("c1", command="ls"))
    made = session(GO, spawn(), BACK, agent("a1", again))
    assert [(call.id, call.thread) for call in made.calls] == [("c1", "main"), ("c1@a1", "a1")]
