"""Words for a call: what it did, its verdict, and why it failed."""

from __future__ import annotations

import re

from tracklog.model.call_summary import told
from tracklog.model.events import TextSource
from tracklog.model.session import Call, Verdict
from tracklog.views.text.printing import count, short

LONGEST = 300  # most letters for what a call did, even on a wider line
_LONGEST_REASON = 300
_SEARCHED = 100_000  # letters of an error that are looked at
# What Codex puts before the output of a command.
_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]{0,80}\n)?Wall time: [^\n]{0,80}\n(?:Process exited with code (-?[0-9]{1,9})\n)?"
    r"(?:Original token count: [^\n]{0,80}\n)?(?:Total output lines: [^\n]{0,80}\n)?Output:\n?"
)

MARKS: dict[Verdict, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "error": ("✗", "red"),
    "denied": ("!", "yellow"),
    "blocked": ("!", "yellow"),
    "interrupted": ("!", "yellow"),
    "timed_out": ("✗", "red"),
    "sibling_error": ("!", "yellow"),
    "backgrounded": ("↗", "cyan"),
    "running": ("…", "cyan"),
    "lost": ("?", "yellow"),
    "abandoned": ("?", "yellow"),
}


def what_it_did(call: Call, *, cwd: str | None) -> str:
    """What a call did, in a few words: the command, the file, the question; safe and on one line."""
    return short(told(call.arguments, cwd), LONGEST)


def verdict_words(call: Call) -> str:
    """The verdict with its outcome and certainty: `backgrounded, ok`, `lost (inferred)`."""
    parts = [call.verdict, call.outcome or "", "time limit" if call.timed_out else ""]
    said = ", ".join(part for part in parts if part)
    return said if call.sureness == "stated" else f"{said} (inferred)"


def reason_of(call: Call) -> str:
    """Why a call did not end well, on one line; empty if it did."""
    if call.verdict in ("ok", "running"):
        return ""
    said = call.feedback or call.error
    if not said and call.verdict != "backgrounded":  # that one did not end badly: nothing needs an excuse
        said = call.decision or call.why
    lines = [line.strip() for line in error_text(said or "").splitlines() if line.strip()]
    told = lines if len(lines) < 4 else [lines[0], "…", lines[-1]]  # errors say most where they begin and end
    return "" if told == [call.verdict] else short(" / ".join(told), _LONGEST_REASON)


def error_text(said: str) -> str:
    """The tool's own error message, without the client's wrapping."""
    text = said[:_SEARCHED]
    head = _HEAD.match(text)
    if head is None:
        return text
    return f"Exit code {head[1]}\n{text[head.end() :]}" if head[1] else text[head.end() :]


def source_words(source: TextSource, name: str | None, *, is_whole: bool) -> str:
    """The source of a result's text, if not the result itself, and whether a part is missing."""
    name = name or ""
    words = {
        "result": "",
        "preview": "only the client's preview: nothing else of it is kept",
        "log": "from the tool's report in the log: its output file is not here, the rest may be missing",
        "file": f"from the output file {name}",
        "archive": f"from the archive's copy of the output file {name}",
    }[source]
    is_cut = source in ("file", "archive") and not is_whole
    return short(f"{words}, only its beginning" if is_cut else words, _LONGEST_REASON)


def answers_words(call: Call) -> str:
    """Words for a call that was answered more than once; else empty."""
    n_answers = sum(not result.is_note for result in call.results)
    return f"answered {n_answers:,} times" if n_answers > 1 else ""


def stated_words(call: Call) -> str:
    """The totals that the client states for a subagent: `12.3k tokens, 4 tools stated`."""
    if call.stated is None:
        return ""
    tokens, tools = call.stated.tokens, call.stated.tool_uses
    parts = [
        "" if tokens is None else f"{thousands(tokens)} tokens",
        "" if tools is None else count(tools, "tool"),
    ]
    told = ", ".join(part for part in parts if part)
    return f"{told} stated" if told else ""


def thousands(n: int) -> str:
    """A number in few letters: `834`, `12.3k`, `4.1M`."""
    if n < 1000:
        return str(n)
    return f"{n / 1000:.1f}k" if n < 999_950 else f"{n / 1_000_000:.1f}M"
