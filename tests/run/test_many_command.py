"""`tracklog run --many` and `--repeat`, with a program in place of the client that obeys its prompt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import fork_server
from tests.run.fake_client import COST_MICRO_USD, install
from tests.views.cli.command import Answer, environment, on_a_terminal

TIME_LIMIT_S = 60
HEAD = ["run", "ended", "by", "cost", "time", "turns", "calls", "files", "result"]


class Place:
    """A machine with a client, a list and a folder to work in."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.work = top / "work"
        self.state = top / "state"
        self.list = top / "tasks.jsonl"
        self.results = top / "tasks.results.jsonl"
        self.work.mkdir()
        self.state.mkdir()
        self._program = install(top / "bin")

    @property
    def env(self) -> dict[str, str]:
        more = {
            "PATH": f"{self._program.parent}:{os.defpath}",
            "CLAUDE_CONFIG_DIR": str(self.top / ".claude"),
            "CODEX_HOME": str(self.top / ".codex"),
            "TRACKLOG_HOME": str(self.top / "home"),
            "FAKE_CLIENT_STATE": str(self.state),
        }
        return environment(self.top, more)

    def write(self, *lines: Any) -> Path:
        self.list.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return self.list

    def words(self, *more: str | Path) -> list[str]:
        return [*map(str, ("run", "--cwd", self.work, *more))]

    def run(self, *more: str | Path, stdin: bytes = b"") -> Answer:
        done = fork_server.run(
            self.words(*more), env=self.env, cwd=self.top, stdin=stdin, timeout_s=TIME_LIMIT_S
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def many(self, *more: str | Path) -> Answer:
        return self.run("--many", self.list, *more)

    def begin(self, *more: str | Path) -> fork_server.Process:
        """Starts to do the list; whoever calls ends it."""
        return fork_server.start(self.words("--many", self.list, *more), env=self.env, cwd=self.top)

    def noted(self, name: str) -> list[str]:
        path = self.state / name
        return path.read_text().splitlines() if path.exists() else []

    @property
    def starts(self) -> Counter[str]:
        return Counter(json.loads(line) for line in self.noted("starts"))

    @property
    def paid_micro_usd(self) -> int:
        return sum(int(line.split()[1]) for line in self.noted("requests"))

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.results.read_text().splitlines()]

    @property
    def alive(self) -> list[str]:
        """The clients that still run."""
        return [pid for pid in self.noted("pids") if _is_client(pid)]


def _is_client(pid: str) -> bool:
    try:
        return b"bin/claude" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def wait_for(what: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIME_LIMIT_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: not after {TIME_LIMIT_S} s"
        time.sleep(0.02)


def endings(rows: Sequence[dict[str, Any]]) -> dict[str, tuple[str, str | None]]:
    return {row["id"]: (row["ended_by"], row["result"]) for row in rows}


def test_every_line_has_its_result_on_stdout_and_in_the_file_and_a_second_call_has_nothing_to_do(
    place: Place,
) -> None:
    place.write(
        {"prompt": "say one", "id": "a"}, {"prompt": "say two"}, {"prompt": "say three", "cwd": "work"}
    )
    done = place.many()
    wanted = {"a": ("completed", "one"), "line-2": ("completed", "two"), "line-3": ("completed", "three")}
    assert (done.code, endings(done.rows), done.rows) == (0, wanted, place.rows)
    assert [row["cost_micro_usd_all_attempts"] for row in place.rows] == [COST_MICRO_USD] * 3
    again = place.many()
    assert (again.code, again.out, again.err) == (0, "", "tracklog: 3 of 3 lines are answered already\n")
    assert place.starts == Counter({"say one": 1, "say two": 1, "say three": 1})


def test_wrong_lines_are_all_told_and_nothing_is_started(place: Place) -> None:
    place.write({"prompt": "fine"}, {"prompt": 1}, {"prompt": "x", "colour": "red"})
    done = place.many()
    assert (done.code, done.out, place.starts, place.results.exists()) == (2, "", Counter(), False)
    assert done.err == (
        f"{place.list}:2: Expected `str | null`, got `int` - at `$.prompt`\n"
        f"{place.list}:3: Object contains unknown field `colour`\n"
        "tracklog: 2 lines of the list cannot be done: nothing was started\n"
    )


def test_what_failed_is_not_done_again_unless_that_is_asked_for(place: Place) -> None:
    place.write({"prompt": "fail"}, {"prompt": "say x"})
    assert [place.many().code for _ in range(2)] == [1, 1]
    assert place.starts == Counter({"fail": 1, "say x": 1})
    assert place.many("--again", "error").code == 1
    assert place.starts == Counter({"fail": 2, "say x": 1})


def test_what_died_after_it_had_cost_something_is_done_again_by_the_next_call_only(place: Place) -> None:
    place.write({"prompt": "die late"})
    assert [place.many().code, place.many().code] == [1, 1]
    assert place.starts == Counter({"die late": 2})
    assert [row["ended_by"] for row in place.rows] == ["killed", "killed"]
    assert sum(row["cost_micro_usd_all_attempts"] for row in place.rows) == place.paid_micro_usd


def test_what_asks_something_else_under_an_old_id_is_done(place: Place) -> None:
    place.write({"prompt": "say one", "id": "a"})
    place.many()
    place.write({"prompt": "say two", "id": "a"})
    assert endings(place.many("--timeout", "50").rows) == {"a": ("completed", "two")}
    assert place.many("--timeout", "60").out == ""


def test_an_api_without_room_is_asked_again(place: Place) -> None:
    place.write({"prompt": "overload once say x"})
    done = place.many()
    (row,) = done.rows
    assert (done.code, row["result"], [one["ended_by"] for one in row["attempts"]]) == (
        0,
        "x",
        ["error", "completed"],
    )
    assert row["cost_micro_usd_all_attempts"] == place.paid_micro_usd == COST_MICRO_USD


def test_only_limits_in_the_way_end_in_124(place: Place) -> None:
    place.write({"prompt": "sleep 30", "timeout": 0.5}, {"prompt": "say x"})
    done = place.many()
    assert (done.code, {row["id"]: row["ended_by"] for row in done.rows}) == (
        124,
        {"line-1": "timeout", "line-2": "completed"},
    )


def test_the_total_budget_ends_a_list_and_a_larger_one_goes_on(place: Place) -> None:
    place.write(*({"prompt": f"say {n}", "id": str(n)} for n in range(6)))
    done = place.many("--jobs", "1", "--max-total-cost", str(COST_MICRO_USD * 2 / 1e6))
    assert (done.code, list(endings(done.rows))) == (124, ["0", "1"])
    assert (
        "tracklog: $0.0090 of $0.0090 are spent; not done: 2, 3, 4, 5; the same call goes on from here\n"
        in done.err
    )
    still = place.many("--max-total-cost", str(COST_MICRO_USD * 2 / 1e6))
    assert (still.code, still.out) == (124, "")
    assert place.many().code == 0
    assert place.starts == Counter({f"say {n}": 1 for n in range(6)})


def test_a_list_from_stdin_needs_a_place_for_its_results(place: Place) -> None:
    lines = b'{"prompt": "say x", "id": "a"}\n'
    assert place.run("--many", "-", stdin=lines).code == 2
    done = place.run("--many", "-", "--results", place.results, stdin=lines)
    assert (done.code, endings(done.rows), place.rows) == (0, {"a": ("completed", "x")}, done.rows)


def test_results_cannot_stand_in_the_list_itself(place: Place) -> None:
    before = place.write({"prompt": "say x"}).read_bytes()
    assert place.many("--results", place.list).code == 2
    assert (place.list.read_bytes(), place.starts) == (before, Counter())


def test_a_client_that_is_not_there_is_told_and_the_next_call_tries_again(place: Place) -> None:
    place.write({"prompt": "say x"})
    done = place.many("--client", "/no/such/client")
    assert (done.code, [row["ended_by"] for row in done.rows], place.starts) == (1, ["crashed"], Counter())
    assert endings(place.many().rows) == {"line-1": ("completed", "x")}


def test_the_second_process_on_the_same_results_is_refused(place: Place) -> None:
    place.write({"prompt": "sleep 20"})
    with place.begin() as first:
        wait_for("a client", lambda: len(place.starts) == 1)
        second = place.many()
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=TIME_LIMIT_S)
    assert (second.code, second.out) == (2, "")
    assert "another process writes" in second.err
    assert place.starts == Counter({"sleep 20": 1})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_is_interrupted_leaves_nobody_running_and_the_next_call_does_the_rest(
    place: Place, number: signal.Signals
) -> None:
    place.write(
        {"prompt": "say fast", "id": "a"},
        {"prompt": "sleep 20 say slow", "id": "b"},
        {"prompt": "say c", "id": "c"},
    )
    with place.begin("--jobs", "1") as first:
        wait_for("two requests", lambda: len(place.noted("requests")) == 2)
        first.send_signal(number)
        out, err = first.communicate(timeout=TIME_LIMIT_S)
    assert (first.returncode, endings([json.loads(line) for line in out.splitlines()])) == (
        130,
        {"a": ("completed", "fast")},
    )
    assert (place.alive, list(endings(place.rows))) == ([], ["a"])
    assert b"not done: b, c" in err
    assert place.many("--timeout", "2").code == 124
    assert [row["id"] for row in place.rows] in (["a", "b", "c"], ["a", "c", "b"])
    assert sum(row["cost_micro_usd_all_attempts"] for row in place.rows) == place.paid_micro_usd


def test_an_answer_that_was_paid_for_but_not_written_down_is_taken_from_the_log(place: Place) -> None:
    place.write({"prompt": "say one", "id": "a"}, {"prompt": "say two", "id": "b"})
    place.many("--jobs", "1")
    first, second = place.results.read_bytes().splitlines(keepends=True)
    place.results.write_bytes(first + second[:50])  # as if we had been killed while we wrote
    done = place.many()
    assert (done.code, endings(done.rows)) == (0, {"b": ("completed", "two")})
    assert place.starts == Counter({"say one": 1, "say two": 1})
    assert sum(row["cost_micro_usd_all_attempts"] for row in place.rows) == place.paid_micro_usd


def test_whoever_empties_the_results_asks_anew(place: Place) -> None:
    place.write({"prompt": "say one"})
    place.many()
    place.results.write_bytes(b"")
    assert place.many().code == 0
    assert place.starts == Counter({"say one": 2})


def test_a_list_whose_tracklog_is_killed_again_and_again_is_answered_once_and_nothing_is_paid_twice(
    place: Place,
) -> None:
    place.write(*({"prompt": f"sleep 0.1 say {n}", "id": str(n)} for n in range(8)))
    for n_wanted in (2, 5):
        with place.begin("--jobs", "3") as killed:
            wait_for("clients", lambda n=n_wanted: len(place.starts) > n)  # type: ignore[misc]
            time.sleep(0.05 * n_wanted)
            killed.kill()
            killed.communicate(timeout=TIME_LIMIT_S)
        wait_for("nobody", lambda: place.alive == [])
    assert place.many("--jobs", "3").code == 0
    assert Counter(row["id"] for row in place.rows) == Counter({str(n): 1 for n in range(8)})
    assert endings(place.rows) == {str(n): ("completed", str(n)) for n in range(8)}
    logs = {log.stem: log.read_text() for log in place.top.glob(".claude/projects/*/*.jsonl")}
    assert {row["session_id"] for row in place.rows} == {
        id for id, text in logs.items() if '"end_turn"' in text
    }
    paid_micro_usd = sum(text.count('"role": "assistant"') for text in logs.values()) * COST_MICRO_USD
    assert sum(row["cost_micro_usd_all_attempts"] for row in place.rows) == paid_micro_usd


def test_when_the_reader_has_gone_nobody_else_is_started_and_who_runs_is_written_down(place: Place) -> None:
    place.write(
        {"prompt": "say one"},
        {"prompt": "sleep 2 say two"},
        {"prompt": "sleep 2 say three"},
        {"prompt": "say four"},
    )
    with place.begin("--jobs", "1") as started:
        assert started.stdout is not None
        assert json.loads(started.stdout.readline())["result"] == "one"
        started.stdout.close()
        assert started.wait(TIME_LIMIT_S) == 1
    # the third may have begun when the second one's result found no reader
    assert (place.alive, [row["result"] for row in place.rows][:2]) == ([], ["one", "two"])
    assert "four" not in [row["result"] for row in place.rows]


def test_the_same_several_times_is_compared(place: Place) -> None:
    done = place.run("write a.txt differ", "--repeat", "3", "--json")
    document = done.json
    assert (done.code, document["schema_version"], [run["id"] for run in document["runs"]]) == (
        0,
        1,
        ["run-1", "run-2", "run-3"],
    )
    comparison = document["comparison"]
    assert [(row["run"], row["group"], row["calls"]) for row in comparison["rows"]] == [
        (1, "A", {"ok": 1}),
        (2, "B", {"ok": 1}),
        (3, "C", {"ok": 1}),
    ]
    assert comparison["cost_micro_usd"] == dict.fromkeys(("min", "median", "max"), 2 * COST_MICRO_USD)
    assert (len(comparison["diffs"]), place.starts) == (2, Counter({"write a.txt differ": 3}))


def test_a_comparison_is_shown_as_a_table_with_the_first_text_and_the_differences(place: Place) -> None:
    done = place.run("say hello \x1b[31m", "--repeat", "2")
    lines = done.out.splitlines()
    assert (done.code, lines[0].split()) == (0, HEAD)
    assert [line.split()[0] for line in lines[1:3]] == ["1", "2"]
    assert lines[-2:] == ["A (run 1, 2):", "hello \\x1b[31m"]


def test_on_a_terminal_running_children_are_shown_and_their_words_are_spelled_out(place: Place) -> None:
    place.write({"prompt": "sleep 4 say done", "id": "\x1b[31mred"})
    words = ("run", "--cwd", place.work, "--many", place.list)
    shown = on_a_terminal(*words, home=place.top, env=place.env)
    assert "0 done · 0 failed · 1 running · 0 left" in shown
    assert "\\x1b[31mred" in shown
    assert "Bash sleep 4" in shown
    assert "\x1b[31m" not in shown


def test_a_child_in_a_worktree_leaves_what_it_changed_and_nothing_else(place: Place) -> None:
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "--allow-empty", "-m", "first")):
        who = ("-c", "user.name=dev", "-c", "user.email=dev@example.com")
        subprocess.run(["git", *who, *words], cwd=place.work, env=place.env, check=True)
    place.write({"prompt": "write a.txt", "id": "changed"}, {"prompt": "say x", "id": "same"})
    done = place.many("--worktree")
    left = {row["id"]: row["worktree"] for row in done.rows}
    assert (done.code, {id: one["kept"] for id, one in left.items()}) == (0, {"changed": True, "same": False})
    assert (Path(left["changed"]["path"]) / "a.txt").read_text() == "x"
    assert (Path(left["same"]["path"]).exists(), (place.work / "a.txt").exists()) == (False, False)
