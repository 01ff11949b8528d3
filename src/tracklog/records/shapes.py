"""The shapes of our records, taken from the structs themselves: what is named, and what strays from it.

A shape answers two questions about parsed JSON. `strays` finds keys that no struct names: that is how drift
is seen. `mend` prepares the JSON for `msgspec.convert` so that one bad part does not spoil the record: it
becomes an `UnknownPart`.

Rules of this room
  1. Structs are the only table of names; nothing is listed twice.
  2. A part kept as bytes (`msgspec.Raw`) is free: what stands in it has its own reader, or is another
     program's business (the input of a tool).
  3. The usual case, nothing strays, builds no path.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as mi

from tracklog.records.base import UNKNOWN_TAG, UnknownPart

Stray = tuple[str, Any]  # a path such as `message.usage.mood`, and the value that stands there


def joined(key: str, path: str) -> str:
    """A path one step longer at its front."""
    return key + path if path.startswith(("[", "(")) else f"{key}.{path}"


class Shape:
    """Any JSON: nothing in it is named, nothing strays."""

    def strays(self, value: Any) -> list[Stray]:  # noqa: ARG002 (the other shapes look at it)
        return []

    def mend(self, value: Any) -> Any:
        return value


class BytesShape(Shape):
    """Kept as bytes."""

    def mend(self, value: Any) -> Any:
        return msgspec.Raw(msgspec.json.encode(value))


class ObjectShape(Shape):
    """A struct."""

    def __init__(self, struct: type[msgspec.Struct], tag_field: str | None) -> None:
        self.struct = struct
        self.tag_field = tag_field
        self.fields: dict[str, Shape | None] = {}

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

    def mend(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            key: shape.mend(item) if (shape := self.fields.get(key)) is not None else item
            for key, item in value.items()
        }


class ListShape(Shape):
    """A list, all of one shape."""

    def __init__(self, item: Shape) -> None:
        self.item = item

    def strays(self, value: Any) -> list[Stray]:
        if type(value) is not list:
            return []
        strays = self.item.strays
        return [(joined("[]", path), stray) for item in value for path, stray in strays(item)]

    def mend(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if isinstance(self.item, ChoiceShape) and self.item.forgives:
            return [self.item.mend_or_set_aside(item) for item in value]
        return [self.item.mend(item) for item in value]


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

    def mend(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: self.item.mend(item) for key, item in value.items()}


class ChoiceShape(Shape):
    """A union: structs told apart by their tag, beside a list, a map or plain values."""

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
        chosen = self._chosen(value)
        if chosen is None:
            return []
        found = chosen.strays(value)
        if found and self.tag_field is not None:
            tag = value[self.tag_field]
            return [(joined(f"({tag})", path), stray) for path, stray in found]
        return found

    def mend(self, value: Any) -> Any:
        if isinstance(value, list) and self.list is not None:
            return self.list.mend(value)
        chosen = self._chosen(value)
        return value if chosen is None else chosen.mend(value)

    def mend_or_set_aside(self, value: Any) -> Any:
        """The mended value if it fits, else an unknown part that holds it."""
        mended = self.mend(value)
        try:
            msgspec.convert(mended, self.type)
        except msgspec.ValidationError as error:
            return {"type": UNKNOWN_TAG, "name": self._name(value), "why": str(error), "body": value}
        return mended

    def _chosen(self, value: Any) -> Shape | None:
        if type(value) is not dict:
            return None
        if self.tag_field is None:
            return next(iter(self.by_tag.values()), self.map)
        tag = value.get(self.tag_field)
        return self.by_tag.get(tag, self.map) if type(tag) is str else self.map

    def _name(self, value: Any) -> str:
        tag = value.get(self.tag_field) if isinstance(value, dict) else None
        return tag if isinstance(tag, str) else type(value).__name__


def _python_type(types: mi.UnionType) -> Any:
    """The union as msgspec takes it; only structs and text stand in lists that forgive."""
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
