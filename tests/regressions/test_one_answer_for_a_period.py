"""Three answers to "what did the last 24 hours cost".

The page of sessions and `top --all` added up what sessions had cost since they began, unlabelled, where `usage --since 1d`
asked the ledger for the period; and a day such as `--since 2026-03-02` began at midnight in UTC for `sessions`, `calls`,
`search` and the pages, at local midnight for `usage`. Now a day is a local one everywhere, the money of a period always
comes from the ledger of that period, and a sum over whole sessions says so.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.routing import Route

from tests.views.cli.command import TWO, tracklog
from tests.views.cli.commands.live.test_top import row as board_row
from tests.views.cli.written import PRICE, Log
from tests.views.web.list_pages import facets, got, total
from tests.views.web.read_site import site_over
from tracklog.live.board.counts import SessionUsage
from tracklog.views.cli.commands.live.board_text import BoardLayout, board_lines
from tracklog.views.web.pages.sessions.page import sessions
from tracklog.views.web.server.routes import unguarded_app

TOKYO = {"TZ": "Asia/Tokyo"}
SATURDAY, SUNDAY = (
    "2026-02-28T14:30:00.000Z",
    "2026-02-28T16:30:00.000Z",
)  # in Tokyo 23:30 and 01:30, in UTC one day
ORDERS = [("--since", "2026-03-01", 1), ("--until", "2026-02-28", 2), ("--since", "2026-02-28", 3)]


def home_with_a_night(home: Path) -> Path:
    """A session of two requests before and one after midnight in Tokyo, and one of the days before."""
    log = Log().prompt("Work.").answer("msg_1", "One.").answer("msg_2", "Two.").answer("msg_3", "Three.")
    for line, at in zip(log.lines, (SATURDAY, SATURDAY, SATURDAY, SUNDAY), strict=True):
        line["timestamp"] = at
    log.write_in(home)
    early = Log(TWO).prompt("Earlier.").answer("msg_9", "Long ago.")
    for line in early.lines:
        line["timestamp"] = "2026-02-20T08:00:00.000Z"
    early.write_in(home)
    return home


@pytest.mark.parametrize("is_indexed", [True, False])
@pytest.mark.parametrize(("option", "day", "n"), ORDERS)
def test_sessions_and_usage_spend_the_same_in_a_period_of_local_days(
    tmp_path: Path, option: str, day: str, n: int, *, is_indexed: bool
) -> None:
    home = home_with_a_night(tmp_path)
    if is_indexed:
        assert tracklog("index", home=home, env=TOKYO).code == 0
    n += option == "--until"  # the session of the days before
    usage = tracklog("usage", option, day, "--json", home=home, env=TOKYO).json
    rows = tracklog("sessions", option, day, "--json", home=home, env=TOKYO).json["sessions"]
    assert usage["total"]["cost_micro_usd"] == n * PRICE
    assert sum(row["period_cost_micro_usd"] for row in rows) == n * PRICE
    assert {row["cost_micro_usd"] for row in rows} <= {3 * PRICE, PRICE}  # of the whole session, as ever


def test_without_a_period_a_session_has_no_cost_of_one(tmp_path: Path) -> None:
    rows = tracklog("sessions", "--json", home=home_with_a_night(tmp_path)).json["sessions"]
    assert {row["period_cost_micro_usd"] for row in rows} == {None}


def test_the_list_says_that_its_cost_is_that_of_a_period(tmp_path: Path) -> None:
    home = home_with_a_night(tmp_path)
    head, row = tracklog(
        "sessions", "--since", "2026-03-01", home=home, env=TOKYO | {"COLUMNS": "140"}
    ).out.splitlines()
    assert "period cost" in head
    assert "<$0.0001" in row
    assert "03-01 01:30" in row or "2026-03-01" in row  # local, as the day that was asked for
    assert "period cost" not in tracklog("sessions", home=home, env=TOKYO).out


@pytest.mark.parametrize(("option", "day", "n"), ORDERS)
def test_the_page_of_sessions_spends_what_usage_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, day: str, n: int
) -> None:
    monkeypatch.setenv("TZ", TOKYO["TZ"])
    site = site_over(home_with_a_night(tmp_path / "logs"), tmp_path / "home")
    site.now = lambda: datetime(2026, 3, 4, 12, tzinfo=UTC)
    page = got(
        unguarded_app(site, [Route("/sessions", sessions)]), f"/sessions?{option[2:]}={day}&sort=-cost"
    )
    n += option == "--until"
    assert spent_on(page, "cost in this period") == f"{n * PRICE / 1e6:.6f}"
    assert "<dt>cost</dt>" not in page
    assert "period cost" in page


def test_the_page_of_sessions_counts_months_of_local_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", TOKYO["TZ"])
    site = site_over(home_with_a_night(tmp_path / "logs"), tmp_path / "home")
    site.now = lambda: datetime(2026, 3, 4, 12, tzinfo=UTC)
    app = unguarded_app(site, [Route("/sessions", sessions)])
    march = next(one for one in facets(got(app, "/sessions")) if one.words == "Mar 2026")
    assert (march.n, total(got(app, march.address))) == (1, 1)


def test_a_search_means_the_same_days(tmp_path: Path) -> None:
    home = home_with_a_night(tmp_path)
    for n, words in (
        (1, ("--since", "2026-03-01")),
        (0, ("--until", "2026-02-28")),
        (0, ("until:2026-02-28",)),
    ):
        assert tracklog("search", "Three", *words, "--json", home=home, env=TOKYO).json["total"] == n


def test_the_sum_on_the_board_says_that_it_is_of_whole_sessions() -> None:
    rows = [
        board_row(1)._replace(spending=SessionUsage(1_000_000)),
        board_row(2)._replace(spending=SessionUsage(500_000, is_lower_bound=True)),
    ]
    assert board_lines(rows, BoardLayout(120, 10, 0))[0].plain.endswith("$1.50+ since they began")


def spent_on(page: str, words: str) -> str:
    """The exact dollars of a sum on the page."""
    found = re.search(rf'<dt>{words}</dt><dd><span title="[^"]*?\$([\d.]+)[^"]*">', page)
    assert found is not None, page[:4000]
    return found[1]
