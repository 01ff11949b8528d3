"""`tracklog scan` tells what stands where and never the value; in doubt it does not say that all is clean."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.views.cli.command import (
    ONE,
    both_agents,
    on_a_terminal,
    out_of_reach,
    rollout_in,
    tracklog,
    transcript_in,
    user_line,
    write,
)
from tracklog.secrets.rules import shipped_rules

EXAMPLES = {rule.kind: rule.true[0].decode() for rule in shipped_rules().rules}
TOKEN, KEY = EXAMPLES["github-pat"], EXAMPLES["aws-access-key-id"]


def ours(home: Path) -> Path:
    return home / "ours"


def scan(home: Path, *words: str | Path, **more: Any) -> Any:
    return tracklog("scan", *words, home=home, env={"TRACKLOG_HOME": str(ours(home))}, **more)


def findings(home: Path, *words: str | Path) -> list[tuple[str, str, int]]:
    """Kind, file and line of each."""
    found = scan(home, "--json", *words).json["findings"]
    return [(one["kind"], Path(one["path"]).name, one["line"]) for one in found]


def test_a_home_without_secrets_is_said_to_be_clean(tmp_path: Path) -> None:
    both_agents(tmp_path)
    answer = scan(tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("✓ no secrets in 2 logs, ")


def test_what_is_found_is_told_by_kind_and_place_and_exits_with_1(tmp_path: Path) -> None:
    both_agents(tmp_path)
    log = write(transcript_in(tmp_path), user_line() + user_line(f"{TOKEN} {TOKEN}", uuid="u-2"))
    answer = scan(tmp_path, "--json")
    (hash,) = [one["hash"] for one in answer.json["findings"]]
    assert (answer.code, answer.err, len(hash)) == (1, "", 16)
    size = log.stat().st_size + rollout_in(tmp_path).stat().st_size
    assert answer.json == {
        "schema_version": 1,
        "findings": [
            {
                "kind": "github-pat",
                "path": str(log),
                "line": 2,
                "count": 2,
                "hash": hash,
                "session": ONE,
                "agent": "claude",
                "only_here": False,
            }
        ],
        "skipped": [],
        "scanned": {"files": 2, "bytes": size, "new_bytes": size},
        "rules": shipped_rules().version,
        "allowed": 0,
    }
    again = scan(tmp_path, "--json").json
    assert (again["findings"], again["scanned"]["new_bytes"]) == (answer.json["findings"], 0)


def test_people_see_kinds_places_and_what_to_do(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line(f"{TOKEN} {KEY}"))
    answer = scan(tmp_path)
    assert answer.code == 1
    shown = answer.out
    assert shown.startswith("✗ 2 secrets in 1 log, ")
    assert "github-pat" in shown
    assert f"{ONE}.jsonl:1" in shown
    assert "tracklog scan --allow " in shown


def test_of_many_places_the_first_are_shown_unless_all_are_wanted(tmp_path: Path) -> None:
    lines = [user_line(TOKEN, uuid=f"u-{n}") for n in range(50)]
    write(transcript_in(tmp_path), b"".join(lines))
    assert "… and 10 places more: --all shows them" in scan(tmp_path).out
    shown = scan(tmp_path, "--all").out
    assert f"{ONE}.jsonl:50" in shown
    assert "more: --all" not in shown


def test_no_value_is_shown_or_kept_anywhere(tmp_path: Path) -> None:
    folder = f"-{TOKEN}"
    log = tmp_path / ".claude/projects" / folder / f"{ONE}.jsonl"
    write(log, b'{"type":"x","value":"%s %s"}\n' % (TOKEN.encode(), KEY.encode()))
    answers = [scan(tmp_path, *words) for words in ((), ("--json",), ("--all", log), ("--allowed",))]
    shown = on_a_terminal("scan", home=tmp_path, env={"TRACKLOG_HOME": str(ours(tmp_path))})
    said = shown + "".join(answer.out + answer.err for answer in answers)
    assert [value for value in (TOKEN, KEY, TOKEN[4:]) if value in said] == []
    assert "«secret:github-pat:" in said
    with closing(sqlite3.connect(ours(tmp_path) / "index.db")) as db:
        tables = ("secret_rows", "secret_scans", "secrets")
        rows = repr(
            [
                db.execute(f"select {'*' if table != 'secrets' else 'kind, hash'} from {table}").fetchall()
                for table in tables
            ]
        )
    assert "github-pat" in rows
    assert [value for value in (TOKEN, KEY) if value in rows] == []


def test_kinds_and_agents_can_be_chosen(tmp_path: Path) -> None:
    both_agents(tmp_path)
    write(transcript_in(tmp_path), user_line(f"{TOKEN} {KEY}"))
    assert [kind for kind, _, _ in findings(tmp_path, "--kind", "github-pat")] == ["github-pat"]
    assert findings(tmp_path, "--agent", "codex") == []
    assert scan(tmp_path, "--agent", "codex").code == 0
    assert scan(tmp_path, "--kind", "gitlab-pat").code == 0
    wrong = scan(tmp_path, "--kind", "github-pta")
    assert (wrong.code, wrong.err.startswith("tracklog: no rule is called 'github-pta'; near it: ")) == (
        2,
        True,
    )
    assert "github-pat" in wrong.err


def test_only_logs_that_were_written_to_since_then_count(tmp_path: Path) -> None:
    old = write(transcript_in(tmp_path), user_line(TOKEN))
    os.utime(old, (1_700_000_000, 1_700_000_000))
    write(transcript_in(tmp_path, "new.jsonl"), user_line(KEY))
    assert findings(tmp_path, "--since", "1d") == [("aws-access-key-id", "new.jsonl", 1)]
    assert findings(tmp_path, "--since", "1d", tmp_path / ".claude") == [
        ("aws-access-key-id", "new.jsonl", 1)
    ]
    assert len(findings(tmp_path)) == 2


def test_what_is_named_is_looked_through_without_the_index(tmp_path: Path) -> None:
    log = write(tmp_path / "logs/log.jsonl", user_line() + user_line(TOKEN))
    other = write(tmp_path / "notes.txt", f"\n\n{KEY}\n".encode())
    assert findings(tmp_path, log.parent, other) == [
        ("github-pat", "log.jsonl", 2),
        ("aws-access-key-id", "notes.txt", 3),
    ]
    assert not (ours(tmp_path) / "index.db").exists()
    assert scan(tmp_path, log.parent).code == 1


def test_a_path_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert scan(tmp_path, "absent") == (1, "", "tracklog: cannot read absent: does not exist\n")


def test_what_only_the_archive_has_is_told_as_such(tmp_path: Path) -> None:
    both_agents(tmp_path)
    log = write(transcript_in(tmp_path), user_line(TOKEN))
    tracklog("index", home=tmp_path, env={"TRACKLOG_HOME": str(ours(tmp_path))})
    log.unlink()
    (found,) = scan(tmp_path, "--json").json["findings"]
    assert (found["path"], found["only_here"]) == (str(log), True)
    assert "(only in the archive)" in scan(tmp_path).out


def test_what_cannot_be_read_is_not_called_clean(tmp_path: Path) -> None:
    with out_of_reach() as top:
        both_agents(tmp_path)
        answer = scan(tmp_path, "--json", "--root", top, is_mighty=False)
        named = scan(tmp_path, "--json", top / "secret.jsonl", is_mighty=False)
        shown = scan(tmp_path, "--root", top, is_mighty=False)
    assert (answer.code, answer.json["findings"]) == (1, [])
    assert sorted((Path(one["path"]).name, one["why"]) for one in answer.json["skipped"]) == [
        ("locked", "permission denied"),
        ("secret.jsonl", "permission denied"),
    ]
    assert (named.code, [one["why"] for one in named.json["skipped"]]) == (1, ["permission denied"])
    assert (shown.code, "2 places could not be looked through" in shown.out) == (1, True)


def test_a_log_that_can_no_longer_be_read_and_grew_is_not_called_clean(tmp_path: Path) -> None:
    with out_of_reach() as top:
        (top / "locked").chmod(0o700)
        log = top / "secret.jsonl"
        log.chmod(0o644)
        assert scan(top, "--root", top, is_mighty=False).code == 0
        with log.open("ab") as stream:
            stream.write(user_line(TOKEN))
        log.chmod(0)
        answer = scan(top, "--json", "--root", top, is_mighty=False)
        log.chmod(0o644)
    assert (answer.code, answer.json["findings"]) == (1, [])
    assert [(one["path"], one["why"]) for one in answer.json["skipped"]] == [(str(log), "permission denied")]


def test_a_damaged_log_is_not_called_clean(tmp_path: Path) -> None:
    packed = zstandard.compress(user_line() * 100)
    write(transcript_in(tmp_path, f"{ONE}.jsonl.zst"), packed[:-4])
    answer = scan(tmp_path, "--json")
    assert (answer.code, answer.json["findings"], len(answer.json["skipped"])) == (1, [], 1)
    assert scan(tmp_path).code == 1


def test_what_is_never_read_is_named_and_spoils_nothing(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line())
    os.mkfifo(log.with_name("pipe.jsonl"))
    log.with_name("ring.jsonl").symlink_to(".")
    os.link(log, log.with_name("z.jsonl"))
    answer = scan(tmp_path, "--json")
    assert [one["why"] for one in answer.json["skipped"]] == [
        "FIFO",
        "symbolic link",
        "another name of a file already found",
    ]
    assert (answer.code, answer.json["findings"]) == (0, [])
    assert scan(tmp_path, log.with_name("pipe.jsonl")).code == 1


def test_what_the_index_does_not_keep_is_looked_through_as_well(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line())
    running = {"pid": 4242, "sessionId": ONE, "cwd": "/home/dev", "startedAt": 1, "name": TOKEN}
    write(tmp_path / ".claude/sessions/4242.json", json.dumps(running).encode())
    assert findings(tmp_path) == [("github-pat", "4242.json", 1)]


def test_without_an_index_and_without_looking_there_is_no_answer(tmp_path: Path) -> None:
    answer = scan(tmp_path, "--no-sync")
    assert (answer.code, answer.out) == (1, "")
    assert "there is no index yet" in answer.err


def test_without_looking_for_new_logs_the_index_answers(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line(TOKEN))
    tracklog("index", home=tmp_path, env={"TRACKLOG_HOME": str(ours(tmp_path))})
    write(log.with_name("new.jsonl"), user_line(KEY))
    assert findings(tmp_path, "--no-sync") == [("github-pat", log.name, 1)]


def test_what_is_allowed_by_its_hash_is_left_aside_until_it_is_no_more(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line(TOKEN) + user_line(TOKEN, uuid="u-2"))
    hash = scan(tmp_path, "--json").json["findings"][0]["hash"]
    listed = scan(tmp_path, "--allow", hash[:8], "--why", "of a \x1b[31mtest")
    assert (listed.code, listed.out) == (0, f"{hash[:8]}  of a \\x1b[31mtest\n")
    answer = scan(tmp_path, "--json")
    assert (answer.code, answer.json["findings"], answer.json["allowed"]) == (0, [], 2)
    assert "; 2 places allowed" in scan(tmp_path).out
    assert scan(tmp_path, "--allowed", "--json").json["allowed"] == [
        {"hash": hash[:8], "path": None, "line": None, "why": "of a \x1b[31mtest"}
    ]
    assert scan(tmp_path, "--disallow", hash).out == "Nothing is allowed.\n"
    assert scan(tmp_path).code == 1
    assert scan(tmp_path, "--disallow", hash).code == 1
    mode = (ours(tmp_path) / "allowed.toml").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_what_is_allowed_by_its_place_is_left_aside_there(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line(TOKEN) + user_line(TOKEN, uuid="u-2"))
    scan(tmp_path, "--allow", f"{log}:2")
    assert findings(tmp_path) == [("github-pat", log.name, 1)]
    scan(tmp_path, "--allow", log.parent)
    assert findings(tmp_path) == []


def test_a_broken_list_ends_the_command_before_anything_is_said(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line(TOKEN))
    write(ours(tmp_path) / "allowed.toml", b'[[allow]]\nhash = "0"\n').parent.chmod(0o700)
    answer = scan(tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "allowed.toml, line 1: entry 1: 'hash' must be" in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ("--why", "x"),
        ("--allow", "0123456"),
        ("--allow", "01234567", "--disallow", "01234567"),
        ("--allow", "01234567", "log.jsonl"),
        ("--since", "never"),
    ],
)
def test_wrong_use_exits_with_2(tmp_path: Path, words: tuple[str, ...]) -> None:
    answer = scan(tmp_path, *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("tracklog: ")


def test_a_hostile_name_cannot_harm_a_terminal(tmp_path: Path) -> None:
    name = b"a\x1b[2J\n\xff.jsonl".decode(errors="surrogateescape")
    log = write(transcript_in(tmp_path, name), user_line(TOKEN))
    answer = scan(tmp_path)
    assert r"a\x1b[2J\n\xff.jsonl:1" in answer.out
    assert "\x1b" not in answer.out + answer.err
    document = scan(tmp_path, "--json")
    assert (document.out.isascii(), document.json["findings"][0]["path"]) == (True, str(log))


def test_a_value_is_not_shown_when_a_session_is_called_so(tmp_path: Path) -> None:
    write(tmp_path / "logs" / "a.jsonl", user_line(TOKEN, session=TOKEN))
    for words in (("--json",), ()):
        answer = scan(tmp_path, *words, tmp_path / "logs")
        assert (answer.code, TOKEN in answer.out, TOKEN[:8] in answer.out) == (1, False, False)


def test_a_value_is_not_taken_for_a_place_that_may_stay(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line(TOKEN))
    (hash,) = [one["hash"] for one in scan(tmp_path, "--json").json["findings"]]
    answer = scan(tmp_path, "--allow", TOKEN)
    assert (answer.code, TOKEN in answer.err, hash[:8] in answer.err) == (2, False, True)
    assert not (ours(tmp_path) / "allowed.toml").exists()


def test_a_place_that_is_none_is_not_allowed_but_one_that_only_the_archive_has_is(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line(TOKEN))
    assert scan(tmp_path).code == 1
    answer = scan(tmp_path, "--allow", "nowhere.jsonl")
    assert (answer.code, "neither a hash" in answer.err) == (2, True)
    log.unlink()
    assert scan(tmp_path, "--allow", log).code == 0
    assert scan(tmp_path).code == 0


def test_where_there_are_no_logs_nothing_is_said_to_be_clean(tmp_path: Path) -> None:
    write(tmp_path / "notes" / "a.txt", TOKEN.encode())
    answer = scan(tmp_path, tmp_path / "notes")
    assert (answer.code, answer.out) == (0, "! nothing was looked through: there are no logs\n")


def test_a_place_is_the_same_however_it_is_called(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", user_line(TOKEN))
    scan(tmp_path, "--allow", log)
    assert scan(tmp_path, "a.jsonl", cwd=tmp_path).code == 0
