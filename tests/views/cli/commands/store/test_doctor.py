from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.few_watches import run_with
from tests.views.cli.command import Answer, both_agents, rollout_in, tracklog, transcript_in, user_line, write
from tracklog.agents.supported import SUPPORTED
from tracklog.sources.tail.hints import most_watches

BROKEN = b"not json\n"
UP_TO = "this build is verified up to"
CLAUDE, CODEX = SUPPORTED["claude"].verified_release, SUPPORTED["codex"].verified_release


def states(answer: Answer) -> dict[str, str]:
    return {check["name"]: check["state"] for check in answer.json["checks"]}


def row(agent: str, version: str, kind: str, n_bytes: int, **more: Any) -> dict[str, Any]:
    rest = {"lines": 1, "reading": "read", **more}
    return {"agent": agent, "version": version, "kind": kind, "bytes": n_bytes, **rest}


def watched(n_folders: int) -> str:
    """What is said where the system tells of changes in all folders."""
    allowed = most_watches()
    return f"{n_folders} folders watched by the system" + (f", which allows {allowed:,}" if allowed else "")


def test_a_healthy_home_gives_checks_coverage_and_nothing_unknown(tmp_path: Path) -> None:
    both_agents(tmp_path)
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    checks = document.pop("checks")
    meta, said = (len(line) for line in rollout_in(tmp_path).read_bytes().splitlines())
    assert document == {
        "schema_version": 1,
        "coverage": [
            row("claude", "2.1.100", "user", 287),
            row("codex", "0.98.0", "event_msg/user_message", said),
            row("codex", "0.98.0", "session_meta", meta),
        ],
        "unknown": [],
        "broken": [],
        "skipped": [],
    }
    assert [(check["name"], check["state"], check["evidence"], check["advice"]) for check in checks] == [
        ("homes", "ok", "2 files, 620 bytes in ~/.claude, ~/.codex", ""),
        ("reading claude", "ok", "100 % of 1 line, 100 % of 287 bytes understood", ""),
        ("reading codex", "ok", f"100 % of 2 lines, 100 % of {meta + said} bytes understood", ""),
        ("unknown kinds", "ok", "none", ""),
        ("unnamed keys", "ok", "none", ""),
        ("broken lines", "ok", "none", ""),
        ("unreadable files", "ok", "none", ""),
        ("skipped", "ok", "nothing", ""),
        ("versions claude", "ok", f"newest seen 2.1.100, of 1 version; {UP_TO} {CLAUDE}", ""),
        ("versions codex", "ok", f"newest seen 0.98.0, of 1 version; {UP_TO} {CODEX}", ""),
        ("deletion", "ok", "nothing within 7 days: Claude Code keeps sessions for 30 days", ""),
        ("index", "ok", "not made yet: every answer is read from the logs", ""),
        ("live", "ok", watched(6), ""),
        ("sqlite", "ok", f"{sqlite3.sqlite_version} with full-text search", ""),
        ("tracklog home", "ok", "~/.local/share/tracklog is not there yet", ""),
    ]


def check_of(answer: Answer, name: str) -> tuple[str, str, str]:
    (check,) = (check for check in answer.json["checks"] if check["name"] == name)
    return check["state"], check["evidence"], check["advice"]


def test_a_client_newer_than_the_verified_one_is_noted_and_a_warning_only_if_something_is_unknown(
    tmp_path: Path,
) -> None:
    evidence = f"newest seen 99.0.0, of 1 version; {UP_TO} {CLAUDE}: your client is newer"
    write(transcript_in(tmp_path), user_line(version="99.0.0"))
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert check_of(answer, "versions claude") == (
        "ok",
        f"{evidence}, and nothing in its logs is unknown",
        "",
    )
    write(transcript_in(tmp_path), user_line(version="99.0.0", brandNew=1))
    state, told, advice = check_of(tracklog("doctor", "--json", home=tmp_path), "versions claude")
    assert (state, told, advice.partition(";")[0]) == ("warn", evidence, "update tracklog")


def test_without_logs_the_verified_clients_are_stated(tmp_path: Path) -> None:
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert check_of(answer, "versions claude") == (
        "ok",
        f"{UP_TO} {CLAUDE}; no version seen in the logs",
        "",
    )
    assert check_of(answer, "versions codex")[1] == f"{UP_TO} {CODEX}; no version seen in the logs"


def test_sessions_that_claude_code_deletes_soon_are_a_warning_until_the_archive_has_them(
    tmp_path: Path,
) -> None:
    both_agents(tmp_path)
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    os.utime(transcript_in(tmp_path), (at.timestamp(), at.timestamp()))
    told = "Claude Code deletes 1 session within 7 days, the next at its start after 2026-02-01 03:04"
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert check_of(answer, "deletion") == ("warn", told, "tracklog index keeps copies of them")
    assert tracklog("index", home=tmp_path).code == 0
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert check_of(answer, "deletion") == ("ok", f"{told}; the archive has them all", "")


def test_a_period_that_no_client_takes_is_a_warning(tmp_path: Path) -> None:
    both_agents(tmp_path)
    write(tmp_path / ".claude/settings.json", b'{"cleanupPeriodDays": 0}')
    state, evidence, _ = check_of(tracklog("doctor", "--json", home=tmp_path), "deletion")
    assert (state, evidence.partition(":")[0]) == ("warn", "cleanupPeriodDays in ~/.claude/settings.json")


def test_codex_and_plain_folders_lose_nothing_by_themselves(tmp_path: Path) -> None:
    both_agents(tmp_path)
    codex = tracklog("doctor", "--json", "--agent", "codex", home=tmp_path)
    assert check_of(codex, "deletion") == ("ok", "Codex deletes no sessions by itself", "")
    plain = write(tmp_path / "logs/one.jsonl", user_line()).parent
    folder = tracklog("doctor", "--json", "--root", plain, home=tmp_path)
    assert check_of(folder, "deletion") == ("ok", "no agent deletes logs there", "")


def test_the_index_and_the_archive_are_looked_at(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    answer = tracklog("doctor", "--json", home=tmp_path)
    state, evidence, _ = check_of(answer, "index")
    assert (state, evidence.partition(", ")[2]) == ("ok", "sound, nothing to be read")
    state, evidence, _ = check_of(answer, "archive")
    assert (state, evidence.partition(" in ")[0], evidence.rpartition("; ")[2]) == (
        "ok",
        "2 logs",
        "0 only here",
    )
    write(transcript_in(tmp_path), user_line() * 2)
    _, evidence, _ = check_of(tracklog("doctor", "--json", home=tmp_path), "index")
    assert evidence.endswith("sound; 1 log to be read at the next answer")
    rollout_in(tmp_path).unlink()
    tracklog("index", home=tmp_path)
    for path in (tmp_path / ".local/share/tracklog/archive/logs/codex").rglob("*.zst"):
        path.unlink()
    answer = tracklog("doctor", "--json", home=tmp_path)
    state, evidence, advice = check_of(answer, "archive")
    assert (answer.code, state) == (1, "fail")
    assert evidence == "1 log that stood nowhere else cannot be read: of 22222222 (does not exist)"
    assert advice.startswith("put ~/.local/share/tracklog/archive/logs/codex/")


def test_a_copy_that_is_missing_is_a_warning_as_long_as_the_log_stands_there(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    for path in (tmp_path / ".local/share/tracklog/archive/logs/codex").rglob("*.zst"):
        path.unlink()
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert (answer.code, check_of(answer, "archive")) == (
        0,
        (
            "warn",
            f"1 file missing or damaged; ~/{rollout_in(tmp_path).relative_to(tmp_path)}: does not exist",
            "tracklog index --full archives again what stands at its source",
        ),
    )
    tracklog("index", "--full", home=tmp_path)
    assert check_of(tracklog("doctor", "--json", home=tmp_path), "archive")[0] == "ok"


def test_a_session_that_only_a_damaged_file_holds_is_named(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    rollout_in(tmp_path).unlink()
    tracklog("index", home=tmp_path)
    (stored,) = (tmp_path / ".local/share/tracklog/archive/logs/codex").rglob("*.zst")
    data = stored.read_bytes()
    stored.write_bytes(data[:-200] + bytes(byte ^ 1 for byte in data[-200:]))
    answer = tracklog("doctor", "--json", home=tmp_path)
    state, evidence, _ = check_of(answer, "archive")
    assert (answer.code, state) == (1, "fail")
    assert evidence.startswith("1 log that stood nowhere else cannot be read: of 22222222 (")


def test_folders_that_are_gone_are_said_with_what_the_archive_has_of_them(tmp_path: Path) -> None:
    both_agents(tmp_path)
    roots = ("--root", tmp_path / ".claude", "--root", tmp_path / ".codex")
    tracklog("index", *roots, home=tmp_path)
    for root in (".claude", ".codex"):
        shutil.rmtree(tmp_path / root)
    tracklog("index", *roots, home=tmp_path)
    answer = tracklog("doctor", "--json", *roots, home=tmp_path)
    assert answer.code == 0
    assert check_of(answer, "homes") == (
        "warn",
        "no logs in ~/.claude, ~/.codex any more; the archive has 2 logs of them",
        "tracklog restore SESSION puts a session back",
    )
    assert check_of(answer, "skipped")[0] == "ok"
    proved = tracklog("verify", "--json", *roots, home=tmp_path)
    assert (proved.code, proved.json["identical"], proved.json["archive"]["only_here"]) == (0, True, 2)


def test_a_value_in_the_index_that_nobody_wrote_fails(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    index = tmp_path / ".local/share/tracklog/index.db"
    with closing(sqlite3.connect(index)) as db, db:
        db.execute("update session_rows set threads = 'many'")
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert (answer.code, check_of(answer, "index")[0]) == (1, "fail")


def test_a_damaged_index_fails_and_the_advice_makes_it_anew(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    index = tmp_path / ".local/share/tracklog/index.db"
    index.write_bytes(b"not a database at all" * 1000)
    answer = tracklog("doctor", "--json", home=tmp_path)
    state, _, advice = check_of(answer, "index")
    assert (answer.code, state) == (1, "fail")
    assert advice == "tracklog rebuild makes it anew from the logs and the archive"


def test_an_index_of_an_older_tracklog_is_to_be_rebuilt(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("index", home=tmp_path)
    with closing(sqlite3.connect(tmp_path / ".local/share/tracklog/index.db")) as db, db:
        db.execute("insert into settings (name, value) values ('read_by', 'older')")
    state, _, advice = check_of(tracklog("doctor", "--json", home=tmp_path), "index")
    assert (state, advice) == ("warn", "tracklog rebuild reads all logs and the archive again")
    assert tracklog("rebuild", home=tmp_path).code == 0
    assert check_of(tracklog("doctor", "--json", home=tmp_path), "index")[0] == "ok"


def test_unknown_kinds_unnamed_keys_and_broken_lines_are_named_and_never_change_the_exit_code(
    tmp_path: Path,
) -> None:
    log = write(
        transcript_in(tmp_path), user_line(mood=1) + b'{"type":"hologram"}\n' + BROKEN + user_line()[:9]
    )
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["broken"] == [f"{log}:3", f"{log}:4"]
    unknown = [
        {key: one[key] for key in ("agent", "kind", "key", "count", "example")}
        for one in answer.json["unknown"]
    ]
    assert unknown == [
        {"agent": "claude", "kind": "hologram", "key": None, "count": 1, "example": f"{log}:2"},
        {"agent": "claude", "kind": "user", "key": "mood", "count": 1, "example": f"{log}:1"},
    ]
    assert {name for name, state in states(answer).items() if state == "warn"} == {
        "reading claude",
        "unknown kinds",
        "unnamed keys",
        "broken lines",
    }


def test_lines_of_unknown_agents_are_counted_apart(tmp_path: Path) -> None:
    write(tmp_path / "logs/a.jsonl", b'{"type":"strange"}\n')
    write(tmp_path / "logs/b.jsonl", user_line())
    answer = tracklog("doctor", "--json", "--root", tmp_path / "logs", home=tmp_path)
    seen = states(answer)
    assert (seen["unknown agents"], seen["reading claude"], seen["unknown kinds"]) == ("warn", "ok", "ok")
    assert [one["agent"] for one in answer.json["unknown"]] == [None]


def test_newest_is_the_highest_version_and_not_the_last_in_the_alphabet(tmp_path: Path) -> None:
    versions = ("2.1.9", "2.1.100", "2.0.30", "nonsense")
    write(transcript_in(tmp_path), b"".join(user_line(version=version) for version in versions))
    checks = {
        check["name"]: check["evidence"]
        for check in tracklog("doctor", "--json", home=tmp_path).json["checks"]
    }
    assert checks["versions claude"] == f"newest seen 2.1.100, of 4 versions; {UP_TO} {CLAUDE}"


@pytest.mark.parametrize(
    ("mode", "state", "code"), [(0o700, "ok", 0), (0o755, "warn", 0), (0o777, "fail", 1)]
)
def test_a_tracklog_home_that_others_may_write_to_fails(
    tmp_path: Path, mode: int, state: str, code: int
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    own.chmod(mode)
    answer = tracklog("doctor", "--json", home=tmp_path, env={"TRACKLOG_HOME": str(own)})
    assert (answer.code, states(answer)["tracklog home"]) == (code, state)
    assert tracklog("doctor", "--home", own, home=tmp_path).code == code


def test_a_tracklog_home_that_is_no_folder_fails(tmp_path: Path) -> None:
    write(tmp_path / "own", b"")
    answer = tracklog("doctor", "--json", "--home", tmp_path / "own", home=tmp_path)
    assert (answer.code, states(answer)["tracklog home"]) == (1, "fail")


def test_no_logs_is_a_warning_that_says_what_to_do(tmp_path: Path) -> None:
    answer = tracklog("doctor", "--json", home=tmp_path)
    assert (answer.code, answer.json["coverage"]) == (0, [])
    assert answer.json["checks"][0] == {
        "name": "homes",
        "state": "warn",
        "evidence": "no agent has a home here",
        "advice": "tracklog demo writes a sample home; --root DIR looks elsewhere",
    }
    assert tracklog("doctor", home=tmp_path).out.startswith("!  homes ")


def test_skipped_names_are_fine_unless_there_may_be_logs_behind_them(tmp_path: Path) -> None:
    both_agents(tmp_path)
    os.mkfifo(transcript_in(tmp_path, "pipe"))
    transcript_in(tmp_path, "link").symlink_to(".")
    skipped = tracklog("doctor", "--json", home=tmp_path).json["checks"][7]
    assert skipped == {
        "name": "skipped",
        "state": "ok",
        "evidence": "2 names (FIFO, symbolic link)",
        "advice": "",
    }
    gone = tracklog("doctor", "--json", home=tmp_path, env={"CODEX_HOME": str(tmp_path / "gone")})
    assert states(gone)["skipped"] == "warn"


def test_advice_names_the_command_that_works_with_the_roots_that_were_given(tmp_path: Path) -> None:
    log = write(tmp_path / "my logs/a.jsonl", user_line(mood=1) + b'{"type":"hologram"}\n' + BROKEN)
    write(tmp_path / "my logs/cut.jsonl.zst", b"\x28\xb5\x2f\xfd")
    (tmp_path / "my logs" / ("d/" * 65)).mkdir(parents=True)
    checks = tracklog("doctor", "--json", "--root", log.parent, home=tmp_path).json["checks"]
    assert [check["advice"] for check in checks if "tracklog " in check["advice"]] == [
        "tracklog records ~/'my logs/a.jsonl' --reading unknown shows the commonest",
        "kept with their line; tracklog records ~/'my logs/a.jsonl' --extra shows the commonest",
        "tracklog records ~/'my logs/a.jsonl' --reading broken shows the first",
        "tracklog verify --root ~/'my logs' lists them",
        "there may be logs: tracklog places --root ~/'my logs' lists the places",
    ]


def test_people_see_marks_advice_bars_and_places(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line(mood=1) * 3 + b'{"type":"hologram"}\n')
    os.mkfifo(transcript_in(tmp_path, "pipe"))
    out = tracklog("doctor", home=tmp_path).out.splitlines()
    place = f"~/{log.relative_to(tmp_path)}"
    assert out[1:7] == [
        "!  reading claude    75.00 % of 4 lines, 97.91 % of 913 bytes understood",
        "                     → below 99.9 %: a newer client than this tracklog? see what is unknown or broken below",
        "!  unknown kinds     1 kind in 1 line",
        f"                     → tracklog records {place} --reading unknown shows the commonest",
        "!  unnamed keys      1 key, seen 3 times",
        f"                     → kept with their line; tracklog records {place} --extra shows the commonest",
    ]
    assert out[out.index("") :] == [
        "",
        "claude  4 lines, 913 bytes, 75.00 % read",
        "  user      ██████████████  75.00 %  3  894 bytes",
        "  hologram  █████·········  25.00 %  1   19 bytes  0 % read",
        "",
        "unknown  kinds, and keys without a name in our records; all are kept",
        "      3×  claude  user  mood",
        f"          {place}:1",
        "      1×  claude  hologram  unknown type",
        f"          {place}:4",
        "",
        "to look at  reading claude, unknown kinds, unnamed keys: what to do stands above, behind →",
    ]


def test_bars_can_stand_for_versions_newest_first(tmp_path: Path) -> None:
    lines = [user_line(version=version) for version in ("2.1.9", "2.1.9", "2.1.100")]
    write(transcript_in(tmp_path), b"".join(lines))
    out = tracklog("doctor", "--by", "version", home=tmp_path).out.splitlines()
    assert out[out.index("") : -2] == [
        "",
        "claude  3 lines, 857 bytes, 100 % read",
        "  2.1.100  ███████·······  33.33 %  1  287 bytes",
        "  2.1.9    ██████████████  66.66 %  2  570 bytes",
    ]
    assert out[-1] == "all is well  nothing is unknown, broken or unreadable"


def test_of_many_kinds_the_first_are_shown_and_all_on_demand(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line() + b"".join(b'{"type":"kind%d"}\n' % n for n in range(50)))
    short, whole = (tracklog("doctor", *more, home=tmp_path).out for more in ([], ["--all"]))
    assert "… 39 more kinds with 39 lines, 2.56 % read: --all lists them" in short
    assert "… and 30 others: --all or --json lists them" in short
    assert [f"  kind{n} " in whole for n in range(50)] == [True] * 50


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts watches")
def test_where_no_watches_are_left_doctor_says_how_to_get_more(tmp_path: Path) -> None:
    both_agents(tmp_path)
    roots = [word for name in (".claude", ".codex") for word in ("--root", str(tmp_path / name))]
    asked = ("doctor", "--json", "--home", str(tmp_path / "ours"), *roots)
    answer = json.loads(run_with("watches", 2, "-m", "tracklog", *asked))
    (live,) = (check for check in answer["checks"] if check["name"] == "live")
    assert live["state"] == "warn"
    assert live["evidence"].startswith("the system watches only 2 of ")
    assert live["advice"].startswith("sudo sysctl fs.inotify.max_user_watches=")
