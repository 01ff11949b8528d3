"""What `tracklog run` gives back, beside what the real client itself said and what the scripted API charged."""

from __future__ import annotations

import functools
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.lab.client_totals import COUNTS_ON_SINCE
from tests.lab.clients import CURRENT, Version, installed_or_skip, releases
from tests.lab.run_child import place_for
from tests.lab.run_stories import AGAIN, ALL, BYPASS, CODEX_AGAIN, FAILED, SHORT, WORKED, Story, story
from tests.lab.script import filled
from tests.lab.words import Json, Say, call, reply
from tests.views.cli.command import SOURCE
from tracklog.home import Home as OurHome
from tracklog.live.run_entries import Parent
from tracklog.live.run_register import runs
from tracklog.run import Child, RunEvent

pytestmark = pytest.mark.lab
OLDER = {"claude": ("2.1.197",), "codex": ("0.98.0",)}
OUR_FIELDS = {
    *(
        "agent",
        "run",
        "transcript_path",
        "exit_code",
        "ended_by",
        "error",
        "calls",
        "denials",
        "files_changed",
    ),
    *("entrypoint", "cost_micro_usd", "bounds", "unpriced_requests", "partial_requests", "sources"),
    *("left_behind", "problems"),
}


@dataclass(frozen=True)
class Played:
    """A story that was played to its end by one child."""

    story: Story
    version: str
    holes: dict[str, str]
    document: Json
    heard: list[RunEvent]
    path_before: Path | None  # as it was said before the client had written a line
    was_there: bool  # at that moment
    charged_micro_usd: float
    leftovers: list[str]
    n_processes: int

    @property
    def said(self) -> Json:
        """The client's own result object, as it came on its stream."""
        return dict(stream_of(self.heard, "result")[-1])


def stream_of(heard: list[RunEvent], kind: str) -> list[Any]:
    """The lines of this kind that the client printed."""
    return [one.document for one in heard if one.source == "stream" and one.document.get("type") == kind]


def ended(child: Child) -> tuple[Json, list[RunEvent]]:
    """The result, and all that was heard before."""
    heard = list(child.events())
    return child.result().document, heard


@functools.cache
def played(story: Story, release: str) -> Played:
    """Plays a story once for all tests of this process."""
    with tempfile.TemporaryDirectory() as folder, place_for(story, Path(folder), release=release) as place:
        child = place.start(**story.request)
        path = child.transcript_path
        was_there = path is not None and path.exists()
        document, heard = ended(child)
        is_written = Path(document["transcript_path"]).is_file()
        assert is_written
        return Played(
            story,
            place.version,
            place.home.holes(),
            document,
            heard,
            path,
            was_there,
            place.charged_micro_usd(),
            place.leftovers(),
            len(place.processes()),
        )


def castings() -> list[Any]:
    """Every story with every release that can play it."""
    return [
        pytest.param(s, r, id=f"{s.name}-{r}", marks=pytest.mark.xdist_group(f"run-{s.name}-{r}"))
        for s in ALL
        for r in releases(s.agent, older=OLDER[s.agent])
        if Version(s.since) <= Version(r)
    ]


each_story = pytest.mark.parametrize(("told", "release"), castings())
of_claude = pytest.mark.parametrize(
    ("told", "release"), [one for one in castings() if one.values[0].agent == "claude"]
)
of_codex = pytest.mark.parametrize(
    ("told", "release"), [one for one in castings() if one.values[0].agent == "codex"]
)


@of_claude
def test_the_result_is_the_clients_own_object_field_by_field_with_ours_beside_it(
    told: Story, release: str
) -> None:
    one = played(told, release)
    assert {**one.document, **one.said} == one.document
    assert set(one.document) - set(one.said) - OUR_FIELDS <= {"result"}
    assert one.document["sources"] | {"result": "stream"} == {
        "end": "stream",
        "usage": "stream",
        "result": "stream",
        "cost": "log",
    }


@of_codex
def test_of_codex_it_says_what_its_events_said(told: Story, release: str) -> None:
    one = played(told, release)
    (thread,) = stream_of(one.heard, "thread.started")
    assert one.document["session_id"] == thread["thread_id"]
    if told.ended_by == "completed":
        (turn,) = stream_of(one.heard, "turn.completed")
        items = [item["item"] for item in stream_of(one.heard, "item.completed")]
        assert one.document["usage"] == turn["usage"]
        assert one.document["result"] == [i["text"] for i in items if i["type"] == "agent_message"][-1]
    else:
        (failed,) = stream_of(one.heard, "turn.failed")
        assert one.document["error"] == failed["error"]["message"]


@each_story
def test_it_says_how_it_ended_and_what_became_of_every_call(told: Story, release: str) -> None:
    one = played(told, release)
    document = one.document
    found = {
        "agent": document["agent"],
        "ended_by": document["ended_by"],
        "exit_code": document["exit_code"],
        "calls": document["calls"],
        "denied": tuple(denial["tool_name"] for denial in document["denials"]),
        "changed": tuple(document["files_changed"]),
        "problems": document["problems"],
        "left_behind": document["left_behind"],
    }
    assert found == {
        "agent": told.agent,
        "ended_by": told.ended_by,
        "exit_code": 0 if told.ended_by == "completed" else 1,
        "calls": dict(told.calls),
        "denied": told.denied,
        "changed": filled(told.changed, one.holes),
        "problems": [],
        "left_behind": 0,
    }
    if told.text is not None:
        assert document["result"] == told.text
    if "json_schema" in told.request:
        assert document["structured_output"] == {"answer": 42}


@each_story
def test_its_cost_is_what_the_api_charged(told: Story, release: str) -> None:
    one = played(told, release)
    document = one.document
    assert document["cost_micro_usd"] == pytest.approx(one.charged_micro_usd, abs=0.5)
    assert document["bounds"]["cost_micro_usd"] == [document["cost_micro_usd"]] * 2
    assert (document["partial_requests"], document["unpriced_requests"]) == (0, 0)
    assert document["total_cost_usd"] * 1e6 == pytest.approx(one.charged_micro_usd, abs=0.5)


@each_story
def test_nothing_of_it_is_left(told: Story, release: str) -> None:
    one = played(told, release)
    assert (one.leftovers, one.n_processes) == ([], 0)


@of_claude
def test_its_log_had_its_name_before_it_existed_and_says_how_the_client_was_started(
    told: Story, release: str
) -> None:
    one = played(told, release)
    assert not one.was_there
    assert str(one.path_before) == one.document["transcript_path"]
    assert one.document["entrypoint"] == "sdk-cli"
    assert one.document["session_id"] == Path(one.document["transcript_path"]).stem


@of_claude
def test_the_stop_hook_told_us_the_final_text(told: Story, release: str) -> None:
    one = played(told, release)
    stops = [one.document for one in one.heard if (one.source, one.what) == ("hook", "Stop")]
    if told.ended_by == "completed" and told.text is not None:
        assert stops[-1]["last_assistant_message"] == told.text
    assert {stop["session_id"] for stop in stops} <= {one.document["session_id"]}


AGAIN_CASTS = [
    (one, release) for one in (AGAIN, CODEX_AGAIN) for release in releases(one.agent, older=OLDER[one.agent])
]


@pytest.mark.parametrize(("again", "release"), AGAIN_CASTS, ids=lambda one: getattr(one, "name", one))
def test_a_session_that_goes_on_and_its_fork_cost_what_each_run_of_them_cost(
    again: Story, release: str, tmp_path: Path
) -> None:
    with place_for(again, tmp_path, release=release) as place:
        first, _ = ended(place.start(**BYPASS))
        goes_on = {"resume": first["session_id"], **BYPASS}
        second, _ = ended(place.start("go on", **goes_on))
        has_fork = (
            again.agent == "claude" or release == CURRENT[again.agent]
        )  # Codex 0.98.0 has no `exec fork`
        forks = [ended(place.start("other way", is_fork=True, **goes_on))[0]] if has_fork else []
        documents = [first, second, *forks]
        charged = [place.charged_micro_usd([exchange]) for exchange in place.api.exchanges]
        assert [one["ended_by"] for one in documents] == ["completed"] * len(documents)
        assert [one["result"] for one in documents] == ["First.", "Second.", "Third."][: len(documents)]
        assert [one["cost_micro_usd"] for one in documents] == pytest.approx(charged, abs=0.5)
        for name in ("session_id", "transcript_path"):
            assert first[name] == second[name]
            assert all(fork[name] != first[name] for fork in forks)
        assert all(Path(one["transcript_path"]).is_file() for one in documents)
        if again.agent == "claude":
            before = counted_before(charged) if Version(place.version) >= COUNTS_ON_SINCE else [0.0] * 3
            stated = [one["total_cost_usd"] * 1e6 for one in documents]
            assert stated == pytest.approx([a + b for a, b in zip(charged, before, strict=True)], abs=0.5)


def counted_before(charged: list[float]) -> list[float]:
    """What current clients count in: all that the session has cost before, and a fork's parent."""
    return [sum(charged[:n]) for n in range(len(charged))]


def test_the_users_own_hooks_stay_in_force(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "cat > '{{home}}/users_own.json'".replace("'", '"')}
    hooked = replace(
        SHORT, scenario=replace(SHORT.scenario, settings={"hooks": {"Stop": [{"hooks": [hook]}]}})
    )
    with place_for(hooked, tmp_path) as place:
        document, heard = ended(place.start())
        told = json.loads((place.home.root / "users_own.json").read_text())
        ours = [one.document for one in heard if (one.source, one.what) == ("hook", "Stop")]
        assert document["ended_by"] == "completed"
        assert [told] == ours


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_without_persistence_there_is_a_result_and_no_log(agent: str, tmp_path: Path) -> None:
    short = replace(SHORT, agent=agent)
    with place_for(short, tmp_path) as place:
        document, heard = ended(place.start(persists=False, **BYPASS))
        told = [document[name] for name in ("ended_by", "result", "transcript_path", "bounds")]
        assert told == ["completed", "Short and whole.", None, None]
        assert place.logs() == []
        if agent == "claude":
            assert document["cost_micro_usd"] == pytest.approx(place.charged_micro_usd(), abs=0.5)
            assert [one.document["last_assistant_message"] for one in heard if one.what == "Stop"] == [
                "Short and whole."
            ]


def test_a_run_inside_of_a_run_is_its_child(tmp_path: Path) -> None:
    program = str(installed_or_skip("claude", CURRENT["claude"]))
    inner = f"PYTHONPATH='{SOURCE}' '{{{{python}}}}' -m tracklog run --model sonnet --client '{program}' '[inner] say it'"
    nested = story(
        "nested",
        {
            "main": [
                reply(call("Bash", command=inner, description="Run another")),
                reply(Say("The other one has said it.")),
            ],
            "inner": [reply(Say("It."))],
        },
    )
    with place_for(nested, tmp_path) as place:
        place.env["TRACKLOG_HOME"] = str(place.ours)
        document, heard = ended(place.start(**BYPASS))
        results = [block for one in stream_of(heard, "user") for block in one["message"]["content"]]
        assert [block["content"] for block in results if block["type"] == "tool_result"] == ["It."]
        register = runs(OurHome(place.ours))
        outer, other = register
        assert [one.ended.ended_by for one in register if one.ended] == ["completed", "completed"]
        assert (register.parent_of(outer), other.started.parent_run) == (None, outer.id)
        assert register.parent_of(other) == Parent("claude", document["session_id"])


def test_text_mode_prints_the_final_text_alone(tmp_path: Path) -> None:
    with place_for(WORKED, tmp_path) as place:
        process = place.command("run", "please work", "--permission-mode", "bypassPermissions")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out.decode(), err.decode()) == (0, f"{WORKED.text}\n", "")


def test_json_mode_prints_the_whole_result_and_an_error_ends_with_1(tmp_path: Path) -> None:
    with place_for(FAILED, tmp_path) as place:
        process = place.command("run", "please fail", "--json", "--permission-mode", "bypassPermissions")
        out, err = process.communicate(timeout=60)
        document = json.loads(out)
        assert (process.returncode, document["ended_by"], document["is_error"]) == (1, "error", True)
        assert err.decode() == f"tracklog: error: {document['error']}\n"
