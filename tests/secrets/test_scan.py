"""Every log is looked through once with the same rules, wherever its bytes are; what was not is never called clean."""

from __future__ import annotations

import base64
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import zstandard

from tests.index.killing import killed_at
from tests.views.cli.command import ONE, transcript_in, user_line, write
from tracklog.agents.discovery import file_at, find_all
from tracklog.home import Home
from tracklog.index.sync import sync
from tracklog.secrets import scan as secrets_scan
from tracklog.secrets.find import WINDOW, find
from tracklog.secrets.redact import hash_of
from tracklog.secrets.rules import RuleBook, rules_in
from tracklog.secrets.scan import Looking, is_harmless, scan_files, scan_index
from tracklog.secrets.tables import LoggedSecret, Which, not_scanned, standing
from tracklog.sources.log_file import LogFile, Root, Skipped
from tracklog.store.database import Database, writing
from tracklog.store.scope import scope_of

KEY = b"k" * 32
ALPHA, BETA, GAMMA = (f"alpha_{letter * 3}Q7wE9rT1yU3iO5pL" for letter in "xyz")
RULES = """
placeholders = ['example']
[[rule]]
kind = "alpha"
what = "a token of Alpha"
source = "invented"
keywords = ["alpha_"]
pattern = '(?P<v>alpha_[A-Za-z0-9]{19}){right}'
true = []
false = []
"""
MORE_RULES = RULES + RULES.partition("]\n")[2].replace("alpha", "omega").replace("Alpha", "Omega")


def book(text: str = RULES) -> RuleBook:
    return rules_in(text.encode())


LOOKING = Looking(KEY, book())


class Logs:
    """A home of Claude Code, an index and an archive beside it."""

    def __init__(self, top: Path) -> None:
        self.root = top / ".claude"
        self.home = Home(top / "ours")
        self.transcript = transcript_in(top)

    @contextmanager
    def synced(self) -> Iterator[Database]:
        with writing(self.home) as database:
            sync(database, [Root(self.root, "claude")])
            yield database

    @property
    def which(self) -> Which:
        return Which(scope_of([self.root]))

    def scanned(self, looking: Looking = LOOKING) -> int:
        """How many bytes were new."""
        with self.synced() as database:
            return scan_index(database, self.which, looking)

    def standing(self, looking: Looking = LOOKING) -> list[LoggedSecret]:
        with writing(self.home) as database:
            assert not_scanned(database.db, self.which, rules=looking.rules) == []
            return standing(database.db, self.which, rules=looking.rules)

    def unread(self) -> list[tuple[str, str]]:
        with writing(self.home) as database:
            return not_scanned(database.db, self.which, rules=LOOKING.rules)


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def places(found: list[LoggedSecret]) -> list[tuple[str, int, int, str]]:
    """File, line, times and hash."""
    return [(Path(one.path).name, one.line, one.times, one.hash) for one in found]


def hash_of_value(value: str) -> str:
    return hash_of(KEY, value.encode())


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def test_what_stands_in_a_log_is_told_with_its_line_and_session(logs: Logs) -> None:
    write(logs.transcript, user_line() + user_line(f"{ALPHA} and {ALPHA}, {BETA}"))
    size = logs.transcript.stat().st_size
    assert logs.scanned() == size
    path = str(logs.transcript)
    assert sorted(logs.standing()) == sorted(
        [
            LoggedSecret("alpha", path, 2, 2, hash_of_value(ALPHA), ONE, "claude", False),
            LoggedSecret("alpha", path, 2, 1, hash_of_value(BETA), ONE, "claude", False),
        ]
    )


def test_side_files_are_looked_through_as_well(logs: Logs) -> None:
    write(logs.transcript, user_line())
    side = logs.transcript.with_suffix("")
    write(side / "tool-results" / "out.txt", f"one\ntwo {ALPHA}".encode())
    write(side / "subagents" / "agent-a1.jsonl", user_line(BETA, isSidechain=True))
    write(logs.root / "history.jsonl", f'{{"display":"{GAMMA}"}}\n'.encode())
    logs.scanned()
    assert sorted(places(logs.standing())) == sorted(
        [
            ("agent-a1.jsonl", 1, 1, hash_of_value(BETA)),
            ("history.jsonl", 1, 1, hash_of_value(GAMMA)),
            ("out.txt", 2, 1, hash_of_value(ALPHA)),
        ]
    )


def test_only_what_is_new_is_looked_through(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA))
    logs.scanned()
    assert logs.scanned() == 0
    more = user_line(BETA, uuid="u-2")
    append(logs.transcript, more)
    assert logs.scanned() == len(more)
    assert [line for _, line, _, _ in places(logs.standing())] == [1, 2]


def test_a_line_without_its_end_is_looked_through_again_when_it_has_one(logs: Logs) -> None:
    whole = user_line(f"{ALPHA} then {BETA}", uuid="u-2")
    cut = whole.index(BETA.encode()) + 10
    write(logs.transcript, user_line() + whole[:cut])
    logs.scanned()
    assert places(logs.standing()) == [(logs.transcript.name, 2, 1, hash_of_value(ALPHA))]
    append(logs.transcript, whole[cut:])
    assert logs.scanned() == len(whole)
    assert {hash for _, _, _, hash in places(logs.standing())} == {hash_of_value(ALPHA), hash_of_value(BETA)}


def test_a_log_that_was_cut_or_rewritten_is_looked_through_anew(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA) + user_line(BETA, uuid="u-2"))
    logs.scanned()
    write(logs.transcript, user_line(ALPHA))
    assert logs.scanned() == len(user_line(ALPHA))
    assert places(logs.standing()) == [(logs.transcript.name, 1, 1, hash_of_value(ALPHA))]
    write(logs.transcript, user_line("clean", uuid="u-9") * 9)
    logs.scanned()
    assert logs.standing() == []


def test_a_log_that_moved_keeps_what_was_found(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA))
    logs.scanned()
    there = logs.root / "projects" / "-home-dev-other" / logs.transcript.name
    there.parent.mkdir()
    logs.transcript.rename(there)
    assert logs.scanned() == 0
    assert [one.path for one in logs.standing()] == [str(there)]


def test_new_rules_look_through_everything_again(logs: Logs) -> None:
    omega = "omega_" + ALPHA[6:]
    write(logs.transcript, user_line(f"{ALPHA} {omega}"))
    logs.scanned()
    more = Looking(KEY, book(MORE_RULES))
    assert logs.scanned(more) == logs.transcript.stat().st_size
    assert {one.kind for one in logs.standing(more)} == {"alpha", "omega"}


def test_with_another_key_the_hashes_are_made_anew(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA))
    logs.scanned()
    other = Looking(b"o" * 32, book())
    assert logs.scanned(other) == logs.transcript.stat().st_size
    assert [one.hash for one in logs.standing(other)] == [hash_of(b"o" * 32, ALPHA.encode())]


def test_what_only_the_archive_has_is_looked_through_there(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA))
    write(logs.root / "history.jsonl", b"{}\n")
    with logs.synced():
        pass
    logs.transcript.unlink()
    logs.scanned()
    assert [(one.line, one.only_here) for one in logs.standing()] == [(1, True)]


def test_what_is_in_neither_any_more_is_forgotten(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA))
    logs.scanned()
    logs.transcript.unlink()
    shutil.rmtree(logs.home.archive)
    assert logs.scanned() == 0
    assert logs.standing() == []
    with writing(logs.home) as database:
        assert database.db.execute("select count(*) from secret_rows").fetchone() == (0,)


def test_only_the_logs_that_are_asked_for_are_looked_through(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA))
    os.utime(logs.transcript, (1, 1))
    new = write(transcript_in(logs.root.parent, "new.jsonl"), user_line(BETA))
    with logs.synced() as database:
        assert scan_index(database, logs.which._replace(since_ns=10**10), LOOKING) == new.stat().st_size
        assert scan_index(database, logs.which._replace(agent="codex"), LOOKING) == 0
    assert logs.unread() == [(str(logs.transcript), "not looked through to its end yet")]


def test_a_compressed_log_is_looked_through_and_one_that_is_damaged_is_said(logs: Logs) -> None:
    good = zstandard.compress(user_line() + user_line(ALPHA))
    write(transcript_in(logs.root.parent, "good.jsonl.zst"), good)
    write(transcript_in(logs.root.parent, "torn.jsonl.zst"), good[:-9])
    logs.scanned()
    ((path, why),) = logs.unread()
    assert (Path(path).name, "damaged" in why or "good bytes" in why or "cut" in why) == (
        "torn.jsonl.zst",
        True,
    )
    with writing(logs.home) as database:
        found = standing(database.db, logs.which, rules=LOOKING.rules)
    assert ("good.jsonl.zst", 2, 1, hash_of_value(ALPHA)) in places(found)


def test_a_log_that_is_no_longer_what_the_index_knows_is_not_called_clean(logs: Logs) -> None:
    write(logs.transcript, user_line("a" * 40))
    with logs.synced() as database:
        write(logs.transcript, user_line("b" * 40))
        scan_index(database, logs.which, LOOKING)
    assert logs.unread() == [(str(logs.transcript), "changed since the index read it: run it again")]
    logs.scanned()
    assert logs.standing() == []


def test_a_log_that_went_away_is_looked_through_in_the_archive(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA))
    with logs.synced() as database:
        logs.transcript.unlink()
        scan_index(database, logs.which, LOOKING)
    assert places(logs.standing()) == [(logs.transcript.name, 1, 1, hash_of_value(ALPHA))]


def test_a_log_that_is_nowhere_any_more_is_not_called_clean(logs: Logs) -> None:
    write(logs.transcript, user_line())
    with logs.synced() as database:
        logs.transcript.unlink()
        shutil.rmtree(logs.home.archive)
        scan_index(database, logs.which, LOOKING)
    assert logs.unread() == [(str(logs.transcript), "does not exist")]


def test_a_mistake_of_ours_costs_one_log_and_says_no_value(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(logs.transcript, user_line(ALPHA))
    write(transcript_in(logs.root.parent, "other.jsonl"), user_line(BETA))

    def failing(data: bytes, rules: RuleBook) -> object:
        if ALPHA.encode() in data:
            raise ValueError(data)
        return find(data, rules)

    monkeypatch.setattr(secrets_scan, "find", failing)
    logs.scanned()
    assert logs.unread() == [(str(logs.transcript), "could not be looked through (ValueError)")]


def test_no_value_is_in_the_index(logs: Logs) -> None:
    write(logs.transcript, b'{"type":"nobody knows","x":"' + ALPHA.encode() + b'"}\n')
    logs.scanned()
    assert len(logs.standing()) == 1
    with closing(sqlite3.connect(logs.home.index)) as db:
        rows = [db.execute(f"select * from {table}").fetchall() for table in ("secret_rows", "secret_scans")]
    assert ALPHA[6:] not in repr(rows)


BORDER = WINDOW - (1 << 16) - (1 << 13)  # where a window ends that is not cut between two lines


@pytest.mark.parametrize(
    "at", [BORDER - 25, BORDER - 12, BORDER - 1, BORDER, BORDER + 1, WINDOW - 12, WINDOW]
)
def test_nothing_is_missed_or_counted_twice_at_the_border_of_a_window(tmp_path: Path, at: int) -> None:
    data = b"." * at + ALPHA.encode() + b"." * (2 * WINDOW)
    log = write(tmp_path / "out.txt", data)
    found = scan_files([log_at(log)], LOOKING)
    assert places(found.standing) == [("out.txt", 1, 1, hash_of_value(ALPHA))]
    assert found.n_bytes == len(data)


def log_at(path: Path) -> LogFile:
    file = file_at(path)
    assert isinstance(file, LogFile)
    return file


@pytest.mark.parametrize("shift", range(4))
def test_what_is_encoded_in_a_line_longer_than_any_window_is_found(tmp_path: Path, shift: int) -> None:
    words = b"some words of a long text, " * 100_000
    text = words[: len(words) // 2] + b" " + ALPHA.encode() + b" " + words[len(words) // 2 :]
    log = write(tmp_path / "log.jsonl", b'{"a":"' + b" " * shift + base64.b64encode(text) + b'"}\n')
    assert places(scan_files([log_at(log)], LOOKING).standing) == [("log.jsonl", 1, 1, hash_of_value(ALPHA))]


def test_lines_are_counted_over_all_windows(tmp_path: Path) -> None:
    lines = [user_line("filler " * 50, uuid=f"u-{n}") for n in range(9000)]
    for n, value in ((0, ALPHA), (4321, BETA), (8999, GAMMA)):
        lines[n] = user_line(value, uuid=f"u-{n}")
    log = write(tmp_path / "log.jsonl", b"".join(lines))
    found = places(scan_files([log_at(log)], LOOKING).standing)
    assert [(line, hash) for _, line, _, hash in found] == [
        (1, hash_of_value(ALPHA)),
        (4322, hash_of_value(BETA)),
        (9000, hash_of_value(GAMMA)),
    ]


def test_in_parts_and_with_readers_beside_the_same_is_found(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, value in enumerate((ALPHA, BETA, GAMMA)):
        lines = [user_line("filler " * 50, uuid=f"u-{n}-{at}") for at in range(5000)]
        lines[4000] += user_line(value)
        write(transcript_in(logs.root.parent, f"{n}.jsonl"), b"".join(lines))
    logs.scanned()
    at_once = logs.standing()
    assert [line for _, line, _, _ in places(at_once)] == [4002] * 3
    monkeypatch.setattr(secrets_scan, "_WORTH_READERS", 1)
    monkeypatch.setattr(secrets_scan, "_PART_BYTES", 300_000)
    monkeypatch.setattr(secrets_scan, "_COMMIT_BYTES", 500_000)
    other = Looking(KEY, book(RULES + "# another version\n"))
    assert logs.scanned(other) == sum(path.stat().st_size for path in logs.transcript.parent.iterdir())
    assert logs.standing(other) == at_once


def test_killed_at_any_point_it_goes_on_and_finds_the_same(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets_scan, "_PART_BYTES", 1)
    monkeypatch.setattr(secrets_scan, "_COMMIT_BYTES", 1)
    for n, value in enumerate((ALPHA, BETA)):
        filler = user_line("filler " * 500) * 500
        lines = filler + user_line(value) + filler + user_line(value) + user_line(GAMMA)[:-1]
        write(transcript_in(logs.root.parent, f"{n}.jsonl"), lines)
    with logs.synced():
        pass

    def scan() -> None:
        with writing(logs.home) as database:
            scan_index(database, logs.which, LOOKING)

    n, kills = 0, 0
    while killed_at(n, scan):
        n, kills = n + 1, kills + 1
    assert kills > 5
    assert [(one.line, one.times) for one in logs.standing()] == [(501, 1), (1002, 1), (1003, 1)] * 2


def test_files_are_looked_through_without_an_index_as_with_one(logs: Logs) -> None:
    write(logs.transcript, user_line(ALPHA) + user_line(f"{BETA} {BETA}", uuid="u-2"))
    logs.scanned()
    found = [one for one in find_all([Root(logs.root, "claude")]) if isinstance(one, LogFile)]
    assert sorted(scan_files(found, LOOKING).standing) == sorted(logs.standing())


@pytest.mark.parametrize(
    ("why", "harmless"),
    [
        ("FIFO", True),
        ("another name of a file already found", True),
        ("permission denied", False),
        ("more than 64 folders deep", False),
        ("no frame after 3 good bytes", False),
    ],
)
def test_only_what_is_never_read_is_harmless(why: str, harmless: bool) -> None:
    assert is_harmless(Skipped(Path("/a"), why)) is harmless


def test_a_second_name_of_a_log_is_said_in_the_words_that_are_harmless(logs: Logs) -> None:
    write(logs.transcript, user_line())
    os.link(logs.transcript, logs.transcript.with_name("again.jsonl"))
    skipped = [one for one in find_all([Root(logs.root, "claude")]) if isinstance(one, Skipped)]
    assert [is_harmless(one) for one in skipped] == [True]


def test_a_path_that_holds_a_secret_is_shown_without_it() -> None:
    shown = LOOKING.shown(f"/logs/{ALPHA}/log.jsonl")
    assert shown == f"/logs/«secret:alpha:{hash_of_value(ALPHA)[:8]}»/log.jsonl"
    assert LOOKING.shown("/home/dev/log.jsonl") == "/home/dev/log.jsonl"
