from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.views.cli.command import ONE, tracklog, transcript_in
from tests.views.cli.written import Log, working_day


def boundary(**more: Any) -> dict[str, Any]:
    """A line that says that what stands above was summed up."""
    return {
        "parentUuid": None,
        "logicalParentUuid": "u-3",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/project",
        "sessionId": ONE,
        "version": "2.1.100",
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "isMeta": False,
        "timestamp": "2026-03-01T17:25:00.000Z",
        "uuid": "u-compact",
        "level": "info",
        "compactMetadata": {"trigger": "auto", "preTokens": 154000, "postTokens": 12000},
        **more,
    }


def rewound_in(home: Path) -> Path:
    log = Log().prompt("Begin.").answer("msg_1", "Begun.")
    fork = log.tip or ""
    log.prompt("Go left.").answer("msg_2", "Went left.")
    return log.back_to(fork).prompt("Go right.").answer("msg_3", "Went right.").write_in(home)


def test_one_way_is_one_active_branch(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    assert tracklog("graph", ONE, "--json", home=tmp_path).json == {
        "schema_version": 1,
        "branches": [
            {"id": "main", "parent": None, "from": "u-1", "to": "u-11", "active": True, "why": None}
        ],
        "compactions": [],
        "orphans": [],
    }


def test_a_rewind_leaves_a_branch(tmp_path: Path) -> None:
    rewound_in(tmp_path)
    branches = tracklog("graph", ONE, "--json", home=tmp_path).json["branches"]
    assert [(branch["active"], branch["parent"], branch["from"], branch["to"]) for branch in branches] == [
        (True, None, "u-1", "u-6"),
        (False, "main", "u-2", "u-4"),
    ]
    assert branches[1]["why"] in ("rewind", "edit")


def test_branches_are_told_with_their_first_and_last_prompt(tmp_path: Path) -> None:
    rewound_in(tmp_path)
    lines = tracklog("graph", ONE, home=tmp_path).out.splitlines()
    assert lines[:3] == [
        "● main  active  2 turns",
        "    turn 1  2026-03-01 17:24:42  Begin.",
        "    turn 3  2026-03-01 17:24:46  Go right.",
    ]
    assert lines[3].startswith("○ ")
    assert "  left (" in lines[3]
    assert lines[4:] == ["    turn 2  2026-03-01 17:24:44  Go left."]


def test_compactions_are_told_with_what_they_came_to(tmp_path: Path) -> None:
    log = Log().prompt("Begin.").answer("msg_1", "Begun.").prompt("More.").note(boundary())
    log.back_to("u-compact").prompt("On.").answer("msg_2", "Goes on.").write_in(tmp_path)
    assert tracklog("graph", ONE, "--json", home=tmp_path).json["compactions"] == [
        {
            "path": str(transcript_in(tmp_path)),
            "line": 4,
            "at": "2026-03-01T17:25:00.000Z",
            "trigger": "auto",
            "tokens_before": 154000,
            "tokens_after": 12000,
            "kept": [],
        }
    ]
    out = tracklog("graph", ONE, home=tmp_path).out
    assert "\n\ncompactions\n  2026-03-01 17:25:00  auto  154,000 tokens → 12,000  11111111-" in out
    shown = tracklog("show", ONE, home=tmp_path).out
    assert "\n  ≡ compacted · auto · 154,000 tokens → 12,000\n" in shown


def test_orphans_are_listed_and_counted(tmp_path: Path) -> None:
    Log().back_to("nowhere").prompt("Hi.").answer("msg_1", "Hello.").write_in(tmp_path)
    assert tracklog("graph", ONE, "--json", home=tmp_path).json["orphans"] == ["u-1"]
    out = tracklog("graph", ONE, home=tmp_path).out
    assert out.endswith("\n\n1 orphan: their parent stands nowhere\n  u-1\n")


def test_an_unknown_session_is_exit_1(tmp_path: Path) -> None:
    said = "tracklog: no session nosuch: `tracklog sessions` lists them, --root looks elsewhere\n"
    assert tracklog("graph", "nosuch", home=tmp_path) == (1, "", said)
