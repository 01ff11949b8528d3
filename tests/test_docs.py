"""The format pages name every kind that the readers know, and what points into the documents finds its place."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tracklog.agents.claude_code.records.context.attachments import AnyAttachment
from tracklog.agents.claude_code.records.envelope import AnyBlock
from tracklog.agents.claude_code.records.outputs.tool_results import SHAPES
from tracklog.agents.claude_code.records.progress import AnyProgress
from tracklog.agents.claude_code.records.reader import AnyLine
from tracklog.agents.claude_code.records.system import SUBTYPES
from tracklog.agents.codex.records.envelope import Enveloped
from tracklog.agents.codex.records.events import EventPayload
from tracklog.agents.codex.records.items import ResponseItem
from tracklog.agents.codex.records.turn_items import TurnItem
from tracklog.agents.registry import read_records
from tracklog.model.records import Piece, UnknownPart, tag_of
from tracklog.sources.log_file import FileKind

PROJECT = Path(__file__).parent.parent
SOURCE = PROJECT / "src/tracklog"
CLAUDE_PAGE = PROJECT / "docs/formats/claude_code.md"
CODEX_PAGE = PROJECT / "docs/formats/codex.md"
SECTIONS = [
    "evidence",
    "layout",
    "slug",
    "lines",
    "envelope",
    "messages",
    "blocks",
    "system",
    "progress",
    "attachments",
    "metadata",
    "tool-results",
    "side-files",
    "hooks",
    "usage",
]
ONLY_OF_CODEX = {FileKind.DOCUMENT, FileKind.SESSION_INDEX}

_CODE = re.compile(r"`([^`]+)`")
_REFERENCE = re.compile(r"as `[^`]+`")
_PLACE_IN_CODE = re.compile(r"(docs/[\w/]+\.md)(?:#([\w-]+))?")
_MODULE_IN_CODE = re.compile(r"(?<![\w./-])(?:[\w-]+/)*[a-z_]\w*\.py\b")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def tags_of(union: Any) -> set[str]:
    return {tag_of(struct) for struct in get_args(union) if struct is not UnknownPart}


def structs_by_tag(union: Any) -> dict[str, tuple[Any, ...]]:
    return {tag_of(struct): (struct,) for struct in get_args(union) if struct is not UnknownPart}


def section(page: Path, anchor: str) -> str:
    """The text under one heading of the second level."""
    for part in page.read_text().split("\n## ")[1:]:
        heading, _, body = part.partition("\n")
        if anchor_of(heading) == anchor:
            return body
    raise AssertionError(f"{page.name} has no section #{anchor}")


def anchor_of(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def anchors_of(page: Path) -> set[str]:
    return {anchor_of(heading) for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)}


def rows(text: str) -> list[list[str]]:
    """The cells of all table rows, without headings' rules."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def named_first(text: str) -> set[str]:
    """What stands as code in the first cells of tables."""
    return {name for cells in rows(text) for name in _CODE.findall(cells[0])}


def rows_with_keys(text: str) -> list[tuple[str, set[str]]]:
    """The names and keys of the tables whose last cell but one lists keys."""
    found: list[tuple[str, set[str]]] = []
    has_keys = False
    for cells in rows(text):
        if not _CODE.match(cells[0]):
            has_keys = cells[-2].startswith("keys")
        elif has_keys:
            keys = set(_CODE.findall(_REFERENCE.sub("", cells[-2])))
            found += [(name, keys) for name in _CODE.findall(cells[0])]
    return found


def keys_of(structs: Iterable[Any]) -> set[str]:
    return {field.encode_name for struct in structs for field in msgspec.structs.fields(struct)}


def test_claude_codes_page_has_the_sections_of_a_format_page_in_order() -> None:
    headings = re.findall(r"^## (.+)$", CLAUDE_PAGE.read_text(), re.MULTILINE)
    assert [anchor_of(heading) for heading in headings] == SECTIONS


def test_every_type_of_claude_codes_lines_has_a_row() -> None:
    documented = {
        name
        for anchor in ("envelope", "messages", "metadata")
        for name in named_first(section(CLAUDE_PAGE, anchor))
    }
    assert tags_of(AnyLine) - documented == set()


@pytest.mark.parametrize(
    ("anchor", "known"),
    [
        ("attachments", tags_of(AnyAttachment)),
        ("blocks", tags_of(AnyBlock)),
        ("progress", tags_of(AnyProgress)),
        ("system", set(SUBTYPES)),
        ("tool-results", set(SHAPES)),
    ],
)
def test_the_rows_of_a_section_are_exactly_the_kinds_that_its_reader_knows(
    anchor: str, known: set[str]
) -> None:
    assert named_first(section(CLAUDE_PAGE, anchor)) == known


@pytest.mark.parametrize(
    ("anchor", "known"),
    [
        ("blocks", structs_by_tag(AnyBlock)),
        ("progress", structs_by_tag(AnyProgress)),
        ("system", {name: (struct,) for name, struct in SUBTYPES.items()}),
        ("metadata", structs_by_tag(AnyLine)),
        ("tool-results", SHAPES),
    ],
)
def test_a_key_in_a_row_is_a_key_of_the_struct(anchor: str, known: dict[str, tuple[Any, ...]]) -> None:
    stale = {
        (name, key)
        for name, keys in rows_with_keys(section(CLAUDE_PAGE, anchor))
        for key in keys - keys_of(known[name])
    }
    assert stale == set()


def test_every_row_of_a_kind_says_its_evidence() -> None:
    mark = re.compile(r"lab: [\w., ]+|lab, by hand|logs|described|named")
    sections = ("attachments", "blocks", "progress", "system", "tool-results")
    unmarked = [
        cells
        for anchor in sections
        for cells in rows(section(CLAUDE_PAGE, anchor))
        if _CODE.match(cells[0]) and not all(mark.fullmatch(part) for part in cells[-1].split("; "))
    ]
    assert unmarked == []


def test_every_kind_of_file_in_claude_codes_home_is_in_its_layout() -> None:
    documented = {name for cells in rows(section(CLAUDE_PAGE, "layout")) for name in _CODE.findall(cells[-1])}
    elsewhere = ONLY_OF_CODEX | {FileKind.SPOOL}  # the spool stands in our own home
    assert {str(kind) for kind in set(FileKind) - elsewhere} - documented == set()


@pytest.mark.parametrize("union", [Enveloped, ResponseItem, EventPayload, TurnItem])
def test_every_kind_of_codex_is_on_its_page(union: Any) -> None:
    assert tags_of(union) - set(_CODE.findall(CODEX_PAGE.read_text())) == set()


def test_every_place_in_the_documents_that_code_points_to_exists() -> None:
    missing = [
        (source.name, place, anchor)
        for source in sorted((PROJECT / "src").rglob("*.py"))
        for place, anchor in _PLACE_IN_CODE.findall(source.read_text())
        if not _exists(PROJECT / place, anchor)
    ]
    assert missing == []


def test_every_module_that_a_docstring_or_a_comment_names_exists() -> None:
    ours = {f"/{path.relative_to(SOURCE).as_posix()}" for path in SOURCE.rglob("*.py")}
    missing = [
        (source.relative_to(SOURCE).as_posix(), named)
        for source in sorted(SOURCE.rglob("*.py"))
        for text in _docstrings_and_comments(source)
        for named in _MODULE_IN_CODE.findall(text)
        if not (PROJECT / named).exists() and not any(path.endswith(f"/{named}") for path in ours)
    ]
    assert missing == []


def _docstrings_and_comments(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
    with tokenize.open(source) as file:
        yield from (
            token.string
            for token in tokenize.generate_tokens(file.readline)
            if token.type == tokenize.COMMENT
        )


def test_every_link_in_the_documents_leads_somewhere() -> None:
    pages = [*sorted((PROJECT / "docs").rglob("*.md")), *sorted(PROJECT.glob("*.md"))]
    missing = [
        (page.name, target, anchor)
        for page in pages
        for target, anchor in _LINK.findall(_prose(page))
        if not _exists(page.parent / target if target else page, anchor)
    ]
    assert missing == []


def test_the_table_of_live_events_names_exactly_those_that_are_told() -> None:
    live = PROJECT / "src/tracklog/live"
    told = {
        name
        for module in ("watch/watcher.py", "watch/events.py", "watch/states.py", "watch/shared.py")
        for name in _events_told_in((live / module).read_text())
    }
    assert {"gap", "session_seen", "session_titled", "state_changed"} < told  # each is found in another way
    table = section(PROJECT / "docs/live.md", "events").partition("| event |")[2].partition("\n\n")[0]
    assert named_first(table) == told


def _events_told_in(source: str) -> set[str]:
    """Names that are given to `_events.add`, put first in a pair with facts, or are the `event` of a LiveEvent."""
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="_events"), attr="add"), args=[name, *_]
            ):
                found.append(name)
            case ast.Assign(targets=[ast.Name(id="what")], value=ast.IfExp(body=one, orelse=other)):
                found += [one, other]
            case ast.Tuple(elts=[name, ast.Dict() | ast.Call()]):
                found.append(name)
            case ast.keyword(arg="event", value=name):
                found.append(name)
            case _:
                pass  # tells nothing
    return {one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_the_example_of_the_flow_reads_as_the_page_says(tmp_path: Path) -> None:
    page = (PROJECT / "docs/flow.md").read_text()
    log = tmp_path / "example.jsonl"
    log.write_text(_block("jsonl", page))
    said = [tuple(line.split()) for line in _block("text", page).splitlines()[1:]]
    assert [_row(piece) for piece in read_records(log)] == said


@pytest.mark.parametrize("page", ["architecture.md", "flow.md"])
def test_every_module_that_the_maps_name_exists(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", (PROJECT / "docs" / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    named = {word for word in _CODE.findall(text) if re.fullmatch(r"[a-z_]+([./][a-z_]+)+(\.py|/)?", word)}
    packages = {path.name for path in SOURCE.iterdir()}
    ours = {word for word in named if re.split(r"[./]", word)[0] in packages}
    assert len(ours) > 20
    assert {word for word in ours if not _is_in_tree(word)} == set()


def _is_in_tree(name: str) -> bool:
    """A path, or the dotted name of a module, of its function or its class."""
    path = SOURCE / name.replace(".", "/")
    if (SOURCE / name).exists() or path.is_dir() or path.with_suffix(".py").exists():
        return True
    module, _, function = name.replace(".", "/").rpartition("/")
    path = SOURCE / f"{module}.py"
    return (
        path.exists() and re.search(rf"^(def|class) {function}\b", path.read_text(), re.MULTILINE) is not None
    )


def _block(language: str, page: str) -> str:
    return page.partition(f"```{language}\n")[2].partition("```")[0]


def _row(piece: Piece) -> tuple[str, ...]:
    where = (str(piece.line), str(piece.offset), str(piece.length))
    recovered = "yes" if piece.recovered else "no"
    return (*where, piece.reading, piece.record.kind, piece.record.ident or "-", recovered)


def _prose(page: Path) -> str:
    """The page without what stands as code, where brackets mean other things."""
    return _CODE.sub("", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))


def _exists(page: Path, anchor: str) -> bool:
    return page.exists() and (not anchor or anchor in anchors_of(page))


def test_the_table_of_verdicts_is_the_one_at_the_top_of_the_code() -> None:
    from tracklog.model.assemble import verdicts

    def rows(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.startswith("|")]

    page = (
        (PROJECT / "docs" / "verdicts.md")
        .read_text("utf-8")
        .partition("## The table")[2]
        .partition("\n## ")[0]
    )
    assert rows(page) == rows(verdicts.__doc__ or "")
    assert len(rows(page)) > 10
