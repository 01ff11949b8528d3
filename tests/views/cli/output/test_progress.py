from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import on_a_terminal, tracklog, transcript_in, user_line, write
from tracklog.views.cli.output.drawing import PolledProgress


@pytest.mark.parametrize(("words", "doing"), [("doctor", "reading "), ("verify", "verifying ")])
def test_long_work_shows_a_bar_with_its_rate_on_a_terminal_and_nothing_in_a_pipe(
    tmp_path: Path, words: str, doing: str
) -> None:
    write(transcript_in(tmp_path), user_line("x" * 1000) * 20_000)
    shown = on_a_terminal(words, home=tmp_path)
    assert f"{doing}" in shown
    assert "/25.7 MB" in shown
    answer = tracklog(words, home=tmp_path)
    assert (answer.code, answer.err, "━" in answer.out) == (0, "", False)


def test_the_bar_asks_how_far_the_work_is() -> None:
    done = 100
    with PolledProgress("reading", 1000, done=lambda: done) as bar:
        bar.refresh()
        assert [(task.total, task.completed) for task in bar.tasks] == [(1000, 100)]
        done = 2000  # more than was announced: a compressed log holds more than its size
        bar.refresh()
        assert [(task.total, task.completed) for task in bar.tasks] == [(1000, 1000)]
