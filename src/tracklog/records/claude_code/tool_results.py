"""The structured companion of a tool's result, `toolUseResult` (docs/formats/claude_code.md#tool-results).

It is an object, a list (MCP), a string (errors) or absent, and says nowhere which tool it belongs to: the
call does. Ask with the tool's name where you know it.

Rules of this room
  1. A tool has one or more shapes; of those that fit, the one with the fewest unnamed keys is taken.
  2. A string is a string, a list a list. An object of a tool that we do not know, or that fits no shape of
     its tool, is an `UnknownPart`. What an MCP tool gave is its server's business: it stays as it is.
  3. Without a name all shapes are tried.
"""

from typing import Any

import msgspec

from tracklog.records.base import UnknownPart, opened
from tracklog.records.claude_code.tool_result_shapes import SHAPES, Shapes
from tracklog.records.shapes import Stray, joined, shape_of

Reading = msgspec.Struct | UnknownPart | str | list[Any] | dict[str, Any] | None

_ALL: Shapes = tuple(dict.fromkeys(shape for shapes in SHAPES.values() for shape in shapes))


def read_tool_result(raw: msgspec.Raw, tool: str | None = None) -> Reading:
    """What the tool reported, typed where we know the tool."""
    value = opened(raw)
    if not isinstance(value, dict) or _is_free(tool):
        return value  # type: ignore[no-any-return]  # plain JSON, as the union says
    struct, _ = _best_shape(value, tool)
    if struct is None:
        why = "no shape of this tool fits" if tool in SHAPES else "unknown tool"
        return UnknownPart(name=tool or "", why=why, body=value)
    reading: msgspec.Struct = msgspec.convert(shape_of(struct).mend(value, []), struct)
    return reading


def strays_of_tool_result(value: Any, tool: str | None) -> list[Stray]:
    """The keys of a parsed `toolUseResult` that no shape of its tool names; `()` if none fits at all."""
    if not isinstance(value, dict) or _is_free(tool):
        return []
    struct, strays = _best_shape(value, tool)
    if struct is None:
        return [(f"toolUseResult({tool or '?'})", value)]
    return [(joined(f"toolUseResult({tool or struct.__name__})", path), stray) for path, stray in strays]


def _is_free(tool: str | None) -> bool:
    return tool is not None and tool.startswith("mcp__")


def _best_shape(value: dict[str, Any], tool: str | None) -> tuple[type[msgspec.Struct] | None, list[Stray]]:
    best: tuple[type[msgspec.Struct] | None, list[Stray]] = (None, [])
    for struct in _ALL if tool is None else SHAPES.get(tool, ()):
        shape = shape_of(struct)
        strays = shape.strays(value)
        if best[0] is not None and len(strays) >= len(best[1]):
            continue
        if _fits(shape.mend(value, []), struct):
            best = (struct, strays)
            if not strays:
                break
    return best


def _fits(value: Any, struct: type[msgspec.Struct]) -> bool:
    try:
        msgspec.convert(value, struct)
    except msgspec.ValidationError:
        return False
    return True
