"""A log was rewritten in place, and the page of its session went on with lines that begin in the middle of a record.

The page knew a log again by its inode, its first 256 bytes and one newline where it had stopped. When the new lines were
such that a newline fell there, they were read from where the old ones had begun.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracklog.conversation.lines import ThreadLines
from tracklog.sources.log_file import FileKind, LogFile

FIRST = b'{"n":1,"first":"' + b"x" * 300 + b'"}\n'
OLD = FIRST + b'{"n":2,"old":1}\n{"n":3,"old":1}\n'
JOINED = b'{"n":2,"new":"' + b"." * (len(OLD) - len(FIRST) - 17) + b'"}\n'  # in place of two
NEW = FIRST + JOINED + b'{"n":3,"new":1}\n'


@pytest.fixture
def log(tmp_path: Path) -> LogFile:
    path = tmp_path / "a.jsonl"
    path.write_bytes(OLD)
    return LogFile("claude", FileKind.TRANSCRIPT, path, tmp_path, None, len(OLD), 1, 0, path.stat().st_ino)


def rewrite(path: Path, data: bytes) -> None:
    inode = path.stat().st_ino
    with path.open("r+b") as stream:
        stream.write(data)
        stream.truncate()
    assert path.stat().st_ino == inode


def shown(lines: ThreadLines) -> list[bytes]:
    return [one.line.raw for one in lines.between(1, 99)]


def test_a_log_rewritten_with_a_newline_at_its_old_end_has_its_new_lines(log: LogFile) -> None:
    assert NEW[:256] == OLD[:256]
    assert NEW[len(OLD) - 1] == ord("\n")
    lines = ThreadLines([log])
    assert shown(lines) == OLD.splitlines()
    rewrite(log.path, NEW)
    lines.look()
    assert (lines.generation, shown(lines)) == (1, NEW.splitlines())


def test_a_log_rewritten_with_the_same_length_has_its_new_lines(log: LogFile) -> None:
    lines = ThreadLines([log])
    rewrite(log.path, FIRST + JOINED)
    lines.look()
    assert (lines.generation, shown(lines)) == (1, [FIRST[:-1], JOINED[:-1]])


def test_no_line_is_read_where_one_of_the_former_log_began(log: LogFile) -> None:
    """Between the look that finds where lines begin, and the reading of them."""
    lines = ThreadLines([log])
    rewrite(log.path, NEW)
    assert shown(lines) == []
    assert lines.problems == [f"{log.path}: was rewritten at this moment"]
    assert list(lines.chunks()) == []
    lines.look()
    assert (lines.problems, shown(lines)) == ([], NEW.splitlines())


def test_a_log_replaced_by_one_that_begins_with_its_bytes_goes_on(log: LogFile) -> None:
    """As clients write a log whole, under another name, and rename it."""
    lines = ThreadLines([log])
    other = log.path.with_name("other")
    other.write_bytes(OLD + b"4\n")
    os.replace(other, log.path)
    lines.look()
    assert (lines.generation, shown(lines)) == (0, [*OLD.splitlines(), b"4"])
