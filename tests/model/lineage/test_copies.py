"""Which lines are a file's own. A log is written here as one text per line: its ids, and `@` with its time."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.model.ids import CallId, SessionId
from tracklog.model.lineage.copies import Descent, Own, descents, own_history
from tracklog.model.lineage.trace import CopiedLines, Trace

M1, M2, M3 = (f"message:msg_01{n * 22}" for n in "123")
C1, C2 = (f"call:toolu_01{n * 22}" for n in "12")
OWN = Own()


def log(session: str, *lines: str, path: str | None = None, **kind: object) -> Trace:
    """The trace of a log; `uuid:a message:m @10:00`, `@10:00` alone for a line without ids."""
    trace = Trace(path or f"{session}.jsonl", session, **kind)  # type: ignore[arg-type]
    for number, line in enumerate(lines, start=1):
        at = next((word[1:] for word in line.split() if word.startswith("@")), None)
        keys = [word for word in line.split() if not word.startswith("@")]
        for key in keys:
            trace.saw(key, number, at)
        if not keys:
            trace.noted(number, at)
    return trace


def copied(*runs: tuple[int, int, str], source: str | None, why: str, sureness: str = "stated") -> Own:
    found = [CopiedLines(first, last, SessionId(writer)) for first, last, writer in runs]
    return Own(source=source and SessionId(source), runs=found, sureness=sureness, why=why)  # type: ignore[arg-type]


ORIGINAL = ("@10:00", "uuid:1 @10:01", "uuid:2 @10:02")


def test_a_fork_that_says_nothing_began_later_than_what_it_copied() -> None:
    fork = log("b", "", "@10:09", "uuid:1 @10:01", "uuid:2 @10:02", "uuid:3 @10:10")
    assert own_history([fork, log("a", *ORIGINAL)]) == {
        "a.jsonl": OWN,
        "b.jsonl": copied((3, 4, "a"), source="a", why="head"),
    }


def test_lines_of_the_fork_before_the_copies_are_its_own() -> None:
    fork = log("b", "@10:09", "", "uuid:1 @10:01", "uuid:2 @10:02")
    own = own_history([log("a", *ORIGINAL), fork])["b.jsonl"]
    assert [own.is_copy(line) for line in (1, 2, 3, 4, 5)] == [False, False, True, True, False]
    assert [own.writer_of(line) for line in (1, 3)] == [None, "a"]
    assert own.inherited == [(3, 4)]


def test_a_resume_that_writes_new_uuids_and_times_is_known_by_its_messages_and_calls() -> None:
    first = log("a", "uuid:1 @1", f"uuid:2 {M1} @2", f"uuid:3 {M1} {C1} @3", f"uuid:4 {C1} @4")
    again = log(
        "b", "", "uuid:5 @9", f"uuid:6 {M1} @9", f"uuid:7 {M1} {C1} @9", f"uuid:8 {C1} @9", "uuid:9 @91"
    )
    assert own_history([again, first]) == {
        "a.jsonl": OWN,
        "b.jsonl": copied((2, 5, "a"), source="a", why="times"),
    }


def test_an_unanswered_prompt_that_was_copied_in_the_same_breath_is_a_copy() -> None:
    first = log("a", "uuid:1 @1", f"uuid:2 {M1} @2", "uuid:3 @3")
    again = log("b", "uuid:5 @9", f"uuid:6 {M1} @9", "uuid:7 @9", "uuid:8 @91", f"uuid:9 {M2} @92")
    assert own_history([first, again])["b.jsonl"].inherited == [(1, 3)]


def test_a_prompt_between_copies_belongs_to_the_writer_of_its_answer() -> None:
    a = log("a", "uuid:1 @1", f"uuid:2 {M1} @2")
    b = log("b", "uuid:3 @4", f"uuid:4 {M1} @4", "uuid:5 @5", f"uuid:6 {M2} @6")
    c = log("c", "uuid:7 @8", f"uuid:8 {M1} @8", "uuid:9 @8", f"uuid:10 {M2} @8", "uuid:11 @9")
    assert own_history([c, a, b])["c.jsonl"] == copied((1, 2, "a"), (3, 4, "b"), source="b", why="times")


def test_an_id_that_a_gateway_gives_twice_makes_no_fork() -> None:
    one = log("a", "uuid:1 @1", "uuid:2 message:msg_1 @2", "uuid:3 call:tool_1 @3")
    other = log("b", "uuid:4 @5", "uuid:5 message:msg_1 @6", "uuid:6 call:tool_1 @7")
    assert own_history([one, other]) == {"a.jsonl": OWN, "b.jsonl": OWN}


def test_a_gateways_id_with_the_same_time_is_the_same_message() -> None:
    one = log("a", "@0", "uuid:1 message:msg_1 @1")
    other = log("b", "@5", "uuid:2 message:msg_1 @1")
    assert own_history([one, other])["b.jsonl"] == copied((2, 2, "a"), source="a", why="head")


def test_a_late_result_for_a_copied_call_is_the_forks_own() -> None:
    a = log("a", "@0", "uuid:1 @1", f"uuid:2 {C1} @2")
    b = log("b", "@8", "uuid:1 @1", f"uuid:2 {C1} @2", f"uuid:3 {C1} @9")
    assert own_history([a, b])["b.jsonl"].inherited == [(2, 3)]


def test_a_line_that_says_it_is_a_copy_is_one_although_its_original_is_gone() -> None:
    fork = log("b", "uuid:1 @1", "", "uuid:2 @2", "uuid:3 @3")
    for line in (1, 3):
        fork.marked("a", line=line)
    assert own_history([fork]) == {"b.jsonl": copied((1, 3, "a"), source="a", why="marker")}


def test_a_marker_beats_what_the_times_say() -> None:
    a = log("a", "uuid:1 @5", "uuid:2 @6")
    b = log("b", "uuid:1 @1", "uuid:2 @2")
    b.marked("a")
    assert own_history([a, b])["b.jsonl"] == copied((1, 2, "a"), source="a", why="marker")


def test_markers_reach_over_several_forks() -> None:
    a, b, c = log("c", "uuid:1 @1"), log("b", "uuid:1 @1"), log("a", "uuid:1 @1")
    b.marked("c")
    c.marked("b")
    assert own_history([a, b, c])["a.jsonl"] == copied((1, 1, "c"), source="b", why="marker")


def test_a_line_that_calls_itself_anothers_tells_the_direction() -> None:
    a, b = log("b", *ORIGINAL[1:]), log("a", *ORIGINAL[1:])
    b.hinted("b")
    assert own_history([a, b])["a.jsonl"] == copied((1, 2, "b"), source="b", why="marker")


def test_a_line_that_calls_itself_anothers_is_no_fork_where_nothing_is_shared() -> None:
    agent = log("a", "uuid:1", "uuid:2")
    agent.hinted("b")
    assert own_history([agent, log("b", "uuid:3")]) == {"a.jsonl": OWN, "b.jsonl": OWN}


def test_the_session_in_which_a_log_goes_on_is_the_copy() -> None:
    old, new = log("b", *ORIGINAL[1:]), log("a", *ORIGINAL[1:])
    old.went_on_in("a")
    assert own_history([new, old])["a.jsonl"] == copied((1, 2, "b"), source="b", why="marker")


def test_a_session_that_runs_in_the_background_is_the_copy() -> None:
    old, new = log("b", *ORIGINAL[1:]), log("a", *ORIGINAL[1:])
    new.marked_background()
    assert own_history([new, old])["a.jsonl"] == copied((1, 2, "b"), source="b", why="marker")


def test_two_logs_that_name_each_other_are_told_apart_by_what_can_be_seen() -> None:
    a, b = log("a", *ORIGINAL), log("b", "@10:09", *ORIGINAL[1:])
    a.hinted("b")
    b.hinted("a")
    assert own_history([a, b])["b.jsonl"] == copied((2, 3, "a"), source="a", why="head")


@pytest.mark.parametrize(
    ("original", "fork", "why"),
    [
        (("uuid:1 @1", "@1", "uuid:2 @2"), ("uuid:1 @1", "uuid:2 @2", "uuid:3 @3"), "between"),
        (("uuid:1 @1", "uuid:2 @2"), ("uuid:1 @1", "uuid:2 @2", "uuid:3 @3"), "own_start"),
        (("uuid:1 @1", "uuid:2 @3"), ("uuid:1 @1", "uuid:3 @4"), "own_start"),
    ],
)
def test_what_is_only_a_guess_says_so(original: tuple[str, ...], fork: tuple[str, ...], why: str) -> None:
    own = own_history([log("z", *original), log("a", *fork)])
    assert (own["z.jsonl"], own["a.jsonl"].source, own["a.jsonl"].sureness, own["a.jsonl"].why) == (
        OWN,
        "z",
        "inferred",
        why,
    )


def test_where_nothing_tells_them_apart_the_path_does() -> None:
    own = own_history([log("b", "uuid:1 @1"), log("a", "uuid:1 @1")])
    assert own == {
        "a.jsonl": OWN,
        "b.jsonl": copied((1, 1, "a"), source="a", why="path", sureness="inferred"),
    }


def test_a_moved_session_is_no_fork_and_the_longer_file_keeps_the_lines() -> None:
    here = log("a", "", "uuid:1 @1", "uuid:2 @2", "", path="here/a.jsonl")
    there = log("a", "", "uuid:1 @1", "uuid:2 @2", "", "uuid:3 @3", path="there/a.jsonl")
    assert own_history([here, there]) == {
        "here/a.jsonl": copied((1, 4, "a"), source=None, why="same_session"),
        "there/a.jsonl": OWN,
    }


def test_a_subagents_file_that_repeats_the_main_thread_does_not_own_it() -> None:
    main = log("a", "uuid:1 @1", f"uuid:2 {M1} @2")
    aside = log("a", f"uuid:3 {M1} @2", "uuid:4 @3", f"uuid:5 {M2} @4", path="a/agent-1.jsonl", thread="1")
    assert own_history([aside, main])["a/agent-1.jsonl"].inherited == [(1, 1)]


def rollout(thread: str, *lines: str, session: str | None = None) -> Trace:
    return log(
        session or thread,
        *lines,
        path=f"rollout-{thread}",
        thread=thread if session else None,
        says_copies=True,
    )


def test_a_rollout_that_refers_to_its_source_is_all_its_own() -> None:
    fork = rollout("b", "@5", "turn:2 @6")
    fork.marked("a", is_referring=True)
    assert own_history([fork, rollout("a", "@1", "turn:1 @2")])["rollout-b"] == copied(
        source="a", why="reference"
    )


def test_a_rolled_back_thread_has_no_source_but_itself() -> None:
    again = rollout("a", "@5", "turn:2 @6")
    again.marked("a", is_referring=True)
    assert own_history([again]) == {"rollout-a": Own(why="reference")}


def test_lines_below_the_ordinal_that_a_subagent_states_are_its_parents() -> None:
    agent = rollout("b", session="a")
    agent.marked("a", own_from_ordinal=3)
    for line, ordinal in enumerate((0, 1, 2, 3, 4), start=1):
        agent.noted(line)
        agent.counted(ordinal, line)
    assert own_history([agent])["rollout-b"] == copied((2, 3, "a"), source="a", why="ordinal")


def test_a_replay_ends_at_the_first_turn_that_the_source_does_not_know() -> None:
    parent = rollout("a", "@1", "turn:1 @1", "call:x @2", "turn:2 @3")
    child = rollout("b", "@5", "@5", "turn:1 @5", "call:x @5", "", "turn:9 @6", "call:y @7", session="a")
    child.marked("a", line=2)
    assert own_history([child, parent]) == {
        "rollout-a": OWN,
        "rollout-b": copied((2, 5, "a"), source="a", why="turns"),
    }


def test_of_a_replay_without_its_source_what_is_older_than_the_file_is_a_copy() -> None:
    child = rollout("b", "@5", "turn:1 @1", "", "turn:2 @2", "turn:3 @6")
    child.marked("a")
    assert own_history([child])["rollout-b"] == copied(
        (2, 4, "a"), source="a", why="times", sureness="inferred"
    )


def test_a_replay_that_shows_nothing_is_said_to_be_unknown() -> None:
    child = rollout("b", "@5", "turn:1 @6")
    child.marked("a")
    assert own_history([child])["rollout-b"] == copied(source="a", why="source_missing", sureness="inferred")


def test_a_review_that_shares_a_turn_with_the_thread_above_copies_nothing() -> None:
    main, review = rollout("a", "@1", "turn:1 @2"), rollout("b", "@1", "turn:1 @2", session="a")
    assert own_history([main, review]) == {"rollout-a": OWN, "rollout-b": OWN}


keys = st.sampled_from(
    ["uuid:1", "uuid:2", "uuid:3", "uuid:4", M1, M2, C1, "message:x", "turn:1", "turn:2", ""]
)
lines = st.builds(
    lambda names, at: " ".join([*names, at]),
    st.lists(keys, max_size=2),
    st.sampled_from(["", "@1", "@2", "@3"]),
)


@st.composite
def any_trace(draw: st.DrawFn, n: int) -> Trace:
    session = draw(st.sampled_from("abc"))
    trace = log(session, *draw(st.lists(lines, max_size=6)), path=f"{n}", says_copies=draw(st.booleans()))
    for source in draw(st.lists(st.sampled_from("abc"), max_size=2)):
        draw(st.sampled_from([trace.marked, trace.hinted, trace.went_on_in]))(source)
    return trace


families = st.integers(1, 4).flatmap(lambda size: st.tuples(*(any_trace(n) for n in range(size))))


@given(families, st.randoms(use_true_random=False))
def test_the_order_of_traces_does_not_matter_and_runs_are_in_order(
    traces: tuple[Trace, ...], random: Random
) -> None:
    own = own_history(traces)
    shuffled = list(traces)
    random.shuffle(shuffled)
    assert own_history(shuffled) == own
    for trace in traces:
        ends = [end for run in own[trace.path].inherited for end in run]
        assert ends == sorted(ends)
        assert all(1 <= end <= trace.last_line for end in ends)
        assert all(first <= last for first, last in own[trace.path].inherited)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_in_a_chain_of_forks_each_line_belongs_to_its_first_writer(
    lengths: list[int], random: Random
) -> None:
    traces: list[Trace] = []
    history: list[tuple[str, str]] = []
    clock = 100
    expected: dict[str, list[str | None]] = {}
    for n, length in enumerate(lengths):
        name = "edcba"[n]  # so that the path never helps
        new = [(f"uuid:{name}{i} @{clock + 1 + i}", name) for i in range(length)]
        expected[f"{name}.jsonl"] = [None, *(writer for _, writer in history), *(None for _ in new)]
        traces.append(log(name, f"@{clock}", *(text for text, _ in history + new)))
        history, clock = history + new, clock + 50
    random.shuffle(traces)
    own = own_history(traces)
    found = {t.path: [own[t.path].writer_of(line) for line in range(1, t.last_line + 1)] for t in traces}
    assert found == expected


@given(st.lists(st.lists(st.sampled_from(["@1", "@2", ""]), max_size=5), max_size=4))
def test_where_nothing_is_shared_everything_is_own(logs: list[list[str]]) -> None:
    traces = [
        log(f"{n}", *(f"uuid:{n}-{i} {at}" for i, at in enumerate(times))) for n, times in enumerate(logs)
    ]
    assert own_history(traces) == {trace.path: OWN for trace in traces}


def test_a_call_is_inherited_by_all_who_copied_it_from_its_writer() -> None:
    a = log("a", "@1", "uuid:1 @2", f"uuid:2 {C1} @3")
    b = log("b", "@4", "uuid:1 @2", f"uuid:2 {C1} @3", f"uuid:3 {C2} @5")
    c = log("c", "@6", "uuid:1 @2", f"uuid:2 {C1} @3", f"uuid:3 {C2} @5", "uuid:4 @7")
    own = own_history([a, b, c])
    one, two = (CallId(key.removeprefix("call:")) for key in (C1, C2))
    first, second, third = (trace.session for trace in (a, b, c))
    assert descents([c, b, a]) == {
        first: Descent(own=own, inherited_by={one: [second, third]}, forks=[second]),
        second: Descent(own=own, inherited_by={two: [third]}, forks=[third]),
        third: Descent(own=own),
    }


def test_a_subagent_that_repeats_a_call_of_its_session_inherits_nothing() -> None:
    main = log("a", "uuid:1 @1", f"uuid:2 {M1} {C1} @2")
    aside = log("a", f"uuid:3 {M1} {C1} @2", "uuid:4 @3", path="a/agent-1.jsonl", thread="1")
    assert descents([main, aside]) == {"a": Descent(own=own_history([main, aside]))}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from("ab"))))
def test_the_run_of_a_line_is_found_as_if_all_runs_were_searched(steps: list[tuple[int, int, str]]) -> None:
    runs: list[CopiedLines] = []
    for gap, length, writer in steps:
        first = (runs[-1].last_line if runs else 0) + 1 + gap
        runs.append(CopiedLines(first, first + length - 1, SessionId(writer)))
    own = Own(runs=runs)
    for line in range((runs[-1].last_line if runs else 0) + 3):
        writers = [run.writer for run in runs if run.first_line <= line <= run.last_line]
        assert (own.is_copy(line), own.writer_of(line)) == (bool(writers), writers[0] if writers else None)


class CountedTimes(list[str | None]):
    """Times that know how often they were asked."""

    n_asked = 0

    def __getitem__(self, row: object) -> object:  # type: ignore[override]
        CountedTimes.n_asked += 1
        return super().__getitem__(row)  # type: ignore[call-overload]


def test_ten_more_forks_of_one_log_are_the_same_work_however_many_there_are() -> None:
    def n_asked_of(n_forks: int) -> int:
        traces = [
            log(f"{n:03}", *(f"uuid:{i} @{i}" for i in range(50)), f"uuid:own{n} @{900 + n}")
            for n in range(n_forks)
        ]
        for trace in traces:
            trace.times = CountedTimes(trace.times)
        CountedTimes.n_asked = 0
        own_history(traces)
        return CountedTimes.n_asked

    assert n_asked_of(30) - n_asked_of(20) == n_asked_of(20) - n_asked_of(10) > 0
