from __future__ import annotations

import hashlib
import os
from pathlib import Path

import zstandard

from tests.views.cli.command import (
    both_agents,
    codex_lines,
    out_of_reach,
    rollout_in,
    tracklog,
    transcript_in,
    user_line,
    write,
)

NO_ARCHIVE: dict[str, object] = {
    "logs": 0,
    "identical": 0,
    "only_here": 0,
    "outdated": 0,
    "not_archived": 0,
    "damaged": [],
}


def proof(path: Path, *, lines: int, archived: bool | None = None, **more: int) -> dict[str, object]:
    """What `verify` says of a log that came back whole."""
    stored = path.read_bytes()
    counts = {
        "lines": lines,
        "pieces": lines,
        "read": lines,
        "unknown": 0,
        "broken": 0,
        "recovered": 0,
        **more,
    }
    digest = hashlib.sha256(stored).hexdigest()
    told = {"path": str(path), "bytes": len(stored), "sha256": digest, **counts, "identical": True}
    return {**told, "archived": archived}


def test_all_logs_in_their_usual_places_are_proved(tmp_path: Path) -> None:
    both_agents(tmp_path)
    answer = tracklog("verify", "--json", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "schema_version": 1,
        "identical": True,
        "files": [proof(transcript_in(tmp_path), lines=1), proof(rollout_in(tmp_path), lines=2)],
        "skipped": [],
        "archive": NO_ARCHIVE,
    }


def test_files_and_folders_can_be_named_and_each_file_is_proved_once(tmp_path: Path) -> None:
    one = write(tmp_path / "logs/one.jsonl", user_line())
    two = write(tmp_path / "two.jsonl", codex_lines())
    answer = tracklog("verify", "--json", two, tmp_path / "logs", one, home=tmp_path)
    assert answer.json["files"] == [proof(two, lines=2), proof(one, lines=1)]


def test_of_a_compressed_log_bytes_and_hash_are_those_of_the_stored_file(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl.zst", zstandard.compress(codex_lines()))
    answer = tracklog("verify", "--json", log, home=tmp_path)
    assert (answer.code, answer.json["files"]) == (0, [proof(log, lines=2)])


def test_broken_lines_leave_it_identical_and_make_it_exit_1(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line()[:50] + user_line() + b"not json")
    answer = tracklog("verify", "--json", home=tmp_path)
    assert answer.code == 1
    assert answer.json == {
        "schema_version": 1,
        "identical": True,
        "files": [proof(log, lines=2, pieces=3, read=1, broken=2, recovered=1)],
        "skipped": [],
        "archive": NO_ARCHIVE,
    }


def test_unknown_lines_are_no_reason_to_exit_1(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), b'{"type":"hologram"}\n')
    answer = tracklog("verify", "--json", home=tmp_path)
    assert (answer.code, answer.json["files"]) == (0, [proof(log, lines=1, read=0, unknown=1)])


def test_what_is_no_regular_file_is_skipped_and_spoils_nothing(tmp_path: Path) -> None:
    both_agents(tmp_path)
    os.mkfifo(transcript_in(tmp_path, "pipe.jsonl"))
    transcript_in(tmp_path, "ring").symlink_to(".")
    answer = tracklog("verify", "--json", home=tmp_path)
    assert (answer.code, answer.json["identical"], len(answer.json["files"])) == (0, True, 2)
    assert answer.json["skipped"] == [
        {"path": str(transcript_in(tmp_path, "pipe.jsonl")), "why": "FIFO"},
        {"path": str(transcript_in(tmp_path, "ring")), "why": "symbolic link"},
    ]


def test_a_log_that_was_only_left_alone_spoils_nothing(tmp_path: Path) -> None:
    both_agents(tmp_path)
    twin = rollout_in(tmp_path).with_suffix(".jsonl.zst")
    write(twin, zstandard.compress(codex_lines()))
    second = transcript_in(tmp_path, "second.jsonl")
    os.link(transcript_in(tmp_path), second)
    answer = tracklog("verify", "--json", home=tmp_path)
    assert (answer.code, answer.json["identical"], len(answer.json["files"])) == (0, True, 2)
    assert answer.json["skipped"] == [
        {"path": str(second), "why": "another name of a file already found"},
        {"path": str(twin), "why": "the same log stands uncompressed beside it"},
    ]


def test_a_log_that_may_not_be_read_is_skipped_with_the_reason_and_spoils_it() -> None:
    with out_of_reach() as top:
        unread = tracklog("verify", "--json", "secret.jsonl", home=top, is_mighty=False)
        hidden = tracklog("verify", "--json", "locked/log.jsonl", home=top, is_mighty=False)
        folder = tracklog("verify", "--json", "--root", "locked", home=top, is_mighty=False)
    assert (unread.code, unread.json) == (
        1,
        {
            "schema_version": 1,
            "identical": False,
            "files": [],
            "skipped": [{"path": "secret.jsonl", "why": "permission denied"}],
            "archive": NO_ARCHIVE,
        },
    )
    assert hidden == (1, "", "tracklog: cannot read locked/log.jsonl: permission denied\n")
    assert folder == (1, "", "tracklog: cannot read locked: permission denied\n")


def test_a_link_is_reported_as_it_was_called(tmp_path: Path) -> None:
    write(tmp_path / "real/log.jsonl", user_line())
    write(tmp_path / "real/cut.jsonl.zst", b"\x28\xb5\x2f\xfd")
    for name in ("log.jsonl", "cut.jsonl.zst"):
        (tmp_path / name).symlink_to(f"real/{name}")
    answer = tracklog("verify", "--json", tmp_path / "log.jsonl", tmp_path / "cut.jsonl.zst", home=tmp_path)
    assert answer.json["files"] == [proof(tmp_path / "log.jsonl", lines=1)]
    assert [one["path"] for one in answer.json["skipped"]] == [str(tmp_path / "cut.jsonl.zst")]


def test_a_log_that_cannot_be_read_to_its_end_is_not_proved(tmp_path: Path) -> None:
    packed = zstandard.compress(codex_lines() * 100)
    log = write(tmp_path / "log.jsonl.zst", packed[: len(packed) - 8])
    answer = tracklog("verify", "--json", log, home=tmp_path)
    assert (answer.code, answer.json["identical"], answer.json["files"]) == (1, False, [])
    assert [one["path"] for one in answer.json["skipped"]] == [str(log)]
    assert (
        "✗ 0 files identical, 1 file could not be read to the end\n"
        in tracklog("verify", log, home=tmp_path).out
    )


def test_people_see_the_verdict_the_counts_and_the_files_that_are_not_plain(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line() + b"not json\n")
    write(rollout_in(tmp_path), codex_lines())
    verdict, counts, readings, *rest = tracklog("verify", home=tmp_path).out.splitlines()
    assert verdict == "✓ 2 files identical, byte by byte"
    assert counts.startswith("  4 lines, 629 bytes in ")
    assert readings == "  3 read, 0 unknown, 1 broken (0 records recovered)"
    assert rest == [
        "",
        "  unknown  broken  recovered  of lines  file",
        f"        0       1          0         2  ~/{transcript_in(tmp_path).relative_to(tmp_path)}",
    ]


def test_where_there_are_no_logs_there_is_nothing_to_object_to(tmp_path: Path) -> None:
    answer = tracklog("verify", home=tmp_path)
    assert (answer.code, answer.out.splitlines()[0]) == (0, "No logs found.")
    empty = {"schema_version": 1, "identical": True, "files": [], "skipped": [], "archive": NO_ARCHIVE}
    assert tracklog("verify", "--json", home=tmp_path).json == empty


def archive_of(home: Path) -> Path:
    return home / ".local/share/tracklog/archive"


def test_the_archive_is_proved_against_the_sources(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    answer = tracklog("verify", "--json", home=tmp_path)
    assert answer.json["files"] == [
        proof(transcript_in(tmp_path), lines=1, archived=True),
        proof(rollout_in(tmp_path), lines=2, archived=True),
    ]
    assert answer.json["archive"] == {**NO_ARCHIVE, "logs": 2, "identical": 2}
    assert "archive: 2 logs the same, 0 only there and whole" in tracklog("verify", home=tmp_path).out


def test_what_only_the_archive_has_is_proved_by_its_checksums(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    rollout_in(tmp_path).unlink()
    answer = tracklog("verify", "--json", home=tmp_path)
    assert (answer.code, answer.json["archive"]) == (
        0,
        {**NO_ARCHIVE, "logs": 2, "identical": 1, "only_here": 1},
    )
    transcript_in(tmp_path).unlink()
    assert "2 only there and whole" in tracklog("verify", home=tmp_path).out


def test_a_flipped_bit_in_the_archive_is_found(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    (stored,) = (archive_of(tmp_path) / "logs/codex").rglob("*.zst")
    damaged = bytearray(stored.read_bytes())
    damaged[-2] ^= 1  # in the checksum of the last frame
    stored.write_bytes(damaged)
    answer = tracklog("verify", "--json", home=tmp_path)
    assert (answer.code, answer.json["identical"]) == (1, False)
    assert [(file["identical"], file["archived"]) for file in answer.json["files"]] == [
        (True, True),
        (True, False),
    ]
    assert [one["path"] for one in answer.json["archive"]["damaged"]] == [str(rollout_in(tmp_path))]
    rollout_in(tmp_path).unlink()
    answer = tracklog("verify", "--json", home=tmp_path)
    assert (answer.code, len(answer.json["archive"]["damaged"])) == (1, 1)


def test_a_log_that_was_rewritten_and_not_indexed_yet_is_no_damage(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    write(transcript_in(tmp_path), user_line("something else"))
    answer = tracklog("verify", "--json", transcript_in(tmp_path), home=tmp_path)
    assert (answer.code, answer.json["files"][0]["archived"]) == (0, None)
    assert answer.json["archive"] == {**NO_ARCHIVE, "logs": 1, "outdated": 1}


def test_a_log_that_grew_since_is_proved_as_far_as_it_is_archived(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    write(transcript_in(tmp_path), user_line() * 2)
    answer = tracklog("verify", "--json", transcript_in(tmp_path), home=tmp_path)
    assert answer.json["files"][0]["archived"] is True


def test_of_the_archive_only_what_is_asked_for_is_proved(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    answer = tracklog("verify", "--json", "--agent", "codex", home=tmp_path)
    assert answer.json["archive"] == {**NO_ARCHIVE, "logs": 1, "identical": 1}
    answer = tracklog("verify", "--json", "--root", tmp_path / ".claude", home=tmp_path)
    assert answer.json["archive"] == {**NO_ARCHIVE, "logs": 1, "identical": 1}
