"""What is told of running clients is what a person before their screens sees, and it is told in time.

Rules of this room
  1. Every state is told before the person acts on it, and in the order of the facts: the model answers and the person
     goes on only when the watch has told what is on the screen. This holds on a machine however busy.
  2. Every state is told within a second of its fact. A fact is what the screen shows, what a tool wrote when it ran, when
     the API was asked, when the process ended: nothing that tracklog reads but the process table. Time is measured only
     where the lab has the machine for itself: `make lab`, `make soak`.
  3. A call that its client had not written yet could be told by hooks alone: without them its fact is left out, or
     told without the call.
  4. What is told early counts as well: a second before the fact would be as wrong as a second after it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.clients import CURRENT, PLAYS_ALL, releases, skipping_unobtainable
from tests.lab.live_facts import (
    Disagreement,
    Fact,
    Glance,
    LogEyes,
    Shown,
    Workplace,
    as_one,
    disagreements,
    end_of,
    is_state,
    lateness,
    workplace,
)
from tests.lab.live_stories import NO_END, RESTLESS, alone, story
from tests.lab.live_watch import Told, now_ms, watch_of
from tests.lab.scenarios.claude_sittings import CHOICE, STOPPED
from tests.lab.terminal import Terminal
from tests.lab.words import Scenario
from tests.views.cli.command import tracklog

pytestmark = pytest.mark.lab

WORK, TOUCH = "sh work.sh", "touch made.txt"  # what the model calls for
WITHIN_MS = 1_000
IN_TIME_MS = 300
MEASURES = PLAYS_ALL or os.environ.get("TRACKLOG_TEST_SOAK") == "1"
measured = pytest.mark.lab if PLAYS_ALL else pytest.mark.soak
one_after_the_other = pytest.mark.xdist_group("live")
BYPASSED = "--dangerously-bypass-hook-trust"  # stands for a person who has reviewed the hooks
READY = {"claude": r"\? for shortcuts", "codex": "gpt-5"}
PERMISSION = "Do you want to|Would you like to"
LEAVE = {"claude": "/exit", "codex": "/quit"}
SITTING = {"claude": (), "codex": ("--no-daemon", "--sandbox", "workspace-write", "-a", "on-request")}
HEADLESS = {
    "claude": ("--dangerously-skip-permissions", "-p"),
    "codex": ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
}


OLDER = {"claude": ("2.1.100", "2.1.197"), "codex": ()}  # older releases whose logs show every state


def played_releases() -> list[tuple[str, str]]:
    return [(agent, release) for agent in OLDER for release in releases(agent, older=OLDER[agent])]


@contextmanager
def at_work(
    agent: str, release: str, scenario: Scenario, root: Path, *, has_hooks: bool
) -> Iterator[Workplace]:
    with skipping_unobtainable():
        # Hooks are put into homes that were used before; the others see the first session of all. Without a client each
        # test of a sitting comes here, to be skipped.
        if has_hooks:
            for folder in (".claude/projects", ".claude/sessions", ".codex/sessions", "ours/spool"):
                (root / folder).mkdir(parents=True, exist_ok=True)
        with workplace(agent, release, scenario, root=root) as place:
            if has_hooks:
                done = tracklog("hooks", "install", "--no-notify", "--home", root / "ours", home=root)
                assert done.code == 0, done.err
            if not MEASURES:
                place.answer_when_told_of_work()
            yield place


@dataclass(frozen=True)
class Sat:
    """A sitting that is over: what was seen, what was told, and what happened when."""

    agent: str
    release: str
    has_hooks: bool
    glances: list[Glance]
    log: LogEyes
    told: list[Told]
    told_at_the_dialog: Told  # the last state when the person answered
    prompted_ms: int
    began_ms: int
    left_ms: int

    @property
    def states(self) -> list[Told]:
        return [one for one in self.told if one.event == "state_changed"]

    @property
    def names_the_wait(self) -> bool:
        """Whether anybody could know for which call it was."""
        return self.has_hooks or (MEASURES and not self.log.keeps_back(TOUCH, self._shown_ms()[1]))

    def facts(self) -> list[Fact]:
        """What happened when, as far as somebody could tell of it."""
        shown = self._shown_ms()
        asked = is_state("waiting", doing=f": {TOUCH}", needs_call=True)
        facts = [
            Fact("prompt", shown[0], is_state("working")),
            Fact("tool", self.began_ms, is_state("working", doing=f": {WORK}", needs_call=True)),
            Fact("asked", shown[1], asked if self.names_the_wait else is_state("waiting")),
            Fact("answered", shown[2], is_state("working")),
            Fact("done", shown[3], is_state("idle")),
            Fact("left", self.left_ms, is_state("ended")),
        ]
        if not tells_all(self.agent, self.release, has_hooks=self.has_hooks):
            facts = [fact for fact in facts if fact.name not in ("asked", "answered")]
        if not self.has_hooks and self.log.keeps_back(WORK, self.began_ms):
            facts = [fact for fact in facts if fact.name != "tool"]
        return facts

    def disagreements(self) -> list[Disagreement]:
        """Where the screen and the watch say different things for longer than a second."""
        until = self.left_ms + WITHIN_MS
        found = disagreements(self.glances, self.states, from_ms=self.prompted_ms, to_ms=until)
        return [one for one in found if one.took_ms > WITHIN_MS]

    def _shown_ms(self) -> list[int]:
        return first_glances(self.glances, ("working", "waiting", "working", "idle"), self.prompted_ms)


def sat(agent: str, release: str, root: Path, *, has_hooks: bool) -> Sat:
    """A person gives a prompt, looks on, grants a permission and leaves."""
    with at_work(agent, release, story(agent), root, has_hooks=has_hooks) as place:
        trust = (BYPASSED,) if agent == "codex" and has_hooks else ()
        with (
            place.terminal(*SITTING[agent], *trust, has_eyes=MEASURES) as (terminal, eyes),
            LogEyes(place.home.root, WORK, TOUCH) as log,
        ):
            prompted_ms = prompt(terminal, READY[agent])
            began_ms = place.written_ms("started")
            terminal.wait_for(PERMISSION)
            if tells_all(agent, release, has_hooks=has_hooks):
                place.watcher.wait_until(lambda one: one.event == "waiting_began")
            else:
                place.watcher.wait_until(tells_touch)
                time.sleep(1.3 if MEASURES else 0)  # so long that the disagreement counts
            told_at_the_dialog = place.watcher.states[-1]
            terminal.answer(PERMISSION, "Enter")
            terminal.wait_for("Touched it")
            place.watcher.wait_for("idle")
            pids = {one.data["pid"] for one in place.watcher.states if one.data["pid"]}
            terminal.type(LEAVE[agent])
            left_ms = end_of(pids)
            place.watcher.wait_for("ended", "crashed", "unknown")
            time.sleep(0.3)  # whatever else might be told
        assert set(log.seen_ms) == {WORK, TOUCH}  # in the end all of it is written
        return Sat(
            agent,
            release,
            has_hooks,
            eyes.glances,
            log,
            list(place.watcher.told),
            told_at_the_dialog,
            prompted_ms,
            began_ms,
            left_ms,
        )


def prompt(terminal: Terminal, ready: str) -> int:
    """Types a prompt; says when it was sent."""
    terminal.wait_for(ready)
    time.sleep(0.8)  # a client takes no keys in its first moments
    terminal.press("-l", "please work")
    terminal.wait_for("please work")
    time.sleep(0.4)
    sent_ms = now_ms()
    terminal.press("Enter")
    return sent_ms


def first_glances(glances: list[Glance], wanted: Sequence[Shown], from_ms: int) -> list[int]:
    """When the screen showed these, one after the other."""
    rest = iter([glance for glance in glances if glance.at_ms >= from_ms])
    found = [next((glance.at_ms for glance in rest if glance.shows == shows), 0) for shows in wanted]
    assert all(found), (wanted, glances)
    return found


class Plays:
    """The sittings of this module, each played once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sat: dict[str, Sat] = {}
        self.late: dict[str, dict[str, int]] = {}

    def sat(self, agent: str, release: str, *, has_hooks: bool) -> Sat:
        """The sitting with this client, played now unless it was."""
        name = f"{agent}-{release}-{'hooks' if has_hooks else 'bare'}"
        if name not in self._sat:
            played = self._sat[name] = sat(agent, release, self._root / name, has_hooks=has_hooks)
            if MEASURES:
                self.note(name, lateness(played.facts(), played.states))
        return self._sat[name]

    def note(self, name: str, late: dict[str, int]) -> None:
        """Keeps how late a play was told."""
        self.late[name] = late
        print(f"live {name}: {late}")


@pytest.fixture(scope="module")
def plays(tmp_path_factory: pytest.TempPathFactory) -> Plays:
    return Plays(tmp_path_factory.mktemp("live").resolve())


def tells_all(agent: str, release: str, *, has_hooks: bool) -> bool:
    """Whether something tells of permissions: the registry's status, or hooks."""
    return has_hooks or (agent == "claude" and release != "2.1.100")


def group_of(agent: str, *, has_hooks: bool) -> pytest.MarkDecorator:
    """Tests of one sitting share it; sittings that are measured do not run at once."""
    return (
        one_after_the_other
        if MEASURES
        else pytest.mark.xdist_group(f"live-{agent}-{'hooks' if has_hooks else 'bare'}")
    )


SITTINGS = [
    pytest.param(
        agent,
        release,
        has_hooks,
        id=f"{agent}-{release}-{'hooks' if has_hooks else 'bare'}",
        marks=group_of(agent, has_hooks=has_hooks),
    )
    for agent, release in played_releases()
    for has_hooks in (True, False)
]
TELLING = [
    one
    for one in SITTINGS
    if tells_all(str(one.values[0]), str(one.values[1]), has_hooks=bool(one.values[2]))
]


@pytest.mark.parametrize(("agent", "release", "has_hooks"), TELLING)
class TestASitting:
    """Prompt, work, permission, answer, leave: before a real screen."""

    def test_the_states_are_those_of_the_story_and_no_others(
        self, plays: Plays, agent: str, release: str, has_hooks: bool
    ) -> None:
        sitting = plays.sat(agent, release, has_hooks=has_hooks)
        states = [one.state for one in sitting.states if one.at_ms >= sitting.prompted_ms]
        changes = [state for before, state in zip(["", *states], states, strict=False) if state != before]
        assert changes == ["working", "waiting", "working", "idle", "ended"]
        assert sitting.told_at_the_dialog.state == "waiting"

    def test_the_wait_is_announced_once_with_its_call(
        self, plays: Plays, agent: str, release: str, has_hooks: bool
    ) -> None:
        sitting = plays.sat(agent, release, has_hooks=has_hooks)
        began, ended = [one for one in sitting.told if one.event.startswith("waiting_")]
        assert (began.event, ended.event) == ("waiting_began", "waiting_ended")
        assert began.data["waiting_for"] == "permission"
        if sitting.names_the_wait or began.data["call"]:
            assert began.data["doing"].endswith(f": {TOUCH}")
            assert began.data["call"] == next(one.data["call"] for one in sitting.states if tells_touch(one))

    @measured
    def test_every_state_is_told_within_a_second_of_its_fact(
        self, plays: Plays, agent: str, release: str, has_hooks: bool
    ) -> None:
        sitting = plays.sat(agent, release, has_hooks=has_hooks)
        late = lateness(sitting.facts(), sitting.states)
        assert {name: ms for name, ms in late.items() if abs(ms) > WITHIN_MS} == {}

    @measured
    def test_the_screen_and_the_watch_never_differ_for_longer_than_a_second(
        self, plays: Plays, agent: str, release: str, has_hooks: bool
    ) -> None:
        assert plays.sat(agent, release, has_hooks=has_hooks).disagreements() == []

    @measured
    def test_the_wait_is_announced_when_it_is_a_second_old(
        self, plays: Plays, agent: str, release: str, has_hooks: bool
    ) -> None:
        sitting = plays.sat(agent, release, has_hooks=has_hooks)
        began = next(one for one in sitting.told if one.event == "waiting_began")
        first = next(one for one in sitting.states if one.state == "waiting")
        assert 500 <= began.at_ms - first.at_ms <= WITHIN_MS + 500


def tells_touch(one: Told) -> bool:
    return bool(one.data["call"]) and str(one.data["doing"]).endswith(f": {TOUCH}")


@group_of("codex", has_hooks=False)
def test_without_reviewed_hooks_nobody_tells_that_codex_asks_and_it_reads_working_in_that_call(
    plays: Plays,
) -> None:
    sitting = plays.sat("codex", CURRENT["codex"], has_hooks=False)
    asked = sitting.told_at_the_dialog
    assert (asked.state, tells_touch(asked)) == ("working", True)
    states = [one.state for one in sitting.states if one.at_ms >= sitting.prompted_ms]
    assert list(dict.fromkeys(states)) == ["working", "idle", "ended"]


@measured
@one_after_the_other
def test_what_is_told_of_codex_without_hooks_is_told_within_a_second_but_for_its_question(
    plays: Plays,
) -> None:
    sitting = plays.sat("codex", CURRENT["codex"], has_hooks=False)
    (wait,) = sitting.disagreements()
    assert (wait.shown, wait.told) == ("waiting", "working")
    late = lateness(sitting.facts(), sitting.states)
    assert {name: ms for name, ms in late.items() if abs(ms) > WITHIN_MS} == {}


ALONE = [
    pytest.param(
        agent,
        has_hooks,
        id=f"{agent}-{'hooks' if has_hooks else 'bare'}",
        marks=[one_after_the_other] * MEASURES,
    )
    for agent in CURRENT
    for has_hooks in (True, False)
]


@pytest.mark.parametrize(("agent", "has_hooks"), ALONE)
def test_a_client_without_a_terminal_works_and_ends(
    plays: Plays, agent: str, has_hooks: bool, tmp_path: Path
) -> None:
    with at_work(agent, CURRENT[agent], alone(agent), tmp_path.resolve(), has_hooks=has_hooks) as place:
        trust = (BYPASSED,) if agent == "codex" and has_hooks else ()
        with (
            place.headless(*HEADLESS[agent], *trust, "please work") as client,
            LogEyes(place.home.root, WORK) as log,
        ):
            began_ms = place.written_ms("started")
            client.wait(60)
            left_ms = now_ms()
            place.watcher.wait_for("ended", "crashed")
        tool = Fact("tool", began_ms, is_state("working", doing=f": {WORK}", needs_call=True))
        is_kept_back = not has_hooks and (not MEASURES or log.keeps_back(WORK, began_ms))
        facts = [
            Fact("prompt", place.api.asked_ms[0], is_state("working")),
            *([] if is_kept_back else [tool]),
            Fact("left", left_ms, is_state("ended")),
        ]
        late = lateness(facts, place.watcher.states)
        plays.note(f"{agent}-headless-{'hooks' if has_hooks else 'bare'}", late)
        assert {name: ms for name, ms in late.items() if MEASURES and abs(ms) > WITHIN_MS} == {}


@pytest.mark.parametrize(("agent", "has_hooks"), ALONE)
def test_a_client_that_is_killed_at_work_has_crashed_whoever_gets_its_number(
    plays: Plays, agent: str, has_hooks: bool, tmp_path: Path
) -> None:
    root = tmp_path.resolve()
    with at_work(agent, CURRENT[agent], alone(agent, work=NO_END), root, has_hooks=has_hooks) as place:
        trust = (BYPASSED,) if agent == "codex" and has_hooks else ()
        with (
            place.headless(*HEADLESS[agent], *trust, "please work") as client,
            LogEyes(place.home.root, WORK) as log,
        ):
            began_ms = place.written_ms("started")
            if has_hooks:
                place.watcher.wait_until(is_state("working", doing=f": {WORK}", needs_call=True))
            else:
                place.watcher.wait_for("working")
                time.sleep(
                    0.5
                )  # the client may write the call only with its result: there is nothing to wait for
            before = place.watcher.states[-1]
            os.killpg(client.pid, signal.SIGKILL)
            killed_ms = now_ms()
            place.watcher.wait_for("crashed", "ended")
        last = place.watcher.states[-1]
        plays.note(f"{agent}-killed-{'hooks' if has_hooks else 'bare'}", {"killed": last.at_ms - killed_ms})
        assert last.state == "crashed"
        if has_hooks or before.data["doing"]:
            assert last.data["doing"].endswith(f": {WORK}")
        if MEASURES:
            assert last.data["doing"].endswith(f": {WORK}") or log.keeps_back(WORK, began_ms)
            assert last.at_ms - killed_ms <= WITHIN_MS
        if agent == "claude":
            with number_given_to_another(place.home.claude / "sessions"):
                time.sleep(1.0)
                assert place.watcher.states[-1] == last
                assert states_for_who_comes_now(root) == ["crashed"]


@contextmanager
def number_given_to_another(registry: Path) -> Iterator[None]:
    """As if the system had given the number of the killed client to a process that has nothing to do with it."""
    (left,) = registry.glob("*.json")
    said = json.loads(left.read_text())
    assert said["status"] == "busy"
    with subprocess.Popen(["sleep", "30"]) as other:
        (registry / f"{other.pid}.json").write_text(json.dumps({**said, "pid": other.pid}))
        left.unlink()
        yield
        other.kill()


def states_for_who_comes_now(root: Path) -> list[str]:
    """The states that a new watch finds, which has not seen what was before."""
    with closing(watch_of(root)) as watch:
        watch.begin()
        return [session.state.state for session in watch.sessions.values()]


REFUSED = f"{STOPPED.pattern}|tell the model"


def be_restless(agent: str, terminal: Terminal, place: Workplace) -> None:
    """Answers, refuses, interrupts, begins anew, opens a dialog and leaves; looks at everything for longer than a second."""
    terminal.wait_for(READY[agent])
    time.sleep(1)
    if agent == "claude":
        terminal.type("[ask] please ask me")
        seen_for_a_while(terminal, CHOICE)
        terminal.answer(CHOICE, "Enter")
        seen_for_a_while(terminal, "Red it is")
    terminal.type("[touch] please touch")
    seen_for_a_while(terminal, PERMISSION)
    terminal.answer(PERMISSION, "Escape")
    seen_for_a_while(terminal, REFUSED)
    terminal.type("[long] please work long")
    place.written_ms("started")
    time.sleep(1.3)
    terminal.press("Escape")
    time.sleep(2.5)  # longer than the registry's file may lag behind
    terminal.type("/clear" if agent == "claude" else "/new")
    time.sleep(2)
    terminal.type("[anew] again please")
    seen_for_a_while(terminal, "Started anew")
    if agent == "claude":
        terminal.type("/cost")
        seen_for_a_while(terminal, "Esc to cancel")
        terminal.press("Escape")
        time.sleep(1.3)
    terminal.type(LEAVE[agent])
    terminal.wait_for_end()


def seen_for_a_while(terminal: Terminal, pattern: str) -> None:
    terminal.wait_for(pattern)
    time.sleep(1.3)


@one_after_the_other
@pytest.mark.skipif(not PLAYS_ALL, reason="a long sitting: make lab")
@pytest.mark.parametrize(("agent", "has_hooks"), [("claude", True), ("claude", False), ("codex", True)])
def test_answers_refusals_interrupts_and_new_sessions_are_told_as_the_screen_shows_them(
    agent: str, has_hooks: bool, tmp_path: Path
) -> None:
    with at_work(agent, CURRENT[agent], RESTLESS[agent], tmp_path.resolve(), has_hooks=has_hooks) as place:
        trust = (BYPASSED,) if agent == "codex" else ()
        with place.terminal(*SITTING[agent], *trust) as (terminal, eyes):
            be_restless(agent, terminal, place)
            place.watcher.wait_for("ended")
            time.sleep(0.3)
        told = place.watcher.told
        from_ms = next(glance.at_ms for glance in eyes.glances if glance.shows == "working")
        found = disagreements(eyes.glances, as_one(place.watcher.states), from_ms=from_ms, to_ms=now_ms())
        assert [one for one in found if one.took_ms > WITHIN_MS] == []
        assert [one.state for one in last_of_each(place.watcher.states)] == ["ended", "ended"]
        if agent == "codex":  # its SessionStart runs when the turn has begun, and ends no work
            second = list(dict.fromkeys(one.session for one in told))[1]
            anew = [one.state for one in place.watcher.states if one.session == second]
            assert anew == ["working", "idle", "ended"]
        announced = [one.data["waiting_for"] for one in told if one.event == "waiting_began"]
        assert announced == (["answer", "permission"] if agent == "claude" else ["permission"])


def last_of_each(told: list[Told]) -> list[Told]:
    """The last state of each session."""
    return list({one.session: one for one in told}.values())


@measured
@one_after_the_other
def test_states_are_told_in_time(plays: Plays) -> None:
    """By hooks or by the registry; what was played before counts as well."""
    for agent, has_hooks in (("claude", True), ("claude", False), ("codex", True)):
        plays.sat(agent, CURRENT[agent], has_hooks=has_hooks)
    late = sorted(ms for name, figures in plays.late.items() if is_told(name) for ms in figures.values())
    print(
        f"live: {len(late)} states, p50 {late[len(late) // 2]}, p95 {late[int(len(late) * 0.95)]}, max {late[-1]} ms"
    )
    assert late[len(late) // 2] <= IN_TIME_MS
    assert late[int(len(late) * 0.95)] <= (IN_TIME_MS if PLAYS_ALL else WITHIN_MS)


def is_told(name: str) -> bool:
    """Whether hooks or a registry tell of a play: of Codex without hooks only its log does."""
    return not (name.startswith("codex") and name.endswith("bare"))
