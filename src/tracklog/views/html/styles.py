"""Generate the style sheet of rendered code, terminals, JSON and diffs, for light and dark themes.

It is stored in views/web/static/code.css, as `python -m tracklog.views.html.styles` prints it. Letters have a contrast
of at least 4.5 on every background that they can have.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import NamedTuple

from tracklog.views.html.terminal import COLOURS


class Shade(NamedTuple):
    """A colour in the light and in the dark theme."""

    light: str
    dark: str


# Of letters.
PURPLE = Shade("#5b3db0", "#c9b6ff")
GREEN = Shade("#17692f", "#85d6a4")
GREY = Shade("#566070", "#a3adb8")
AMBER = Shade("#7a4f00", "#f2c063")
BLUE = Shade("#0b56a3", "#85bdff")
TEAL = Shade("#0b655b", "#8fd3c8")
PINK = Shade("#991c66", "#f4a6cf")
RED = Shade("#a3221b", "#ff9d94")
TEXT = Shade("#1b1f24", "#e4e8ee")

CODE = {
    "a": AMBER,
    "b": TEAL,
    "c": GREY,
    "d": PINK,
    "f": BLUE,
    "gd": RED,
    "gi": GREEN,
    "h": BLUE,
    "k": PURPLE,
    "m": AMBER,
    "s": GREEN,
    "y": TEAL,
}
TERMINAL = dict(zip(COLOURS, (GREY, RED, GREEN, AMBER, BLUE, PINK, TEAL, TEXT), strict=True))
JSON = {"key": BLUE, "string": GREEN, "number": AMBER, "word": PURPLE, "odd": RED}

# Behind letters of a terminal.
GROUNDS = {
    "black": Shade("#eceeeb", "#222a34"),
    "red": Shade("#fde8e6", "#3a1715"),
    "green": Shade("#e3f6e8", "#12301d"),
    "yellow": Shade("#fbf0d3", "#332707"),
    "blue": Shade("#e4eefb", "#122a45"),
    "magenta": Shade("#fbe7f3", "#391a2d"),
    "cyan": Shade("#def3f1", "#0f2f2c"),
    "white": Shade("#eceeeb", "#222a34"),
}

_HEAD = "/* Code, terminals, JSON and changes of files. Made by tracklog/views/html/styles.py: change it there. */"
_RULES = """\
.code,
.term,
.plain,
.json,
.diff table {
  font: 12px/18px var(--mono);
  tab-size: 4;
}

.code,
.term,
.plain {
  margin: 0;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  unicode-bidi: plaintext;
}

.code code {
  font: inherit;
  padding: 0;
  background: none;
  border: 0;
}

.code .h,
.t-bold {
  font-weight: 600;
}

.t-dim {
  color: var(--muted);
}

.t-italic {
  font-style: italic;
}

.t-under {
  text-decoration: underline;
}

.t-struck {
  text-decoration: line-through;
}

.t-inverse {
  background: var(--text);
  color: var(--panel);
}

.json {
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}

.json details > div {
  padding-left: 2ch;
  border-left: 1px solid var(--rule);
}

.json summary {
  cursor: pointer;
}

.json mark,
.j-odd {
  background: var(--del-bg);
  color: var(--del);
  outline: 1px solid currentcolor;
}

.diff {
  overflow-x: auto;
}

.diff table {
  width: 100%;
  border-collapse: collapse;
}

.diff td {
  padding: 0 4px;
  border: 0;
  vertical-align: top;
}

.diff .d-n {
  width: 1%;
  min-width: 4ch;
  color: var(--muted);
  text-align: right;
  white-space: nowrap;
  font-variant-numeric: tabular-nums;
  user-select: none;
}

.diff .d-nowhere .d-n {
  display: none;
}

.diff .d-t {
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  unicode-bidi: plaintext;
}

.d-add {
  background: var(--add-bg);
  color: var(--add);
}

.d-del {
  background: var(--del-bg);
  color: var(--del);
}

.diff ins,
.diff del {
  font-weight: 600;
  text-decoration: underline;
  text-underline-offset: 3px;
}

.d-place,
.d-more,
.d-file {
  margin: 0;
  padding: 4px;
  color: var(--muted);
  font: 11px/16px var(--mono);
}

.d-counts {
  white-space: nowrap;
  font-family: var(--mono);
  font-variant-numeric: tabular-nums;
}

.d-plus {
  color: var(--ok);
}

.d-minus {
  color: var(--failed);
}

.prose .code,
.prose .plain {
  margin: 8px 0;
  padding: 8px 12px;
  background: var(--raised);
  border-radius: 4px;
}

.prose blockquote {
  margin: 8px 0;
  padding-left: 12px;
  border-left: 3px solid var(--rule-strong);
}

.to-right {
  text-align: right;
}

.to-center {
  text-align: center;
}

.image,
.address {
  overflow-wrap: anywhere;
}

.image {
  color: var(--muted);
}

.inferred {
  text-decoration: underline dotted;
  text-underline-offset: 3px;
}
"""


def styles() -> str:
    """The whole style sheet."""
    variables = _variables()
    return "\n".join(
        [
            _HEAD,
            "",
            _block(":root", {name: shade.light for name, shade in variables.items()}),
            "@media (prefers-color-scheme: dark) {",
            _indented(_block(':root:not([data-theme="light"])', _dark(variables))),
            "}",
            "",
            _block(':root[data-theme="dark"]', _dark(variables)),
            *(_block(f".code .{name}", {"color": f"var(--code-{name})"}) for name in CODE),
            *(_block(f".t-{name}", {"color": f"var(--term-{name})"}) for name in TERMINAL),
            *(_block(f".t-on-{name}", {"background": f"var(--term-on-{name})"}) for name in GROUNDS),
            *(_block(f".j-{name}", {"color": f"var(--json-{name})"}) for name in JSON),
            _RULES,
        ]
    )


def _variables() -> dict[str, Shade]:
    named = [("code", CODE), ("term", TERMINAL), ("term-on", GROUNDS), ("json", JSON)]
    return {f"--{prefix}-{name}": shade for prefix, shades in named for name, shade in shades.items()}


def _dark(variables: Mapping[str, Shade]) -> dict[str, str]:
    return {name: shade.dark for name, shade in variables.items()}


def _block(selector: str, values: Mapping[str, str]) -> str:
    return "\n".join([f"{selector} {{", *(f"  {name}: {value};" for name, value in values.items()), "}", ""])


def _indented(block: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in block.rstrip("\n").split("\n"))


if __name__ == "__main__":
    sys.stdout.write(styles())
