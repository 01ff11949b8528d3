"""Many children of real clients: some are killed at random, lists are interrupted, final texts are waited for.

`TRACKLOG_LAB_VERSIONS=all` plays the long way: 200 children in place of 10, 50 last words and 12 lines in place of 10 and 6.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.lab.clients import PLAYS_ALL
from tests.lab.live_stories import shell
from tests.lab.run_child import Place, place_for, wait_until
from tests.lab.run_stories import BYPASS, Story, story
from tests.lab.words import Json, Say, reply
from tracklog.run import Result

pytestmark = pytest.mark.lab
CHILDREN = int(os.environ.get("TRACKLOG_LAB_CHILDREN", "200" if PLAYS_ALL else "10"))
AT_ONCE = 8
LAST_WORDS = 50 if PLAYS_ALL else 10
LINES = 12 if PLAYS_ALL else 6
AT_ONCE_IN_A_LIST = 4
HELD = "until test -e let_go; do sleep 0.1; done"
ENDINGS = {"none": {"completed"}, "client": {"completed", "killed"}, "keeper": {"completed", "crashed"}}


def answers(*works: str, agent: str = "claude") -> Story:
    """A story for one child per command, each child known by its number."""
    told = {f"c{i}": [reply(shell(agent, work)), reply(Say(f"Answer {i}."))] for i, work in enumerate(works)}
    return story("many", told, agent=agent)


@dataclass
class Fate:
    """What was to happen to one child, and its result."""

    n: int
    whom: str  # to kill
    after_s: float
    result: Result | None = None

    @property
    def document(self) -> Json:
        assert self.result is not None
        return self.result.document


def fates(n: int, seed: int) -> list[Fate]:
    """Two in five are killed, at any moment of their lives."""
    chance = random.Random(seed)
    whom = ["none", "none", "none", "client", "keeper"]
    return [Fate(i, whom[i % len(whom)], chance.uniform(0.05, 4.0)) for i in range(n)]


def live(place: Place, fate: Fate) -> None:
    """One child, from its start to its end."""
    child = place.start(f"[c{fate.n}] please work", **BYPASS)
    if fate.whom != "none" and child.wait(fate.after_s) is None and child.pid is not None:
        strike(child.pid, fate.whom)
    fate.result = child.result()


def strike(client: int, whom: str) -> None:
    """Kills the client, or the supervisor above it, if it is still there."""
    try:
        process = psutil.Process(client)
        supervisor = process.parent()
        assert supervisor is not None
        if "--told" in supervisor.cmdline():
            (process if whom == "client" else supervisor).kill()
    except psutil.NoSuchProcess:
        return


def test_many_children_at_once_with_random_kills_give_one_result_each_and_leave_nothing(
    tmp_path: Path,
) -> None:
    staged = fates(CHILDREN, seed=7)
    with place_for(answers(*["sleep 0.3"] * CHILDREN), tmp_path) as place:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda fate: live(place, fate), staged))
        assert (place.processes(), place.leftovers()) == ([], [])
        print(Counter((fate.whom, fate.document["ended_by"]) for fate in staged))
        for fate in staged:
            assert fate.document["ended_by"] in ENDINGS[fate.whom], fate
            its_cost_is_true(place, fate)
        words = place.register()
    assert len({fate.document["session_id"] for fate in staged}) == CHILDREN
    assert Counter(word["what"] for word in words) == {"started": CHILDREN, "ended": CHILDREN}
    assert len({word["run"] for word in words}) == CHILDREN


def its_cost_is_true(place: Place, fate: Fate) -> None:
    """Of one that was not killed, to the last token; of one that was, no more than the API charged."""
    exchanges = [exchange for exchange in place.api.exchanges if exchange.thread == f"c{fate.n}"]
    charged = place.charged_micro_usd(exchanges)
    cost = fate.document["cost_micro_usd"] or 0
    if fate.document["ended_by"] == "completed":
        assert len(exchanges) == 2
        assert cost == pytest.approx(charged, abs=0.5)
        assert fate.document["result"] == f"Answer {fate.n}."
    else:
        assert cost <= charged + 0.5


@dataclass
class Grown:
    """When a log reached which size, as seen by a thread that looks all the time."""

    path: Path
    sizes: list[tuple[float, int]] = field(default_factory=list)
    _is_over: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Looks until it is told to stop."""
        while not self._is_over.wait(0.001):
            size = self.path.stat().st_size if self.path.exists() else 0
            if not self.sizes or size != self.sizes[-1][1]:
                self.sizes.append((time.time() * 1000, size))

    def stop(self) -> None:
        """Ends the watch."""
        self._is_over.set()

    def reached_ms(self, n_bytes: int) -> float:
        """When so much was there."""
        return next(at_ms for at_ms, size in self.sizes if size >= n_bytes)


def end_of_text(log: Path, text: str) -> int:
    """How many bytes there are up to the end of the line that holds the final text."""
    n_bytes = 0
    for line in log.read_bytes().splitlines(keepends=True):
        n_bytes += len(line)
        document = json.loads(line)
        if document.get("type") == "assistant" and text in json.dumps(
            document["message"], ensure_ascii=False
        ):
            return n_bytes
    raise AssertionError(f"{text} is not in the log")


def stop_to_text(place: Place, n: int) -> tuple[float, float]:
    """How long after the Stop payload the final text was in the log, and the last line of all; negative: before."""
    child = place.start(f"[c{n}] please work", **BYPASS)
    assert child.transcript_path is not None
    grown = Grown(child.transcript_path)
    watch = threading.Thread(target=grown.watch, daemon=True)
    watch.start()
    stops = [one.at_ms for one in child.events() if (one.source, one.what) == ("hook", "Stop")]
    result = child.result()
    grown.stop()
    watch.join()
    assert (result.ended_by, result.text) == ("completed", f"Answer {n}.")
    there_ms = grown.reached_ms(end_of_text(child.transcript_path, f"Answer {n}."))
    return there_ms - stops[-1], grown.sizes[-1][0] - stops[-1]


@pytest.mark.soak
def test_the_final_text_is_whole_each_time_and_its_delay_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with place_for(answers(*["true"] * LAST_WORDS), tmp_path) as place:
        delays = [stop_to_text(place, n) for n in range(LAST_WORDS)]
    texts, lasts = (sorted(column) for column in zip(*delays, strict=True))
    with capsys.disabled():
        print(
            f"\nStop payload to final text in the log: {_spread(texts)}; to the last line: {_spread(lasts)}"
        )
    assert max(texts) < 2_000


def _spread(values: list[float]) -> str:
    return f"min {values[0]:.0f}, median {statistics.median(values):.0f}, max {values[-1]:.0f} ms (n={len(values)})"


@pytest.mark.parametrize(
    ("number", "agent"),
    [
        pytest.param(signal.SIGINT, "claude", id="SIGINT-claude"),
        pytest.param(signal.SIGKILL, "codex", id="SIGKILL-codex"),
        pytest.param(signal.SIGKILL, "claude", id="SIGKILL-claude", marks=pytest.mark.soak),
        pytest.param(signal.SIGINT, "codex", id="SIGINT-codex", marks=pytest.mark.soak),
    ],
)
def test_a_list_that_was_cut_off_goes_on_where_it_was_and_every_line_is_answered_once(
    number: signal.Signals, agent: str, tmp_path: Path
) -> None:
    quick = ["true"] * AT_ONCE_IN_A_LIST
    with place_for(answers(*quick, *[HELD] * (LINES - len(quick)), agent=agent), tmp_path) as place:
        list_file = place.home.root / "list.jsonl"
        lines = ({"id": f"line {n}", "prompt": f"[c{n}] please work"} for n in range(LINES))
        list_file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        results = list_file.with_name("list.results.jsonl")
        first = many(place, list_file)
        wait_until(lambda: len(rows_of(results)) >= 2, "no answers came", within_s=60)
        first.send_signal(number)
        out, err = first.communicate(timeout=60)
        assert first.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL), err.decode()
        place.becomes_clean()
        before = rows_of(results)
        assert 2 <= len(before) <= AT_ONCE_IN_A_LIST
        (place.home.cwd / "let_go").touch()
        second = many(place, list_file)
        out, err = second.communicate(timeout=120)
        assert second.returncode == 0, err.decode()
        rows = rows_of(results)
        assert rows[: len(before)] == before
        assert sorted(row["id"] for row in rows) == sorted(f"line {n}" for n in range(LINES))
        assert {row["ended_by"] for row in rows} == {"completed"}
        assert {row["id"]: row["result"] for row in rows} == told_by(place, rows)
        assert [json.loads(line)["id"] for line in out.splitlines()] == [
            row["id"] for row in rows[len(before) :]
        ]
        spent = sum(row["cost_micro_usd_all_attempts"] for row in rows)
        assert spent <= place.charged_micro_usd(e for e in place.api.exchanges if e.meant) + LINES
        assert (place.processes(), place.leftovers()) == ([], [])


def told_by(place: Place, rows: list[Json]) -> dict[str, str]:
    """What each line was answered: what a line was asked again, the script answers in the same words for all."""
    asked = Counter(exchange.thread for exchange in place.api.exchanges)
    known = {f"line {n}": f"Answer {n}." for n in range(LINES)}
    closing = {row["id"]: row["result"] for row in rows if asked[row["id"].replace("line ", "c")] > 2}
    return {**known, **closing}


def many(place: Place, list_file: Path) -> subprocess.Popen[bytes]:
    """Does the list, some lines at a time."""
    jobs = ("--jobs", str(AT_ONCE_IN_A_LIST))
    agent = ("--agent", place.agent, "--permission-mode", "bypassPermissions")
    return place.command("run", "--many", list_file, *jobs, *agent)


def rows_of(results: Path) -> list[Json]:
    """The whole lines of a file of results that are answers."""
    if not results.exists():
        return []
    whole = results.read_bytes().rpartition(b"\n")[0]
    return [row for line in whole.splitlines() if "ended_by" in (row := json.loads(line))]
