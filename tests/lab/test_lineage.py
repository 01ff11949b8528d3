"""A program that an agent's model starts knows which session it was started from: nothing but processes tell it so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.clients import CURRENT, Version, installed_or_skip, releases
from tests.lab.run import CLAUDE_MODEL, LabRun, play
from tests.lab.words import Json, Reply, Say, Scenario, Step, call, reply
from tests.views.cli.command import tracklog

pytestmark = pytest.mark.lab

REGISTERS = Version("2.1.100")  # the first release of those in the lab that keeps a registry of its processes
ASKING = """\
import json, os, sys
from pathlib import Path
from tracklog.run.parent import parent_of_us
from tracklog.home import Home

parent = parent_of_us(os.environ, home=Home(Path(os.environ["TRACKLOG_HOME"])))
Path(sys.argv[1]).write_text(json.dumps([parent.agent, parent.session] if parent else None))
"""
COMMAND = "{{python}} ask.py"


OLDER = {"claude": ("2.0.30", "2.1.100", "2.1.197"), "codex": ("0.98.0",)}


def story(replies: list[Reply], **threads: list[Reply]) -> Scenario:
    return Scenario(
        name="asked_who_started_it",
        steps=(Step("please ask who started you"),),
        files={"ask.py": ASKING},
        env={"TRACKLOG_HOME": "{{home}}/tracklog", "PYTHONPATH": "{{lab}}/../../src"},
        threads={"main": replies, **threads},
    )


def played(agent: str, release: str, scenario: Scenario, root: Path) -> LabRun:
    run = play(agent, installed_or_skip(agent, release), release, scenario, root=root)
    assert run.as_told, run.summary()
    return run


def asked(run: LabRun, name: str) -> list[str] | None:
    told: list[str] | None = json.loads((run.home.cwd / name).read_text())
    return told


@pytest.mark.parametrize(
    ("agent", "release"), [(agent, r) for agent in OLDER for r in releases(agent, older=OLDER[agent])]
)
def test_a_command_of_the_model_knows_its_session(agent: str, release: str, tmp_path: Path) -> None:
    shell = (
        call("Bash", command=f"{COMMAND} plain.json; (setsid {COMMAND} apart.json)", description="Ask")
        if agent == "claude"
        else call(
            "exec_command", cmd=f"{COMMAND} plain.json; (setsid {COMMAND} apart.json)", yield_time_ms=20_000
        )
    )
    run = played(agent, release, story([reply(shell), reply(Say("Asked."))]), tmp_path)
    is_known = agent == "codex" or Version(run.version) >= REGISTERS
    expected = [agent, run.session_ids[-1]] if is_known else None
    assert (asked(run, "plain.json"), asked(run, "apart.json")) == (expected, expected)


@pytest.mark.parametrize("release", releases("claude", older=OLDER["claude"]))
def test_a_command_of_a_subagent_knows_the_session_above_it(release: str, tmp_path: Path) -> None:
    if release == "2.0.30":
        pytest.skip("2.0.30 keeps no registry of its processes")
    scenario = story(
        [
            reply(
                call(
                    "Agent",
                    "Task",
                    description="Ask",
                    prompt="[asker] ask who started you",
                    subagent_type="general-purpose",
                )
            ),
            reply(Say("Asked.")),
        ],
        asker=[
            reply(call("Bash", command=f"{COMMAND} below.json", description="Ask")),
            reply(Say("Done.")),
        ],
    )
    run = played("claude", release, scenario, tmp_path)
    sessions = {path.stem for path in run.logs if path.parent.parent.name == "projects"}
    told = asked(run, "below.json")
    assert told is not None
    assert (told[0], told[1] in sessions) == ("claude", True)


CHILD, GRANDCHILD = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"


def run_of(client: Path, prompt: str, session: str, into: str) -> str:
    """A shell command that runs a child of the same client."""
    words = (
        f"--client {client} --session-id {session} --model {CLAUDE_MODEL} --permission-mode bypassPermissions"
    )
    return f'{{{{python}}}} -m tracklog run "{prompt}" {words} --json > {into} 2> {into}.err'


def test_children_of_children_know_who_started_them(tmp_path: Path) -> None:
    version = CURRENT["claude"]
    client = installed_or_skip("claude", version)
    below = run_of(client, "[grandchild] look", GRANDCHILD, "grandchild.json")
    scenario = story(
        [
            reply(
                call("Bash", command=run_of(client, "[child] look", CHILD, "child.json"), description="Run")
            ),
            reply(Say("Asked.")),
        ],
        child=[reply(call("Bash", command=below, description="Run")), reply(Say("Child."))],
        grandchild=[reply(Say("Grandchild."))],
    )
    run = played("claude", version, scenario, tmp_path)
    (above,) = {path.stem for path in run.logs} - {CHILD, GRANDCHILD}

    def shown(session: str) -> Json:
        words = ("show", session, "--json", "--root", run.home.claude, "--home", run.home.root / "tracklog")
        document: Json = tracklog(*words, home=run.home.root).json
        return document

    assert [
        shown(id)["started_by"] and shown(id)["started_by"]["session"] for id in (above, CHILD, GRANDCHILD)
    ] == [
        None,
        above,
        CHILD,
    ]
    for session, child in ((above, CHILD), (CHILD, GRANDCHILD)):
        (row,) = shown(session)["started"]
        assert (row["session"], row["how"], row["ended_by"]) == (child, "run", "completed")


def test_a_detached_child_knows_who_started_it_and_is_waited_for(tmp_path: Path) -> None:
    version = CURRENT["claude"]
    client = installed_or_skip("claude", version)
    detached = run_of(client, "[child] look", CHILD, "child.json").replace("--json", "--json --detach")
    waiting = f"{{{{python}}}} -m tracklog wait {CHILD} --timeout 60 > waited.txt 2> waited.err"
    scenario = story(
        [reply(call("Bash", command=f"{detached}; {waiting}", description="Run")), reply(Say("Asked."))],
        child=[reply(call("Bash", command="sleep 1", description="Wait")), reply(Say("Child."))],
    )
    run = played("claude", version, scenario, tmp_path)
    (above,) = {path.stem for path in run.logs} - {CHILD}
    assert (run.home.cwd / "waited.txt").read_text() == "Child.\n"
    words = ("show", CHILD, "--json", "--root", run.home.claude, "--home", run.home.root / "tracklog")
    assert tracklog(*words, home=run.home.root).json["started_by"]["session"] == above
