"""The living specification: in what the real clients write, no kind and no key is unknown to us."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.drift import drift_of
from tests.lab.run import LabRun
from tracklog.agents.discovery import find_at
from tracklog.agents.registry import identified
from tracklog.reading.verify import VerifyResult, verify
from tracklog.sources.log_file import LogFile

pytestmark = pytest.mark.lab


def test_nothing_in_the_logs_of_a_real_client_is_unknown(lab_run: LabRun) -> None:
    assert drift_of(lab_run) == []


def test_the_logs_of_a_real_client_come_back_byte_for_byte(lab_run: LabRun) -> None:
    proofs = [verify(file) for file in find_at(lab_run.config_dir) if isinstance(file, LogFile)]
    assert proofs
    assert [proof for proof in proofs if not (isinstance(proof, VerifyResult) and proof.identical)] == []


def test_a_real_log_taken_from_its_home_is_still_known(lab_run: LabRun, tmp_path: Path) -> None:
    for n, log in enumerate(log for log in lab_run.logs if log.stat().st_size):
        loose = tmp_path / f"{n}.jsonl"
        loose.write_bytes(log.read_bytes())
        (file,) = find_at(loose)
        assert isinstance(file, LogFile)
        assert identified(file).agent == lab_run.agent
