"""Estimate how much work a text makes for the Markdown parser, before it is parsed.

The parser's time grows with what it has to try: lines, the marks at their beginning, brackets, stars, cells. Hostile
text takes fifty times as long as prose. The prices below were measured, each on texts of nothing else, and rounded up;
a text is formatted as far as they allow.
"""

from __future__ import annotations

import re

MOST_US = 100_000  # of work by these prices, which are those of a slow machine
MOST_COLOURED = 12_000  # letters of code in one text: colours cost more than all else

_LINE_US = 24
_BEGINNING_US = 45  # of a list, a quote, a heading: each mark
_LEVEL_US = 12  # of a line in a list or quote, for each one it is nested in
_CELL_US = 40
_ADDRESS_US = 70
_LINE_OF_CODE_US = 2
_LETTER_OF_CODE_US = 4
_LETTER_US = 0.3
_STOP_US = 4  # of a letter at which the parser stops to try everything
_PRICES_US = dict.fromkeys("#$%+-:=@^{}>", _STOP_US) | {
    **dict.fromkeys("*_~", 16),
    **dict.fromkeys("[!", 30),
    "]": 10,
    **dict.fromkeys("`<", 12),
    **dict.fromkeys("&\\", 6),
}
_DEAREST_US = 70
_PRICED = re.compile(f"[{re.escape(''.join(_PRICES_US))}]")
_QUOTE_US = 2.0  # of a quote, for each one before it: the parser looks back through all
_QUOTE_SPACE_US = 0.2  # and through the space in it
_BEGINNING = re.compile(r"[ \t]*(?:(?:[-+*>#]|\d{1,9}[.)])[ \t]*)*")
_RULE = re.compile(r"[ \t>]*[|:-][|: \t-]*", re.ASCII)
_FENCE = re.compile(r"(?P<before>[^`~]*)(?P<fence>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # by the ends that the parser knows, and no others
_DEEPEST = 20
_FEW_QUOTES = 50


def easy_part(text: str) -> str:
    """The beginning of the text that can be formatted in time, up to a line end; usually all of it."""
    n_lines = text.count("\n") + 1
    n_priced = len(_PRICED.findall(text))
    at_most = n_lines * (_LINE_US + _BEGINNING_US + _LEVEL_US) + n_priced * _DEAREST_US
    is_small = at_most + len(text) * _LETTER_OF_CODE_US <= MOST_US
    is_simple = "|" not in text and text.count(">") < _FEW_QUOTES
    return text if is_small and is_simple else text[: _end_of_what_is_easy(text)]


def _end_of_what_is_easy(text: str) -> int:
    left, end, lines = float(MOST_US), 0, _Lines()
    for line in _LINE.findall(text):
        left -= lines.price(line)
        if left < 0:
            return end
        end += len(line)
    return end


class _Lines:
    """Prices a text line by line, tracking lists, quotes, tables and code as the parser does."""

    def __init__(self) -> None:
        self._before = ""
        self._columns = 0  # of the current table
        self._level = 0  # of the lists and quotes
        self._fence = ""  # of the current code block
        self._trusts_fences = True  # until there is one whose end we cannot tell for sure
        self._coloured = 0
        self._quotes = 0

    def price(self, line: str) -> float:
        """The price of the next line."""
        if self._fence:
            return self._price_of_code(line)
        self._note_a_fence(line)
        beginning = _BEGINNING.match(line)
        begins = beginning[0] if beginning else ""
        marks = begins.split()
        self._note_the_level(line, len(marks))
        self._note_the_columns(line)
        self._before = line
        return (
            _LINE_US
            + len(line) * _LETTER_US
            + sum(map(_PRICES_US.__getitem__, _PRICED.findall(line)))
            + len(marks) * _BEGINNING_US
            + self._level * _LEVEL_US
            + max(self._columns, line.count("|")) * _CELL_US
            + line.count("://") * _ADDRESS_US
            + self._price_of_quotes(begins)
        )

    def _price_of_quotes(self, begins: str) -> float:
        n_quotes = begins.count(">")
        self._quotes += n_quotes
        space = len(begins.expandtabs(4)) - len(begins.replace(" ", "").replace("\t", ""))
        return n_quotes * self._quotes * (_QUOTE_US + _QUOTE_SPACE_US * space)

    def _price_of_code(self, line: str) -> float:
        if _closes(line, self._fence):
            self._fence = ""
        self._coloured += len(line)
        letters = len(line) if self._coloured <= MOST_COLOURED else 0
        return _LINE_OF_CODE_US + letters * _LETTER_OF_CODE_US

    def _note_a_fence(self, line: str) -> None:
        found = _FENCE.match(line) if self._trusts_fences and ("```" in line or "~~~" in line) else None
        if found is None or (found["fence"][0] == "`" and "`" in found["info"]):
            return
        if found["before"]:  # within a list or quote, which may end before the fence does
            self._trusts_fences = False
        else:
            self._fence, self._columns, self._level = found["fence"], 0, 0

    def _note_the_level(self, line: str, marks: int) -> None:
        if not line.strip():
            return
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        goes_on = (
            self._level if not marks and not indent else 0
        )  # a line may belong to the list without a mark
        self._level = min(_DEEPEST, max(marks, indent // 2, goes_on))

    def _note_the_columns(self, line: str) -> None:
        """Tracks tables: a rule below a line with `|` begins one, an empty line ends it; rows have as many cells."""
        if "|" in self._before and _RULE.fullmatch(line.rstrip("\n")):
            self._columns = max(self._columns, line.count("|"), self._before.count("|")) + 1
        elif not line.strip():
            self._columns = 0


def _closes(line: str, fence: str) -> bool:
    marks = line.strip()
    return len(marks) >= len(fence) and not marks.strip(fence[0]) and len(line) - len(line.lstrip(" ")) <= 3
