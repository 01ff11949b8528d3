from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.app.run.machine import Machine, never
from tracklog.app.run.many import HowMany, ListQuery, comparison_of, open_list, repeated
from tracklog.app.talk import Progress
from tracklog.errors import UserError

HOW = HowMany(jobs=2, retries=0)


class Said:
    """Keeps what a use case says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress]:
        raise AssertionError(label)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def query(machine: Machine, *lines: object) -> ListQuery:
    path = machine.work / "tasks.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return ListQuery(str(path), machine.request("(each line has its own)"))


def test_each_result_is_in_the_file_when_it_is_given(machine: Machine) -> None:
    list_query = query(machine, {"prompt": "say one"}, {"prompt": "say two"})
    with open_list(list_query, HOW, machine.home, confirm=never, talk=Said()) as work:
        documents = [work.record(outcome) for outcome in work.queue.answers() if outcome is not None]
    written = [json.loads(line) for line in (machine.work / "tasks.results.jsonl").read_text().splitlines()]
    assert written == documents
    assert sorted(one["result"] for one in documents) == ["one", "two"]


def test_a_list_that_is_answered_has_nothing_left(machine: Machine) -> None:
    list_query, said = query(machine, {"prompt": "say one"}), Said()
    with open_list(list_query, HOW, machine.home, confirm=never, talk=said) as work:
        for outcome in work.queue.answers():
            if outcome is not None:
                work.record(outcome)
    with open_list(list_query, HOW, machine.home, confirm=never, talk=said) as work:
        assert (work.queue.n_left, work.n_tasks, work.ended_before) == (0, 1, {"line-1": "completed"})
    assert said.lines == ["tracklog: 1 of 1 line are answered already"]
    assert machine.n_starts == 1


def test_every_wrong_line_is_said_and_nothing_starts(machine: Machine) -> None:
    list_query, said = query(machine, {"prompt": "say one"}, {"prompt": 1}, {}), Said()
    with (
        pytest.raises(UserError, match=r"^2 lines of the list cannot be done: nothing was started$"),
        open_list(list_query, HOW, machine.home, confirm=never, talk=said),
    ):
        pass
    assert [line.rpartition("tasks.jsonl:")[2].partition(":")[0] for line in said.lines] == ["2", "3"]
    assert machine.n_starts == 0


def test_the_same_request_several_times_is_compared(machine: Machine) -> None:
    queue = repeated(machine.request("say one"), 2, HOW, machine.home, confirm=never, talk=Said())
    outcomes = sorted((one for one in queue.answers() if one is not None), key=lambda one: one.task.n)
    comparison = comparison_of(outcomes)
    assert comparison["groups"] == [{"name": "A", "runs": [1, 2], "has_text": True}]
