from __future__ import annotations

from pathlib import Path

from tests.views.cli.command import both_agents, tracklog, write


def test_bare_tracklog_shows_places_coverage_and_what_to_try_next(tmp_path: Path) -> None:
    both_agents(tmp_path)
    answer = tracklog(home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "claude  ~/.claude\n"
        "  transcript  1  file  288 bytes\n"
        "codex  ~/.codex\n"
        "  transcript  1  file  332 bytes\n"
        "total  2 files, 620 bytes\n"
        "\n"
        "understood\n"
        "  claude  ██████████████  100 % read   1 line  287 bytes  2.1.100\n"
        "  codex   ██████████████  100 % read  2 lines  330 bytes  0.98.0\n"
        "\n"
        "next\n"
        "  tracklog serve\n"
        "      all of it in the browser: who needs you, every session, search\n"
        "  tracklog sessions\n"
        "      all sessions, the newest first\n"
        "  tracklog show @last\n"
        "      the newest conversation, with the fate of every tool call\n"
        "  tracklog search WORDS\n"
        "      where it was said, in prompts, answers, inputs and results\n"
        "  tracklog usage\n"
        "      what it cost, day by day, and how sure that is\n"
        "  tracklog doctor\n"
        "      health of all logs, and what is unknown in them\n"
        "  tracklog verify\n"
        "      proof that reading loses nothing\n"
        "  tracklog --help\n"
        "      all commands\n"
        "\n"
        "Indexed: 2 sessions, 620 bytes; what the agents delete is kept.\n"
    )
    assert (tmp_path / ".local/share/tracklog/index.db").is_file()


def test_an_index_that_cannot_be_written_is_said_and_is_no_failure(tmp_path: Path) -> None:
    both_agents(tmp_path)
    write(tmp_path / "own", b"")
    answer = tracklog(home=tmp_path, env={"TRACKLOG_HOME": str(tmp_path / "own")})
    assert (answer.code, answer.out.splitlines()[0], answer.err.count("\n")) == (0, "claude  ~/.claude", 1)


def test_where_there_are_no_logs_it_says_so_and_shows_the_same_on_the_sample(tmp_path: Path) -> None:
    own = tmp_path / "own"
    answer = tracklog(home=tmp_path, env={"TRACKLOG_HOME": str(own)})
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("No logs found.\n")
    assert "Until then, the sample home in ~/own/demo:\n\nclaude  ~/own/demo/claude\n" in answer.out
    assert "  tracklog doctor --root ~/own/demo/claude --root ~/own/demo/codex\n" in answer.out
    assert (own / "demo/claude/history.jsonl").is_file()


def test_a_home_that_cannot_be_written_to_is_said_and_is_no_failure(tmp_path: Path) -> None:
    write(tmp_path / "own", b"")
    answer = tracklog(home=tmp_path, env={"TRACKLOG_HOME": str(tmp_path / "own")})
    assert (answer.code, answer.out.splitlines()[0], answer.err.count("\n")) == (0, "No logs found.", 1)


def test_an_empty_root_writes_no_sample(tmp_path: Path) -> None:
    answer = tracklog("--root", tmp_path, home=tmp_path)
    assert (answer.code, answer.out.splitlines()[0]) == (0, "No logs found.")
    assert list(tmp_path.iterdir()) == []


def test_the_overview_as_json_has_places_and_coverage(tmp_path: Path) -> None:
    both_agents(tmp_path)
    document = tracklog("--json", home=tmp_path).json
    assert (list(document), len(document["places"]), len(document["coverage"])) == (
        ["schema_version", "places", "coverage"],
        2,
        3,
    )
