from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from tests.conversation.test_thread_page import NOBODY, TALK
from tests.conversation.test_thread_reader import reading_of
from tests.model.lines import Line, at, reply, result, use, user
from tracklog.clock import moment_ms
from tracklog.conversation.branches import OpenedTurn, VisibleBranch
from tracklog.conversation.window import window
from tracklog.model.states import Life
from tracklog.views.html.rows import ConversationRowView, row_views


def views_of(tmp_path: Path, *lines: Line | bytes) -> list[ConversationRowView]:
    reading = reading_of(tmp_path, *lines)
    return row_views(window(NOBODY, reading, 1, 99), lines=reading.lines)


def test_a_step_says_in_one_line_what_it_was(tmp_path: Path) -> None:
    views = views_of(tmp_path, *TALK)
    assert [(view.id, view.kind, view.word, view.line, view.verdict) for view in views] == [
        ("r1", "prompt", "You", "do it", None),
        ("r2", "call", "Bash", "ls", "ok"),
        ("r3", "call", "Bash", "false", "error"),
        ("r4", "result", "result", "ok · bin", None),
        ("r5", "result", "result", "error · it failed", None),
        ("r6", "answer", "claude-x", "Done.", None),
        ("r7", "prompt", "You", "more", None),
        ("r8", "call", "Read", "/a", "lost"),
    ]
    assert (views[2].reason, views[1].reason) == ("it failed", "")


def test_a_duration_from_the_times_of_lines_says_so(tmp_path: Path) -> None:
    views = views_of(tmp_path, *TALK)
    assert "inferred" in (views[1].took or "")
    assert "–" in (views[7].took or "")


def test_a_call_that_runs_counts_from_its_beginning(tmp_path: Path) -> None:
    alive = NOBODY._replace(life=Life(is_alive=True))
    reading = reading_of(tmp_path, reply("a", None, "m", use("t1", command="make"), timestamp=at(7)))
    (view,) = row_views(window(alive, reading, 1, 99), lines=reading.lines)
    assert (view.verdict, view.took) == (
        "running",
        f'<span data-since="{moment_ms(at(7))}" title="it runs">…</span>',
    )


def test_an_answer_is_rendered_and_a_prompt_is_shown_as_it_was_typed(tmp_path: Path) -> None:
    prompt, answer = views_of(
        tmp_path, user("a", None, "**no** markup <b>"), reply("b", "a", "m", "**bold** <script>x</script>")
    )
    assert (prompt.body, prompt.text) == (None, "**no** markup <b>")
    assert isinstance(answer.body, Markup)
    assert "<strong>bold</strong>" in answer.body
    assert "<script" not in answer.body


def test_a_call_whose_result_was_not_read_so_far_is_pending(tmp_path: Path) -> None:
    lines = [reply("a", None, "m", use("t1", command="ls")), *(user(f"u{n}", None, "x") for n in range(1200))]
    assert views_of(tmp_path, *lines)[0].verdict == "pending"


def test_what_a_name_hides_is_shown(tmp_path: Path) -> None:
    view = views_of(tmp_path, reply("a", None, "m", use("t1", name="Ba\u202esh", command="l\0s")))[0]
    assert "\u202e" not in view.word
    assert "\0" not in view.line


def test_rows_of_one_line_have_names_of_their_own(tmp_path: Path) -> None:
    views = views_of(tmp_path, reply("a", None, "m", "First.", use("t1", command="a")))
    assert [view.id for view in views] == ["r1", "r1.1"]


def test_what_is_left_or_quiet_or_bad_is_told_by_a_class(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, *TALK, b"{torn")
    views = row_views(
        window(NOBODY, reading, 1, 99, seen=VisibleBranch([OpenedTurn(1, 1, False, 1), OpenedTurn(7, 2)])),
        lines=reading.lines,
    )
    classes = {view.id: view.classes for view in views}
    assert classes["r1"] == "k-prompt is-left left-head"
    assert classes["r4"] == "k-result is-quiet is-left"
    assert classes["r2"] == "k-call b-first is-left"
    assert classes["r9"] == "k-broken is-bad"


def test_lines_added_and_removed_come_from_the_patch_of_the_result(tmp_path: Path) -> None:
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c", " d"]}]
    views = views_of(
        tmp_path,
        reply("a", None, "m", use("t1", name="Edit", file_path="/x", old_string="a", new_string="b\nc")),
        result("b", "a", "t1", "done", toolUseResult={"structuredPatch": patch}, timestamp=at(1)),
    )
    assert (views[0].added, views[0].removed) == (2, 1)


def test_what_a_terminal_was_told_is_no_part_of_a_line(tmp_path: Path) -> None:
    command = "<command-name>/context</command-name>\n<command-message>context</command-message>\n<command-args></command-args>"
    printed = "<local-command-stdout>\x1b[31mred\x1b[39m words\nmore</local-command-stdout>"
    views = views_of(
        tmp_path,
        user("a", None, command),
        user("b", "a", printed),
        reply("c", "b", "m", use("t1", command="make")),
        result("d", "c", "t1", "\x1b[1mit failed\x1b[0m\r", is_error=True, timestamp=at(1)),
        user("e", "d", "turn \u202earound\x1b[2J"),
    )
    [said] = [view for view in views if view.kind == "printed"]
    assert said.line == "red words"
    assert 'class="' in (said.body or "")
    assert [view.reason for view in views if view.kind == "call"] == ["it failed"]
    [prompt] = [view for view in views if view.id == "r5"]
    assert prompt.text == "turn ⟨U+202E⟩around␛[2J"


def test_an_edit_that_was_refused_counts_no_lines(tmp_path: Path) -> None:
    edit = use("t1", name="MultiEdit", file_path="/x", edits=[{"old_string": "a", "new_string": "b"}])
    refused = result(
        "b", "a", "t1", "String to replace not found", is_error=True, toolUseResult={"filePath": "/x"}
    )
    (view, *_) = views_of(tmp_path, reply("a", None, "m", edit), refused)
    assert (view.verdict, view.added, view.removed) == ("error", None, None)
