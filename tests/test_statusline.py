from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from platformdirs import user_data_path

from tests import fork_server
from tests.views.cli.command import Answer, command, environment
from tracklog.statusline import (
    BY_HAND,
    HELP,
    LONGEST_MODEL,
    NOTHING_KNOWN,
    SessionStatus,
    _usual_home,
    line_of,
)

USAGE = {
    "input_tokens": 31,
    "output_tokens": 500,
    "cache_creation_input_tokens": 1248,
    "cache_read_input_tokens": 13975,
}
ZEROS = dict.fromkeys(USAGE, 0)


def told(**more: Any) -> dict[str, Any]:
    """What Claude Code 2.1.325 tells, as far as we read it."""
    return {
        "session_id": "11111111-aaaa-4aaa-8aaa-111111111111",
        "transcript_path": "/nowhere/log.jsonl",
        "model": {"id": "claude-sonnet-4-5-20250929", "display_name": "Sonnet 4.5"},
        "version": "2.1.325",
        "cost": {"total_cost_usd": 0.0400389, "total_lines_added": 2, "total_lines_removed": 1},
        "context_window": window(USAGE),
        "exceeds_200k_tokens": False,
    } | more  # fmt: skip


def window(usage: object, size: object = 200_000) -> dict[str, object]:
    return {"context_window_size": size, "current_usage": usage, "total_input_tokens": 999_999}


def told_by_an_old_client(log: object, **more: Any) -> dict[str, Any]:
    """2.0.30 tells nothing of the context."""
    known = told(transcript_path=str(log), **more)
    del known["context_window"]
    return known


def run(stdin: bytes, *arguments: str, home: Path, env: Mapping[str, str] | None = None) -> Answer:
    words, known = ["statusline", *arguments], environment(home, env)
    done = fork_server.run(words, env=known, cwd=Path.cwd(), stdin=stdin, timeout_s=60)
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def shown(stdin: object, *, home: Path, env: Mapping[str, str] | None = None) -> str:
    """The line, after a run that ended as it must."""
    text = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
    answer = run(text, home=home, env=env)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("\n") == 1
    return answer.out.removesuffix("\n")


def answered(tokens: int = 20_000, **more: Any) -> bytes:
    """A line of a log: an answer that read so many tokens."""
    usage = {"input_tokens": 100, "cache_read_input_tokens": tokens - 300, "cache_creation_input_tokens": 200}
    line = {"type": "assistant", "isSidechain": False, "message": {"model": "m", "usage": usage}, **more}
    return json.dumps(line).encode() + b"\n"


COMPACTED = b'{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}\n'


def test_the_line_says_model_cost_context_and_changed_lines(tmp_path: Path) -> None:
    assert shown(told(), home=tmp_path) == "Sonnet 4.5 · $0.04 · ctx 8% of 200k · +2 -1"


def test_the_document_says_the_same_in_exact_numbers(tmp_path: Path) -> None:
    answer = run(json.dumps(told()).encode(), "--json", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "schema_version": 1,
        "model": "Sonnet 4.5",
        "cost_micro_usd": 40_039,
        "lines_added": 2,
        "lines_removed": 1,
        "context_tokens": 15_254,
        "context_window": 200_000,
        "context_window_is_assumed": False,
        "context_percent": 8,
        "limit_used_percent": None,
        "limit_left_s": None,
        "today_cost_micro_usd": None,
        "block_left_s": None,
    }


@pytest.mark.parametrize("usage", [None, ZEROS, "?"])
def test_before_the_first_request_and_right_after_a_compaction_nobody_knows_the_context(
    tmp_path: Path, usage: object
) -> None:
    line = shown(told(context_window=window(usage), cost={"total_cost_usd": 0}), home=tmp_path)
    assert line == "Sonnet 4.5 · $0.00"


@pytest.mark.parametrize(
    ("dollars", "said"),
    [(0.0043, "$0.0043"), (0.01, "$0.01"), (0.999, "$1.00"), (12.345, "$12.35"), (1234.5, "$1234.50")],
)
def test_a_cost_has_two_decimals_and_below_a_cent_four(tmp_path: Path, dollars: float, said: str) -> None:
    assert shown({"cost": {"total_cost_usd": dollars}}, home=tmp_path) == said


@pytest.mark.parametrize(
    ("tokens", "size", "said"),
    [
        (1_000, 200_000, "ctx 1% of 200k"),
        (999, 200_000, "ctx 0% of 200k"),
        (500_000, 1_000_000, "ctx 50% of 1M"),
        (210_000, 200_000, "ctx 105% of 200k"),
        (5_000, None, "ctx 5k"),
        (5_000, 0, "ctx 5k"),
    ],
)
def test_the_context_is_rounded_as_the_client_does(
    tmp_path: Path, tokens: int, size: int | None, said: str
) -> None:
    assert shown({"context_window": window({"input_tokens": tokens}, size)}, home=tmp_path) == said


def test_for_an_old_client_the_last_answer_in_the_log_tells_the_context(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(answered(9_000) + answered(20_000) + b'{"type":"user","toolUseResult":{"usage":{}}}\n')
    line = shown(told_by_an_old_client(log), home=tmp_path)
    assert line == "Sonnet 4.5 · $0.04 · ctx 20k ~10% · +2 -1"


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (answered(90_000, isSidechain=True), "ctx 20k ~10%"),
        (answered(0, message={"model": "<synthetic>", "usage": ZEROS}), "ctx 20k ~10%"),
        (answered(90_000)[:-9], "ctx 20k ~10%"),
        (b'{"usage":[[[[\n' + b"\xff\xfe\n\n" + b"[" * 100_000 + b'"usage"\n', "ctx 20k ~10%"),
        (COMPACTED, ""),
        (COMPACTED + answered(30_000), "ctx 30k ~15%"),
        (b"x" * (256 << 10), ""),
        (answered(250_000), "ctx 250k"),
    ],
    ids=["subagent", "synthetic", "torn", "broken", "compacted", "after it", "too far back", "beyond the window"],
)  # fmt: skip
def test_only_an_answer_of_the_main_thread_since_the_last_compaction_counts(
    tmp_path: Path, behind: bytes, said: str
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(answered(20_000) + behind)
    line = shown(told_by_an_old_client(log, model={}, cost={}), home=tmp_path)
    assert line == (said or NOTHING_KNOWN)


def test_a_model_with_the_long_context_has_a_million(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(answered(20_000))
    model = {"id": "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]"}
    line = shown(told_by_an_old_client(log, model=model, cost={}), home=tmp_path)
    assert line == "us.anthropic.claude-sonnet-4-5-20250929… · ctx 20k ~2%"


def test_a_log_that_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_bytes(answered())
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    strange = [tmp_path / "link.jsonl", tmp_path / "pipe.jsonl", tmp_path, tmp_path / "absent", "/dev/zero"]
    strange += ["", "a\x00b", "\ud800", "x" * 5_000, None, 7, ["/"]]
    lines = {shown({"transcript_path": _as_json(path)}, home=tmp_path) for path in strange}
    assert lines == {NOTHING_KNOWN}


def _as_json(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


def test_a_huge_log_is_read_at_its_end_alone(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with log.open("wb") as stream:
        stream.truncate(50 << 30)  # a hole: to read it all would take a minute
        stream.seek(0, os.SEEK_END)
        stream.write(b"\n" + answered(20_000))
    began = time.monotonic()
    assert shown({"transcript_path": str(log)}, home=tmp_path) == "ctx 20k ~10%"
    assert time.monotonic() - began < 10


def limits(resets_in_s: float, percent: object = 31.4) -> dict[str, Any]:
    return {"five_hour": {"used_percentage": percent, "resets_at": time.time() + resets_in_s}}


def test_what_is_used_of_a_subscriptions_five_hours_is_shown_while_it_holds(tmp_path: Path) -> None:
    assert shown({"rate_limits": limits(2 * 3600 + 630)}, home=tmp_path) == "5h 31% 2h10m left"
    assert shown({"rate_limits": limits(630)}, home=tmp_path) == "5h 31% 10m left"
    assert shown({"rate_limits": limits(-1)}, home=tmp_path) == NOTHING_KNOWN


def test_the_index_tells_what_today_cost_and_when_the_block_ends(tmp_path: Path) -> None:
    facts = {
        "day": time.strftime("%Y-%m-%d"),
        "cost_micro_usd": 3_100_000,
        "block_ends_at": time.time() + 5_000,
    }
    (tmp_path / "statusline.json").write_text(json.dumps(facts))
    env = {"TRACKLOG_HOME": str(tmp_path)}
    assert shown({"model": {"id": "m"}}, home=tmp_path, env=env) == "m · block 1h23m left · today $3.10"
    limited = shown({"rate_limits": limits(630)}, home=tmp_path, env=env)
    assert limited == "5h 31% 10m left · today $3.10"
    elsewhere = run(b"{}", "--home", str(tmp_path), home=tmp_path / "other").out
    assert elsewhere == "block 1h23m left · today $3.10\n"


@pytest.mark.parametrize(
    "facts",
    [
        b"",
        b"[]",
        b"\x00" * 99,
        b'{"day":"1999-12-31","cost_micro_usd":5,"block_ends_at":946684800}',
        b'{"cost_micro_usd":5}',
    ],
)
def test_an_index_that_is_torn_or_of_another_day_tells_nothing(tmp_path: Path, facts: bytes) -> None:
    (tmp_path / "statusline.json").write_bytes(facts)
    assert shown({}, home=tmp_path, env={"TRACKLOG_HOME": str(tmp_path)}) == NOTHING_KNOWN


def test_our_home_is_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TRACKLOG_HOME", raising=False)
    for data in (str(tmp_path), " ", ""):
        monkeypatch.setenv("XDG_DATA_HOME", data)
        assert Path(_usual_home()) == user_data_path("tracklog")
    monkeypatch.setenv("TRACKLOG_HOME", "/there")
    assert _usual_home() == "/there"


GARBAGE = {
    "nothing": b"",
    "a newline": b"\n",
    "no JSON": b"hello",
    "torn": b'{"model":{"display_name":"Op',
    "a list": b"[1,2]",
    "a number": b"1",
    "null": b"null",
    "binary": bytes(range(256)) * 40,
    "deep": b'{"model":' * 100_000,
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "endless digits": b'{"cost":{"total_cost_usd":' + b"9" * 9_000 + b"}}",
    "wrong types": b'{"model":[1],"cost":"x","context_window":7,"rate_limits":[[]],"transcript_path":{}}',
    "wrong types inside": b'{"model":{"display_name":5,"id":null},"cost":{"total_cost_usd":"1","total_lines_added":[]},'
    b'"context_window":{"current_usage":{"input_tokens":{}}}}',
    "no figures": b'{"cost":{"total_cost_usd":NaN,"total_lines_added":Infinity,"total_lines_removed":-4},'
    b'"context_window":{"context_window_size":NaN,"current_usage":{"input_tokens":-1,"cache_read_input_tokens":1e999}}}',
    "truth": b'{"cost":{"total_cost_usd":true,"total_lines_added":true}}',
    "beyond reason": b'{"cost":{"total_cost_usd":1e300,"total_lines_added":99999999999999999999}}',
}


@pytest.mark.parametrize("stdin", GARBAGE.values(), ids=GARBAGE)
def test_garbage_gives_a_plain_line(tmp_path: Path, stdin: bytes) -> None:
    assert shown(stdin, home=tmp_path) == NOTHING_KNOWN


def test_a_mark_of_the_encoding_and_a_broken_letter_do_no_harm(tmp_path: Path) -> None:
    assert shown(b'\xef\xbb\xbf{"model":{"id":"m"},"cwd":"\xff"}', home=tmp_path) == "m"


def test_fifty_megabytes_on_stdin_give_a_plain_line(tmp_path: Path) -> None:
    assert shown(b'{"cwd":"' + b"x" * 50_000_000 + b'"}', home=tmp_path) == NOTHING_KNOWN


@pytest.mark.parametrize("stdin", ["<&-", "</dev/zero", "</dev/null"])
def test_a_stdin_that_is_none_gives_a_plain_line(tmp_path: Path, stdin: str) -> None:
    shell = ["/bin/sh", "-c", f'exec "$@" {stdin}', "sh", *command("statusline")]
    done = subprocess.run(shell, env=environment(tmp_path), capture_output=True, timeout=30)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"{NOTHING_KNOWN}\n", b"")


@pytest.mark.parametrize("stdout", [">&-", ">/dev/full"])
def test_a_line_that_cannot_be_written_is_no_failure(tmp_path: Path, stdout: str) -> None:
    shell = ["/bin/sh", "-c", f'exec "$@" {stdout}', "sh", *command("statusline")]
    done = subprocess.run(shell, env=environment(tmp_path), input=b"{}", capture_output=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_client_that_never_closes_stdin_is_not_waited_for(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, json.dumps(told()).encode())
    done = subprocess.run(
        command("statusline"), env=environment(tmp_path), stdin=reader, capture_output=True, timeout=30
    )
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "Sonnet 4.5 · $0.04 · ctx 8% of 200k · +2 -1\n"


def test_a_person_who_starts_it_is_told_what_it_is_for(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        command("statusline"), env=environment(tmp_path), stdin=theirs, capture_output=True, timeout=30
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"{BY_HAND}\n", b"")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("\x1b[31mOpus\x1b[0m 4", "Opus 4"),
        ("Opus\n4\r\t", "Opus4"),
        ("\x1b]0;title\x07Opus", "Opus"),
        ("\x1b]8;;http://x\x1b\\Opus\x1bc\x9b2J", "Opus2J"),
        ("Op\u202eus\u200b\ud800", "Opus"),
        ("\x1b[31m" * 30 + "Opus", "Opus"),
        ("x" * 99, "x" * 39 + "…"),
        ("漢" * 99, "漢" * 19 + "…"),
    ],
)
def test_escapes_newlines_and_direction_marks_are_stripped(tmp_path: Path, name: str, said: str) -> None:
    assert shown({"model": {"display_name": name}}, home=tmp_path) == said


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("160", "Sonnet 4.5 · $0.04 · ctx 8% of 200k · +2 -1"),
        ("45", "Sonnet 4.5 · $0.04 · ctx 8% of 200k"),
        ("25", "Sonnet 4.5 · $0.04"),
        ("1", "Sonnet 4.5 · $0.04"),
        ("0", "Sonnet 4.5 · $0.04 · ctx 8% of 200k · +2 -1"),
        ("many", "Sonnet 4.5 · $0.04 · ctx 8% of 200k · +2 -1"),
        ("9" * 5_000, "Sonnet 4.5 · $0.04 · ctx 8% of 200k · +2 -1"),
    ],
)
def test_on_a_narrow_screen_the_less_important_parts_are_left_out(
    tmp_path: Path, columns: str, said: str
) -> None:
    assert shown(told(), home=tmp_path, env={"COLUMNS": columns}) == said


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
TOLD = st.fixed_dictionaries(
    {},
    optional={
        "model": JSON | st.fixed_dictionaries({"display_name": JSON, "id": JSON}),
        "cost": JSON
        | st.fixed_dictionaries(
            {"total_cost_usd": JSON, "total_lines_added": JSON, "total_lines_removed": JSON}
        ),
        "context_window": JSON
        | st.fixed_dictionaries(
            {
                "context_window_size": JSON,
                "current_usage": JSON | st.fixed_dictionaries({"input_tokens": JSON}),
            }
        ),
        "rate_limits": JSON
        | st.fixed_dictionaries(
            {"five_hour": st.fixed_dictionaries({"used_percentage": JSON, "resets_at": JSON})}
        ),
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(TOLD, st.integers(20, 200))
def test_whatever_is_told_the_line_is_printable_and_fits(known: dict[str, object], columns: int) -> None:
    session = SessionStatus({"context_window": None, **known}, home="/nowhere", now=0)
    line = line_of(session, columns=columns)
    assert line.isprintable()
    assert 0 < len(line) <= columns
    assert len(session.model) <= LONGEST_MODEL
    json.loads(json.dumps(session.document(), allow_nan=False))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--jsn"], "tracklog statusline: does not know --jsn; see --help"),
        (["x\x1b[31m\n"], "tracklog statusline: does not know x; see --help"),
        (["--home"], "tracklog statusline: argument --home: expected one argument; see --help"),
        (["--json=1"], "tracklog statusline: argument --json: ignored explicit argument '1'; see --help"),
    ],
)
def test_wrong_use_is_said_in_the_line_itself(tmp_path: Path, arguments: list[str], said: str) -> None:
    assert run(b"{}", *arguments, home=tmp_path) == (0, f"{said}\n", "")


def test_help_shows_what_to_put_into_the_settings(tmp_path: Path) -> None:
    answer = run(b"", "--help", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert HELP in answer.out
    (snippet,) = [line for line in HELP.splitlines() if line.startswith("  {")]
    assert json.loads(snippet) == {"statusLine": {"type": "command", "command": "tracklog statusline"}}


def test_behind_options_it_is_the_same_command(tmp_path: Path) -> None:
    def said(*words: str) -> Answer:
        done = subprocess.run(
            command(*words), env=environment(tmp_path), input=json.dumps(told()).encode(), capture_output=True, timeout=30
        )  # fmt: skip
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    assert said("--json", "--home", str(tmp_path), "statusline") == said("statusline", "--json")


def test_nothing_is_loaded_that_takes_its_time(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv[1:] = ['statusline']\n"
        "from tracklog.views.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print(*sorted(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=environment(tmp_path),
        input=json.dumps(told()),
        capture_output=True,
        text=True,
        timeout=30,
    )
    line, modules = done.stdout.splitlines()
    heavy = {
        "argparse",
        "click",
        "typing",
        "msgspec",
        "rich",
        "pathlib",
        "dataclasses",
        "platformdirs",
        "sqlite3",
    }
    assert line == "Sonnet 4.5 · $0.04 · ctx 8% of 200k · +2 -1"
    assert heavy & set(modules.split()) == set()
    ours = {name for name in modules.split() if name.startswith("tracklog")}
    assert ours == {
        "tracklog",
        "tracklog.statusline",
        "tracklog.views",
        "tracklog.views.cli",
        "tracklog.views.cli.main",
    }


def test_importing_the_package_loads_nothing_else(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import tracklog; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout.split() == ["__future__", "tracklog"]
