"""The foot tells the truth about the index."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from starlette.routing import Route

from tests.views.web.asking import app_of, ask
from tracklog.app.index.background import IndexStatus
from tracklog.views.web.frame import FootWords, foot, foot_words

READ = IndexStatus(state="fresh", files=349, files_known=349, passes=3)


def status(**values: object) -> IndexStatus:
    from dataclasses import replace

    return replace(READ, **values)  # type: ignore[arg-type]  # the tests name fields of it


def shown(one: IndexStatus, *, waiting: int = 0) -> str:
    live = SimpleNamespace(waiting=lambda: waiting)
    site = SimpleNamespace(indexing=SimpleNamespace(status=lambda: one), live=live)
    answer = ask(app_of([Route("/_/foot", foot)], site), "GET", "/_/foot")
    assert answer.status == 200
    return answer.text


def test_an_index_that_has_read_everything_is_up_to_date() -> None:
    assert foot_words(READ) == FootWords("calm", "indexed 349/349 files", "up to date")


@pytest.mark.parametrize(
    ("behind_ms", "words"),
    [
        (999, "up to date"),
        (1_000, "1 s behind"),
        (59_999, "59 s behind"),
        (60_000, "1 min behind"),
        (7_200_000, "2 h behind"),
        (172_800_000, "2 days behind"),
    ],
)
def test_what_is_not_read_yet_is_so_far_behind(behind_ms: int, words: str) -> None:
    assert foot_words(status(behind_ms=behind_ms)).how_far == words


def test_it_says_how_many_wait_for_the_person() -> None:
    assert 'data-waiting="2"' in shown(READ, waiting=2)


def test_a_first_reading_shows_how_many_bytes_it_has_read() -> None:
    first = IndexStatus(
        state="reading", files=120, files_known=349, bytes_done=90_000_000, bytes_total=275_000_000
    )
    assert foot_words(first) == FootWords(
        "calm", "indexing, newest first · 120/349 files", "90 MB of 275 MB", 90_000_000, 275_000_000
    )
    assert '<progress value="90000000" max="275000000"' in shown(first)


def test_a_first_reading_says_what_it_does_after_the_bytes() -> None:
    first = IndexStatus(
        state="reading", bytes_done=2_500_000_000, bytes_total=2_400_000_000, stage="settling"
    )
    assert foot_words(first) == FootWords(
        "calm", "putting sessions together", "2.4 GB of 2.4 GB", 2_400_000_000, 2_400_000_000
    )


def test_a_first_reading_that_has_found_nothing_yet_looks_for_logs() -> None:
    assert foot_words(IndexStatus(state="reading")) == FootWords("calm", "looking for logs")
    assert foot_words(IndexStatus()) == FootWords("calm", "nothing indexed yet")


def test_a_later_reading_keeps_the_count_and_claims_nothing() -> None:
    later = status(state="reading", bytes_done=5, bytes_total=10)
    assert foot_words(later) == FootWords("calm", "indexed 349/349 files")


def test_after_a_failed_reading_nothing_is_up_to_date() -> None:
    failed = status(state="failed", why="the disk is\nfull")
    assert foot_words(failed) == FootWords(
        "bad",
        "the last reading failed, it is tried again · indexed 349/349 files",
        why="the disk is full",
    )
    page = shown(failed)
    assert "up to date" not in page
    assert 'class="foot foot-bad"' in page
    assert '<span class="mark m-bad" title="failed">failed</span>' in page
    assert '<a class="foot-problems foot-part" href="/doctor">what to do</a>' in page


def test_while_it_is_tried_again_the_failure_stays_said() -> None:
    again = foot_words(status(state="reading", why="the disk is full"))
    assert (again.tone, again.how_far, again.why) == (
        "warn",
        "",
        "the reading before failed: the disk is full",
    )


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("fresh", "no logs found"),
        ("reading", "nothing indexed yet"),
        ("busy", "another process writes the index · nothing indexed yet"),
    ],
)
def test_nothing_is_not_counted(state: str, words: str) -> None:
    assert foot_words(status(state=state, files=0, files_known=0)).what == words


def test_an_index_that_another_process_writes_is_said_to_be_behind() -> None:
    busy = status(state="busy", behind_ms=4_000)
    assert foot_words(busy) == FootWords(
        "warn", "another process writes the index · indexed 349/349 files", "4 s behind"
    )


def test_problems_are_counted_and_lead_to_the_doctor() -> None:
    assert '<a class="foot-problems foot-part" href="/doctor">1 problem</a>' in shown(status(problems=["x"]))
    many = shown(status(problems=["x"] * 1_200))
    assert '<a class="foot-problems foot-part" href="/doctor">1,200 problems</a>' in many
    assert "/doctor" not in shown(READ)


def test_a_long_reason_is_cut_and_a_hostile_one_is_text() -> None:
    hostile = status(state="failed", why='"><script>alert(1)</script>' + "x" * 500)
    assert len(foot_words(hostile).why) == 160
    assert "<script" not in shown(hostile)


def test_only_a_foot_that_grows_old_asks_to_be_renewed() -> None:
    assert " data-moving>" not in shown(READ)
    assert " data-moving>" in shown(status(behind_ms=1))
    assert " data-moving>" in shown(status(state="failed"))
