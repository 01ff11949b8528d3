"""The status line said `today $0.00` although $1.51 was spent.

With `tracklog serve` open, the process beside it read and counted what was new and did not write what the status line
shows. The index then knew all the logs, so `tracklog index` said "Nothing is new." and left it as it was.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.views.cli.command import Answer, tracklog, with_old_folders
from tests.views.cli.written import PRICE, Log
from tests.views.web.live_site import Heard, soon
from tracklog.agents.discovery import roots_at
from tracklog.app.index.background import Indexing
from tracklog.app.index.update import update_index
from tracklog.app.talk import QUIET
from tracklog.home import Home, held_lock
from tracklog.index import counting
from tracklog.live.watch.index_sync import LEAST_S, IndexSync
from tracklog.sources.log_file import Root

LIMIT_S = 30.0


class LogOfToday(Log):
    """A transcript whose lines were written just now."""

    def at(self, n: int) -> str:  # noqa: ARG002 (all at once)
        return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}.000Z"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A log with one request of today, which the index and the status line know."""
    log = LogOfToday().prompt("Fix the test.").answer("msg_1", "Done.")
    log.write_in(tmp_path)
    with_old_folders(tmp_path)
    index(tmp_path)
    assert today(tmp_path) == PRICE
    return log


def index(home: Path) -> Answer:
    answer = tracklog("index", "--home", ours(home), "--root", home / ".claude", home=home)
    assert (answer.code, answer.err) == (0, "")
    return answer


def ours(home: Path) -> Path:
    return home / "own"


def roots(home: Path) -> list[Root]:
    return roots_at(home / ".claude")


def today(home: Path) -> int | None:
    """What the status line shows of today, in micro-dollars."""
    shown = json.loads((ours(home) / "statusline.json").read_bytes())
    cost: int = shown["cost_micro_usd"]
    return cost


def grow(log: Log, home: Path, id: str = "msg_2") -> None:
    log.answer(id, "More.").write_in(home)


def only_rows(home: Path) -> None:
    """Read what is new, and count nothing."""
    assert tracklog("calls", "--home", ours(home), "--root", home / ".claude", home=home).code == 0


def is_quiet(answer: Answer) -> bool:
    return answer.out.startswith("Nothing is new.\n")


def test_the_process_beside_the_server_writes_what_today_cost(log: Log, tmp_path: Path) -> None:
    kept = Indexing(Home(ours(tmp_path)), roots(tmp_path), Heard())
    kept.start()
    try:
        soon(lambda: kept.status().state == "fresh")
        grow(log, tmp_path)
        kept.nudge()
        soon(lambda: kept.status().passes == 2)
        assert today(tmp_path) == 2 * PRICE
    finally:
        kept.close()
    assert is_quiet(index(tmp_path))
    assert today(tmp_path) == 2 * PRICE


def test_the_sync_of_a_watch_writes_what_today_cost(log: Log, tmp_path: Path) -> None:
    now = 1000.0
    sync = IndexSync(Home(ours(tmp_path)), roots(tmp_path), clock=lambda: now)
    grow(log, tmp_path)
    now += LEAST_S
    sync.step(1)
    assert sync._running is not None
    assert sync._running.wait(LIMIT_S) == 0
    assert today(tmp_path) == 2 * PRICE


def test_what_was_read_and_not_counted_is_counted_by_an_index_that_finds_nothing_new(
    log: Log, tmp_path: Path
) -> None:
    grow(log, tmp_path)
    only_rows(tmp_path)
    assert today(tmp_path) == PRICE
    assert is_quiet(index(tmp_path))
    assert today(tmp_path) == 2 * PRICE


def test_what_was_read_and_not_counted_is_counted_beside_the_server(log: Log, tmp_path: Path) -> None:
    grow(log, tmp_path)
    only_rows(tmp_path)
    kept = Indexing(Home(ours(tmp_path)), roots(tmp_path), Heard())
    kept.start()
    try:
        soon(lambda: kept.status().state == "fresh")
    finally:
        kept.close()
    assert today(tmp_path) == 2 * PRICE


@pytest.mark.parametrize("repairing", ["index", "usage"])
def test_killed_between_ledger_and_status_line_the_next_command_makes_up_for_it(
    log: Log, tmp_path: Path, repairing: str
) -> None:
    grow(log, tmp_path)
    killed_before_the_status_line(lambda: update_index(Home(ours(tmp_path)), roots(tmp_path), talk=QUIET))
    assert today(tmp_path) == PRICE
    asked = (repairing, "--home", ours(tmp_path), "--root", tmp_path / ".claude")
    assert tracklog(*asked, home=tmp_path).err == ""
    assert today(tmp_path) == 2 * PRICE


def killed_before_the_status_line(work: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            counting.write_statusline = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
            work()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def test_other_prices_and_a_status_line_that_is_gone_are_noticed(log: Log, tmp_path: Path) -> None:
    (ours(tmp_path) / "statusline.json").unlink()
    assert is_quiet(index(tmp_path))
    assert today(tmp_path) == PRICE
    (ours(tmp_path) / "prices.toml").write_text(
        '[[price]]\nmodel = "claude-opus-4-6"\ninput = 10\noutput = 50\ncache_read = 1\ncache_write = 12.5\n'
    )
    assert is_quiet(index(tmp_path))
    assert today(tmp_path) == 2 * PRICE


def test_whoever_may_not_write_says_that_nothing_is_new_as_before(log: Log, tmp_path: Path) -> None:
    grow(log, tmp_path)
    only_rows(tmp_path)
    with held_lock(Home(ours(tmp_path))):
        assert is_quiet(index(tmp_path))
    (ours(tmp_path) / "prices.toml").write_text("no = [prices")
    assert is_quiet(index(tmp_path))
    assert today(tmp_path) == PRICE


def test_an_index_that_is_counted_is_not_written_again(log: Log, tmp_path: Path) -> None:
    left = ours(tmp_path) / "statusline.json"
    before = left.stat()
    time.sleep(0.01)
    assert is_quiet(index(tmp_path))
    assert (left.stat().st_ino, left.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
