"""Draw the board as lines for a terminal of any size.

Rules
  1. Rows in, lines out: no terminal is touched. No line is longer than the screen is wide.
  2. On a narrow screen columns are dropped from the right: words, model, tokens, context; state, time and `doing` stay.
  3. Colour is never the only sign, and no text of a session reaches the screen unescaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from tracklog.app.live.top import BoardRow, group_of
from tracklog.views.cli.output.drawing import painted
from tracklog.views.documents.runs import origin_words
from tracklog.views.text.numbers import short_number
from tracklog.views.text.printing import safe, short_id, short_model

_STYLES = {
    "waiting": "bold yellow",
    "working": "green",
    "pending": "cyan",
    "idle": "",
    "crashed": "bold red",
    "ended": "dim",
    "unknown": "dim",
    "lost": "red",
}
_NEEDS = {"permission": "permission", "answer": "question", "plan": "plan", None: "dialog"}
_MARKS = {"working": "●", "idle": "○", "crashed": "✗", "lost": "✗", "ended": "·", "pending": "◌"}
_GAP = "  "
_DEEPEST = 3  # steps to the right; what was started further down stays at the last
_LEAST_DOING = 18


class BoardLayout(NamedTuple):
    """The size, order, filter and selection of a board."""

    width: int
    height: int
    now_ms: int
    selected: str | None = None  # a session's id
    sort: str = "need"
    filter: str = ""
    is_typing: bool = False  # the filter is being typed
    is_open: bool = False  # the selected session is shown whole
    note: str = ""


class _Column(NamedTuple):
    name: str
    cells: list[Text]
    side: str = "<"
    most: int = 40

    @property
    def width(self) -> int:
        return min(max(cell_len(one.plain) for one in (Text(self.name), *self.cells)), self.most)


def board_lines(rows: Sequence[BoardRow], layout: BoardLayout) -> list[Text]:
    """The lines of the board, exactly as many as the screen has."""
    head = [_summary(rows, layout), Text()]
    foot = [_help(layout)]
    chosen = next((row for row in rows if row.id == layout.selected), None)
    detail = _detail(chosen, layout) if chosen is not None else []
    room = max(layout.height - len(head) - len(foot) - len(detail), 2)
    body = _table(_window(rows, layout, room - 1), layout) if rows else [painted("Nothing runs.", "dim")]
    body = body[:room]
    blank = [Text()] * (layout.height - len(head) - len(body) - len(detail) - len(foot))
    return [_cut(line, layout.width) for line in (*head, *body, *blank, *detail, *foot)][: layout.height]


def _summary(rows: Sequence[BoardRow], layout: BoardLayout) -> Text:
    groups = [group_of(row) for row in rows]
    n_needs, n_working = groups.count("needs"), groups.count("working")
    quiet = [row.state.state for row, group in zip(rows, groups, strict=True) if group == "quiet"]
    parts = [
        painted(f"{n_needs} need{'s' if n_needs == 1 else ''} you", _STYLES["waiting"])
        if n_needs
        else Text("nobody waits for you"),
        painted(f"{n_working} working", _STYLES["working"]),
        Text(f"{quiet.count('idle')} idle"),
    ]
    if n_crashed := quiet.count("crashed"):
        parts.append(painted(f"{n_crashed} crashed", _STYLES["crashed"]))
    parts.append(Text(_cost_of_all(rows)))
    if layout.filter or layout.is_typing:
        parts.append(painted(f"/{layout.filter}{'▏' if layout.is_typing else ''}", "reverse"))
    return painted("tracklog top", "bold") + Text(_GAP) + Text(" · ").join(parts)


def _cost_of_all(rows: Sequence[BoardRow]) -> str:
    """The cost of all sessions since they began, which may be days ago."""
    total = sum(row.spending.cost_micro_usd or 0 for row in rows)
    is_lower_bound = any(row.spending.is_lower_bound for row in rows)
    return f"${total / 1e6:,.2f}{'+' if is_lower_bound else ''} since they began"


def _help(layout: BoardLayout) -> Text:
    if layout.note:
        return painted(layout.note, "bold")
    keys = "q quit  ↑↓ choose  ⏎ open  s sort: " + layout.sort + "  / filter  a all"
    return painted(keys, "dim")


def _window(rows: Sequence[BoardRow], layout: BoardLayout, room: int) -> Sequence[BoardRow]:
    """As many rows as fit, with the selected one among them."""
    at = next((n for n, row in enumerate(rows) if row.id == layout.selected), 0)
    first = max(0, min(at - room // 2, len(rows) - room)) if at >= room else 0
    return rows[first : first + max(room, 1)]


def _table(rows: Sequence[BoardRow], layout: BoardLayout) -> list[Text]:
    fixed = [
        _Column("state", [_state(row) for row in rows], most=18),
        _Column("since", [Text(_since(row, layout.now_ms)) for row in rows], ">"),
        _Column("project", [Text(safe(row.project or short_id(row.id))) for row in rows], most=18),
    ]
    money = [_Column("cost", [Text(_cost(row)) for row in rows], ">")]
    extra = [
        _Column("ctx", [_context(row) for row in rows], ">"),
        _Column("agents", [Text(_agents(row)) for row in rows], ">"),
        _Column("tokens", [Text(short_number(row.spending.tokens)) for row in rows], ">"),
        _Column("model", [Text(safe(short_model(row.model or ""))) for row in rows], most=16),
    ]
    if not any(row.subagents or row.pending for row in rows):
        extra = [column for column in extra if column.name != "agents"]
    while extra and _width([*fixed, *money, *extra]) + _LEAST_DOING + len(_GAP) > layout.width:
        extra.pop()
    left = layout.width - _width([*fixed, *money, *extra]) - len(_GAP)
    words = left // 2 if left > 70 else 0
    doing = _Column(
        "doing", [_doing(row) for row in rows], most=max(left - words - (len(_GAP) if words else 0), 1)
    )
    last = [_Column("last words", [painted(_words(row), "dim") for row in rows], most=words)] if words else []
    columns = [*fixed, doing._replace(cells=doing.cells), *money, *extra, *last]
    widths = [doing.most if column.name == "doing" else column.width for column in columns]
    lines = [_row([painted(column.name, "dim") for column in columns], columns, widths)]
    for n, row in enumerate(rows):
        line = _row([column.cells[n] for column in columns], columns, widths)
        if row.id == layout.selected:
            line.stylize("reverse")
        lines.append(line)
    return lines


def _row(cells: Sequence[Text], columns: Sequence[_Column], widths: Sequence[int]) -> Text:
    fitted = [
        _fit(cell, width, column.side) for cell, column, width in zip(cells, columns, widths, strict=True)
    ]
    return Text(_GAP).join(fitted)


def _fit(text: Text, width: int, side: str) -> Text:
    missing = width - cell_len(text.plain)
    if missing < 0:
        return Text(f"{set_cell_size(text.plain, max(width - 1, 0))}…"[: max(width, 0)], text.style)
    return Text(" " * missing) + text if side == ">" else text + Text(" " * missing)


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * len(columns)


def _cut(line: Text, width: int) -> Text:
    line = line.copy()
    line.truncate(width, overflow="ellipsis")
    return line


def _state(row: BoardRow) -> Text:
    state = row.state
    lead = f"{'  ' * (min(row.depth, _DEEPEST) - 1)}↳ " if row.depth else ""
    if state.state == "waiting":
        return painted(f"{lead}! {_NEEDS.get(state.waiting_for, 'waiting')}", _STYLES["waiting"])
    mark = _MARKS.get(state.state, "?")
    return painted(f"{lead}{mark} {state.state}", _STYLES.get(state.state, ""))


def _since(row: BoardRow, now_ms: int) -> str:
    if row.state.since_ms is None:
        return ""
    seconds = max(now_ms - row.state.since_ms, 0) // 1000
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m"
    return f"{seconds // 3600}h" if seconds < 86_400 else f"{seconds // 86_400}d"


def _doing(row: BoardRow) -> Text:
    if row.state.doing:
        return Text(safe(row.state.doing))
    return painted(_one_line(row.title or row.last_prompt or row.last_words or ""), "dim")


def _cost(row: BoardRow) -> str:
    micro = row.spending.cost_micro_usd
    if micro is None:
        return ""
    return f"${micro / 1e6:,.2f}{'+' if row.spending.is_lower_bound else ''}"


def _context(row: BoardRow) -> Text:
    used = row.spending.context_used
    if used is None:
        return Text()
    return painted(f"{used:.0%}", "red" if used >= 0.8 else "")


def _agents(row: BoardRow) -> str:
    pending = f"+{len(row.pending)}" if row.pending else ""
    return f"{row.subagents or ''}{pending}"


def _words(row: BoardRow) -> str:
    return _one_line(row.last_words or "")


def _one_line(text: str) -> str:
    return " ".join(text[:1000].split())


def _detail(row: BoardRow, layout: BoardLayout) -> list[Text]:
    """The last words of the selected session; if it is open, all facts."""
    rule = painted("─" * layout.width, "dim")
    words = painted(_one_line(row.last_words or row.last_prompt or ""), "")
    if not layout.is_open:
        return [rule, words] if layout.height >= 16 else []
    facts = [
        ("session", f"{row.agent} {row.id}"),
        ("folder", row.cwd or ""),
        ("title", row.title or ""),
        ("state", _state_in_words(row)),
        ("because", "; ".join(row.state.evidence)),
        ("process", str(row.state.pid or "")),
        ("log", row.path or ""),
        ("by", origin_words(row.started_by) if row.started_by else ""),
        ("agents", _agents_in_words(row)),
        ("asked", _one_line(row.last_prompt or "")),
        ("said", _one_line(row.last_words or "")),
    ]
    lines = [painted(f"{name:>8}  ", "dim") + Text(safe(value)) for name, value in facts if value]
    return [rule, *lines][: max(layout.height - 8, 0)]


def _agents_in_words(row: BoardRow) -> str:
    working = [f"{row.subagents} working"] if row.subagents else []
    return ", ".join([*working, *(f"{one.state.state}: {one.name or one.call}" for one in row.pending)])


def _state_in_words(row: BoardRow) -> str:
    waits = f" for {row.state.waiting_for}" if row.state.waiting_for else ""
    return f"{row.state.state}{waits}{f': {row.state.doing}' if row.state.doing else ''}"
