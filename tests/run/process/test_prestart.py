"""Supervisors that are started before it is known what they keep."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracklog.errors import UserError
from tracklog.run.process import prestart
from tracklog.run.process.supervise import start_supervised


def test_one_that_was_poised_early_is_used_for_the_next_child_and_only_for_that(tmp_path: Path) -> None:
    prestart.prestart()
    (early,) = prestart._early
    first = start_supervised(["true"], cwd=tmp_path, env={"PATH": os.environ["PATH"]}, folder=None)
    second = start_supervised(["true"], cwd=tmp_path, env={"PATH": os.environ["PATH"]}, folder=None)
    try:
        assert (first._supervisor, prestart._early) == (early.process, [])
        assert second._supervisor is not early.process
    finally:
        first.close()
        second.close()


def test_one_that_is_not_needed_ends_by_itself() -> None:
    prestart.prestart()
    (early,) = prestart._early
    prestart.discard_prestarted()
    assert (early.process.returncode, prestart._early) == (0, [])


def test_an_order_of_any_length_reaches_it(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], **{f"V{n}": "x" * 1000 for n in range(200)}}
    kept = start_supervised(
        ["/bin/sh", "-c", 'test "$V199" = "$1" && exit 7', "sh", "x" * 1000],
        cwd=tmp_path,
        env=env,
        folder=None,
    )
    while not kept.is_over:
        kept.read_reports()
    kept.close()
    assert kept.exit_code == 7


def test_a_nul_cannot_be_ordered(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="NUL"):
        prestart.order_for(["a\0b"], cwd=tmp_path, env={})
