"""Shapes of our records, derived from the structs, and drift: the parts of a line that none names.

A shape answers two questions about parsed JSON. `strays` finds keys that no struct names. `mend` prepares the JSON
for `converted`, so that a bad part becomes an `UnknownPart` and does not spoil its record. `converted` takes out
optional fields whose values do not fit, and names them.

Rules
  1. Structs are the only table of names; nothing is listed twice.
  2. A part kept as bytes (`msgspec.Raw`) is free: its contents have their own reader, or are another program's
     business (the input of a tool).
  3. In the usual case, where nothing strays, no path is built.
  4. `Drift` changes no reading; it only looks at the same bytes again.
  5. A stray is a path and a value: `message.usage.mood`; a part of unknown kind, or of a known kind in an
     unexpected shape, is `content[](hologram)`; a field left out because its value did not fit is
     `message.usage.input_tokens (odd)`.
  6. Of a key that is twice in one object the last one is read, as in the clients; it is reported as `key (twice)`.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as mi

from tracklog.model.json_text import is_too_much, keys_that_stand_twice, loads
from tracklog.model.records import UNKNOWN_TAG, Blank, Broken, Piece, Record, Unknown, UnknownPart

_MOST_ODD = 32  # fields of one record, or of one part of it
_PLACE = re.compile(r"`\$([^`]*)`")  # in what msgspec says
Stray = tuple[str, Any]  # a path such as `message.usage.mood`, and the value at it


def joined(key: str, path: str) -> str:
    """A path one step longer at its front."""
    return key + path if path.startswith(("[", "(")) else f"{key}.{path}"


class Shape:
    """Any JSON: nothing in it is named, nothing strays."""

    def strays(self, value: Any) -> list[Stray]:  # noqa: ARG002 (the other shapes look at it)
        return []

    def mend(self, value: Any, odd: list[Stray]) -> Any:  # noqa: ARG002
        return value


class BytesShape(Shape):
    """Kept as bytes."""

    def mend(self, value: Any, odd: list[Stray]) -> Any:  # noqa: ARG002
        return msgspec.Raw(msgspec.json.encode(value))


class ObjectShape(Shape):
    """A struct."""

    def __init__(self, struct: type[msgspec.Struct], tag_field: str | None) -> None:
        self.struct = struct
        self.tag_field = tag_field
        self.fields: dict[str, Shape | None] = {}
        self.required = {field.encode_name for field in msgspec.structs.fields(struct) if field.required}

    def strays(self, value: Any) -> list[Stray]:
        found: list[Stray] = []
        if type(value) is not dict:
            return found
        fields = self.fields
        for key, item in value.items():
            if key not in fields:
                found.append((key, item))
                continue
            shape = fields[key]
            if shape is not None and (type(item) is dict or type(item) is list):
                deeper = shape.strays(item)
                if deeper:
                    found += [(joined(key, path), stray) for path, stray in deeper]
        return found

    def mend(self, value: Any, odd: list[Stray]) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            key: _mended(shape, item, odd, key) if (shape := self.fields.get(key)) is not None else item
            for key, item in value.items()
        }

    def may_lack(self, key: str, value: Any) -> bool:
        """Whether a record is whole without this field, and no part that has a kind would be lost with it."""
        shape = self.fields.get(key)
        holds_parts = isinstance(shape, ChoiceShape | ListShape) and shape.holds_parts
        is_list_of_parts = holds_parts and isinstance(value, list)
        return (
            key in self.fields and key not in self.required and key != self.tag_field and not is_list_of_parts
        )


class ListShape(Shape):
    """A list, all of one shape."""

    def __init__(self, item: Shape) -> None:
        self.item = item

    def strays(self, value: Any) -> list[Stray]:
        if type(value) is not list:
            return []
        strays = self.item.strays
        return [(joined("[]", path), stray) for item in value for path, stray in strays(item)]

    @property
    def holds_parts(self) -> bool:
        """Whether its items have kinds, and one of an unknown kind is a part like any other."""
        return isinstance(self.item, ChoiceShape) and self.item.forgives

    def mend(self, value: Any, odd: list[Stray]) -> Any:
        if not isinstance(value, list):
            return value
        if isinstance(self.item, ChoiceShape) and self.item.forgives:
            return [self.item.mend_or_set_aside(item, odd) for item in value]
        return [_mended(self.item, item, odd, "[]") for item in value]


class MapShape(Shape):
    """An object whose keys are data (paths, models), its values of one shape."""

    def __init__(self, item: Shape) -> None:
        self.item = item

    def strays(self, value: Any) -> list[Stray]:
        if type(value) is not dict:
            return []
        return [
            (joined("*", path), stray) for item in value.values() for path, stray in self.item.strays(item)
        ]

    def mend(self, value: Any, odd: list[Stray]) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: _mended(self.item, item, odd, "*") for key, item in value.items()}


class ChoiceShape(Shape):
    """A union: structs that differ by their tag, besides a list, a map or plain values."""

    def __init__(self, types: mi.UnionType, members: list[Shape]) -> None:
        objects = [member for member in members if isinstance(member, ObjectShape)]
        self.tag_field = next((member.tag_field for member in objects if member.tag_field), None)
        self.by_tag = {member.struct.__struct_config__.tag: member for member in objects}
        self.forgives = self.by_tag.pop(UNKNOWN_TAG, None) is not None
        self.list = next((member for member in members if isinstance(member, ListShape)), None)
        self.map = next((member for member in members if isinstance(member, MapShape)), None)
        self.type = _python_type(types)

    def strays(self, value: Any) -> list[Stray]:
        if type(value) is list:
            return self.list.strays(value) if self.list is not None else []
        chosen = self.chosen(value)
        if chosen is None:
            return []
        found = chosen.strays(value)
        if found and self.tag_field is not None:
            tag = value[self.tag_field]
            return [(joined(f"({tag})", path), stray) for path, stray in found]
        return found

    @property
    def holds_parts(self) -> bool:
        """Whether it may be a list of parts that have kinds."""
        return self.list is not None and self.list.holds_parts

    def mend(self, value: Any, odd: list[Stray]) -> Any:
        if isinstance(value, list) and self.list is not None:
            return self.list.mend(value, odd)
        chosen = self.chosen(value)
        return value if chosen is None else chosen.mend(value, odd)

    def mend_or_set_aside(self, value: Any, odd: list[Stray]) -> Any:
        """The mended value if it fits, but for optional fields of it; else an unknown part that holds it."""
        found: list[Stray] = []
        mended = self.mend(value, found)
        try:
            converted(mended, self.type, shape=self, odd=found)
        except msgspec.ValidationError as error:
            return {"type": UNKNOWN_TAG, "name": self._name(value), "why": str(error), "body": value}
        odd += [(joined("[]", joined(f"({self._name(value)})", path)), item) for path, item in found]
        return mended

    def chosen(self, value: Any) -> Shape | None:
        """The shape that a value has by its own tag."""
        if type(value) is not dict:
            return None
        if self.tag_field is None:
            return next(iter(self.by_tag.values()), self.map)
        tag = value.get(self.tag_field)
        return self.by_tag.get(tag, self.map) if type(tag) is str else self.map

    def _name(self, value: Any) -> str:
        tag = value.get(self.tag_field) if isinstance(value, dict) else None
        return tag if isinstance(tag, str) else type(value).__name__


def _mended(shape: Shape, value: Any, odd: list[Stray], key: str) -> Any:
    found: list[Stray] = []
    mended = shape.mend(value, found)
    odd += [(joined(key, path), item) for path, item in found]
    return mended


def converted(mended: Any, type_: Any, *, shape: Shape, odd: list[Stray]) -> Any:
    """A mended value as its type. An optional field whose value does not fit is taken out of it, and added to `odd`.

    Raises ValidationError where something does not fit that a record must have, or too much of it.
    """
    for _ in range(_MOST_ODD):
        try:
            return msgspec.convert(mended, type_)
        except msgspec.ValidationError as error:
            taken = _take_out(mended, shape, _keys_to(error))
            if taken is None:
                raise
            odd.append(taken)
    return msgspec.convert(mended, type_)


def _keys_to(error: msgspec.ValidationError) -> list[str]:
    """The keys that lead to a value that does not fit, as far as lists and maps allow."""
    found = _PLACE.search(str(error))
    return found[1].split(".")[1:] if found else []


def _take_out(value: Any, shape: Shape | None, keys: list[str]) -> Stray | None:
    """Takes out the innermost optional field on the way to a value, and returns it with its path."""
    innermost: tuple[dict[str, Any], str, str] | None = None
    path: list[str] = []
    for step in keys:
        key = step.partition("[")[0]
        if isinstance(shape, ChoiceShape):
            shape = shape.chosen(value)
        if not isinstance(shape, ObjectShape) or not isinstance(value, dict) or key not in value:
            break
        path.append(key)
        if shape.may_lack(key, value[key]):
            innermost = (value, key, ".".join(path))
        if key != step:
            break
        value, shape = value[key], shape.fields.get(key)
    if innermost is None:
        return None
    parent, key, place = innermost
    return place, parent.pop(key)


def _python_type(types: mi.UnionType) -> Any:
    """The union as msgspec takes it; only structs and text are in lists that forgive."""
    members: list[Any] = []
    for member in types.types:
        if isinstance(member, mi.StructType):
            members.append(member.cls)
        elif isinstance(member, mi.StrType):
            members.append(str)
    return functools.reduce(lambda left, right: left | right, members) if members else Any


def parts_set_aside(value: Any) -> Iterator[Stray]:
    """The unknown parts in a record, each with its path and kind."""
    if isinstance(value, UnknownPart):
        yield f"({value.name})", value
    elif isinstance(value, list):
        for item in value:
            yield from ((joined("[]", path), part) for path, part in parts_set_aside(item))
    elif isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            inner = parts_set_aside(getattr(value, field.name))
            yield from ((joined(field.encode_name, path), part) for path, part in inner)


_first_look = threading.Lock()  # msgspec crashes if several threads are the first to look at a type


@functools.cache
def shape_of(struct: Any) -> Shape:
    """The shape of a struct, or of a union of structs. Who has it may convert to it in any thread."""
    with _first_look:
        msgspec.json.Decoder(struct)
        return _Compiler().compile(mi.type_info(struct))


class _Compiler:
    """Turns msgspec's description of types into shapes; remembers structs, which may hold themselves."""

    def __init__(self) -> None:
        self._known: dict[type, ObjectShape] = {}

    def compile(self, info: mi.Type) -> Shape:
        match info:
            case mi.StructType():
                return self._object(info)
            case mi.UnionType():
                return self._choice(info)
            case mi.ListType():
                return ListShape(self.compile(info.item_type))
            case mi.DictType():
                return MapShape(self.compile(info.value_type))
            case mi.RawType():
                return BytesShape()
            case _:
                return Shape()

    def _object(self, info: mi.StructType) -> ObjectShape:
        if info.cls in self._known:
            return self._known[info.cls]
        shape = self._known[info.cls] = ObjectShape(info.cls, info.tag_field)
        if info.tag_field is not None:
            shape.fields[info.tag_field] = None
        for field in info.fields:
            inner = self.compile(field.type)
            shape.fields[field.encode_name] = None if type(inner) is Shape else inner
        return shape

    def _choice(self, info: mi.UnionType) -> Shape:
        members = [self.compile(member) for member in info.types if not isinstance(member, mi.NoneType)]
        named = [member for member in members if type(member) is not Shape]
        if not named:
            return Shape()
        if len(members) == 1:
            return members[0]
        return ChoiceShape(info, members)


_TOO_DEEP = "(too deep or too much to look for unnamed keys)"
_NO_NAMES = (Blank, Broken, Unknown)


class Drift:
    """Finds the strays of one file, line by line; agents extend it with what they know of their parts."""

    def strays(self, piece: Piece) -> list[Stray]:
        """The strays of one piece; empty for what was not read."""
        if isinstance(piece.record, _NO_NAMES):
            return []
        try:
            return self._look_into(piece)
        except RecursionError:
            return [(_TOO_DEEP, None)]

    def _look_into(self, piece: Piece) -> list[Stray]:
        value = _parsed(piece.raw)
        found = self.strays_of(piece.record, value)
        if piece.tolerantly:
            found += parts_set_aside(piece.record)
            found += [(f"{path} (odd)", odd) for path, odd in piece.odd]
        if _has_more_keys_than(piece.raw, _count_keys(value)):
            found += [(f"{key} (twice)", None) for key in keys_that_stand_twice(piece.raw)]
        return found

    def strays_of(self, record: Record, value: Any) -> list[Stray]:
        """The keys of the parsed line that the record's structs do not name."""
        return shape_of(type(record)).strays(value)


def extra_of(piece: Piece) -> dict[str, Any]:
    """The keys of a piece that its record does not name, by path; of several under one path, the last.

    What a tool reported (`toolUseResult`) is looked at by `tool_results.strays_of_tool_result`, which needs its name.
    """
    return dict(Drift().strays(piece))


def _parsed(raw: bytes) -> Any:
    if is_too_much(raw):
        raise RecursionError("too much to make objects of")
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return loads(raw)[0]


def _count_keys(value: Any) -> int:
    if type(value) is dict:
        n_keys = len(value)
        for item in value.values():
            if type(item) is dict or type(item) is list:
                n_keys += _count_keys(item)
        return n_keys
    n_keys = 0
    if type(value) is list:
        for item in value:
            if type(item) is dict or type(item) is list:
                n_keys += _count_keys(item)
    return n_keys


def _has_more_keys_than(raw: bytes, n_keys: int) -> bool:
    """Whether more keys are written than were parsed. Inside a string a quote is always escaped."""
    return raw.count(b'":') - raw.count(b'\\":') > n_keys
