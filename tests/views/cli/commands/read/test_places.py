from __future__ import annotations

import os
from pathlib import Path

from tests.views.cli.command import ONE, both_agents, rollout_in, tracklog, transcript_in, user_line, write


def test_places_lists_files_and_bytes_by_agent_place_and_kind(tmp_path: Path) -> None:
    both_agents(tmp_path)
    write(transcript_in(tmp_path, f"{ONE}/subagents/agent-a.jsonl"), b"{}\n")
    os.mkfifo(transcript_in(tmp_path, "pipe.jsonl"))
    answer = tracklog("places", "--json", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    claude, codex = str(tmp_path / ".claude"), str(tmp_path / ".codex")
    assert answer.json == {
        "schema_version": 1,
        "places": [
            {"agent": "claude", "path": claude, "kind": "transcript", "files": 1, "bytes": len(user_line())},
            {"agent": "claude", "path": claude, "kind": "subagent", "files": 1, "bytes": 3},
            {
                "agent": "codex",
                "path": codex,
                "kind": "transcript",
                "files": 1,
                "bytes": rollout_in(tmp_path).stat().st_size,
            },
        ],
        "skipped": [{"path": str(transcript_in(tmp_path, "pipe.jsonl")), "why": "FIFO"}],
    }


def test_the_agent_of_a_log_outside_of_a_home_is_told_by_its_records(tmp_path: Path) -> None:
    write(tmp_path / "logs/a.jsonl", user_line())
    write(tmp_path / "logs/b.jsonl", b'{"type":"strange"}\n')
    rows = tracklog("places", "--json", "--root", tmp_path / "logs", home=tmp_path).json["places"]
    assert [(row["agent"], row["kind"], row["files"]) for row in rows] == [
        ("claude", "transcript", 1),
        (None, "transcript", 1),
    ]


def test_one_agent_can_be_asked_for(tmp_path: Path) -> None:
    both_agents(tmp_path)
    rows = tracklog("places", "--agent", "codex", "--json", home=tmp_path).json["places"]
    assert [row["agent"] for row in rows] == ["codex"]


def test_people_see_a_block_per_agent_the_total_and_what_was_skipped(tmp_path: Path) -> None:
    both_agents(tmp_path)
    for n in range(5):
        os.mkfifo(transcript_in(tmp_path, f"pipe{n}"))
    answer = tracklog("places", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "claude  ~/.claude\n"
        "  transcript  1  file  288 bytes\n"
        "codex  ~/.codex\n"
        "  transcript  1  file  332 bytes\n"
        "total  2 files, 620 bytes\n"
        "\n"
        "skipped\n"
        "  FIFO (the first 3 of 5)\n"
        "    ~/.claude/projects/-home-dev-project/pipe0\n"
        "    ~/.claude/projects/-home-dev-project/pipe1\n"
        "    ~/.claude/projects/-home-dev-project/pipe2\n"
    )


def test_where_there_are_no_logs_it_says_where_it_looked_and_what_to_do(tmp_path: Path) -> None:
    answer = tracklog("places", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "No logs found.\n"
        "  looked for ~/.claude, ~/.config/claude and ~/.codex: none exists\n"
        "\n"
        "Logs elsewhere?  tracklog places --root DIR\n"
        "                 or set CLAUDE_CONFIG_DIR and CODEX_HOME, as for the agents\n"
        "No logs yet?     tracklog demo\n"
        "                 writes a small sample home to try everything on\n"
    )
    assert tracklog("places", "--json", home=tmp_path).json == {
        "schema_version": 1,
        "places": [],
        "skipped": [],
    }


def test_a_home_of_the_environment_that_is_not_there_is_no_mistake_but_is_named(tmp_path: Path) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "gone")}
    answer = tracklog("places", home=tmp_path, env=env)
    assert answer.code == 0
    assert "looked in ~/gone: does not exist\n" in answer.out
    skipped = tracklog("places", "--json", home=tmp_path, env=env).json["skipped"]
    assert skipped == [{"path": str(tmp_path / "gone"), "why": "does not exist"}]


def test_a_home_with_nothing_but_oddities_says_what_they_are(tmp_path: Path) -> None:
    pipe = transcript_in(tmp_path, "pipe.jsonl")
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    out = tracklog("places", home=tmp_path).out
    assert "  looked in ~/.claude: no logs\n\nskipped\n  FIFO\n    ~/.claude/projects/" in out
