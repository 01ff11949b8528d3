"""Reading is total: whatever stands in a line, it gets an honest name.

From a file to its records: which reader is taken, and who wrote a file in no agent's home.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.contracts.logs import DATA, FILES
from tracklog.agents.claude_code import records
from tracklog.agents.claude_code.records.messages import AssistantLine, UserLine
from tracklog.agents.codex import records as codex_records
from tracklog.agents.discovery import find_at
from tracklog.agents.drift import extra_of
from tracklog.agents.registry import STRANGER, identified, lines_of, pieces_of, read_records, reader_for
from tracklog.errors import UserError
from tracklog.model.json_text import keys_that_stand_twice
from tracklog.model.records import Blank, Broken, Unknown, UnknownPart
from tracklog.sources.files import NotReadable
from tracklog.sources.lines import KEPT_BYTES, Line, cut
from tracklog.sources.log_file import LogFile


def found(path: Path) -> LogFile:
    (file,) = find_at(path)
    assert isinstance(file, LogFile)
    return identified(file)


def write(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def kinds(path: Path) -> list[tuple[str, str]]:
    return [(piece.reading, piece.record.kind) for piece in read_records(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_a_loose_log_tells_its_agent_and_session_by_its_records(path: Path, tmp_path: Path) -> None:
    loose = tmp_path / "some-name.jsonl"
    loose.write_bytes(path.read_bytes())
    file = found(loose)
    assert file.agent == path.parts[-3]
    text = path.read_text("utf-8")
    says_its_session = '"sessionId"' in text or '"session_meta"' in text
    assert bool(file.session and file.session in text) == says_its_session


def test_a_log_of_an_unknown_agent_is_unknown_line_by_line(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.jsonl", {"type": "session", "id": "s"}, {"type": "message", "message": {"role": "user"}}
    )
    path.write_bytes(path.read_bytes() + b"plain words\n\n{torn")
    assert kinds(path) == [
        ("unknown", "session"),
        ("unknown", "message"),
        ("unknown", "text"),
        ("read", "blank"),
        ("unknown", "text"),
    ]


def test_a_document_is_one_line(tmp_path: Path) -> None:
    document = {"session": {"id": "s", "timestamp": "2025-05-01T00:00:00.000Z"}, "items": []}
    path = tmp_path / "rollout-2025-05-01-s.json"
    path.write_text(json.dumps(document, indent=2), "utf-8")
    assert kinds(path) == [("read", "document")]
    assert found(path).session == "s"


def test_a_strangers_document_over_many_lines_is_unknown_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "pretty.jsonl"
    path.write_text(json.dumps({"sessions": [1, 2]}, indent=1), "utf-8")
    assert {reading for reading, _ in kinds(path)} == {"unknown"}


def test_json_lines_under_the_name_of_a_document_are_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "events.json", {"type": "a"}, {"type": "b"})
    assert kinds(path) == [("unknown", "a"), ("unknown", "b")]


def test_a_compressed_log_reads_as_its_contents(tmp_path: Path) -> None:
    plain = DATA / "codex" / "0.98.0" / "parallel_commands.jsonl"
    packed = tmp_path / "rollout.jsonl.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    assert [piece.raw for piece in read_records(packed)] == [piece.raw for piece in read_records(plain)]


def test_what_is_good_in_a_cut_compressed_log_comes_before_the_refusal(tmp_path: Path) -> None:
    lines = b"".join(
        b'{"type":"mode","mode":"normal","sessionId":"s","pad":"%d"}\n' % (n * 7919) for n in range(30_000)
    )
    packed = tmp_path / "a.jsonl.zst"
    packed.write_bytes(zstandard.compress(lines)[:-20])
    pieces = pieces_of(found(packed)._replace(agent="claude"))
    good: list[str] = []
    with pytest.raises(NotReadable, match="good bytes"):
        good.extend(piece.reading for piece in pieces)
    assert set(good) == {"read"}


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a directory"):
        read_records(tmp_path)


def test_a_missing_file_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        read_records(tmp_path / "nothing.jsonl")


def test_the_files_of_a_home_get_their_own_readers(tmp_path: Path) -> None:
    uuid = "3f2a0c1e-0000-4000-8000-000000000001"
    project = tmp_path / "projects" / "-home-dev-app"
    write(project / f"{uuid}.jsonl", {"type": "mode", "mode": "normal", "sessionId": uuid})
    write(project / uuid / "subagents" / "agent-a1.jsonl", {"type": "mode", "mode": "normal"})
    write(
        project / uuid / "subagents" / "agent-a1.meta.json", {"agentType": "Explore", "toolUseId": "toolu_1"}
    )
    write(project / uuid / "subagents" / "workflows" / "wf_1" / "journal.jsonl", {"type": "launched"})
    write(tmp_path / "sessions" / "4410.json", {"pid": 4410, "sessionId": uuid})
    write(tmp_path / "history.jsonl", {"display": "hi", "timestamp": 1, "project": "/a"})
    readers = {file.kind.value: reader_for(file) for file in find_at(tmp_path) if isinstance(file, LogFile)}
    assert readers == {
        "transcript": records.READER,
        "subagent": records.READER,
        "meta": records.META_READER,
        "journal": records.JOURNAL_READER,
        "registry": records.REGISTRY_READER,
        "history": records.HISTORY_READER,
    }
    for file in find_at(tmp_path):
        assert isinstance(file, LogFile)
        assert [piece.reading for piece in pieces_of(file)] == ["read"], file.path


def test_a_codex_home_gets_codex_readers(tmp_path: Path) -> None:
    name = "rollout-2026-02-27T10-00-00-019c0000-0000-7000-8000-000000000001"
    write(
        tmp_path / "sessions" / "2026" / "02" / "27" / f"{name}.jsonl",
        {"type": "session_meta", "payload": {"cwd": "/a"}},
    )
    write(tmp_path / "history.jsonl", {"session_id": "s", "ts": 1, "text": "hi"})
    write(
        tmp_path / "session_index.jsonl",
        {"id": "s", "thread_name": "n", "updated_at": "2026-02-27T10:00:00Z"},
    )
    readers = {file.kind.value: reader_for(file) for file in find_at(tmp_path) if isinstance(file, LogFile)}
    assert readers == {
        "transcript": codex_records.READER,
        "history": codex_records.HISTORY_READER,
        "session_index": codex_records.SESSION_INDEX_READER,
    }


def test_prompt_histories_are_known_wherever_they_lie(tmp_path: Path) -> None:
    claude = write(
        tmp_path / "a" / "history.jsonl", {"display": "hi", "timestamp": 1789398970793, "project": "/a"}
    )
    codexs = write(tmp_path / "b" / "history.jsonl", {"session_id": "s", "ts": 1789398970, "text": "hi"})
    assert [
        (p.reading, p.record.kind, p.record.at) for path in (claude, codexs) for p in read_records(path)
    ] == [
        ("read", "history", "2026-09-14T15:16:10.793Z"),
        ("read", "history", "2026-09-14T15:16:10.000Z"),
    ]


def test_an_empty_file_has_no_lines_and_no_known_writer(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert (list(lines_of(found(path))), reader_for(found(path))) == ([], STRANGER)


def read(value: Any) -> Any:
    """The record of one line, given as JSON or as bytes."""
    return records.READER.read_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())


def user(**more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "message": {"role": "user", "content": "x"},
        **more,
    }


@pytest.mark.parametrize("raw", [b"", b" ", b"\r", b"\t \r", b"\xef\xbb\xbf"])
def test_a_line_of_white_space_is_blank(raw: bytes) -> None:
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert (type(piece.record), piece.reading, piece.record.kind) == (Blank, "read", "blank")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"[1]", "array"),
        (b'"x"', "string"),
        (b"1", "number"),
        (b"1.5", "number"),
        (b"true", "boolean"),
        (b"null", "null"),
    ],
)
def test_json_that_is_no_object_is_unknown(raw: bytes, name: str) -> None:
    assert read(raw) == Unknown(name=name, why=f"a JSON {name}, not an object", body=json.loads(raw))


@pytest.mark.parametrize(
    "raw", [b"hello", b"{", b'{"a":1', b'{"a":NaN}', b"\x00", b'{"a":Infinity}', b"{'a':1}"]
)
def test_what_is_not_json_is_broken(raw: bytes) -> None:
    assert type(read(raw)) is Broken


def test_an_unknown_type_is_unknown_with_its_id_and_time() -> None:
    value = {"type": "hologram", "uuid": "h", "timestamp": "2026-11-15T10:00:00.000Z", "parentUuid": None}
    assert read(value) == Unknown(
        name="hologram", why="unknown type", id="h", written="2026-11-15T10:00:00.000Z", body=value
    )


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"type": "system", "subtype": "hologram"}, "system/hologram"),
        ({"type": "attachment", "attachment": {"type": "hologram"}}, "attachment/hologram"),
        ({"type": "progress", "data": {"type": "hologram"}}, "progress/hologram"),
        ({"kind": "hologram"}, "untyped"),
        ({"type": 5}, "untyped"),
        ({}, "untyped"),
    ],
)
def test_an_unknown_kind_is_named_by_its_own_words(value: dict[str, Any], name: str) -> None:
    record = read(value)
    assert (type(record), record.kind, record.body) == (Unknown, name, value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"message": {"0": "h", "1": "i"}}, "Object missing required field `content` - at `$.message`"),
        ({"message": "hi"}, "Expected `object`, got `str` - at `$.message`"),
        ({"message": None}, "Expected `object`, got `null` - at `$.message`"),
    ],
)
def test_a_known_kind_in_an_unexpected_shape_is_unknown_and_says_why(
    change: dict[str, Any], why: str
) -> None:
    record = read(user(**change))
    assert (type(record), record.kind, record.why) == (Unknown, "user", why)
    assert record.body == user(**change)


@pytest.mark.parametrize(("key", "odd"), [("timestamp", 1789398970793), ("cwd", ["/a"]), ("isSidechain", 1)])
def test_a_record_is_read_without_an_optional_field_that_does_not_fit(key: str, odd: Any) -> None:
    record = read(user(**{key: odd}))
    assert record == read({name: value for name, value in user().items() if name != key})


def test_true_is_no_number_of_tokens() -> None:
    usage = {"input_tokens": True, "output_tokens": 2}
    record = read({"type": "assistant", "message": {"content": [], "usage": usage}})
    assert (record.message.usage.input_tokens, record.message.usage.output_tokens) == (None, 2)


def test_numbers_beyond_64_bit_are_kept() -> None:
    usage = {"input_tokens": 10**30, "output_tokens": 2}
    record = read({"type": "assistant", "message": {"content": [], "usage": usage}})
    assert record.message.usage.input_tokens == 10**30


def test_a_number_that_no_machine_holds_does_not_stop_the_reading() -> None:
    raw = b'{"type":"user","message":{"content":"x"},"odd":' + b"9" * 5000 + b',"odder":1e999}'
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert piece.reading == "read"
    assert extra_of(piece) == {"odd": "9" * 5000, "odder": "1e999"}


def test_an_unknown_block_is_an_unknown_part_of_a_record_that_is_read() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "hologram", "rays": [1]}, {"type": "text", "text": "b"}]
    record = read(user(message={"role": "user", "content": blocks}))
    first, odd, last = record.message.content
    assert (type(record), first.text, last.text) == (UserLine, "a", "b")
    assert (type(odd), odd.name, odd.body) == (UnknownPart, "hologram", {"type": "hologram", "rays": [1]})


def test_a_block_in_an_unexpected_shape_is_an_unknown_part() -> None:
    record = read(user(message={"role": "user", "content": [{"type": "text", "text": 5}, 7, None]}))
    assert [(type(part), part.name, part.body) for part in record.message.content] == [
        (UnknownPart, "text", {"type": "text", "text": 5}),
        (UnknownPart, "int", 7),
        (UnknownPart, "NoneType", None),
    ]


def test_an_unknown_part_inside_a_tool_result_spoils_only_itself() -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "hologram"}, {"type": "text", "text": "x"}],
    }
    (block,) = read(user(message={"content": [result]})).message.content
    assert (block.tool_use_id, type(block.content[0]), block.content[1].text) == ("t", UnknownPart, "x")


def test_inputs_survive_the_tolerant_way() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls", "deep": [{"a": None}]}}
    record = read({"type": "assistant", "message": {"content": [call, {"type": "hologram"}]}})
    assert record.message.content[0].arguments == call["input"]


def test_unnamed_keys_are_found_at_any_depth() -> None:
    content = [{"type": "text", "text": "x", "mood": "good"}]
    value = user(
        weather={"sky": "blue"}, message={"content": content, "tone": 1}, origin={"kind": "human", "age": 7}
    )
    raw = json.dumps(value).encode()
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert extra_of(piece) == {
        "weather": {"sky": "blue"},
        "message.tone": 1,
        "message.content[](text).mood": "good",
        "origin.age": 7,
    }


def test_of_duplicate_keys_the_last_counts_and_the_doubling_is_seen() -> None:
    raw = b'{"type":"user","uuid":"first","message":{"content":"x"},"uuid":"last"}'
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert piece.record.ident == "last"
    assert extra_of(piece) == {"uuid (twice)": None}


def test_each_key_that_stands_twice_is_named_once_however_many_there_are() -> None:
    """Each was counted among all: one line of 650 kB held up the doctor for half a minute."""
    names = [f"k{n}" for n in range(20_000)]
    pairs = ",".join(f'"{name}":1' for name in (*names, "once", *names, "k7"))
    raw = f'{{"type":"user","message":{{"content":"x"}},"extra":{{{pairs}}}}}'.encode()
    assert keys_that_stand_twice(raw) == names
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert {key for key in extra_of(piece) if key.endswith(" (twice)")} == {
        f"{name} (twice)" for name in names
    }


def test_quotes_and_colons_inside_strings_are_no_keys() -> None:
    text = 'say "a": and \\": {"k":1} "\\\\":'
    raw = json.dumps(user(message={"content": text})).encode()
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert extra_of(piece) == {}


@pytest.mark.parametrize("depth", [900, 5_000, 1_000_000])
def test_nesting_of_any_depth_gets_an_answer(depth: int) -> None:
    raw = b'{"type":"user","uuid":"u","message":{"content":"x"},"deep":' + b"[" * depth + b"]" * depth + b"}"
    record = read(raw)
    assert (record.kind, record.ident) == ("user", "u")
    assert type(record) in (UserLine, Unknown)


def test_a_million_open_brackets_are_broken() -> None:
    assert read(b"[" * 1_000_000) == Broken(
        why="too deep or too much to decode, and the brackets do not match"
    )


def test_a_line_over_the_limit_is_unknown_by_reference_with_what_its_head_tells() -> None:
    head = b'{"type":"assistant","uuid":"big","timestamp":"2026-11-15T10:00:00.000Z","message":{"content":"'
    (piece,) = records.READER.read(cut([head, b"x" * KEPT_BYTES, b'"}}\n']))
    record = piece.record
    assert (piece.reading, record.kind, record.ident, record.at) == (
        "unknown",
        "assistant",
        "big",
        "2026-11-15T10:00:00.000Z",
    )
    assert piece.why == "longer than 32 MiB: kept by reference, not decoded"
    assert piece.length == len(head) + KEPT_BYTES + 3


def test_blanks_after_colons_change_nothing() -> None:
    compact = {
        "type": "assistant",
        "uuid": "a",
        "message": {"id": "m", "content": [], "usage": {"output_tokens": 3}},
    }
    spaced = json.dumps(compact, indent=None, separators=(" , ", " : ")).encode()
    assert read(spaced) == read(compact)
    assert type(read(spaced)) is AssistantLine


def test_a_line_of_millions_of_values_is_unknown_and_does_not_fill_the_memory() -> None:
    raw = b'{"type":"hologram","uuid":"h","dust":[' + b"[]," * 1_000_000 + b"[]]}"
    record = read(raw)
    assert (type(record), record.kind, record.ident, record.body) == (Unknown, "hologram", "h", None)
    assert record.why == "too deep or too much to decode"


def test_looking_for_unnamed_keys_survives_any_depth() -> None:
    for depth in (940, 993, 5000):
        deep = b"[" * depth + b"]" * depth
        raw = b'{"type":"user","message":{"content":"x"},"message":{"content":"x"},"deep":' + deep + b"}"
        (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
        assert isinstance(records.READER.drift().strays(piece), list)


@pytest.mark.parametrize("front", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("odd", [b"1", b"9" * 5000])
def test_a_doubled_key_is_seen_beside_any_other_oddity(front: bytes, odd: bytes) -> None:
    raw = front + b'{"type":"user","message":{"content":"x"},"uuid":"a","uuid":"b","odd":' + odd + b"}"
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert "uuid (twice)" in extra_of(piece)


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("2026-11-15T10:00:00.123Z", "2026-11-15T10:00:00.123Z"),
        ("2026-11-15T10:00:00Z", "2026-11-15T10:00:00Z"),
        ("2026-11-15T12:00:00.123+02:00", "2026-11-15T10:00:00.123Z"),
        ("2026-11-15T10:00:00", "2026-11-15T10:00:00.000Z"),
        ("yesterday\x1b[31m", None),
        ("9999-99-99T00:00:00Z\n", None),
        ("", None),
    ],
)
def test_times_are_told_in_utc(said: str, at: str | None) -> None:
    raw = json.dumps(user(timestamp=said)).encode()
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert (piece.reading, piece.at) == ("read", at)
