"""`rebuild` silently dropped what only the old index still knew.

The logs of a session were deleted, and a part of its file in the archive was damaged. The index still had all 463
requests; `rebuild` made one with 447, put it in the place of the old one, and exited with 0. It compared only the names
of logs and sessions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import tracklog, transcript_in
from tests.views.cli.written import Log, working_day

REQUESTS = 3


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose only log is in the archive alone, in two parts."""
    log: Log = working_day()
    path = log.write_in(tmp_path)
    tracklog("index", home=tmp_path)
    log.answer("msg_9", "More.").write_in(tmp_path)
    tracklog("index", home=tmp_path)
    path.unlink()
    assert requests(tmp_path) == REQUESTS + 1
    return tmp_path


def requests(home: Path) -> int:
    total: int = tracklog("usage", "--json", home=home).json["total"]["requests"]
    return total


def stored_in(home: Path) -> Path:
    (path,) = (home / ".local/share/tracklog/archive/logs").rglob("*.zst")
    return path


def damage(home: Path) -> None:
    """Flip a bit in the contents of the first part."""
    path = stored_in(home)
    data = bytearray(path.read_bytes())
    at = data.index(b"\x28\xb5\x2f\xfd") + 40
    data[at] ^= 1
    path.write_bytes(data)


def cut_off(home: Path) -> None:
    """Lose the second part."""
    path = stored_in(home)
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"\x28\xb5\x2f\xfd")])


@pytest.mark.parametrize("spoil", [damage, cut_off])
def test_an_index_that_knows_less_of_a_log_does_not_replace_the_old_one(spoil: object, home: Path) -> None:
    assert callable(spoil)
    spoil(home)
    said = tracklog("rebuild", home=home)
    assert said.code == 1
    assert (
        f"The old index knew more of 1 log:\n  ~{str(transcript_in(home)).removeprefix(str(home))}: "
        in said.out
    )
    assert requests(home) == REQUESTS + 1
    document = tracklog("rebuild", "--json", home=home).json
    assert [one["path"] for one in document["damaged_logs"]] == [str(transcript_in(home))]
    assert (document["replaced"], document["old_index"]) == (False, None)


@pytest.mark.parametrize("command", ["usage", "sessions", "index"])
def test_the_old_one_stays_when_it_has_met_the_damage_itself(command: str, tmp_path: Path) -> None:
    # it had read the log before, and noted later why it could not read it again: that was taken for "no less is known"
    path = working_day().write_in(tmp_path)
    tracklog("index", home=tmp_path)
    path.unlink()
    damage(tmp_path)
    tracklog(command, home=tmp_path)
    for _ in range(2):
        assert tracklog("rebuild", home=tmp_path).code == 1
        assert requests(tmp_path) == REQUESTS
    assert "The old index is now" in tracklog("rebuild", "--force", home=tmp_path).out
    assert requests(tmp_path) == 0
    assert tracklog("rebuild", home=tmp_path).code == 0  # nothing less is known than before


def test_with_force_the_old_one_is_kept_beside_it(home: Path) -> None:
    cut_off(home)
    said = tracklog("rebuild", "--force", home=home)
    assert said.code == 0
    assert "The old index is now index.replaced-1.db." in said.out
    assert requests(home) == REQUESTS
    kept = home / ".local/share/tracklog/index.replaced-1.db"
    kept.rename(kept.with_name("index.db"))
    assert requests(home) == REQUESTS + 1


def test_one_that_knows_all_replaces_it(home: Path) -> None:
    said = tracklog("rebuild", "--json", home=home)
    assert (said.code, said.json["replaced"], said.json["damaged_logs"]) == (0, True, [])
    assert requests(home) == REQUESTS + 1
