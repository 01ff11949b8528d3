"""Turns and requests, found event by event."""

from __future__ import annotations

from tests.model.lines import (
    LOG,
    STOPPED,
    Line,
    at,
    attachment,
    folded,
    record,
    reply,
    result,
    session,
    use,
    user,
)
from tracklog.model.assemble.session import assemble
from tracklog.model.events import (
    HistoryRolledBack,
    LogEvent,
    ModelReplied,
    Place,
    PromptGiven,
    ToolCalled,
    TurnBegan,
    TurnEnded,
)
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import MAIN, CallId, RequestId, SessionId
from tracklog.model.session import Session

GO = user("u", None, "go")


def turns(*lines: Line) -> list[tuple[str, list[str], list[str]]]:
    return turns_of(session(*lines))


def turns_of(made: Session) -> list[tuple[str, list[str], list[str]]]:
    return [(turn.prompt, [*turn.requests], [*turn.calls]) for turn in made.turns]


def test_one_request_is_put_together_from_its_lines_with_others_between() -> None:
    made = session(
        GO,
        reply("a", "u", "m1", {"type": "thinking", "thinking": "hm"}, timestamp=at(1)),
        reply("b", "a", "m1", "first", timestamp=at(2)),
        reply("c", "b", "m1", use("c1"), timestamp=at(3)),
        result("r", "c", "c1"),
        attachment("h", "c", "hook_success", hookEvent="PostToolUse", toolUseID="c1"),
        reply("d", "c", "m1", use("c2"), "second", message={"stop_reason": "tool_use"}, timestamp=at(4)),
        result("s", "d", "c2"),
        reply("e", "s", "m2", "done"),
    )
    first, second = made.requests
    assert (first.id, first.text, first.thinking, first.stop_reason, first.at, first.ended_at) == (
        "m1", "first\nsecond", "hm", "tool_use", at(1), at(4),
    )  # fmt: skip
    assert (first.calls, [place.line for place in first.places], first.node) == (
        ["c1", "c2"],
        [2, 3, 4, 7],
        "d",
    )
    assert (second.id, second.text, second.calls) == ("m2", "done", [])
    assert [call.request for call in made.calls] == ["m1", "m1"]


def test_a_line_written_again_is_told_once() -> None:
    line = reply("a", "u", "m1", "hi")
    [request] = session(GO, line, line).requests
    assert request.text == "hi"


def test_an_answer_without_an_id_is_its_lines_that_follow_each_other() -> None:
    lines = [reply("a", "u", "", "one"), reply("b", "a", "", "two")]
    made = session(GO, *lines)
    assert [(one.id, one.text, one.grouped_by) for one in made.requests] == [("a", "one\ntwo", "adjacency")]


def test_a_turn_is_a_prompt_and_all_below_it() -> None:
    assert turns(
        GO,
        reply("a", "u", "m1", use("c1")),
        result("r", "a", "c1"),
        reply("b", "r", "m2", "done"),
        user("v", "b", "next"),
        reply("c", "v", "m3", "ok"),
    ) == [("go", ["m1", "m2"], ["c1"]), ("next", ["m3"], [])]


def test_a_turn_has_its_times_and_last_words() -> None:
    [turn] = session(
        user("u", None, "go", timestamp=at(1)),
        reply("a", "u", "m1", "thinking aloud", use("c1"), timestamp=at(2)),
        result("r", "a", "c1", timestamp=at(3)),
        reply("b", "r", "m2", use("c2"), timestamp=at(4)),
        record("system", "s", "b", subtype="turn_duration", durationMs=2900, timestamp=at(9)),
    ).turns
    assert (turn.at, turn.ended_at, turn.took_ms, turn.stated_ms, turn.text, turn.n, turn.thread) == (
        at(1), at(4), 3000, 2900, "thinking aloud", 1, "main",
    )  # fmt: skip


def test_a_record_written_before_its_parent_joins_the_parent_s_turn() -> None:
    made = session(
        GO,
        reply("a", "u", "m1", use("c1")),
        user("v", "b", "next"),
        reply("b", "r", "m2", use("c2")),
        result("r", "a", "c1"),
        reply("c", "v", "m3", "ok"),
    )
    assert turns_of(made) == [("go", ["m1", "m2"], ["c1", "c2"]), ("next", ["m3"], [])]
    assert [(call.id, call.turn) for call in made.calls] == [("c1", 1), ("c2", 1)]


def test_a_whole_chain_written_before_its_root_joins_its_turn() -> None:
    assert turns(
        GO,
        reply("d", "c", "m3", "three"),
        reply("c", "b", "m2", "two"),
        reply("b", "a", "m1", use("c1")),
        reply("a", "u", "m0", "zero"),
    ) == [("go", ["m3", "m2", "m1", "m0"], ["c1"])]


def test_what_joins_a_turn_later_brings_its_end_and_its_interruption_along() -> None:
    [turn] = session(
        user("u", None, "go", timestamp=at(1)),
        reply("a", "u", "m1", "x", timestamp=at(2)),
        user("i", "b", STOPPED, timestamp=at(9)),
        reply("b", "a", "m2", "y", timestamp=at(3)),
    ).turns
    assert (turn.is_interrupted, turn.ended_at) == (True, at(9))


def test_an_orphan_belongs_to_the_turn_that_was_open() -> None:
    assert turns(
        GO,
        reply("a", "u", "m1", "x"),
        user("v", "a", "next"),
        reply("b", "lost", "m2", "y"),
        user("w", "b", "last"),
    ) == [("go", ["m1"], []), ("next", ["m2"], []), ("last", [], [])]


def test_an_orphaned_interruption_belongs_to_the_turn_that_was_open() -> None:
    made = session(GO, reply("a", "u", "m1", "x"), user("i", "lost", STOPPED))
    assert [turn.is_interrupted for turn in made.turns] == [True]


def test_an_interruption_is_that_of_its_own_turn() -> None:
    made = session(
        GO,
        reply("a", "u", "m1", "x"),
        user("v", "a", "next"),
        user("i", "a", "[Request interrupted by user]"),
    )
    assert [turn.is_interrupted for turn in made.turns] == [True, False]
    assert [one.place for one in made.interruptions] == [Place(LOG, 4)]


def test_a_record_that_is_its_own_parent_stays_in_the_open_turn() -> None:
    assert turns(GO, reply("a", "a", "m1", use("c1")), result("r", "a", "c1")) == [("go", ["m1"], ["c1"])]


def test_records_in_a_circle_stay_in_the_open_turn() -> None:
    assert turns(GO, reply("a", "b", "m1", "x"), reply("b", "a", "m2", use("c1"))) == [
        ("go", ["m1", "m2"], ["c1"])
    ]


def test_two_writers_have_their_own_turns_though_their_lines_alternate() -> None:
    assert turns(
        GO,
        reply("a", "u", "m1", "ready"),
        user("v", "a", "mine"),
        user("w", "a", "yours"),
        reply("b", "v", "m2", use("c2")),
        reply("c", "w", "m3", use("c3")),
        result("r", "b", "c2"),
        result("s", "c", "c3"),
        reply("d", "r", "m4", "mine done"),
        reply("e", "s", "m5", "yours done"),
    ) == [("go", ["m1"], []), ("mine", ["m2", "m4"], ["c2"]), ("yours", ["m3", "m5"], ["c3"])]


def test_a_turn_does_not_end_where_a_copy_changed_the_prompt_s_id() -> None:
    assert turns(
        user("u", None, "go", promptId="p1"),
        reply("a", "u", "m1", use("c1")),
        result("r", "a", "c1", promptId="p9"),
        reply("b", "r", "m2", "done"),
    ) == [("go", ["m1", "m2"], ["c1"])]


def test_a_command_that_the_model_never_saw_is_no_turn() -> None:
    made = session(
        user("x", None, "<command-name>/clear</command-name>"),
        user("y", "x", "<local-command-stdout></local-command-stdout>"),
        user("u", "y", "go"),
        reply("a", "u", "m1", "ok"),
        user("z", "a", "<bash-input>ls</bash-input>"),
    )
    assert [(turn.n, turn.prompt) for turn in made.turns] == [(1, "go")]
    assert [request.turn for request in made.requests] == [1]


def test_a_command_that_the_model_answered_is_a_turn() -> None:
    command = "<command-name>/review</command-name><command-args>all</command-args>"
    assert turns(user("u", None, command), reply("a", "u", "m1", "fine")) == [("/review all", ["m1"], [])]


def test_a_log_that_begins_amid_a_turn_has_a_first_turn_without_prompt() -> None:
    assert turns(reply("a", None, "m0", use("c0")), user("u", "a", "go"), reply("b", "u", "m1", "ok")) == [
        ("", ["m0"], ["c0"]),
        ("go", ["m1"], []),
    ]
    assert turns(reply("a", "lost", "m0", "old"), user("u", "a", "go"), reply("b", "u", "m1", "ok")) == [
        ("", ["m0"], []),
        ("go", ["m1"], []),
    ]


def test_a_log_of_nothing_but_orphans_has_one_turn() -> None:
    assert turns(reply("a", "x", "m1", "one"), reply("b", "y", "m2", "two")) == [("", ["m1", "m2"], [])]


def test_injected_words_open_no_turn() -> None:
    assert turns(
        GO, reply("a", "u", "m1", "x"), user("m", "a", "Continue.", isMeta=True), reply("b", "m", "m2", "y")
    ) == [("go", ["m1", "m2"], [])]


def test_an_interrupted_turn_without_answer_is_a_turn() -> None:
    [turn] = session(GO, user("i", "u", "[Request interrupted by user]")).turns
    assert (turn.prompt, turn.is_interrupted, turn.requests) == ("go", True, [])


def place(line: int) -> Place:
    return Place(LOG, line)


def spoken(line: int, request: str) -> list[LogEvent]:
    reply = ModelReplied(place=place(line), request=RequestId(request))
    return [
        reply,
        ToolCalled(place=place(line), call=CallId(f"c{line}"), name="x", request=RequestId(request)),
    ]


def without_tree(*events: LogEvent) -> Session:
    """A session of an agent that keeps no tree."""
    fold = FileFold(LOG)
    fold.add(events)
    return assemble([fold], session=SessionId("s1"), agent="codex")


THREE = [
    PromptGiven(place=place(1), text="one"),
    *spoken(2, "m1"),
    PromptGiven(place=place(3), text="two"),
    *spoken(4, "m2"),
    PromptGiven(place=place(5), text="three"),
    *spoken(6, "m3"),
]


def test_without_a_tree_a_record_belongs_to_the_turn_opened_last() -> None:
    assert turns_of(without_tree(*THREE)) == [
        ("one", ["m1"], ["c2"]),
        ("two", ["m2"], ["c4"]),
        ("three", ["m3"], ["c6"]),
    ]


def test_a_rollback_takes_the_last_turns_back() -> None:
    made = without_tree(
        *THREE, HistoryRolledBack(place=place(7), n_turns=2), PromptGiven(place=place(8), text="four")
    )
    assert [(turn.prompt, turn.on_active_branch) for turn in made.turns] == [
        ("one", True), ("two", False), ("three", False), ("four", True),
    ]  # fmt: skip
    assert [(call.id, call.on_active_branch, call.verdict) for call in made.calls] == [
        ("c2", True, "lost"), ("c4", False, "abandoned"), ("c6", False, "abandoned"),
    ]  # fmt: skip
    assert [request.on_active_branch for request in made.requests] == [True, False, False]


def test_a_second_rollback_goes_on_where_the_first_ended() -> None:
    back = [HistoryRolledBack(place=place(7), n_turns=1), HistoryRolledBack(place=place(8), n_turns=1)]
    assert [turn.on_active_branch for turn in without_tree(*THREE, *back).turns] == [True, False, False]


def test_a_rollback_to_a_line_takes_back_what_stands_behind_it() -> None:
    back = HistoryRolledBack(place=Place("two.jsonl", 1), path=LOG, from_line=3)
    assert [turn.on_active_branch for turn in without_tree(*THREE, back).turns] == [True, False, False]
    elsewhere = HistoryRolledBack(place=Place("two.jsonl", 1), path="other.jsonl", from_line=1)
    assert [turn.on_active_branch for turn in without_tree(*THREE, elsewhere).turns] == [True, True, True]


def test_a_rollback_of_more_turns_than_there_are_takes_all() -> None:
    back = HistoryRolledBack(place=place(7), n_turns=99)
    assert [turn.on_active_branch for turn in without_tree(*THREE, back).turns] == [False] * 3


def test_a_turn_that_the_client_opened_before_its_prompt_is_one_turn() -> None:
    made = without_tree(
        TurnBegan(place=place(1), turn="t1"), PromptGiven(place=place(2), text="one"), *spoken(3, "m1"), TurnEnded(place=place(4), took_ms=5)
    )  # fmt: skip
    assert turns_of(made) == [("one", ["m1"], ["c3"])]
    assert made.turns[0].stated_ms == 5


def test_a_turn_without_a_prompt_that_the_model_worked_in_is_a_turn() -> None:
    assert turns_of(without_tree(TurnBegan(place=place(1)), *spoken(2, "m1"))) == [("", ["m1"], ["c2"])]


def test_a_fold_tells_its_first_and_last_moment() -> None:
    fold = folded(user("u", None, "go", timestamp=at(5)), reply("a", "u", "m1", "x", timestamp=at(3)))
    assert (fold.first_at, fold.last_at) == (at(3), at(5))
    assert set(fold.threads) == {MAIN}


def test_a_command_that_only_the_client_answered_is_no_turn() -> None:
    command = user("c", "a", "<command-name>/cost</command-name>")
    silent = reply("s", "c", "m2", "No response requested.", message={"model": "<synthetic>"})
    made = session(GO, reply("a", "u", "m1", "done"), command, silent)
    assert [(turn.prompt, turn.requests) for turn in made.turns] == [("go", ["m1", "m2"])]
    assert made.final is not None
    assert made.final.id == "m1"


def test_a_command_that_a_model_answered_is_a_turn() -> None:
    command = user("c", "a", "<command-name>/greet</command-name>")
    made = session(GO, reply("a", "u", "m1", "done"), command, reply("s", "c", "m2", "Hello."))
    assert [(turn.prompt, turn.requests) for turn in made.turns] == [("go", ["m1"]), ("/greet", ["m2"])]
