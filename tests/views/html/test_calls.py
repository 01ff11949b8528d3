from __future__ import annotations

from pathlib import Path

from tests.conversation.test_thread_page import NOBODY
from tests.conversation.test_thread_reader import reading_of
from tests.model.lines import Line, attachment, reply, result, use, user
from tracklog.conversation.window import call_detail
from tracklog.views.html.calls import CallView, call_view


def view_of(tmp_path: Path, *lines: Line | bytes, seq: int = 1) -> CallView:
    reading = reading_of(tmp_path, *lines)
    detail = call_detail(NOBODY, reading, seq, 0)
    assert detail is not None
    return call_view(detail, lines=reading.lines)


def test_short_inputs_stand_on_a_line_and_long_ones_in_a_block(tmp_path: Path) -> None:
    view = view_of(
        tmp_path,
        reply(
            "a",
            None,
            "m",
            use("t1", name="Grep", pattern="x", many="y" * 500, lines="a\nb", n=3, deep={"a": [1]}),
        ),
        result("b", "a", "t1", "found"),
    )
    assert [(one.name, one.short) for one in view.given] == [
        ("pattern", "x"),
        ("many", None),
        ("lines", None),
        ("n", "3"),
        ("deep", None),
    ]


def test_a_command_is_a_block_and_its_output_ends_with_its_last_lines(tmp_path: Path) -> None:
    output = "\n".join(f"line {n}" for n in range(100))
    view = view_of(tmp_path, reply("a", None, "m", use("t1", command="make")), result("b", "a", "t1", output))
    assert view.given[0].short is None
    (came,) = view.came
    assert (came.n_hidden, came.seq, came.length) == (60, 2, len(output))
    assert "line 99" in came.html
    assert "line 59" not in came.html


def test_what_a_subagent_brings_back_is_prose(tmp_path: Path) -> None:
    view = view_of(
        tmp_path,
        reply("a", None, "m", use("t1", name="Task", prompt="look")),
        result("b", "a", "t1", "**found**"),
    )
    assert view.came[0].is_prose
    assert "<strong>found</strong>" in view.came[0].html


def test_a_form_that_is_too_long_is_cut_and_says_so_as_other_inputs_do(tmp_path: Path) -> None:
    many = [{"content": "x" * 2_000, "status": "pending"} for _ in range(10)]
    for input in ({"todos": many}, {"plan": "y" * 20_000}):
        name = "TodoWrite" if "todos" in input else "ExitPlanMode"
        view = view_of(tmp_path, reply("a", None, "m", use("t1", name=name, **input)))
        assert view.given[0].n_cut > 3_000
        assert len(view.given[0].html) < 40_000


def test_evidence_and_phases_point_to_their_lines(tmp_path: Path) -> None:
    view = view_of(
        tmp_path,
        user("u", None, "go"),
        reply("a", "u", "m", use("t1", command="ls")),
        result("b", "a", "t1", "bin"),
        seq=2,
    )
    assert [(one.line, one.seq) for one in view.evidence] == [(2, 2), (3, 3)]
    assert [one.what for one in view.phases][:1] == ["asked"]


def test_a_call_without_a_result_has_none(tmp_path: Path) -> None:
    view = view_of(tmp_path, reply("a", None, "m", use("t1", command="ls")))
    assert (view.came, view.verdict) == ([], "lost")


def test_the_hooks_of_a_call_are_told(tmp_path: Path) -> None:
    hook = attachment(
        "h",
        "a",
        "hook_blocking_error",
        hookEvent="PreToolUse",
        hookName="PreToolUse:Bash",
        toolUseID="t1",
        blockingError={"blockingError": "not here", "command": "guard.sh"},
    )
    view = view_of(
        tmp_path,
        reply("a", None, "m", use("t1", command="rm")),
        hook,
        result("b", "h", "t1", "blocked", is_error=True),
    )
    assert [(one.hook_event, one.outcome) for one in view.hooks] == [("PreToolUse", "blocked")]
