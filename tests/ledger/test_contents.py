from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.model.lines import attachment, user
from tracklog.agents.base import Attached, LogContents
from tracklog.agents.discovery import find_at
from tracklog.ledger.context_cost import contents_of
from tracklog.model.events import Place
from tracklog.reading.session_files import group

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"


def contents(folder: Path) -> LogContents:
    (session,) = group(find_at(folder))
    return contents_of(session)


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({**line, "sessionId": ONE}) + "\n" for line in lines))
    return path


def test_records_are_found_by_their_place_and_attachments_with_them(tmp_path: Path) -> None:
    main = write(
        tmp_path / f"{ONE}.jsonl",
        user("u1", None, "hi"),
        {"type": "summary", "summary": "no record of the tree", "leafUuid": "u1"},
        attachment("f", "u1", "file", filename="a.md", content="x" * 8),
        user("side", None, "a subagent's", isSidechain=True),
    )
    found = contents(tmp_path)
    assert found == LogContents(
        {Place(str(main), 1): "u1", Place(str(main), 3): "f"},  # type: ignore[dict-item]
        [Attached(Place(str(main), 3), "file", "a.md", 8)],
    )


def test_an_attachment_that_stands_in_two_logs_counts_once(tmp_path: Path) -> None:
    line = attachment("f", None, "file", filename="a.md", content="x" * 8)
    one = write(tmp_path / "a" / f"{ONE}.jsonl", user("u1", None, "hi"), line)
    write(tmp_path / "b" / f"{ONE}.jsonl", line)
    assert contents(tmp_path).attached == [Attached(Place(str(one), 2), "file", "a.md", 8)]
