from __future__ import annotations

from pathlib import Path

from tests.conversation.test_session_finding import lines_of
from tests.model.lines import user
from tests.search.test_searching import write_log
from tracklog.views.web.pages.session.lines import found


def test_the_find_bar_is_told_which_lines_hold_the_words_and_how_far_that_goes(tmp_path: Path) -> None:
    texts = ("word word", "other", "Word")
    lines = lines_of(write_log(tmp_path, *(user(f"u{n}", None, text) for n, text in enumerate(texts))))
    assert found(lines, "word") == {"n": 3, "hits": [1, 3], "counts": [2, 1], "to": 3, "all": True}
    assert found(lines, "word", start=2) == {"n": 3, "hits": [3], "counts": [1], "to": 3, "all": True}
    assert found(lines, "word", start=-5)["hits"] == [1, 3]
    assert found(lines, "") == {"n": 3, "hits": [], "counts": [], "to": 3, "all": True}
