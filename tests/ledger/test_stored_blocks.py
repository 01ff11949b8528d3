"""Blocks that were kept are what a scan would give."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.oracle.cases import CASES
from tests.oracle.truth import Case
from tracklog.agents.base import LogToScan
from tracklog.agents.claude_code import usage_scan
from tracklog.app.scope.resolve import find_logs
from tracklog.ledger.ledger import marks_of, numbered, packed, unpacked
from tracklog.ledger.scan import Work
from tracklog.model.usage import ROW_FORMAT, UsageBlock
from tracklog.reading.session_files import group

each_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])


def work_on(case: Case, folder: Path) -> Work:
    case.write(folder)
    return Work(group(find_logs([folder]).files), "ours", with_tools=True)


@each_case
def test_a_kept_block_is_what_it_was(case: Case, tmp_path: Path) -> None:
    work = work_on(case, tmp_path)
    blocks = [work.read(number) for number in range(len(work.files))]
    assert [unpacked(packed(block), block.file) for block in blocks] == blocks


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name) for case in CASES if case.agent == "claude"]
)
def test_a_kept_block_has_the_number_that_its_file_has_now(case: Case, tmp_path: Path) -> None:
    for source, file in work_on(case, tmp_path).files:

        def scanned(number: int, source=source, file=file) -> UsageBlock:  # type: ignore[no-untyped-def]
            return usage_scan.scan(LogToScan(number, source, file, with_tools=True))

        assert unpacked(packed(scanned(0)), 70_000) == scanned(70_000)


def test_what_only_one_log_can_hold_has_no_mark() -> None:
    block = UsageBlock(3, keys=[b"msg_1", b"3:120"])
    assert marks_of(block) == marks_of(UsageBlock(4, keys=[b"msg_1"]))
    assert len(marks_of(block)) == 1


def test_a_key_that_only_looks_like_a_place_stays() -> None:
    block = UsageBlock(0, keys=[b"0:7", b"0:0"], rows=2 * bytes(struct.calcsize(ROW_FORMAT)))
    assert numbered(block, 5).keys == [b"0:7", b"5:0"]
