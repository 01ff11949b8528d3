"""A session that is played again is written as its client wrote it, and nowhere but in a home made for it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracklog
from tests.replay.replayed import (
    NOW_MS,
    PROJECT,
    SESSION,
    HandClock,
    Transcript,
    played,
    recorded_at,
    with_permission,
)
from tracklog.agents.claude_code.session_registry import SessionRegistry
from tracklog.agents.codex.processes import holder_of, running_codex
from tracklog.app.demo import write_sample
from tracklog.clock import moment_ms
from tracklog.errors import UserError
from tracklog.model.states import state_of
from tracklog.reading.session_files import SessionFiles
from tracklog.replay.fake_home import MARK
from tracklog.replay.plan import BATCH_MS
from tracklog.sources.files import chunks

OTHER = "0be0e000-0000-4000-8000-00000000000f"
TIMESTAMP = re.compile(rb'"timestamp":"[^"]*"')


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SessionFiles]:
    """The sessions of the sample home, by their ids."""
    made = write_sample(tmp_path_factory.mktemp("sample") / "demo")
    return {one.id: one for root in made.roots for one in recorded_at(root)}


@pytest.fixture
def with_agents(sample: dict[str, SessionFiles]) -> SessionFiles:
    """A session with subagents, their cards, and an output beside it."""
    return sample["64c2b3d3-02a7-45ea-9075-0b01f88daf64"]


def contents_of(session: SessionFiles) -> list[bytes]:
    return sorted(b"".join(chunks(file)) for file in session.files if file.size)


def files_in(home: Path) -> dict[str, bytes]:
    found = (path for path in home.rglob("*") if path.is_file() and path.name != MARK)
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


def registry_in(home: Path) -> list[Path]:
    return sorted((home / "sessions").glob("*.json"))


def spooled(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "spool/hooks.jsonl").read_bytes().splitlines()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def times_in(data: bytes) -> list[int]:
    told = [json.loads(line).get("timestamp") for line in data.splitlines()]
    return [moment_ms(text) for text in told if text]


@pytest.mark.parametrize("is_torn", [False, True])
@pytest.mark.parametrize("speed", [1.0, 25.0, None])
def test_in_the_end_all_files_are_those_of_the_recording(
    sample: dict[str, SessionFiles], tmp_path: Path, speed: float | None, is_torn: bool
) -> None:
    for name, session in sample.items():
        list(played([session], tmp_path / name, speed=speed, is_torn=is_torn, keeps_times=True))
        assert sorted(files_in(tmp_path / name).values()) == contents_of(session)


def test_told_anew_only_the_values_of_timestamps_change_and_no_length(
    sample: dict[str, SessionFiles], tmp_path: Path
) -> None:
    for name, session in sample.items():
        list(played([session], tmp_path / name))
        ours, theirs = sorted(files_in(tmp_path / name).values()), contents_of(session)
        assert sorted(map(len, ours)) == sorted(map(len, theirs))
        assert sorted(TIMESTAMP.sub(b"", one) for one in ours) == sorted(
            TIMESTAMP.sub(b"", one) for one in theirs
        )
        assert min(time for one in ours if one[:1] == b"{" for time in times_in(one)) >= NOW_MS


def test_a_replayed_session_reads_like_the_recorded_one(with_agents: SessionFiles, tmp_path: Path) -> None:
    list(played([with_agents], tmp_path / "fake", is_torn=True))
    (copy,) = recorded_at(tmp_path / "fake")
    ours, theirs = (tracklog.read(one.mains[0].path) for one in (copy, with_agents))
    assert [(call.id, call.thread, call.verdict) for call in ours.calls] == [
        (call.id, call.thread, call.verdict) for call in theirs.calls
    ]
    assert [str(file.path.relative_to(file.root)) for file in copy.files] == [
        str(file.path.relative_to(file.root)) for file in with_agents.files
    ]


@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_a_line_is_on_the_disk_at_its_time_or_up_to_100_ms_later_and_whole(
    with_agents: SessionFiles, tmp_path: Path, speed: float
) -> None:
    clock, sizes = HandClock(), dict[Path, int]()
    for step in played([with_agents], tmp_path / "fake", speed=speed, clock=clock):
        assert clock.now == step.at_ms
        if step.what != "wrote" or step.path.suffix != ".jsonl":
            continue
        new = step.path.read_bytes()[sizes.get(step.path, 0) :]
        sizes[step.path] = sizes.get(step.path, 0) + step.n_bytes
        assert len(new) == step.n_bytes
        assert new.endswith(b"\n")
        assert all(clock.now - BATCH_MS <= time <= clock.now for time in times_in(new)[:1])
        assert max(times_in(new), default=0) <= clock.now


def test_a_subagents_card_and_an_output_are_there_before_the_lines_that_tell_of_them(
    with_agents: SessionFiles, tmp_path: Path
) -> None:
    seen: list[str] = []
    for step in played([with_agents], tmp_path / "fake"):
        if step.what == "wrote" and step.path.name not in seen:
            seen.append(step.path.name)
            new = step.path.read_text()
            if step.path.suffix == ".jsonl" and step.path.name.startswith("agent-"):
                assert f"{step.path.stem}.meta.json" in seen
            assert "bfbrswabp.txt" not in new or "bfbrswabp.txt" in seen
    assert len(seen) == len(with_agents.files)


def test_torn_writes_end_anywhere_and_the_same_seed_tears_alike(
    with_agents: SessionFiles, tmp_path: Path
) -> None:
    torn = 0
    for step in played([with_agents], tmp_path / "one", is_torn=True, seed=7):
        torn += step.what == "wrote" and not step.path.read_bytes().endswith((b"\n", b"}"))
    again = played([with_agents], tmp_path / "two", is_torn=True, seed=7)
    other = played([with_agents], tmp_path / "three", is_torn=True, seed=8)
    sizes = [[step.n_bytes for step in steps] for steps in (again, other)]
    assert torn > 10
    assert sizes[0] != sizes[1]
    list(played([with_agents], tmp_path / "one", is_torn=True, seed=7))
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two")


def test_ten_times_as_fast_takes_a_tenth_of_the_time(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    took = {}
    for speed in (1.0, 10.0):
        clock = HandClock()
        list(played(session, tmp_path / str(speed), speed=speed, clock=clock))
        took[speed] = clock.now - NOW_MS
    assert took == {1.0: 200 + 3400 + BATCH_MS, 10.0: 20 + 300 + BATCH_MS}  # the last two lines in one batch


def test_at_once_nothing_waits_and_the_session_has_just_ended(tmp_path: Path) -> None:
    clock = HandClock()
    session = with_permission().write(tmp_path)
    steps = list(played(session, tmp_path / "fake", speed=None, clock=clock, registers=True))
    assert clock.n_waited == 0
    assert [step.at_ms for step in steps] == sorted(step.at_ms for step in steps)
    assert times_in(
        (tmp_path / "fake" / PROJECT.relative_to(".claude") / f"{SESSION}.jsonl").read_bytes()
    ) == [NOW_MS - 150 - 3400 + at for at in (0, 500, 3000, 3400)]


def test_a_long_pause_can_be_cut_short(tmp_path: Path) -> None:
    made = with_permission()
    made.prompt("good morning", 3_000_000)
    made.says("hello", 3_000_500)
    clock = HandClock()
    list(played(made.write(tmp_path), tmp_path / "fake", clock=clock, longest_pause_s=5))
    idle = 3400 + 30
    assert clock.now - NOW_MS == 200 + idle + 5000 + 500 + BATCH_MS


def test_the_registry_follows_the_states_and_names_a_process_that_lives(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    shown, stands = [], {}
    for step in played(session, tmp_path / "fake", registers=True):
        if step.what == "registry" and step.path.exists():
            stands = json.loads(step.path.read_bytes())
            shown.append((stands.get("status"), stands.get("waitingFor"), stands.get("updatedAt")))
    start = NOW_MS + 200
    assert shown == [
        (None, None, None),
        ("idle", None, NOW_MS + 50),
        ("busy", None, start),
        ("waiting", "permission prompt", start + 550),
        ("busy", None, start + 2940),
        ("idle", None, start + 3430),
    ]
    began = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    assert {
        key: stands[key] for key in ("pid", "sessionId", "cwd", "procStart", "version", "entrypoint")
    } == {
        "pid": os.getpid(),
        "sessionId": SESSION,
        "cwd": "/home/dev/project",
        "procStart": began,
        "version": "2.1.325",
        "entrypoint": "cli",
    }
    assert registry_in(tmp_path / "fake") == []


@pytest.mark.parametrize("speed", [1.0, 50.0, None])
def test_the_registry_is_left_only_when_all_lines_are_written(tmp_path: Path, speed: float | None) -> None:
    session = with_permission().write(tmp_path)
    steps = list(played(session, tmp_path / "fake", registers=True, speed=speed))
    assert [step.detail or step.what for step in steps[-3:]] == ["wrote", "removed", "ended"]


def test_torn_the_file_of_the_registry_is_empty_at_first(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    steps = played(session, tmp_path / "fake", registers=True, is_torn=True)
    first = next(steps)
    assert (first.detail, first.path.read_bytes()) == ("empty", b"")


def test_each_of_several_sessions_has_a_living_process_of_its_own(
    sample: dict[str, SessionFiles], tmp_path: Path
) -> None:
    chosen = [session for session in sample.values() if session.agent == "claude"]
    pids: dict[int, str] = {}
    for step in played(chosen, tmp_path / "fake", registers=True):
        if step.what == "registry" and step.path.exists():
            stands = json.loads(step.path.read_bytes())
            assert is_alive(stands["pid"])
            assert pids.setdefault(stands["pid"], stands["sessionId"]) == stands["sessionId"]
    assert sorted(pids.values()) == [session.id for session in chosen]
    assert [pid for pid in pids if is_alive(pid)] == [os.getpid()]


def test_hooks_are_spooled_as_the_client_calls_them(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    list(played(session, tmp_path / "fake", spool=tmp_path / "home"))
    lines = spooled(tmp_path / "home")
    path = tmp_path / "fake" / PROJECT.relative_to(".claude") / f"{SESSION}.jsonl"
    common = {"session_id": SESSION, "transcript_path": str(path), "cwd": "/home/dev/project"}
    asked: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    stop = {"stop_hook_active": False, "last_assistant_message": "Done: ä."}
    returned: dict[str, Any] = {"tool_response": {"stdout": "a.txt"}, "duration_ms": 2500}
    start = NOW_MS + 200
    assert [(line["at"], line["payload"]) for line in lines] == [
        (at, {**common, "hook_event_name": event, **fields})
        for at, event, fields in [
            (start - 100, "SessionStart", {"source": "startup"}),
            (start, "UserPromptSubmit", {"prompt": "please list"}),
            (start + 500, "PreToolUse", {**asked, "tool_use_id": "toolu_1"}),
            (start + 550, "PermissionRequest", asked),
            (start + 3000, "PostToolUse", {**asked, "tool_use_id": "toolu_1", **returned}),
            (start + 3400, "Stop", stop),
            (start + 3550, "SessionEnd", {"reason": "other"}),
        ]
    ]
    assert {(line["v"], line["agent"], line["pid"], line["ppid"]) for line in lines} == {
        (1, "claude", os.getpid(), os.getpid())
    }
    mode = (
        (tmp_path / "home/spool/hooks.jsonl").stat().st_mode & 0o777,
        (tmp_path / "home/spool").stat().st_mode & 0o777,
    )
    assert mode == (0o600, 0o700)


def test_stop_is_heard_before_the_last_words_are_in_the_log(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    for step in played(session, tmp_path / "fake", spool=tmp_path / "home"):
        if step.detail == "Stop":
            break
    log = tmp_path / "fake" / PROJECT.relative_to(".claude") / f"{SESSION}.jsonl"
    assert "Done" not in log.read_text()
    assert spooled(tmp_path / "home")[-1]["payload"]["last_assistant_message"] == "Done: ä."


def test_with_kept_times_lines_hooks_and_registry_tell_those_of_the_recording(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    noon = moment_ms("2026-03-01T12:00:00Z")
    told = [
        json.loads(step.path.read_bytes())["updatedAt"] - noon
        for step in played(
            session, tmp_path / "fake", registers=True, keeps_times=True, spool=tmp_path / "home"
        )
        if step.detail in ("busy", "waiting")
    ]
    assert told == [0, 550, 2940]
    assert [line["at"] - noon for line in spooled(tmp_path / "home")] == [
        -100, 0, 500, 550, 3000, 3400, 3550
    ]  # fmt: skip


@pytest.mark.parametrize("n_steps", range(1, 30))
def test_stopped_anywhere_it_leaves_whole_lines_no_registry_and_no_process(
    tmp_path: Path, n_steps: int
) -> None:
    made = with_permission().write(tmp_path)
    steps = played(
        [*made, *another_session(tmp_path)], tmp_path / "fake", registers=True, is_torn=True, seed=n_steps
    )
    done = [step for step, _ in zip(steps, range(n_steps), strict=False)]
    pids = {int(step.path.stem) for step in done if step.what == "registry"}
    steps.close()  # type: ignore[attr-defined]
    assert all(data.endswith(b"\n") for data in files_in(tmp_path / "fake").values())
    assert registry_in(tmp_path / "fake") == []
    assert [pid for pid in pids if pid != os.getpid() and is_alive(pid)] == []
    list(played(made, tmp_path / "fake"))


def another_session(tmp_path: Path) -> list[SessionFiles]:
    other = Transcript(OTHER)
    other.prompt("hello", 100)
    other.says("hi", 1400)
    return [one for one in other.write(tmp_path / "other") if one.id == OTHER]


def test_a_recording_that_shrinks_is_said_and_what_was_played_stays_whole(tmp_path: Path) -> None:
    made = with_permission()
    made.prompt("x" * 3_000_000, 9000)
    session = made.write(tmp_path)
    steps = played(session, tmp_path / "fake")
    next(steps)
    path = session[0].mains[0].path
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(UserError, match="became shorter"):
        list(steps)
    (data,) = files_in(tmp_path / "fake").values()
    assert data.count(b"\n") == 4
    assert data.endswith(b"\n")


LINES = st.sampled_from(
    [
        b'{"type":"user","sessionId":"%b","timestamp":"2026-03-01T12:00:00.000Z","message":{"content":"a"}}\n'
        % SESSION.encode(),
        b'{"type":"user","timestamp":"9998-12-31T12:00:00.000Z","message":{"content":"a"}}\n',
        b'{"type":"assistant","timestamp":"1970-01-01T00:00:00Z","message":{"content":[{"type":"tool_use","id":"t","name":"B","input":{}}]}}\n',
        b'{"type":"user","timestamp":7,"message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}\n',
        b"\n",
        b"\xff\0{",
        b'{"type":"user","mess',
    ]
)


@settings(deadline=None)  # files are written: how long that takes is the disk's
@given(lines=st.lists(LINES | st.binary(max_size=20), min_size=1, max_size=12), torn=st.booleans())
def test_any_log_can_be_played_and_comes_out_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], torn: bool
) -> None:
    top = tmp_path_factory.mktemp("any")
    path = top / PROJECT / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" + b"".join(lines))
    how: dict[str, Any] = {"is_torn": torn, "registers": True, "spool": top / "home"}
    list(played(recorded_at(top / ".claude"), top / "kept", keeps_times=True, **how))
    assert list(files_in(top / "kept").values()) == [path.read_bytes()]
    list(played(recorded_at(top / ".claude"), top / "told", **how))
    assert list(map(len, files_in(top / "told").values())) == [path.stat().st_size]


def test_the_homes_of_agents_are_refused_and_whatever_lies_in_them(tmp_path: Path) -> None:
    from tracklog.replay.play import replay

    session = with_permission().write(tmp_path / "recorded")
    env = {
        "HOME": str(tmp_path / "me"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "named"),
        "CODEX_HOME": str(tmp_path / "codex"),
    }
    (tmp_path / "named").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "named")
    for name in ("named", "named/below", "codex", "me/.claude", "me/.codex/x", "me/.config/claude", "link"):
        with pytest.raises(UserError, match="home of an agent"):
            replay(session, tmp_path / name, env=env)
    assert list((tmp_path / "named").iterdir()) == []
    assert not (tmp_path / "codex").exists()


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    with pytest.raises(UserError, match="holds other files"):
        played(session, tmp_path / ".claude")
    with pytest.raises(UserError, match=r"not a directory|file exists"):
        played(session, session[0].mains[0].path)


def test_a_home_of_replays_in_which_a_client_wrote_is_refused(tmp_path: Path) -> None:
    session = with_permission().write(tmp_path)
    list(played(session, tmp_path / "fake"))
    real = tmp_path / "fake/projects/-home-dev-project" / f"{OTHER}.jsonl"
    real.write_text('{"type":"user"}\n')
    with pytest.raises(UserError, match="was not made by a replay"):
        played(session, tmp_path / "fake")
    assert real.read_text() == '{"type":"user"}\n'


def test_played_again_a_session_starts_over_and_others_stay(tmp_path: Path) -> None:
    (first,), (second,) = with_permission().write(tmp_path), another_session(tmp_path)
    for session in (first, second, first):
        list(played([session], tmp_path / "fake", keeps_times=True))
    ours = sorted(files_in(tmp_path / "fake").values())
    assert ours == sorted([*contents_of(first), *contents_of(second)])


def test_under_another_id_names_and_lines_have_it_and_keep_their_length(
    with_agents: SessionFiles, tmp_path: Path
) -> None:
    list(
        played(
            [with_agents],
            tmp_path / "fake",
            as_id=OTHER,
            keeps_times=True,
            spool=tmp_path / "home",
            registers=True,
        )
    )
    old, new = with_agents.id.encode(), OTHER.encode()
    assert sorted(files_in(tmp_path / "fake").values()) == sorted(
        one.replace(old, new) for one in contents_of(with_agents)
    )
    assert {one.id for one in recorded_at(tmp_path / "fake")} == {OTHER}
    assert not any(with_agents.id in name for name in files_in(tmp_path / "fake"))
    assert old not in (tmp_path / "home/spool/hooks.jsonl").read_bytes()


def codex_with_a_subagent(top: Path) -> list[SessionFiles]:
    folder = top / ".codex/sessions/2026/03/01"
    folder.mkdir(parents=True)
    root, child = "01a1e17b-9bda-7242-9403-853ffb2b3aa2", "01a1e17b-9c8b-79e3-8a05-08d646b43bb0"
    for thread, more in ((root, {}), (child, {"parent_thread_id": root, "thread_source": "subagent"})):
        meta = {
            "id": thread,
            "session_id": root,
            "timestamp": "2026-03-01T12:00:00.000Z",
            "cwd": "/home/dev",
            **more,
        }
        lines = [
            {"timestamp": "2026-03-01T12:00:00.500Z", "type": "session_meta", "payload": meta},
            {"timestamp": "2026-03-01T12:00:01.000Z", "type": "event_msg", "payload": {"type": "task_started"}},
            {"timestamp": "2026-03-01T12:00:02.000Z", "type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "ok"}},
        ]  # fmt: skip
        (folder / f"rollout-2026-03-01T12-00-00-{thread}.jsonl").write_text(
            "".join(f"{json.dumps(line)}\n" for line in lines)
        )
    return recorded_at(top / ".codex")


def test_the_threads_of_a_codex_session_get_new_ids_too(tmp_path: Path) -> None:
    (session,) = codex_with_a_subagent(tmp_path)
    list(played([session], tmp_path / "fake", as_id=OTHER))
    (copy,) = recorded_at(tmp_path / "fake")
    assert copy.id == OTHER
    assert len(copy.files) == 2
    assert not {file.session for file in copy.files} & {file.session for file in session.files}


def test_codex_has_no_registry_but_processes_of_its_name_that_hold_its_logs_open(tmp_path: Path) -> None:
    held: dict[str, set[str]] = {"alive": set(), "gone": set()}
    for step in played(codex_with_a_subagent(tmp_path), tmp_path / "fake", registers=True):
        life = holder_of(step.path, running_codex()).life
        held[life].add(f"{step.what} {step.path.name[-9:]}")
    assert held == {"alive": {"wrote aa2.jsonl", "wrote bb0.jsonl"}, "gone": {"ended aa2.jsonl"}}


def test_without_a_registry_nothing_is_started(tmp_path: Path) -> None:
    for step in played(codex_with_a_subagent(tmp_path), tmp_path / "fake"):
        assert holder_of(step.path, running_codex()).life == "gone"


def test_what_the_registry_says_is_believed_while_the_replay_runs(tmp_path: Path) -> None:
    session, registry = with_permission().write(tmp_path), SessionRegistry(tmp_path / "fake")
    seen: list[str] = []
    for step in played(session, tmp_path / "fake", registers=True):
        for one in registry.refresh(step.at_ms).values():
            state = state_of([one.sign], one.alive, now_ms=step.at_ms).state
            seen += [state] if [state] != seen[-1:] else []
    assert seen == ["idle", "working", "waiting", "working", "idle", "ended"]


def test_a_turn_of_codex_calls_stop_with_its_last_words(tmp_path: Path) -> None:
    list(played(codex_with_a_subagent(tmp_path), tmp_path / "fake", spool=tmp_path / "home"))
    told = [
        (line["payload"]["hook_event_name"], line["payload"].get("last_assistant_message"))
        for line in spooled(tmp_path / "home")
        if "agent_id" not in line["payload"]
    ]
    assert told == [("SessionStart", None), ("Stop", "ok"), ("SessionEnd", None)]


def test_a_compressed_rollout_is_written_plain_where_codex_writes(
    sample: dict[str, SessionFiles], tmp_path: Path
) -> None:
    (archived,) = (one for one in sample.values() if one.files[0].path.suffix == ".zst")
    list(played([archived], tmp_path / "fake", keeps_times=True))
    name = archived.files[0].path.name.removesuffix(".zst")
    assert files_in(tmp_path / "fake") == {f"sessions/2026/11/15/{name}": b"".join(chunks(archived.files[0]))}


def test_a_log_in_a_plain_folder_gets_a_place_in_a_home(tmp_path: Path) -> None:
    (session,) = with_permission().write(tmp_path)
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "some.jsonl").write_bytes(session.files[0].path.read_bytes())
    list(played(recorded_at(plain), tmp_path / "fake", keeps_times=True))
    assert files_in(tmp_path / "fake") == {
        f"projects/-home-dev-project/{SESSION}.jsonl": session.files[0].path.read_bytes()
    }


def test_both_agents_can_be_played_into_one_home(tmp_path: Path) -> None:
    chosen = [*with_permission().write(tmp_path), *codex_with_a_subagent(tmp_path)]
    list(played(chosen, tmp_path / "fake", registers=True))
    assert {(one.agent, one.id) for one in recorded_at(tmp_path / "fake")} == {
        (one.agent, one.id) for one in chosen
    }


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"speed": 0.0}, "more than 0"),
        ({"speed": float("nan")}, "more than 0"),
        ({"as_id": "../../etc"}, "UUID"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_written(
    tmp_path: Path, how: dict[str, Any], why: str
) -> None:
    with pytest.raises(UserError, match=why):
        played(with_permission().write(tmp_path), tmp_path / "fake", **how)
    assert not (tmp_path / "fake").exists()


def test_only_one_session_can_have_another_id(tmp_path: Path) -> None:
    chosen = [*with_permission().write(tmp_path), *another_session(tmp_path)]
    with pytest.raises(UserError, match="single session"):
        played(chosen, tmp_path / "fake", as_id=OTHER)
