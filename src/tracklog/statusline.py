"""Print the status line of Claude Code, from what the client writes to stdin.

    python -m tracklog.statusline < what-the-client-writes

The client runs this after every answer, so it is a small program of its own: docs/statusline.md.

Rules
  1. One line, exit code 0, nothing on stderr, in time: whatever is on stdin, in the log, or in the arguments.
  2. Only known figures are shown; one that rests on an assumption has a `~`.
  3. No log is scanned. At most the end of one log is read, and only for clients that do not send the context.
  4. Nothing but the standard library is imported, and of that only what is small (`bench/cold_start.py`).
"""

from __future__ import annotations

import json
import os
import re
import select
import stat
import sys
import time

HELP = """\
The status line of Claude Code: model, cost, context in use.

The client runs the command of its settings after every answer and tells it
on stdin how the session stands. Put this into settings.json in Claude Code's
home (~/.claude):

  {"statusLine": {"type": "command", "command": "tracklog statusline"}}

It always ends with exit code 0 and one line: model, cost as the client counts
it, share of the context window in use, lines added and removed, what is used
of a subscription's five hours, and today's cost if the index knows it."""

NOTHING_KNOWN = "tracklog: nothing known of this session"
BY_HAND = "tracklog: Claude Code runs this for its status line; see tracklog statusline --help"
SEPARATOR = " · "

STDIN_LIMIT = 1 << 20  # clients send 2 kB
STDIN_S = 2.0
TAIL_LIMIT = 256 << 10
INDEX_LIMIT = 64 << 10
WIDTH, WIDEST, INDENT = 80, 200, 4  # the client indents the line, and lacks room for it on narrow screens
LONGEST_MODEL = 40
USUAL_WINDOW, LONG_WINDOW = 200_000, 1_000_000
BOM = b"\xef\xbb\xbf"
LARGEST = 1e15  # of any number; this is no figure of a session any more

_ESCAPES = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)|\x1b.?"


class SessionStatus:
    """Figures of a session; None if unknown."""

    def __init__(self, told: dict[str, object], *, home: str, now: float) -> None:
        cost, limit = _part(told, "cost"), _part(_part(told, "rate_limits"), "five_hour")
        model = _part(told, "model")
        self.model = _text(model, "display_name") or _text(model, "id")
        self.cost_micro_usd = _micro(_number(cost, "total_cost_usd"))
        self.lines_added = _whole(_number(cost, "total_lines_added"))
        self.lines_removed = _whole(_number(cost, "total_lines_removed"))
        self.context_tokens, self.context_window, self.context_window_is_assumed = _context(told)
        self.limit_used_percent = _whole(_number(limit, "used_percentage"))
        self.limit_left_s = _left(_number(limit, "resets_at"), now)
        self.today_cost_micro_usd, self.block_left_s = _from_index(home, now)

    @property
    def context_percent(self) -> int | None:
        """Share of the window in use, rounded as by the client; None if more is in use than an assumed window holds."""
        if not self.context_tokens or not self.context_window:
            return None
        is_another = self.context_window_is_assumed and self.context_tokens > self.context_window
        return None if is_another else _whole(100 * self.context_tokens / self.context_window)

    def parts(self) -> list[str]:
        """The known figures as text, the most important first."""
        shown = (self.model, _money(self.cost_micro_usd), self._context_shown(), self._lines_shown())
        more = (self._limit_shown(), _labelled("today", _money(self.today_cost_micro_usd)))
        return [part for part in (*shown, *more) if part]

    def document(self) -> dict[str, object]:
        """The figures as a JSON document."""
        return {"schema_version": 1, **vars(self), "context_percent": self.context_percent}

    def _context_shown(self) -> str:
        if not self.context_tokens:
            return ""
        if (percent := self.context_percent) is None:
            return f"ctx {_thousands(self.context_tokens)}"
        if self.context_window_is_assumed:
            return f"ctx {_thousands(self.context_tokens)} ~{percent}%"
        return f"ctx {percent}% of {_thousands(self.context_window or 0)}"

    def _lines_shown(self) -> str:
        added, removed = self.lines_added or 0, self.lines_removed or 0
        return f"+{added} -{removed}" if added or removed else ""

    def _limit_shown(self) -> str:
        if self.limit_used_percent is None or self.limit_left_s is None:
            return _labelled("block", _duration(self.block_left_s))
        return f"5h {self.limit_used_percent}% {_duration(self.limit_left_s)}"


def line_of(session: SessionStatus, *, columns: int) -> str:
    """The parts that fit into `columns`; the first one always, cut if necessary."""
    shown = ""
    for part in session.parts() or [NOTHING_KNOWN]:
        longer = shown + SEPARATOR + part if shown else _cut(part, columns)
        if _columns_of(longer) <= columns:
            shown = longer
    return shown


def _context(told: dict[str, object]) -> tuple[int | None, int | None, bool]:
    """Tokens in use, the window, and whether that is assumed.

    A client that sends the window but not its use has made no request yet, or has just compacted: then the use is
    unknown. The totals next to it mean the whole session on some releases, so they are never used.
    """
    if "context_window" in told:
        window = _part(told, "context_window")
        used = _tokens_read(_part(window, "current_usage"))
        return used, _whole(_number(window, "context_window_size")), False
    used = _tokens_in_log(str(told.get("transcript_path")))
    is_long = "[1m]" in str(_part(told, "model").get("id"))
    return used, LONG_WINDOW if is_long else USUAL_WINDOW, True


def _tokens_read(usage: dict[str, object]) -> int | None:
    """Tokens that the model read in a request, cached or not: the size of the context."""
    fields = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(_whole(_number(usage, field)) or 0 for field in fields) or None


def _tokens_in_log(path: str) -> int | None:
    """Context tokens after the main thread's last answer, if that is near the end of the log."""
    for line in reversed(_end_of(path, TAIL_LIMIT).split(b"\n")):
        if b'"compact_boundary"' in line:
            return None  # lines before it are no longer in the context
        if b'"usage"' in line and (used := _tokens_of_answer(_object(line))):
            return used
    return None


def _tokens_of_answer(record: dict[str, object]) -> int | None:
    is_main = record.get("type") == "assistant" and not record.get("isSidechain")
    return _tokens_read(_part(_part(record, "message"), "usage")) if is_main else None


def _from_index(home: str, now: float) -> tuple[int | None, int | None]:
    """Today's cost and the seconds left of the five-hour block, if the index has written them.

    The writer of the index also writes `statusline.json`: `day` (local), `cost_micro_usd`, `block_ends_at`
    (seconds since 1970). Without it nothing is known, and no log is read instead.
    """
    left = _object(_end_of(os.path.join(home, "statusline.json"), INDEX_LIMIT))
    is_of_today = left.get("day") == time.strftime("%Y-%m-%d", time.localtime(now))
    cost = _whole(_number(left, "cost_micro_usd")) if is_of_today else None
    return cost, _left(_number(left, "block_ends_at"), now)


def _end_of(path: str, limit: int) -> bytes:
    """The last bytes of a regular file; nothing for any other file, and it never blocks (decision 0005)."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # to open a device can be an act by itself
            return b""
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):  # missing, not permitted, or no valid path
        return b""
    try:
        is_regular, size = stat.S_ISREG(os.fstat(file).st_mode), os.fstat(file).st_size
        return os.pread(file, limit, max(0, size - limit)) if is_regular else b""
    except OSError:
        return b""
    finally:
        os.close(file)


def _object(text: bytes) -> dict[str, object]:
    """The JSON object in these bytes, or an empty one."""
    try:
        found = json.loads(text.removeprefix(BOM).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _part(of: dict[str, object], key: str) -> dict[str, object]:
    found = of.get(key)
    return found if isinstance(found, dict) else {}


def _number(of: dict[str, object], key: str) -> float | None:
    """A number that can be a figure: not below zero, not beyond reason, no NaN, no truth value."""
    found = of.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return found if 0 <= found < LARGEST else None


def _text(of: dict[str, object], key: str) -> str:
    found = of.get(key)
    return _plain(found, LONGEST_MODEL) if isinstance(found, str) else ""


def _plain(text: str, longest: int) -> str:
    """The beginning of a text, without escapes and unprintable letters."""
    text = text[: 8 * longest]
    if not text.isprintable():
        bare = re.sub(_ESCAPES, "", text, flags=re.DOTALL)
        text = "".join(letter for letter in bare if letter.isprintable())
    return _cut(text.strip(), longest)


def _cut(text: str, columns: int) -> str:
    if _columns_of(text) <= columns:
        return text
    while text and _columns_of(text) > columns - 1:
        text = text[:-1]
    return f"{text}…"


def _columns_of(text: str) -> int:
    """The most columns that a text may take: letters beyond Latin, Greek and Cyrillic may take two."""
    return sum(1 if letter < "\u1100" or letter in "…·" else 2 for letter in text)


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number + 0.5)  # as the client rounds


def _micro(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * 1e6)


def _left(until: float | None, now: float) -> int | None:
    return None if until is None or until <= now else int(until - now)


def _money(micro_usd: int | None) -> str:
    if micro_usd is None:
        return ""
    return f"${micro_usd / 1e6:.4f}" if 0 < micro_usd < 10_000 else f"${micro_usd / 1e6:.2f}"


def _thousands(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 999_500 else f"{tokens / 1e6:.3g}M"


def _duration(seconds: int | None) -> str:
    if seconds is None:
        return ""
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours}h{minutes:02}m left" if hours else f"{minutes}m left"


def _labelled(label: str, figure: str) -> str:
    return f"{label} {figure}" if figure else ""


def _stdin() -> bytes:
    """What is on stdin, up to limits of time and size."""
    told, until = b"", time.monotonic() + STDIN_S
    try:
        while len(told) < STDIN_LIMIT and select.select([0], [], [], max(0.0, until - time.monotonic()))[0]:
            if not (more := os.read(0, STDIN_LIMIT)):
                break
            told += more
    except OSError:  # closed, or a directory
        pass
    return told


def _columns() -> int:
    """The width of the screen that newer clients pass, without their indent."""
    told = os.environ.get("COLUMNS", "")
    columns = int(told) if told.isascii() and told.isdigit() and len(told) < 6 else WIDTH
    return max(20, min(columns or WIDTH, WIDEST) - INDENT)


def answer(arguments: list[str]) -> str:
    """The text to print."""
    home, as_json = None, False
    if arguments:
        asked = _asked(arguments)
        if isinstance(asked, str):
            return asked
        home, as_json = asked
    if os.isatty(0):
        return BY_HAND
    session = SessionStatus(_object(_stdin()), home=home or _usual_home(), now=time.time())
    return json.dumps(session.document()) if as_json else line_of(session, columns=_columns())


def _usual_home() -> str:
    """The folder of tracklog's own files, as `platformdirs` has it, whose import would take longer than all of this."""
    if told := os.environ.get("TRACKLOG_HOME"):
        return told
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/tracklog")
    data = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
    return os.path.join(data, "tracklog")


def _asked(arguments: list[str]) -> tuple[str | None, bool] | str:
    """The home and whether JSON is wanted; or the text to print in place of an answer."""
    import argparse  # only for those who give arguments: the client's settings seldom do

    parser = argparse.ArgumentParser(
        "tracklog statusline",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
        exit_on_error=False,
    )
    parser.add_argument("--home", metavar="DIR", help="Where tracklog keeps its own files.")
    parser.add_argument("--json", action="store_true", help="Print one JSON document.")
    parser.add_argument("--help", action="store_true", help="Show this message and exit.")
    try:
        asked, unknown = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        return f"tracklog statusline: {_plain(str(error), 80)}; see --help"
    if unknown:
        return f"tracklog statusline: does not know {_plain(unknown[0], 80)}; see --help"
    return parser.format_help().rstrip() if asked.help else (asked.home, asked.json)


def main(arguments: list[str] | None = None) -> int:
    """Prints the line. The exit code is always 0: any other blanks the status line."""
    try:
        text = answer(sys.argv[1:] if arguments is None else arguments)
    except (Exception, KeyboardInterrupt):  # the door: a traceback helps nobody in another program's line
        text = NOTHING_KNOWN
    try:  # noqa: SIM105 (`contextlib` would be loaded for this alone)
        os.write(1, f"{text}\n".encode("utf-8", "replace"))
    except OSError:  # nobody reads it
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
