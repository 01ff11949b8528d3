from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sources.tree import ONE, TWO, files_in, plant, skipped_in
from tracklog.agents.codex.places import RolloutName, find, rollout_name
from tracklog.agents.roots import codex_homes

DAY = "sessions/2026/03/01"
ROLLOUT = f"rollout-2026-03-01T17-24-42-{ONE}"


def test_every_kind_of_file_in_a_home_is_found_with_its_thread(tmp_path: Path) -> None:
    plant(
        tmp_path,
        f"{DAY}/{ROLLOUT}.jsonl",
        f"{DAY}/rollout-2026-03-01T18-00-00-{TWO}.jsonl.zst",
        f"{DAY}/{ROLLOUT}_{TWO}.jsonl",
        f"sessions/rollout-2025-05-01-{ONE}.json",
        f"archived_sessions/{ROLLOUT}.jsonl",
        f"archived_sessions/rollout-2026-02-01T00-00-00-{TWO}.jsonl.zst",
        "history.jsonl",
        "session_index.jsonl",
    )
    assert files_in(find(tmp_path), tmp_path) == [
        ("history", "history.jsonl", None),
        ("session_index", "session_index.jsonl", None),
        ("document", f"sessions/rollout-2025-05-01-{ONE}.json", ONE),
        ("transcript", f"{DAY}/{ROLLOUT}.jsonl", ONE),
        ("transcript", f"{DAY}/{ROLLOUT}_{TWO}.jsonl", ONE),
        ("transcript", f"{DAY}/rollout-2026-03-01T18-00-00-{TWO}.jsonl.zst", TWO),
        ("transcript", f"archived_sessions/rollout-2026-02-01T00-00-00-{TWO}.jsonl.zst", TWO),
        ("transcript", f"archived_sessions/{ROLLOUT}.jsonl", ONE),
    ]


def test_temporary_files_databases_and_settings_are_not_logs(tmp_path: Path) -> None:
    plant(
        tmp_path,
        f"{DAY}/{ROLLOUT}.jsonl.zst.tmp",
        f"{DAY}/{ROLLOUT}.jsonl.tmp",
        f"{DAY}/notes.json",
        "state_5.sqlite",
        "config.toml",
        "auth.json",
    )
    assert list(find(tmp_path)) == []


def test_a_log_that_is_no_rollout_is_found_as_other(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/new-thing.jsonl", f"{DAY}/{ROLLOUT}@copy.jsonl")
    assert files_in(find(tmp_path), tmp_path) == [
        ("other", f"{DAY}/new-thing.jsonl", None),
        ("transcript", f"{DAY}/{ROLLOUT}@copy.jsonl", None),
    ]


def test_of_plain_and_compressed_twins_the_plain_one_is_read_and_the_other_named(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{ROLLOUT}.jsonl", f"{DAY}/{ROLLOUT}.jsonl.zst")
    assert files_in(find(tmp_path), tmp_path) == [("transcript", f"{DAY}/{ROLLOUT}.jsonl", ONE)]
    assert skipped_in(find(tmp_path), tmp_path) == [
        (f"{DAY}/{ROLLOUT}.jsonl.zst", "the same log stands uncompressed beside it")
    ]


def test_a_compressed_log_beside_a_link_of_its_name_is_still_read(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{ROLLOUT}.jsonl.zst")
    (tmp_path / DAY / f"{ROLLOUT}.jsonl").symlink_to("/dev/zero")
    assert files_in(find(tmp_path), tmp_path) == [("transcript", f"{DAY}/{ROLLOUT}.jsonl.zst", ONE)]


def test_links_are_followed_for_the_well_known_folders_only(tmp_path: Path) -> None:
    plant(tmp_path / "disk", f"2026/03/01/{ROLLOUT}.jsonl")
    home = tmp_path / "home"
    home.mkdir()
    (home / "sessions").symlink_to(tmp_path / "disk")
    (home / "archived_sessions").symlink_to("nowhere")
    (home / "history.jsonl").symlink_to("/dev/zero")
    (tmp_path / "disk" / "2027").symlink_to("2026")
    assert files_in(find(home), home) == [("transcript", f"{DAY}/{ROLLOUT}.jsonl", ONE)]
    assert skipped_in(find(home), home) == [
        ("history.jsonl", "symbolic link"),
        ("sessions/2027", "symbolic link"),
        ("archived_sessions", "does not exist"),
    ]


def test_a_fifo_among_the_rollouts_is_skipped_and_said_so(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{ROLLOUT}.jsonl")
    os.mkfifo(tmp_path / DAY / f"rollout-2026-03-01T19-00-00-{TWO}.jsonl")
    assert skipped_in(find(tmp_path), tmp_path) == [
        (f"{DAY}/rollout-2026-03-01T19-00-00-{TWO}.jsonl", "FIFO")
    ]


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        (f"{ROLLOUT}.jsonl", RolloutName(ONE, ONE)),
        (f"{ROLLOUT}.jsonl.zst", RolloutName(ONE, ONE)),
        (f"{ROLLOUT}_{TWO}.jsonl", RolloutName(ONE, TWO)),
        (f"rollout-2025-05-01-{ONE}.json", RolloutName(ONE, ONE)),
        (f"{ROLLOUT}.jsonl.tmp", None),
        (f"{ROLLOUT}.jsonl\n", None),
        (f"{ROLLOUT}@1a2b.jsonl", None),
        ("rollout-2026-03-01T17-24-42-short.jsonl", None),
        (f"{ONE}.jsonl", None),
    ],
)
def test_the_ids_are_those_the_file_name_states(name: str, ids: RolloutName | None) -> None:
    assert rollout_name(name) == ids


def test_codex_home_replaces_the_usual_home(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert codex_homes(env) == []
    (tmp_path / ".codex").mkdir()
    assert codex_homes(env) == [tmp_path / ".codex"]
    assert codex_homes(env | {"CODEX_HOME": ""}) == [tmp_path / ".codex"]
    assert codex_homes(env | {"CODEX_HOME": str(tmp_path / "x")}) == [tmp_path / "x"]
