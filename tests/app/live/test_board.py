from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.live.live_home import ONE, TWO, LiveHome
from tests.test_ask_hook import ASKED, asking, run_folder
from tests.views.web.live_site import Heard, counted, live_site, soon
from tracklog.app.live import board
from tracklog.app.live.board import Appends, BoardShot, Live
from tracklog.app.live.event_hub import Hub
from tracklog.app.live.site import Site
from tracklog.views.web.pages.board.rows import groups_of


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def of(session: str, lines: int, thread: str = "main") -> dict[str, Any]:
    return {"agent": "claude", "session": session, "thread": thread, "lines": lines}


def test_before_the_first_look_nothing_is_known_and_that_is_said(home: LiveHome) -> None:
    with live_site(home) as site:
        fresh = Live(home.roots, site.home, site.prices(), Hub())
        assert (fresh.snapshot(), fresh.waiting()) == (BoardShot(), 0)
        assert site.live.snapshot().is_ready


def test_a_snapshot_has_the_rows_with_what_they_cost(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("A.")
    with live_site(home) as site:
        (row,) = counted(site).rows
        assert (row.id, row.spending.cost_micro_usd, row.problem) == (ONE, 175, None)


def test_a_line_is_told_when_it_comes(home: LiveHome) -> None:
    home.prompt("one")
    with live_site(home, hub := Heard()) as site:
        counted(site)
        home.reply("A.")
        soon(lambda: hub.named("append"))
        assert hub.named("append") == [of(ONE, 1)]


def test_a_new_session_is_told_with_all_its_lines(home: LiveHome) -> None:
    with live_site(home, hub := Heard()):
        home.prompt("one", session=TWO)
        soon(lambda: hub.named("append"))
        assert hub.named("append")[0] == of(TWO, 1)


def test_what_is_new_on_the_board_is_told_and_a_ticking_clock_is_not(
    home: LiveHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "_MINOR_S", 0.2)
    home.prompt("one")
    home.register(os.getpid(), "busy")
    with live_site(home, hub := Heard()) as site:
        counted(site)
        soon(lambda: is_quiet(hub, site, for_s=1.5))
        home.register(os.getpid(), "waiting", waitingFor="permission prompt")
        soon(lambda: site.live.waiting() == 1)
        assert hub.named("board")[-1] == {"version": site.live.snapshot().version, "waiting": 1}


def is_quiet(hub: Heard, site: Site, *, for_s: float) -> bool:
    """Whether nothing is told for so long; a clock would be told every second."""
    before, version = len(hub.told), site.live.snapshot().version
    time.sleep(for_s)
    return (len(hub.told), site.live.snapshot().version) == (before, version)


def test_a_log_that_was_replaced_is_told(home: LiveHome) -> None:
    for n in range(3):
        home.prompt(f"prompt {n}")
    with live_site(home, hub := Heard()):
        first = home.log().read_bytes().splitlines(keepends=True)[0]
        home.log().write_bytes(first)
        soon(lambda: hub.named("rewritten"))
        assert hub.named("rewritten")[0] == {"agent": "claude", "session": ONE, "thread": "main"}


class _Breaking(Heard):
    """A hub that breaks once, the second time something is told."""

    def publish(self, name: str, data: Any) -> None:
        super().publish(name, data)
        if len(self.told) == 2:
            raise RuntimeError("no more of this")


def test_a_watch_that_fails_is_shown_and_begun_again(home: LiveHome) -> None:
    home.prompt("one")
    with live_site(home, hub := _Breaking()) as site:
        soon(lambda: len(hub.told) == 1)
        home.reply("A.")
        soon(lambda: site.live.snapshot().problems)
        shot = site.live.snapshot()
        words = "the watch over the logs failed, and is begun again: RuntimeError('no more of this')"
        assert (shot.problems, [row.id for row in shot.rows]) == ((words,), [ONE])
        soon(lambda: not site.live.snapshot().problems)
        home.reply("B.")
        soon(lambda: hub.named("append")[-1] == of(ONE, 1))


def test_who_makes_the_index_is_told_that_logs_grow(home: LiveHome) -> None:
    with live_site(home) as site:
        grown: list[int] = []
        site.live.on_growth = lambda: grown.append(1)
        home.prompt("one")
        soon(lambda: grown)


def test_who_makes_the_index_is_told_that_a_log_became_shorter(home: LiveHome) -> None:
    for n in range(3):
        home.prompt(f"prompt {n}")
    with live_site(home, hub := Heard()) as site:
        replaced: list[int] = []
        site.live.on_growth = lambda: replaced.append(len(hub.named("rewritten")))
        home.log().write_bytes(home.log().read_bytes().splitlines(keepends=True)[0])
        soon(lambda: hub.named("rewritten"))
        soon(lambda: 1 in replaced, within_s=2)  # at once, and not only when its state changes


def test_a_question_that_can_be_answered_here_is_on_the_board(home: LiveHome) -> None:
    home.prompt("one")
    with (
        live_site(home, hub := Heard()) as site,
        asking(run_folder(home.ours), {**ASKED, "session_id": ONE}) as hook,
    ):
        id = hook.question().stem
        soon(lambda: site.live.waiting() == 1)
        (ask,) = site.live.snapshot().rows[0].permission_requests
        assert (ask.id, ask.session, hub.named("board")[-1]["waiting"]) == (id, ONE, 1)
        still_works = [
            row._replace(state=replace(row.state, state="working")) for row in site.live.snapshot().rows
        ]
        shot = site.live.snapshot()._replace(rows=tuple(still_works))
    assert (shot.waiting, [group.n for group in groups_of(shot, shows_all=True)]) == (1, [1, 0, 0])


class _Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_lines_of_one_thread_are_told_at_once_and_then_ten_times_a_second() -> None:
    hub, clock = Heard(), _Clock()
    appends = Appends(hub, clock=clock)
    one, other = ("claude", "s", "main"), ("claude", "s", "a1")
    told: list[tuple[int, str, int]] = []
    for n in range(11):  # a line each 40 ms
        appends.add({one: 1, **({other: 2} if n == 5 else {})})
        told += [(n, data["thread"], data["lines"]) for data in hub.named("append")[len(told) :]]
        clock.at += 0.04
    assert told == [(0, "main", 1), (3, "main", 3), (5, "a1", 2), (6, "main", 3), (9, "main", 3)]
    assert appends.due_in(0.2) == pytest.approx(0.02)
    clock.at += 0.1
    appends.add({})
    assert hub.named("append")[-1] == {"agent": "claude", "session": "s", "thread": "main", "lines": 1}
    assert appends.due_in(0.2) == 0.2


def test_a_root_that_cannot_be_looked_into_is_said(home: LiveHome) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may look into everything")
    (home.path / "projects").chmod(0)
    try:
        with live_site(home) as site:
            assert site.live.snapshot().problems != ()
    finally:
        (home.path / "projects").chmod(0o700)
