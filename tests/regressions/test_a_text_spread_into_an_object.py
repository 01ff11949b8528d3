"""A client wrote `{...text}`: one object with a key for each letter. `doctor` reported each of them as an unnamed key.

10,000 letters filled the table of names, so that what was really unknown after them counted only as "(others)".
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.agents.test_reading import found
from tests.views.cli.command import tracklog, transcript_in, user_line, write
from tracklog.reading.survey import survey

N_LETTERS = 10_000


def spread(home: Path) -> Path:
    """A log whose message was spread into an object, with one more key that has no name, and keys below numbers."""
    line = json.loads(user_line("u1"))
    letters = {str(n): "x" for n in range(N_LETTERS)}
    line["message"] = {**line["message"], **letters, "mood2": 1}
    line |= {"7": {"text": "x"}, "zeal": 1}
    return write(transcript_in(home), json.dumps(line).encode() + b"\n")


def test_the_letters_of_a_text_are_one_finding(tmp_path: Path) -> None:
    path = spread(tmp_path)
    unknown = survey([found(path)]).unknown
    assert [(one.key, one.count) for one in unknown] == [
        ("message.<n>", N_LETTERS),
        ("<n>", 1),
        ("message.mood2", 1),
        ("zeal", 1),
    ]
    assert {one.example for one in unknown} == {f"{path}:1"}


def test_doctor_and_its_document_say_it_once(tmp_path: Path) -> None:
    path = spread(tmp_path)
    told = tracklog("doctor", "--home", tmp_path / "own", home=tmp_path)
    assert f"{N_LETTERS:,}×  claude  user  message.<n>" in told.out
    assert len(re.findall("×  claude  user", told.out)) == 4
    rows = tracklog("doctor", "--json", "--home", tmp_path / "own", home=tmp_path).json["unknown"]
    assert rows[0] == {
        "agent": "claude",
        "kind": "user",
        "key": "message.<n>",
        "why": "unnamed key",
        "example": f"{path}:1",
        "count": N_LETTERS,
    }
