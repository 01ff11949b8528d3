"""One log: whose work it holds, what is copied, what is kept without text."""

from __future__ import annotations

from tests.model.lines import LOG, REJECTED, folded, record, reply, result, told, use, user
from tracklog.model.events import ModeChanged, SessionDescribed, StrangeSeen
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import CallId, RequestId, ThreadId

GO = user("u", None, "go")


def test_the_main_log_holds_the_main_thread() -> None:
    fold = folded(GO, reply("a", "u", "m1", "x"))
    assert (list(fold.threads), list(fold.graph.nodes)) == (["main"], ["u", "a"])


def test_a_subagent_s_log_holds_that_subagent_whatever_its_records_say() -> None:
    fold = folded(
        user("u", None, "go", isSidechain=True),
        reply("a", "u", "m1", "x"),
        path="agent-a1.jsonl",
        thread="a1",
    )
    assert list(fold.threads) == ["a1"]


def test_a_sidechain_in_the_main_log_is_found_by_its_parents_and_is_not_on_the_main_tree() -> None:
    side = {"isSidechain": True}
    fold = folded(
        GO,
        user("x", None, "work", **side),
        reply("y", "x", "m2", use("c2"), **side),
        reply("a", "u", "m1", "z"),
    )
    assert list(fold.of(ThreadId("x")).requests) == ["m2"]
    assert list(fold.graph.nodes) == ["u", "a"]


def test_a_sidechain_that_names_its_agent_is_that_agent_s() -> None:
    fold = folded(GO, user("x", None, "work", isSidechain=True, agentId="a1"))
    assert set(fold.threads) == {"main", "a1"}


def test_copies_are_kept_apart() -> None:
    message = {"type": "assistant", "message": {"role": "assistant", "id": "m9", "content": [use("c9")]}}
    line = record(
        "progress",
        "p",
        "u",
        data={"type": "agent_progress", "agentId": "a1", "message": message},
        toolUseID="c1",
    )
    fold = folded(GO, line)
    assert (set(fold.threads), list(fold.copies[ThreadId("a1")].calls)) == ({"main"}, ["c9"])


def test_the_rarer_facts_are_kept_by_their_kind() -> None:
    fold = folded(GO, {"type": "permission-mode", "permissionMode": "plan"}, b"{torn")
    assert {SessionDescribed, ModeChanged, StrangeSeen} <= set(fold.facts)


def test_without_text_verdicts_have_what_they_need_and_long_texts_are_cut() -> None:
    lines = [
        GO,
        reply("a", "u", "m1", {"type": "thinking", "thinking": "h" * 900}, "t" * 2900, use("c1")),
        result("r", "a", "c1", REJECTED + "x" * 2900, is_error=True),
    ]
    fold = FileFold(LOG, with_text=False)
    fold.add(told(*lines))
    thread = fold.of(ThreadId("main"))
    [part] = thread.requests[RequestId("m1")].parts
    [back] = thread.calls[CallId("c1")].results
    assert (len(part.text), part.thinking, len(back.text), back.said) == (2000, "", 2000, "rejected")
