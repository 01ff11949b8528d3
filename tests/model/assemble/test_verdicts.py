"""One test for each row of the table of verdicts, with the sureness, the reason and the lines that prove it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.model.lines import (
    LOG,
    REJECTED,
    STOPPED,
    Line,
    at,
    attachment,
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
from tracklog.model.assemble.verdicts import Circumstances, Judgement, effective, judge
from tracklog.model.events import CallReported, End, LogEvent, ModelReplied, Place, TaskSeen
from tracklog.model.fold.thread import CallFacts
from tracklog.model.ids import MAIN, CallId, RequestId, TaskId
from tracklog.model.session import Call

ASK = user("u", None, "go")
CALL = reply("a", "u", "m1", use("c1", command="ls"))
READ = reply("z", "r", "m2", "I see")
Whole = tuple[str, str, str, list[int], str | None, bool]


def call_of(*lines: Line) -> CallFacts:
    """What is known of call c1 of a log whose first two lines are the prompt and the call."""
    return folded(ASK, CALL, *lines).of(MAIN).calls[CallId("c1")]


def whole(call: CallFacts, around: Circumstances | None = None) -> Whole:
    judged = judge(call, around or Circumstances())
    lines = [place.line for place in judged.evidence(call)]
    return judged.verdict, judged.sureness, judged.why, lines, judged.outcome, judged.timed_out


def back(content: Any = "done", *, is_error: bool = False, **fields: Any) -> Line:
    return result("r", "a", "c1", content, is_error=is_error, **fields)


def hook(event: str = "PreToolUse", kind: str = "hook_blocking_error", **fields: Any) -> Line:
    return attachment("h", "a", kind, hookEvent=event, toolUseID="c1", **fields)


def stop(**fields: Any) -> Line:
    return user("i", "r", [{"type": "text", "text": STOPPED}], **fields)


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_an_error_and_a_hook_that_forbade_the_call_is_blocked(event: str) -> None:
    call = call_of(hook(event), back("no writes to main", is_error=True))
    assert whole(call) == ("blocked", "stated", "a hook's decision", [2, 3, 4], None, False)


def test_a_denial_and_a_hook_that_decided_it_is_blocked() -> None:
    decided = hook("PermissionRequest", "hook_permission_decision", decision="deny")
    call = call_of(decided, back("hook says no", is_error=True, toolDenialKind="permission-rule"))
    assert whole(call) == ("blocked", "stated", "a hook's decision", [2, 3, 4], None, False)


def test_a_hook_that_blocked_after_the_call_changes_nothing() -> None:
    assert whole(call_of(back(), hook("PostToolUse"))) == ("ok", "stated", "came back", [2, 3], None, False)


def test_a_hook_that_forbade_a_call_which_then_ran_well_changes_nothing() -> None:
    assert whole(call_of(hook(), back())) == ("ok", "stated", "came back", [2, 4], None, False)


@pytest.mark.parametrize(
    ("text", "verdict", "why"),
    [
        ("Permission to use Bash has been denied.", "denied", "permission rule"),
        ("PreToolUse:Bash hook error: [x]: no", "blocked", "hook"),
        (STOPPED, "interrupted", "interrupted"),
        ("Command timed out after 2s", "timed_out", "time limit"),
        ("Sibling tool call errored", "sibling_error", "a parallel call failed"),
    ],
)
def test_a_result_that_says_so(text: str, verdict: str, why: str) -> None:
    assert whole(call_of(back(text, is_error=True))) == (verdict, "stated", why, [2, 3], None, False)


def test_no_and_then_an_interruption_that_names_the_answer_it_cut_is_interrupted() -> None:
    call = call_of(back(REJECTED, is_error=True), stop(interruptedMessageId="m1"))
    why = "the interruption names the answer it cut"
    assert whole(call) == ("interrupted", "stated", why, [2, 3, 4], None, False)


@pytest.mark.parametrize("with_stop", [True, False])
def test_no_where_nobody_could_be_asked_is_interrupted(with_stop: bool) -> None:
    headless = {"entrypoint": "sdk-cli"}
    call = call_of(back(REJECTED, is_error=True, **headless), *([stop(**headless)] if with_stop else []))
    why = "interrupted: nobody could have said no"
    assert whole(call) == ("interrupted", "inferred", why, [2, 3, 4] if with_stop else [2, 3], None, False)


def test_no_inside_a_subagent_that_was_stopped_is_interrupted() -> None:
    call = call_of(back(REJECTED, is_error=True))
    why = "its subagent was stopped"
    around = Circumstances(is_in_stopped_thread=True)
    assert whole(call, around) == ("interrupted", "inferred", why, [2, 3], None, False)


def test_no_otherwise_is_denied() -> None:
    denied = ("denied", "stated", "rejected by the person")
    assert whole(call_of(back(REJECTED, is_error=True))) == (*denied, [2, 3], None, False)
    assert whole(call_of(back(REJECTED, is_error=True), stop())) == (*denied, [2, 3, 4], None, False)


def test_no_with_a_question_to_the_person_points_to_it() -> None:
    asked = hook("PermissionRequest", "hook_success")
    call = call_of(asked, back(REJECTED, is_error=True), stop())
    assert whole(call) == ("denied", "stated", "rejected by the person", [2, 3, 4, 5], None, False)


def test_an_interruption_after_the_next_prompt_is_not_that_of_the_call() -> None:
    later = [user("v", "r", "go on"), user("i", "v", STOPPED, interruptedMessageId="m1")]
    call = call_of(back(REJECTED, is_error=True), *later)
    assert whole(call)[:2] == ("denied", "stated")


def test_an_interruption_after_the_next_answer_is_not_that_of_the_call() -> None:
    later = user("i", "z", STOPPED, interruptedMessageId="m2")
    assert whole(call_of(back(REJECTED, is_error=True), READ, later))[:2] == ("denied", "stated")


def test_both_calls_of_an_interrupted_answer_are_interrupted() -> None:
    lines = [
        ASK,
        reply("a", "u", "m1", use("c1"), use("c2")),
        result("r", "a", "c1", REJECTED, is_error=True),
        result("s", "a", "c2", REJECTED, is_error=True),
        user("i", "s", STOPPED, interruptedMessageId="m1"),
    ]
    assert [(call.verdict, lines_of(call)) for call in session(*lines).calls] == [
        ("interrupted", [2, 3, 5]),
        ("interrupted", [2, 4, 5]),
    ]


def test_killed_and_never_read_is_interrupted() -> None:
    why = "killed, and no answer ever read it"
    assert whole(call_of(back("Exit code 137\nout", is_error=True))) == (
        "interrupted", "inferred", why, [2, 3], None, False,
    )  # fmt: skip


def test_killed_and_read_is_an_error() -> None:
    why = "exit code 137, and the model read it"
    call = call_of(back("Exit code 137", is_error=True), READ)
    assert whole(call) == ("error", "stated", why, [2, 3], None, False)


def test_a_note_of_a_later_resume_is_lost() -> None:
    text = "[Tool call interrupted: the session ended before this call's result was recorded]"
    call = call_of(back(text, is_error=True, toolDenialKind="interrupted"))
    assert whole(call) == ("lost", "stated", "session ended before its result", [2, 3], None, False)


BACKGROUND = back("Command running in background with ID: b1", toolUseResult={"backgroundTaskId": "b1"})
RUNS = "runs in the background"


def seen(end: End, *, line: int = 9) -> TaskSeen:
    return TaskSeen(place=Place(LOG, line), task=TaskId("b1"), end=end)


@pytest.mark.parametrize(
    ("around", "outcome", "lines"),
    [
        (Circumstances(seen=[seen("ok")]), "ok", [2, 3, 9]),
        (Circumstances(seen=[seen("error")]), "error", [2, 3, 9]),
        (Circumstances(seen=[seen("killed")]), "killed", [2, 3, 9]),
        (Circumstances(seen=[seen("ok", line=8), seen("killed")]), "killed", [2, 3, 9]),
        (Circumstances(seen=[seen("ok"), seen("running", line=10)]), "ok", [2, 3, 9]),
        (Circumstances(seen=[seen("running")], is_alive=True), "running", [2, 3]),
        (Circumstances(is_alive=True), "running", [2, 3]),
        (Circumstances(is_fresh=True), "running", [2, 3]),
        (Circumstances(is_fresh=True, is_alive=False), "unknown", [2, 3]),
        (Circumstances(seen=[seen("running")]), "unknown", [2, 3]),
        (Circumstances(), "unknown", [2, 3]),
    ],
)
def test_what_went_on_in_the_background_has_the_outcome_that_was_told(
    around: Circumstances, outcome: str, lines: list[int]
) -> None:
    assert whole(call_of(BACKGROUND), around) == ("backgrounded", "stated", RUNS, lines, outcome, False)


@pytest.mark.parametrize(("child", "outcome"), [("ended", "ok"), ("failed", "error"), ("stopped", "killed")])
def test_the_log_of_an_agent_in_the_background_tells_its_outcome(child: Any, outcome: str) -> None:
    last = reply_event("agent-a1.jsonl", 7)
    judged = judge(call_of(BACKGROUND), Circumstances(child=child, child_event=last))
    assert (judged.outcome, judged.because[1:]) == (outcome, [last])


def test_an_agent_whose_log_is_open_has_no_outcome_yet() -> None:
    last = reply_event("agent-a1.jsonl", 7)
    around = Circumstances(child="open", child_event=last, is_alive=True)
    assert whole(call_of(BACKGROUND), around)[4] == "running"


def test_a_good_notice_of_an_agent_that_failed_is_not_believed() -> None:
    last = reply_event("agent-a1.jsonl", 7)
    around = Circumstances(seen=[seen("ok")], child="failed", child_event=last)
    judged = judge(call_of(BACKGROUND), around)
    assert (judged.outcome, [event.place for event in judged.because]) == (
        "error",
        [Place(LOG, 3), Place(LOG, 9), Place("agent-a1.jsonl", 7)],
    )


def test_words_alone_make_the_background_inferred() -> None:
    call = call_of(back("Command running in background with ID: b1"))
    assert whole(call) == ("backgrounded", "inferred", RUNS, [2, 3], "unknown", False)


def test_a_time_limit_that_only_moved_it_is_said_so() -> None:
    moved = back("moved", toolUseResult={"backgroundTaskId": "b1", "timedOutAfterMs": 2000})
    assert whole(call_of(moved)) == ("backgrounded", "stated", RUNS, [2, 3], "unknown", True)


def reply_event(path: str, line: int) -> ModelReplied:
    return ModelReplied(place=Place(path, line), request=RequestId("m9"))


def note(end: End, **fields: Any) -> CallReported:
    return CallReported(place=Place(LOG, 5), call=CallId("c1"), end=end, what="command", **fields)


@pytest.mark.parametrize(
    ("content", "is_error", "noted", "verdict", "why"),
    [
        ("done", False, note("error"), "error", "the client notes how the command ended"),
        ("bad", True, note("ok"), "ok", "the client notes how the command ended"),
        ("done", False, note("killed"), "interrupted", "the client notes that it was killed"),
        ("done", False, note("error", is_denied=True), "denied", "the client notes a refusal"),
    ],
)
def test_the_client_s_own_note_wins_over_the_text(
    content: str, is_error: bool, noted: CallReported, verdict: str, why: str
) -> None:
    call = call_of(back(content, is_error=is_error))
    call.reports.append(noted)
    assert whole(call) == (verdict, "stated", why, [2, 3, 5], None, False)


def test_a_note_that_it_runs_leaves_the_result_its_say() -> None:
    call = call_of(back())
    call.reports.append(note("running"))
    assert whole(call) == ("ok", "stated", "came back", [2, 3], None, False)


def test_no_with_the_client_s_note_of_an_end_is_interrupted() -> None:
    call = call_of(back(REJECTED, is_error=True))
    call.reports.append(note("killed"))
    why = "it had begun: the client noted its end"
    assert whole(call) == ("interrupted", "stated", why, [2, 3, 5], None, False)


def test_a_result_of_a_subagent_whose_last_words_are_an_api_error_is_an_error() -> None:
    last = reply_event("agent-a1.jsonl", 7)
    call = call_of(back("API Error: 400"))
    judged = judge(call, Circumstances(child="failed", child_event=last))
    result = call.results[0]
    assert judged == Judgement(
        "error", "inferred", "the subagent's last words are an API error", [result, last]
    )


@pytest.mark.parametrize(
    ("is_error", "verdict", "why"), [(False, "ok", "came back"), (True, "error", "error")]
)
def test_a_result_is_ok_or_error(is_error: bool, verdict: str, why: str) -> None:
    assert whole(call_of(back("x", is_error=is_error))) == (verdict, "stated", why, [2, 3], None, False)


@pytest.mark.parametrize(
    "forbids",
    [hook(), hook(kind="hook_success", stdout='{"hookSpecificOutput":{"permissionDecision":"deny"}}')],
)
def test_no_result_but_a_hook_s_decision_is_blocked(forbids: Line) -> None:
    around = Circumstances(is_alive=True, is_abandoned=True)
    assert whole(call_of(forbids), around) == ("blocked", "stated", "a hook's decision", [2, 3], None, False)


@pytest.mark.parametrize(
    ("noted", "verdict", "why"),
    [
        (note("ok"), "ok", "the client notes how the command ended"),
        (note("error"), "error", "the client notes how the command ended"),
        (note("killed"), "interrupted", "the client notes how the command ended"),
        (note("running"), "running", "the client notes how the command ended"),
        (note("error", is_denied=True), "denied", "the client notes a refusal"),
    ],
)
def test_no_result_but_the_client_s_note_is_what_the_note_says(
    noted: CallReported, verdict: str, why: str
) -> None:
    call = call_of()
    call.reports.append(noted)
    assert whole(call) == (verdict, "stated", why, [2, 5], None, False)


def test_no_result_and_its_branch_left_is_abandoned() -> None:
    around = Circumstances(is_abandoned=True, is_alive=True)
    why = "no result, and its branch was left"
    assert whole(call_of(), around) == ("abandoned", "stated", why, [2], None, False)


@pytest.mark.parametrize("later", [reply("b", "a", "m2", "anyway"), user("b", "a", "never mind")])
def test_no_result_and_the_conversation_went_on_is_lost(later: Line) -> None:
    why = "the conversation went on without it"
    assert whole(call_of(later), Circumstances(is_alive=True)) == ("lost", "stated", why, [2, 3], None, False)


@pytest.mark.parametrize(
    "later",
    [
        reply("b", "a", "m1", "the same answer goes on"),
        reply("b", "a", "m2", "No response requested.", message={"model": "<synthetic>"}),
        record("system", "b", "a", subtype="turn_duration", durationMs=5),
    ],
)
def test_what_is_no_next_answer_does_not_pass_a_call_by(later: Line) -> None:
    assert whole(call_of(later), Circumstances(is_alive=True))[0] == "running"


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        (Circumstances(is_alive=True), ("running", "stated", "no result: the process lives")),
        (Circumstances(is_alive=False), ("lost", "stated", "no result: the process is gone")),
        (Circumstances(is_alive=False, is_fresh=True), ("lost", "stated", "no result: the process is gone")),
        (
            Circumstances(is_fresh=True),
            ("running", "inferred", "no result, and the log changed within ten minutes"),
        ),
        (Circumstances(), ("lost", "inferred", "no result, and the log is at rest")),
    ],
)
def test_without_a_result_the_process_decides(around: Circumstances, expected: tuple[str, str, str]) -> None:
    assert whole(call_of(), around) == (*expected, [2], None, False)


@pytest.mark.parametrize(
    ("now", "verdict"),
    [
        (datetime(2026, 11, 15, 10, 10, 2, tzinfo=UTC), "running"),
        (datetime(2026, 11, 15, 10, 10, 3, tzinfo=UTC), "lost"),
        (None, "lost"),
    ],
)
def test_a_log_is_fresh_for_ten_minutes(now: datetime | None, verdict: str) -> None:
    [call] = session({**ASK, "timestamp": at(1)}, {**CALL, "timestamp": at(2)}, now=now).calls
    assert (call.verdict, call.sureness) == (verdict, "inferred")


def lines_of(call: Call) -> list[int]:
    return [place.line for place in call.evidence]


def only_call(*lines: Line, **fields: Any) -> Call:
    [call] = session(*lines, **fields).calls
    return call


def test_a_late_result_counts_though_the_conversation_had_gone_on() -> None:
    call = only_call(ASK, CALL, user("v", "a", "never mind"), reply("b", "v", "m2", "fine"), back("late"))
    assert (call.verdict, call.why, lines_of(call)) == ("ok", "came back", [2, 5])


def test_of_two_results_the_last_one_counts_and_both_are_kept() -> None:
    call = only_call(ASK, CALL, back("bad", is_error=True), result("s", "r", "c1", "good"))
    assert (call.verdict, lines_of(call)) == ("ok", [2, 4])
    assert [one.text for one in call.results] == ["bad", "good"]


def test_the_same_result_written_again_is_one_result() -> None:
    assert len(only_call(ASK, CALL, back(), back()).results) == 1


UNKNOWN = "[Tool call interrupted: the session ended before this call's result was recorded]"


@pytest.mark.parametrize("real_first", [True, False])
def test_a_note_that_nothing_is_known_never_beats_a_real_result(real_first: bool) -> None:
    real, unknown = result("r", "a", "c1", "real"), result("s", "a", "c1", UNKNOWN, is_error=True)
    call = only_call(ASK, CALL, *([real, unknown] if real_first else [unknown, real]))
    assert call.verdict == "ok"
    assert call.result is not None
    assert call.result.text == "real"


def test_without_results_nothing_counts() -> None:
    assert effective([]) is None


def test_a_result_before_its_call_is_taken() -> None:
    call = only_call(ASK, back(), CALL)
    assert (call.verdict, lines_of(call)) == ("ok", [3, 2])


def test_a_hook_before_its_call_is_taken() -> None:
    call = only_call(ASK, hook(), CALL)
    assert (call.verdict, lines_of(call)) == ("blocked", [3, 2])


AGENT = {"isSidechain": True, "agentId": "a1"}


def test_a_result_in_another_thread_s_log_counts() -> None:
    agent = folded(
        user("x", None, "work", **AGENT), {**back("late"), **AGENT}, path="agent-a1.jsonl", thread="a1"
    )
    made = session(ASK, CALL, agent)
    [call] = made.calls
    assert (call.verdict, call.evidence) == ("ok", [Place(LOG, 2), Place("agent-a1.jsonl", 2)])
    assert made.strays == []


def test_a_result_in_a_log_that_holds_nothing_else_counts() -> None:
    made = session(ASK, CALL, folded({**back("late"), **AGENT}, path="agent-a1.jsonl", thread="a1"))
    assert [call.verdict for call in made.calls] == ["ok"]


def test_a_stray_in_a_log_that_holds_nothing_else_is_shown() -> None:
    alone = {**result("r", "a", "gone", "who asked?"), **AGENT}
    made = session(ASK, CALL, folded(alone, path="agent-a1.jsonl", thread="a1"))
    assert [stray.call for stray in made.strays] == ["gone"]


def test_a_hook_in_another_thread_s_log_counts() -> None:
    made = session(
        ASK, CALL, attachment("h", "a", "hook_blocking_error", hookEvent="PreToolUse", toolUseID="c9"),
        folded(
            user("x", None, "work", **AGENT), reply("y", "x", "m9", use("c9"), **AGENT), path="agent-a1.jsonl", thread="a1"
        ),
    )  # fmt: skip
    assert {call.id: call.verdict for call in made.calls}[CallId("c9")] == "blocked"


def test_results_without_calls_are_shown_as_strays() -> None:
    made = session(ASK, result("r", "u", "gone", "who asked?"), result("s", "u", None, "nobody"))
    assert made.calls == []
    assert [(stray.call, stray.place.line, stray.text) for stray in made.strays] == [
        ("gone", 2, "who asked?"),
        (None, 3, "nobody"),
    ]


def test_calls_of_one_answer_are_parallel_to_each_other() -> None:
    chunks = [
        ASK,
        reply("a", "u", "m1", use("c1")),
        reply("b", "a", "m1", use("c2")),
        result("r", "a", "c1"),
        reply("c", "b", "m1", use("c3")),
        result("s", "b", "c2"),
        result("t", "c", "c3"),
        reply("d", "t", "m2", use("c4")),
    ]
    assert {call.id: call.parallel_with for call in session(*chunks).calls} == {
        "c1": ["c2", "c3"],
        "c2": ["c1", "c3"],
        "c3": ["c1", "c2"],
        "c4": [],
    }


def test_each_call_has_a_verdict_also_without_an_id() -> None:
    made = session(ASK, reply("a", "u", "m1", use(""), use("")))
    assert [call.verdict for call in made.calls] == ["lost", "lost"]


def test_a_call_copied_again_is_one_call() -> None:
    assert len(session(ASK, CALL, CALL, back()).calls) == 1


def test_a_notice_ends_the_call_that_it_names() -> None:
    start = back("Command running in background with ID: b1", toolUseResult={"backgroundTaskId": "b1"})
    told = user(
        "n", "r", notice("b1", "failed", tool_use_id="c1", summary="failed with exit code 7"), timestamp=at(9)
    )
    call = only_call(ASK, CALL, start, told)
    assert (call.verdict, call.outcome, call.exit_code, call.ended_at, lines_of(call)) == (
        "backgrounded", "error", 7, at(9), [2, 3, 4],
    )  # fmt: skip


def test_work_that_was_told_of_twice_ended_at_the_last_word() -> None:
    start = back("Command running in background with ID: b1", toolUseResult={"backgroundTaskId": "b1"})
    words = [user(f"n{n}", "r", notice("b1", "completed"), timestamp=at(n)) for n in (7, 9)]
    assert only_call(ASK, CALL, start, *words).ended_at == at(9)


def test_a_call_on_a_branch_that_was_left_keeps_the_verdict_of_its_result() -> None:
    again = [user("v", None, "go another way"), reply("b", "v", "m2", "done")]
    call = only_call(ASK, CALL, back(), *again)
    assert (call.verdict, call.on_active_branch) == ("ok", False)


def test_a_call_without_result_on_a_branch_that_was_left_is_abandoned() -> None:
    again = [user("v", None, "go another way"), reply("b", "v", "m2", "done")]
    call = only_call(ASK, CALL, *again)
    assert (call.verdict, call.sureness, call.on_active_branch) == ("abandoned", "stated", False)


def test_evidence_is_in_the_order_of_the_logs_and_each_line_once() -> None:
    call = call_of()
    places = [Place("b", 1), Place(LOG, 7), Place(LOG, 3), Place("b", 1), Place(LOG, 2)]
    because: list[LogEvent] = [ModelReplied(place=place, request=None) for place in places]
    assert Judgement("ok", "stated", "", because).evidence(call) == [
        Place(LOG, 2), Place("b", 1), Place(LOG, 3), Place(LOG, 7),
    ]  # fmt: skip


def test_several_results_in_one_record_answer_each_its_call() -> None:
    lines = [
        ASK,
        reply("a", "u", "m1", use("c1"), use("c2")),
        user("r", "a", [block("c1"), block("c2", "no", is_error=True)]),
    ]
    assert [(call.id, call.verdict, lines_of(call)) for call in session(*lines).calls] == [
        ("c1", "ok", [2, 3]),
        ("c2", "error", [2, 3]),
    ]


CANCELLED = (
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the user."
)


@pytest.mark.parametrize(
    ("beside", "verdict"), [(STOPPED, "interrupted"), (REJECTED, "denied"), ("Exit code 2", "denied")]
)
def test_cancelled_with_the_call_beside_it_is_what_that_was(beside: str, verdict: str) -> None:
    asked = reply("a", "u", "m1", use("c1", command="sleep 9"), use("c2", command="ls"))
    first = result("r1", "a", "c1", beside, is_error=True)
    second = result("r2", "a", "c2", CANCELLED, is_error=True)
    made = {call.id: call for call in session(ASK, asked, first, second).calls}
    assert (made[CallId("c2")].verdict, made[CallId("c2")].why) == (
        verdict,
        "cancelled with the call beside it",
    )


def test_an_error_in_the_words_of_a_hook_that_wanted_somebody_asked_is_denied() -> None:
    asks = (
        '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "please confirm"}}'
    )
    asked = hook(kind="hook_success", stdout=asks)
    judged = whole(call_of(asked, back("please confirm", is_error=True)))
    assert judged[:4] == ("denied", "stated", "a hook asked, and nobody answered", [2, 3, 4])
    assert whole(call_of(asked, back("Exit code 2", is_error=True)))[0] == "error"


def test_killed_by_the_client_s_note_but_an_error_by_its_own_words_is_an_error() -> None:
    call = call_of(back("exec_command failed", is_error=True))
    call.reports = [CallReported(place=Place(LOG, 9), call=CallId("c1"), end="killed", what="command")]
    assert whole(call)[0] == "error"


def test_an_id_that_comes_again_in_another_request_is_another_call_with_its_own_result() -> None:
    again = reply("b", "r", "m2", use("c1", command="rm"))
    failed = result("s", "b", "c1", "Exit code 2", is_error=True)
    made = session(ASK, CALL, back(), again, failed).calls
    assert [(call.id, call.arguments["command"], call.verdict) for call in made] == [
        ("c1", "ls", "ok"),
        ("c1:4:1", "rm", "error"),
    ]
