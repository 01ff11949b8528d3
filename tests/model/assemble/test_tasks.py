"""How work in the background ended, wherever in the session that was said."""

from __future__ import annotations

import pytest

from tests.model.lines import Line, at, attachment, folded, notice, reply, result, session, use, user
from tracklog.model.session import Session

STARTED = [
    user("u", None, "go"),
    reply("a", "u", "m1", use("c1", command="build", run_in_background=True, description="build")),
    result(
        "r", "a", "c1", "Command running in background with ID: b1", toolUseResult={"backgroundTaskId": "b1"}
    ),
]


def ended(made: Session) -> tuple[str | None, list[int]]:
    call = next(call for call in made.calls if call.id == "c1")
    return call.outcome, [place.line for place in call.evidence]


def test_without_a_word_the_outcome_is_unknown() -> None:
    assert ended(session(*STARTED)) == ("unknown", [2, 3])


@pytest.mark.parametrize(
    "line",
    [
        user("n", "r", notice("b1", "completed")),
        user("n", "r", notice("other", "completed", tool_use_id="c1")),
        attachment(
            "n", "r", "queued_command", prompt=notice("b1", "completed"), commandMode="task-notification"
        ),
        attachment("n", "r", "task_status", taskId="b1", status="completed"),
        {"type": "queue-operation", "operation": "enqueue", "content": notice("b1", "completed")},
    ],
)
def test_each_form_of_a_notice_ends_the_task(line: Line) -> None:
    assert ended(session(*STARTED, line)) == ("ok", [2, 3, 4])


@pytest.mark.parametrize("operation", ["dequeue", "remove"])
def test_what_is_taken_from_the_queue_is_no_news(operation: str) -> None:
    line = {"type": "queue-operation", "operation": operation, "content": notice("b1", "completed")}
    assert ended(session(*STARTED, line))[0] == "unknown"


def test_a_notice_of_another_task_says_nothing() -> None:
    assert ended(session(*STARTED, user("n", "r", notice("b2", "killed"))))[0] == "unknown"


@pytest.mark.parametrize(
    ("name", "input", "back", "outcome"),
    [
        ("TaskOutput", {"task_id": "b1"}, {"retrieval_status": "success", "task": {"task_id": "b1", "status": "completed", "exitCode": 0}}, "ok"),
        ("TaskOutput", {"task_id": "b1"}, {"retrieval_status": "timeout", "task": {"task_id": "b1", "status": "running"}}, "unknown"),
        ("TaskOutput", {"task_id": "b1"}, "<status>failed</status>", "error"),
        ("BashOutput", {"bash_id": "b1"}, {"shellId": "b1", "status": "completed", "exitCode": 2}, "error"),
        ("BashOutput", {"bash_id": "b1"}, "<status>completed</status>\n<exit_code>0</exit_code>", "ok"),
        ("BashOutput", {"bash_id": "b2"}, "<status>completed</status>\n<exit_code>0</exit_code>", "unknown"),
        ("TaskStop", {"task_id": "b1"}, {"message": "Successfully stopped task: b1 (build)", "task_id": "b1"}, "killed"),
        ("TaskStop", {"task_id": "b1"}, '{"message":"Successfully stopped task: b1 (build)","task_id":"b1"}', "killed"),
        ("KillShell", {"shell_id": "b1"}, {"message": "Successfully killed shell: b1 (build)", "shell_id": "b1"}, "killed"),
    ],
)  # fmt: skip
def test_who_asks_for_the_task_or_stops_it_tells_its_end(
    name: str, input: Line, back: Line | str, outcome: str
) -> None:
    text, report = (back, None) if isinstance(back, str) else ("x", back)
    asked = [
        reply("b", "r", "m2", use("c2", name, **input)),
        result("s", "b", "c2", text, toolUseResult=report),
    ]
    assert ended(session(*STARTED, *asked)) == (outcome, [2, 3] if outcome == "unknown" else [2, 3, 5])


@pytest.mark.parametrize(
    "printed",
    [
        "<retrieval_status>success</retrieval_status>\n<task_id>b1</task_id>\n<status>killed</status>",
        '{"message":"Successfully stopped task: b1 (build)","task_id":"b1"}',
    ],
)
@pytest.mark.parametrize("report", [{"stdout": "x", "stderr": ""}, None])
def test_a_command_that_prints_such_words_ends_nothing(printed: str, report: Line | None) -> None:
    read = [
        reply("b", "r", "m2", use("c2", "Bash", command="cat notes")),
        result("s", "b", "c2", printed, toolUseResult=report),
    ]
    assert ended(session(*STARTED, *read))[0] == "unknown"


def test_a_notice_in_another_thread_s_log_counts() -> None:
    told = user("n", None, notice("b1", "failed"), isSidechain=True, agentId="a1")
    made = session(*STARTED, folded(told, path="agent-a1.jsonl", thread="a1"))
    assert made.calls[0].outcome == "error"


def test_the_last_word_in_time_counts_whatever_file_it_stands_in() -> None:
    stopped = user("n", "r", notice("b1", "killed"), timestamp=at(9))
    told = user("n2", None, notice("b1", "completed"), timestamp=at(8), isSidechain=True, agentId="z1")
    made = session(*STARTED, stopped, folded(told, path="z-agent.jsonl", thread="z1"))
    assert made.calls[0].outcome == "killed"


AGENT = [
    user("u", None, "go"),
    reply("a", "u", "m1", use("c1", "Agent", description="sub work", prompt="x")),
    result("r", "a", "c1", "launched", toolUseResult={"status": "async_launched", "agentId": "a1"}),
]
STOP = 'Background agent "sub work" was stopped by the user.'


def test_a_notice_without_ids_is_joined_by_the_description() -> None:
    line = {"type": "queue-operation", "operation": "enqueue", "content": STOP}
    assert ended(session(*AGENT, line)) == ("killed", [2, 3, 4])


def test_a_notice_with_another_description_says_nothing() -> None:
    line = {"type": "queue-operation", "operation": "enqueue", "content": STOP.replace("sub", "other")}
    assert ended(session(*AGENT, line))[0] == "unknown"


def test_a_call_in_the_foreground_is_not_ended_by_a_description() -> None:
    foreground = [*AGENT[:2], result("r", "a", "c1", "answer")]
    line = {"type": "queue-operation", "operation": "enqueue", "content": STOP}
    assert ended(session(*foreground, line)) == (None, [2, 3])
