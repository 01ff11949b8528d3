"""A run of NUL bytes was scanned at a third of a megabyte per second.

A crash leaves logs and output files with long runs of NUL bytes, and a sparse file of 1 GB is easily made. Each NUL was
taken for an escape of UTF-16 of its own, with two steps in a list: `scan` of 16 MB of them took 46 seconds, `redact` longer.
"""

from __future__ import annotations

import pytest

from tracklog.secrets.encodings import undisguised
from tracklog.secrets.find import find

TOKEN = b"ghp_" + b"16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize("nul", [b"\0", b"\\u0000"])
def test_a_run_of_nuls_is_one_step(nul: bytes) -> None:
    assert sum(len(view.steps) for view in undisguised(nul * 100_000)) < 20


@pytest.mark.parametrize("nul", [b"\0", b"\\u0000"])
@pytest.mark.parametrize("between", [1, 3])
def test_a_secret_between_nuls_is_found_where_it_is(nul: bytes, between: int) -> None:
    spread = (nul * between).join(TOKEN[at : at + 1] for at in range(len(TOKEN)))
    data = nul * 5000 + b" x " + nul + spread + nul * 5000
    (found,) = find(data).found
    assert (found.value, data[found.start : found.end]) == (TOKEN, spread)
