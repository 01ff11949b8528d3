"""Who started whom is told by `show`, `agents` and `top`; a session without a log yet is waited for."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

from tests import fork_server
from tests.live.live_home import ONE, TWO, LiveHome
from tests.views.cli.command import environment, on_a_terminal, tracklog
from tracklog.clock import moment_text
from tracklog.home import Home
from tracklog.live.run_entries import Ended, Parent, Started
from tracklog.live.run_register import note_ended, note_started, start_mark

RUN, FORK = "00000000000000aa", "00000000000000bb"
THREE = "33333333-cccc-4ccc-8ccc-333333333333"
AT = "2026-03-01T12:00:00.000Z"


def begun(home: LiveHome, run: str = RUN, **more: Any) -> None:
    """A run is noted, of our own process unless told otherwise."""
    given = {"at": now(), "agent": "claude", "pid": os.getpid(), "pid_start": start_mark(os.getpid()), **more}
    if given.get("session"):
        given.setdefault("transcript_path", str(home.log(given["session"])))
    note_started(Home(home.ours), Started(run=run, **given))


def over(home: LiveHome, run: str = RUN, **more: Any) -> None:
    note_ended(Home(home.ours), Ended(run=run, **{"at": now(), "ended_by": "completed", **more}))


def now() -> str:
    return moment_text(time.time_ns() // 1_000_000) or ""


def family_in(folder: Path) -> LiveHome:
    """ONE has started TWO by a run that is over, and forked itself into THREE, which goes on without a log."""
    home = LiveHome(folder / "claude")
    home.prompt("Have it counted.")
    home.reply("Seven.")
    home.prompt("Count.", session=TWO)
    home.reply("7", session=TWO)
    begun(home, at=AT, session=TWO, parent=Parent("claude", ONE), name="counting")
    over(home, cost_micro_usd=120_000)
    begun(home, FORK, at=AT, session=THREE, how="fork", from_=ONE, parent=Parent("claude", ONE))
    return home


def ask(home: LiveHome, *words: str, root: Path | None = None) -> Any:
    return tracklog(*words, "--root", root or home.path, "--home", home.ours, home=home.path)


def test_show_says_who_started_a_session_and_whom_it_started(tmp_path: Path) -> None:
    home = family_in(tmp_path)
    above, below = ask(home, "show", ONE, "--json").json, ask(home, "show", TWO, "--json").json
    first = {"run": RUN, "agent": "claude", "session": TWO, "how": "run", "at": AT, "ended_by": "completed"}
    fork = {"run": FORK, "agent": "claude", "session": THREE, "how": "fork", "at": AT, "ended_by": None}
    assert (above["started_by"], above["started"], above["continued_by"]) == (None, [first, fork], [])
    origin = {"run": RUN, "how": "run", "agent": "claude", "session": ONE, "from": None}
    assert (below["started_by"], below["started"]) == (origin, [])


def test_show_says_the_same_in_words(tmp_path: Path) -> None:
    home = family_in(tmp_path)
    begun(home, "00000000000000cc", session=TWO, how="resume", from_=TWO)
    above, below = ask(home, "show", ONE).out.splitlines(), ask(home, "show", TWO).out.splitlines()
    assert "started: claude 22222222 (completed, $0.12), claude 33333333 (fork, running)" in above
    assert "started by run from claude 11111111" in below
    assert "continued by: claude 22222222 (resume, running)" in below


def test_a_fork_names_what_it_was_forked_from(tmp_path: Path) -> None:
    home = family_in(tmp_path)
    home.prompt("Go on.", session=THREE)
    assert (
        "started by run from claude 11111111 (fork of 11111111)" in ask(home, "show", THREE).out.splitlines()
    )


def test_a_run_from_a_terminal_has_no_parent(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("Hi.")
    begun(home, session=ONE)
    origin = {"run": RUN, "how": "run", "agent": None, "session": None, "from": None}
    assert ask(home, "show", ONE, "--json").json["started_by"] == origin
    assert "started by run" in ask(home, "show", ONE).out.splitlines()


def test_a_session_can_be_called_by_the_id_of_its_run(tmp_path: Path) -> None:
    home = family_in(tmp_path)
    assert ask(home, "final", RUN).out == "7\n"
    assert ask(home, "show", RUN, "--json").json["session"]["id"] == TWO


def test_agents_has_runs_as_leaves_of_the_main_thread(tmp_path: Path) -> None:
    home = family_in(tmp_path)
    assert ask(home, "agents", ONE, "--json").json["runs"] == [
        {
            "run": RUN,
            "agent": "claude",
            "session": TWO,
            "how": "run",
            "at": AT,
            "ended_by": "completed",
            "state": "ended",
            "cost_micro_usd": 120_000,
            "name": "counting",
        },
        {
            "run": FORK,
            "agent": "claude",
            "session": THREE,
            "how": "fork",
            "at": AT,
            "ended_by": None,
            "state": "running",
            "cost_micro_usd": None,
            "name": None,
        },
    ]
    lines = ask(home, "agents", ONE).out.splitlines()
    assert lines[1:] == [
        "├─ 22222222  claude  completed  $0.12  ← run  counting",
        "└─ 33333333  claude  running  ← fork",
    ]


def test_a_name_is_only_shown_of_a_session_that_was_asked_for(tmp_path: Path) -> None:
    home = family_in(tmp_path)
    elsewhere = LiveHome(tmp_path / "elsewhere")
    elsewhere.prompt("Have it counted.")
    rows = ask(home, "agents", ONE, "--json", root=elsewhere.path).json["runs"]
    assert [(row["session"], row["name"]) for row in rows] == [(TWO, None), (THREE, None)]


def test_what_stands_in_the_register_cannot_steer_the_terminal(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("Hi.")
    evil = "\x1b[2J\u202e\x07" + "x" * 3000
    begun(home, session=ONE, how=evil, from_=evil, parent=Parent(evil, evil), name=evil, cwd=evil)
    begun(
        home, FORK, agent="claude", session=f"{evil}{TWO}", parent=Parent("claude", ONE), how=evil, name=evil
    )
    over(home, FORK, ended_by=evil)
    for words in (("show", ONE), ("agents", ONE), ("top", "--once", "--all")):
        answer = ask(home, *words)
        assert answer.code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(answer.out + answer.err), words
        shown = on_a_terminal(
            *words, "--root", home.path, "--home", home.ours, home=tmp_path, env={"TERM": "dumb"}
        )
        assert not {"\x07", "\u202e"} & set(shown)


def test_top_tells_who_started_whom_and_shows_what_has_no_log_yet(tmp_path: Path) -> None:
    home = family_in(tmp_path)
    begun(home, "00000000000000cc", session=f"4{ONE[1:]}", parent=Parent("claude", TWO), cwd="/work/shop")
    rows = {row["id"]: row for row in ask(home, "top", "--once", "--json").json["sessions"]}
    new = rows[f"4{ONE[1:]}"]
    assert (new["state"], new["doing"], new["project"], new["pid"]) == (
        "pending",
        "run: no log yet",
        "shop",
        os.getpid(),
    )
    assert new["evidence"] == ["run 00000000000000cc", f"process {os.getpid()} lives"]
    assert {id[0]: row["started_by"] and row["started_by"]["session"] for id, row in rows.items()} == {
        "1": None,
        "2": ONE,
        "3": ONE,
        "4": TWO,
    }
    lines = ask(home, "top", "--once").out.splitlines()
    assert [line[:15].rstrip() for line in lines[3:7]] == [
        "○ idle",
        "↳ ◌ pending",
        "↳ ○ idle",
        "  ↳ ◌ pending",
    ]


def test_a_run_below_other_roots_is_not_on_the_board(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    begun(home, session=ONE, transcript_path=f"{tmp_path}/claude-two/projects/-p/{ONE}.jsonl")
    begun(home, FORK, agent="codex")
    assert ask(home, "top", "--once", "--json").json["sessions"] == []


def test_a_codex_without_a_name_yet_is_on_the_board_of_its_home(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    (tmp_path / "codex").mkdir()
    begun(home, agent="codex", cwd="/work/app")
    env = {"CODEX_HOME": str(tmp_path / "codex"), "CLAUDE_CONFIG_DIR": str(home.path)}
    answer = tracklog("top", "--once", "--json", "--home", home.ours, home=tmp_path, env=env)
    assert [(row["id"], row["agent"], row["state"]) for row in answer.json["sessions"]] == [
        (RUN, "codex", "pending")
    ]


def gone() -> dict[str, Any]:
    """A process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return {"pid": process.pid, "pid_start": "1"}


def test_a_run_whose_process_is_gone_is_lost(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    begun(home, session=ONE, **gone())
    assert ask(home, "top", "--once", "--json").json["sessions"] == []
    rows = ask(home, "top", "--once", "--all", "--json").json["sessions"]
    assert [(row["id"], row["state"]) for row in rows] == [(ONE, "lost")]
    answer = ask(home, "wait", ONE, "--timeout", "5")
    assert (answer.code, "was lost" in answer.err) == (1, True)


def test_wait_waits_for_a_session_that_has_no_log_yet(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    begun(home, session=ONE)
    words = ["wait", ONE[:6], "--timeout", "60", "--root", str(home.path), "--home", str(home.ours)]
    with fork_server.start(words, env=environment(tmp_path), cwd=tmp_path) as waiting:
        time.sleep(0.5)
        assert waiting.poll() is None
        home.prompt("Hi.")
        time.sleep(0.5)
        assert waiting.poll() is None
        home.reply("Hello.")
        over(home)
        out, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (0, b"Hello.\n")


def test_wait_does_not_take_the_answer_before_a_resume_for_the_one_after(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("Hi.")
    home.reply("Hello.")
    begun(home, session=ONE, how="resume", from_=ONE)
    assert ask(home, "wait", ONE, "--timeout", "1.5").code == 124
    home.prompt("And now?")
    home.reply("Goodbye.")
    over(home)
    assert ask(home, "wait", RUN, "--timeout", "30").out == "Goodbye.\n"


def test_wait_gives_up_on_a_session_without_a_log_when_the_time_is_over(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    begun(home, session=ONE)
    answer = ask(home, "wait", ONE, "--timeout", "0.5", "--json")
    document = answer.json
    assert (answer.code, document["session"], document["text"], document["state"]) == (
        124,
        ONE,
        None,
        "pending",
    )
    assert answer.err == "tracklog: still pending after 0.5 s\n"


def test_who_asks_for_a_session_without_a_log_is_told_what_to_do(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    begun(home, session=ONE)
    answer = ask(home, "final", ONE)
    told = f"tracklog: the session of run {RUN} has no log yet: `tracklog wait {RUN}` waits for it\n"
    assert (answer.code, answer.out, answer.err) == (1, "", told)
    over(home, ended_by="error")
    told = f"tracklog: the run {RUN} has ended (error) and left no log in these folders\n"
    assert ask(home, "final", ONE).err == ask(home, "wait", ONE).err == told
