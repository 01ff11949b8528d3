from __future__ import annotations

import os
from pathlib import Path

from tests.live.live_home import ONE, TWO, LiveHome
from tests.views.cli.command import tracklog
from tracklog.live.board.board import BoardRow
from tracklog.live.board.counts import SessionUsage
from tracklog.model.states import LiveState, State
from tracklog.views.cli.commands.live.board_text import BoardLayout, board_lines
from tracklog.views.cli.commands.live.top import layout_after

NOW_MS = 1_800_000_000_000


def row(
    n: int, state: State = "working", *, doing: str | None = "thinking", project: str = "app"
) -> BoardRow:
    return BoardRow(
        id=f"{n:08d}-aaaa-4aaa-8aaa-111111111111",
        agent="claude",
        state=LiveState(
            state=state,
            waiting_for="permission" if state == "waiting" else None,
            doing=doing,
            since_ms=NOW_MS - n * 61_000,
            evidence=["log line 3"],
        ),
        project=project,
        cwd=f"/work/{project}",
        title=None,
        model="claude-opus-4-5-20251101",
        spending=SessionUsage(1_230_000, False, 45_600, 50_000, 200_000),
        subagents=n % 3,
        pending=[],
        last_words="I look at the tests.",
        last_prompt="Fix the tests.",
        last_ms=NOW_MS,
        path="/logs/one.jsonl",
    )


def shown(
    rows: list[BoardRow], *, height: int = 24, selected: str | None = None, is_open: bool = False
) -> list[str]:
    look = BoardLayout(80, height, NOW_MS, selected=selected, is_open=is_open)
    return [line.plain.rstrip() for line in board_lines(rows, look)]


def test_the_board_fills_the_screen_and_no_line_is_wider_than_it() -> None:
    rows = [row(n, "waiting" if n < 2 else "working", doing="Bash: " + "x" * 300) for n in range(40)]
    for width, height in ((80, 24), (160, 50), (40, 10), (20, 5)):
        lines = board_lines(rows, BoardLayout(width, height, NOW_MS))
        assert len(lines) == height
        assert max(line.cell_len for line in lines) <= width


def test_at_80_columns_the_most_important_columns_are_there() -> None:
    lines = shown([row(1, "waiting", doing="Bash: rm -r build"), row(2)])
    assert lines[0] == "tracklog top  1 needs you · 1 working · 0 idle · $2.46 since they began"
    assert lines[2].split() == ["state", "since", "project", "doing", "cost", "ctx", "agents", "tokens"]
    assert lines[3].split()[:6] == ["!", "permission", "1m", "app", "Bash:", "rm"]


def test_an_empty_board_says_so() -> None:
    assert shown([], height=6)[2] == "Nothing runs."


def test_what_a_session_says_cannot_steer_the_terminal() -> None:
    hostile = row(1, doing="a\x1b[2Jb\u202ec", project="\x07p")
    text = "\n".join(shown([hostile], selected=hostile.id, is_open=True))
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_the_chosen_one_is_in_sight_and_opened_tells_all() -> None:
    rows = [row(n, project=f"app{n}") for n in range(60)]
    assert any(" app55 " in line for line in shown(rows, selected=rows[55].id))
    assert not any(" app55 " in line for line in shown(rows, selected=rows[0].id))
    opened = "\n".join(shown(rows, selected=rows[55].id, is_open=True))
    assert rows[55].id in opened
    assert "because  log line 3" in opened


def test_keys_choose_sort_filter_and_open() -> None:
    rows = [row(n) for n in range(3)]
    look = BoardLayout(80, 24, NOW_MS)
    look = layout_after(look, "down", rows)
    assert look.selected == rows[0].id
    look = layout_after(layout_after(look, "down", rows), "down", rows)
    assert look.selected == rows[2].id
    assert layout_after(look, "down", rows).selected == rows[2].id
    assert layout_after(look, "up", rows).selected == rows[1].id
    assert layout_after(look, "s", rows).sort == "cost"
    assert layout_after(look, "enter", rows).is_open
    typing = layout_after(look, "/", rows)
    for key in ("a", "q", "backspace", "enter"):
        typing = layout_after(typing, key, rows)
    assert (typing.filter, typing.is_typing) == ("a", False)
    assert layout_after(typing, "escape", rows).filter == ""


def test_once_as_json_has_the_promised_shape(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("fix it")
    home.call("t1", "Bash", command="npm test")
    home.register(os.getpid(), "waiting", waitingFor="permission prompt")
    home.prompt("done?", session=TWO)
    home.reply("Yes.", session=TWO)
    answer = tracklog("top", "--once", "--json", "--root", home.path, "--home", home.ours, home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    first, second = answer.json["sessions"]
    assert (first["id"], first["state"], first["waiting_for"], first["doing"], first["pid"]) == (
        ONE,
        "waiting",
        "permission",
        "Bash: npm test",
        os.getpid(),
    )
    assert (second["id"], second["state"]) == (TWO, "idle")
    assert first["cost_micro_usd"] == 175
    assert {"since", "evidence", "context_used", "agent"} <= first.keys()


def test_in_a_pipe_the_board_is_printed_once(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("fix it")
    answer = tracklog("top", "--root", home.path, "--home", home.ours, home=tmp_path)
    assert answer.code == 0
    assert "● working" in answer.out
    assert "\x1b" not in answer.out


def test_where_nothing_runs_that_is_said(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    answer = tracklog("top", "--once", "--root", home.path, "--home", home.ours, home=tmp_path)
    assert answer.out == "Nothing runs. `tracklog top --all` shows what ended today.\n"
