"""Every kind of line, block and part that we name reads as itself, with every field that we name."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import inspect as mi

from tracklog.agents.claude_code import records
from tracklog.agents.claude_code.records.context.attachments import AnyAttachment
from tracklog.agents.claude_code.records.envelope import AnyBlock
from tracklog.agents.claude_code.records.metadata import AnyMetadata
from tracklog.agents.claude_code.records.outputs.tool_results import (
    SHAPES,
    read_tool_result,
    strays_of_tool_result,
)
from tracklog.agents.claude_code.records.progress import AnyProgress
from tracklog.agents.claude_code.records.reader import AnyLine, Journal
from tracklog.agents.claude_code.records.side_files import AgentMeta, ClaudeHistoryLine, Registry, WorkflowRun
from tracklog.agents.claude_code.records.system import SUBTYPES, SystemHead, SystemText
from tracklog.agents.drift import shape_of
from tracklog.agents.reader import Reader
from tracklog.model.records import UnknownPart, tag_of
from tracklog.sources.lines import Line

LINES = [line for line in AnyLine.__args__ if line is not SystemHead]
BLOCKS = [block for block in AnyBlock.__args__ if block is not UnknownPart]


def sample(info: mi.Type, depth: int = 0) -> Any:
    """A value of a type, every field of it filled in (but for structs that hold themselves)."""
    match info:
        case mi.StructType():
            fields = {
                field.encode_name: sample(field.type, depth + 1)
                for field in info.fields
                if depth < 4 or field.required
            }
            return {info.tag_field: info.tag, **fields} if info.tag_field else fields
        case mi.UnionType():
            known = [member for member in info.types if not isinstance(member, mi.NoneType)]
            return sample(known[0], depth + 1)
        case mi.ListType():
            return [sample(info.item_type, depth + 1)] if depth < 6 else []
        case mi.DictType():
            return {"some key": sample(info.value_type, depth + 1)}
        case mi.StrType():
            return "text"
        case mi.BoolType():
            return True
        case mi.IntType():
            return 7
        case mi.FloatType():
            return 1.5
        case mi.NoneType():
            return None
        case _:
            return "free JSON"


def full(struct: type[msgspec.Struct]) -> dict[str, Any]:
    value: dict[str, Any] = sample(mi.type_info(struct))
    return value


def strays(record: Any, value: Any) -> list[Any]:
    struct: Any = type(record)
    return list(shape_of(struct).strays(value))


def assert_reads_as(reader: Reader, value: dict[str, Any], struct: type) -> None:
    raw = json.dumps(value, separators=(",", ":")).encode()
    (piece,) = reader.read([Line(1, 0, len(raw), raw)])
    assert (piece.reading, piece.why, type(piece.record)) == ("read", None, struct)
    assert reader.drift().strays(piece) == []
    assert tolerant(reader, value) == piece.record


def tolerant(reader: Reader, value: dict[str, Any]) -> Any:
    """The same line read by the tolerant way."""
    return reader._read_value(value)


@pytest.mark.parametrize("line", LINES, ids=tag_of)
def test_every_kind_of_line_reads_as_itself(line: type[msgspec.Struct]) -> None:
    assert_reads_as(records.READER, full(line), line)


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_every_system_subtype_reads_as_itself(subtype: str) -> None:
    value = {**full(SUBTYPES[subtype]), "type": "system"}
    assert_reads_as(records.READER, value, SUBTYPES[subtype])
    assert records.READER.read_bytes(json.dumps(value).encode()).kind == f"system/{subtype}"


def test_a_system_record_without_subtype_reads_as_text() -> None:
    value = {**full(SystemText), "type": "system"}
    assert_reads_as(records.READER, value, SystemText)


@pytest.mark.parametrize("attachment", AnyAttachment.__args__, ids=tag_of)
def test_every_kind_of_attachment_reads_as_itself(attachment: type[msgspec.Struct]) -> None:
    value = {"type": "attachment", "uuid": "u", "attachment": full(attachment)}
    record: Any = records.READER.read_bytes(json.dumps(value).encode())
    assert (type(record.attachment), record.kind) == (attachment, f"attachment/{tag_of(attachment)}")
    assert strays(record, value) == []


@pytest.mark.parametrize("progress", AnyProgress.__args__, ids=tag_of)
def test_every_kind_of_progress_reads_as_itself(progress: type[msgspec.Struct]) -> None:
    value = {"type": "progress", "uuid": "u", "data": full(progress)}
    record: Any = records.READER.read_bytes(json.dumps(value).encode())
    assert (type(record.data), record.kind) == (progress, f"progress/{tag_of(progress)}")


@pytest.mark.parametrize("block", BLOCKS, ids=tag_of)
def test_every_content_block_reads_as_itself(block: type[msgspec.Struct]) -> None:
    value = {"type": "assistant", "message": {"content": [full(block)]}}
    record: Any = records.READER.read_bytes(json.dumps(value).encode())
    assert type(record.message.content[0]) is block
    assert strays(record, value) == []


@pytest.mark.parametrize("tool", SHAPES)
def test_every_tool_has_its_result_typed(tool: str) -> None:
    for shape in SHAPES[tool]:
        value = full(shape)
        assert type(read_tool_result(msgspec.Raw(json.dumps(value).encode()), tool)) is shape
        assert strays_of_tool_result({**value, "novel": 1}, tool) == [(f"toolUseResult({tool}).novel", 1)]


@pytest.mark.parametrize("line", Journal.__args__, ids=tag_of)
def test_every_journal_line_reads_as_itself(line: type[msgspec.Struct]) -> None:
    assert_reads_as(records.JOURNAL_READER, full(line), line)


@pytest.mark.parametrize(
    ("reader", "struct", "kind"),
    [
        (records.META_READER, AgentMeta, "meta"),
        (records.REGISTRY_READER, Registry, "registry"),
        (records.HISTORY_READER, ClaudeHistoryLine, "history"),
        (records.WORKFLOW_READER, WorkflowRun, "workflow"),
    ],
)
def test_the_files_beside_transcripts_have_readers(
    reader: Reader, struct: type[msgspec.Struct], kind: str
) -> None:
    assert_reads_as(reader, full(struct), struct)
    assert reader.read_bytes(json.dumps(full(struct)).encode()).kind == kind


@pytest.mark.parametrize("union", [AnyLine, AnyAttachment, AnyBlock, AnyProgress, AnyMetadata, Journal])
def test_no_two_structs_share_a_tag(union: Any) -> None:
    tags = [tag_of(member) for member in union.__args__]
    assert len(tags) == len(set(tags))
