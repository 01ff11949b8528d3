from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import zstandard

from tests.views.cli.command import (
    ONE,
    both_agents,
    command,
    environment,
    on_a_terminal,
    out_of_reach,
    rollout_in,
    tracklog,
    transcript_in,
    user_line,
    write,
)


def row(line: int, offset: int, length: int, reading: str, kind: str, **more: Any) -> dict[str, Any]:
    """A row with the fields that are rarely anything but empty."""
    rest = {"at": None, "id": None, "why": None, "recovered": False}
    return {
        "line": line,
        "offset": offset,
        "length": length,
        "reading": reading,
        "kind": kind,
        **rest,
        **more,
    }


def test_every_piece_is_a_row_with_its_place_and_its_reading(tmp_path: Path) -> None:
    good = user_line()
    unknown = b'{"type":"hologram","uuid":"h-1","timestamp":"2026-03-01T17:24:43.000Z"}\n'
    log = write(transcript_in(tmp_path), good + unknown + b"\n" + b"[1]\n" + good[:40] + good)
    answer = tracklog("records", log, "--json", home=tmp_path)
    at, n = "2026-03-01T17:24:42.000Z", len(good)
    torn = n + len(unknown) + 1 + 4
    rows = answer.rows
    assert (answer.code, answer.err, [one.pop("why") is None for one in rows]) == (
        0,
        "",
        [True, False, True, False, False, True],
    )
    assert [{**one, "why": None} for one in rows] == [
        row(1, 0, n - 1, "read", "user", at=at, id="u-1"),
        row(2, n, len(unknown) - 1, "unknown", "hologram", at="2026-03-01T17:24:43.000Z", id="h-1"),
        row(3, n + len(unknown), 0, "read", "blank"),
        row(4, n + len(unknown) + 1, 3, "unknown", "array"),
        row(5, torn, 40, "broken", "broken"),
        row(5, torn + 40, n - 1, "read", "user", at=at, id="u-1", recovered=True),
    ]


def test_rows_can_be_chosen_by_reading_and_by_kind(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line() + b'{"type":"hologram"}\n' + b"not json\n")
    lines = {
        choice: [one["line"] for one in tracklog("records", log, "--json", *choice, home=tmp_path).rows]
        for choice in [
            ("--reading", "broken"),
            ("--reading", "unknown"),
            ("--kind", "user"),
            ("--kind", "no"),
        ]
    }
    assert list(lines.values()) == [[3], [2], [1], []]


def test_keys_without_a_name_are_shown_on_demand_with_their_values(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line(mood={"tone": "calm"}) + user_line())
    rows = tracklog("records", log, "--json", "--extra", home=tmp_path).rows
    assert [one["extra"] for one in rows] == [{"mood": {"tone": "calm"}}, {}]
    assert 'mood={"tone": "calm"}' in tracklog("records", log, "--extra", home=tmp_path).out


def test_a_value_nested_too_deep_to_show_is_said_to_be(tmp_path: Path) -> None:
    deep = user_line()[:-2] + b',"mood":' + b"[" * 1500 + b"]" * 1500 + b"}\n"
    log = write(transcript_in(tmp_path), deep + user_line())
    answer = tracklog("records", log, "--json", "--extra", home=tmp_path)
    assert (answer.code, answer.err, [one["line"] for one in answer.rows]) == (0, "", [1, 2])


def test_the_raw_text_comes_with_every_byte_of_it(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), b'{"type":"user" \xff\n')
    (only,) = tracklog("records", log, "--json", "--raw", home=tmp_path).rows
    assert only["raw"].encode(errors="surrogateescape") == b'{"type":"user" \xff'


def test_a_compressed_log_is_read_and_what_is_damaged_is_said_behind_the_good_rows(tmp_path: Path) -> None:
    both_agents(tmp_path)
    packed = zstandard.compress(rollout_in(tmp_path).read_bytes())
    whole = write(tmp_path / "a.jsonl.zst", packed)
    assert [one["kind"] for one in tracklog("records", whole, "--json", home=tmp_path).rows] == [
        "session_meta",
        "event_msg/user_message",
    ]
    cut = write(tmp_path / "b.jsonl.zst", packed + packed[: len(packed) // 2])
    answer = tracklog("records", cut, "--json", home=tmp_path)
    assert (answer.code, len(answer.rows)) == (1, 2)
    assert answer.err.startswith(f"tracklog: cannot read {cut}: ")
    assert answer.err.count("\n") == 1


def test_a_session_can_be_named_in_place_of_a_file(tmp_path: Path) -> None:
    both_agents(tmp_path)
    by_name = tracklog("records", ONE[:8], "--json", home=tmp_path)
    assert by_name == tracklog("records", transcript_in(tmp_path), "--json", home=tmp_path)


def test_what_is_no_log_is_the_user_s_mistake(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert {name: tracklog("records", name, home=tmp_path) for name in ("pipe", ".")} == {
        "pipe": (2, "", "tracklog: cannot read pipe: FIFO\n"),
        ".": (2, "", "tracklog: . is a directory: name one of the files in it\n"),
    }


def test_a_file_that_is_not_there_or_out_of_reach_is_exit_1(tmp_path: Path) -> None:
    where = "`tracklog places` shows where logs are"
    assert tracklog("records", "absent.jsonl", home=tmp_path) == (
        1,
        "",
        f"tracklog: no file and no session absent.jsonl: {where}\n",
    )
    with out_of_reach() as top:
        names = ("locked/log.jsonl", "secret.jsonl")
        said = {name: tracklog("records", name, home=top, is_mighty=False) for name in names}
    assert said == {name: (1, "", f"tracklog: cannot read {name}: permission denied\n") for name in said}


def test_any_bytes_give_rows_and_exit_0(tmp_path: Path) -> None:
    log = write(tmp_path / "noise.jsonl", gzip.compress(b"x" * 5000, mtime=0) + bytes(range(256)) * 4)
    answer = tracklog("records", log, "--json", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert {one["reading"] for one in answer.rows} <= {"read", "unknown", "broken"}


def test_people_see_one_aligned_line_per_piece(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line() + b"not json\n")
    assert tracklog("records", log, home=tmp_path).out == (
        "     1       287  read     user                              2026-03-01 17:24:42  u-1\n"
        "     2         8  broken   broken                            not JSON\n"
    )


def test_on_a_terminal_there_is_a_head_and_the_reading_is_coloured(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line())
    head, only = on_a_terminal("records", log, home=tmp_path).splitlines()
    assert (
        head
        == "\x1b[2m  line    length  reading  kind                              at                 \x1b[0m"
    )
    assert "\x1b[32mread   \x1b[0m" in only


def test_on_a_terminal_of_80_columns_all_that_was_asked_for_can_be_read(tmp_path: Path) -> None:
    uuid = "33333333-cccc-4ccc-8ccc-333333333333"
    lines = user_line(uuid=uuid, mood="calm" * 20) + b'{"type":"hologram"}\n'
    log = write(transcript_in(tmp_path), lines)
    no_color = {"NO_COLOR": "1"}
    shown = on_a_terminal("records", log, "--extra", "--raw", home=tmp_path, env=no_color).splitlines()
    assert max(map(len, shown)) == 80
    raw = lines.decode().splitlines()
    assert "".join(row.removeprefix(" " * 8) for row in shown[4:-3]) == raw[0]
    assert shown[:4] + shown[-3:] == [
        "  line    length  reading  kind                              at                 ",
        "     1       412  read     user                              2026-03-01 17:24:42",
        '        mood="calmcalmcalmcalmcalmcalmcalmcalmcalmcalmcalmcalmcalmcalmcalmcalmca',
        '        lmcalmcalmcalm"',
        "     2        19  unknown  hologram",
        "        unknown type",
        f"        {raw[1]}",
    ]
    wide = on_a_terminal("records", log, home=tmp_path, columns=120, env=no_color).splitlines()
    assert wide[1].endswith(f"2026-03-01 17:24:42  {uuid}")


def test_rows_come_while_the_log_is_still_being_read(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line() * 50_000)
    with subprocess.Popen(
        command("records", log, "--json"), env=environment(tmp_path), stdout=subprocess.PIPE
    ) as started:
        assert started.stdout
        first = json.loads(started.stdout.readline())
        still_running = started.poll() is None  # it cannot end before we have read what fills the pipe
        n_more = sum(1 for _ in started.stdout)
    assert (first["line"], still_running, n_more, started.returncode) == (1, True, 49_999, 0)
