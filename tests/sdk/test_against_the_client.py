"""The client goes on where we say: a real session is given further records and marks, and resumed.

The session has two turns. Another way is written beside the second one, in front of it or behind it, and marks point
here and there. What the client then sends shows from where it goes on.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.clients import CURRENT, installed_or_skip
from tests.lab.run import LabRun, run_claude
from tests.lab.scenarios import CLAUDE
from tests.lab.words import Step
from tests.sdk.feeding import Reading

Json = dict[str, Any]
RESUMED = next(scenario for scenario in CLAUDE if scenario.name == "resume")
NOWHERE = "00000000-0000-0000-0000-000000000000"
MISSING = "99999999-9999-4999-8999-999999999999"
OTHER_PROMPT = "aaaaaaaa-0000-4000-8000-000000000001"
OTHER_ANSWER = "aaaaaaaa-0000-4000-8000-000000000002"
META = "aaaaaaaa-0000-4000-8000-000000000003"
SECOND_TURN, OTHER_WAY = "Went on.", "Went elsewhere."
pytestmark = [pytest.mark.lab, pytest.mark.xdist_group("sdk-client")]


@dataclass(frozen=True)
class Played:
    """A session of two turns, and what is needed to write on in it."""

    run: LabRun
    binary: Path
    log: Path
    lines: list[Json]

    @property
    def second_prompt(self) -> Json:
        return next(line for line in self.lines if line["type"] == "user" and "go on" in str(line["message"]))

    @property
    def last_answer(self) -> Json:
        return [line for line in self.lines if line["type"] == "assistant"][-1]

    @property
    def fork(self) -> str:
        return str(self.second_prompt["parentUuid"])

    @property
    def other_way(self) -> list[Json]:
        prompt = self.second_prompt | {
            "uuid": OTHER_PROMPT,
            "message": {"role": "user", "content": "another"},
        }
        message = self.last_answer["message"] | {
            "id": "msg_01other",
            "content": [{"type": "text", "text": OTHER_WAY}],
        }
        answer = self.last_answer | {"uuid": OTHER_ANSWER, "parentUuid": OTHER_PROMPT, "message": message}
        return [prompt, answer]

    @property
    def meta(self) -> Json:
        message = {"role": "user", "content": "by the client"}
        return self.second_prompt | {
            "uuid": META,
            "parentUuid": self.last_answer["uuid"],
            "message": message,
            "isMeta": True,
        }

    def told(self, plan: str) -> list[Json]:
        """The log by a plan: `1` and `2` its turns, `o` the other way, `m` words of the client, marks in brackets."""
        unmarked = [line for line in self.lines if line["type"] != "last-prompt"]
        cut = unmarked.index(self.second_prompt)
        parts = {"1": unmarked[:cut], "2": unmarked[cut:], "o": self.other_way, "m": [self.meta]}
        return [line for word in plan.split() for line in parts.get(word) or [self._mark(word)]]

    def _mark(self, word: str) -> Json:
        leaves = {"fork": self.fork, "two": self.last_answer["uuid"], "other": OTHER_ANSWER}
        leaves |= {"missing": MISSING, "nowhere": NOWHERE}
        leaf = leaves[word.strip("[!]")]
        explicit = {"explicit": True} if "!" in word else {}
        return {"type": "last-prompt", "leafUuid": leaf, **explicit, "sessionId": self.log.stem}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    version = CURRENT["claude"]
    binary = installed_or_skip("claude", version)
    two_turns = dataclasses.replace(RESUMED, steps=RESUMED.steps[:2])
    run = run_claude(binary, version, two_turns, root=tmp_path_factory.mktemp("marks"))
    (log,) = run.logs
    return Played(run, binary, log, [json.loads(line) for line in log.read_bytes().splitlines()])


@pytest.mark.parametrize(
    ("plan", "goes_on_from"),
    [
        ("1 2", SECOND_TURN),
        ("1 2 o", OTHER_WAY),
        ("1 o 2", SECOND_TURN),
        ("1 o 2 m", SECOND_TURN),
        ("1 2 [two] o", SECOND_TURN),
        ("1 2 o [two]", SECOND_TURN),
        ("1 o [other] 2", OTHER_WAY),
        ("1 2 [two] o [nowhere!]", OTHER_WAY),
        ("1 2 [two] o [missing]", OTHER_WAY),
        ("1 2 [fork]", SECOND_TURN),
        ("1 2 [fork] o", OTHER_WAY),
        ("1 o 2 [fork]", SECOND_TURN),
        ("1 2 [fork!]", None),
        ("1 2 [fork!] o", OTHER_WAY),
    ],
)
def test_the_client_goes_on_where_we_say(played: Played, plan: str, goes_on_from: str | None) -> None:
    records = played.told(plan)
    played.log.write_text("".join(json.dumps(record) + "\n" for record in records))
    ours = _turns_among(records, set(Reading(played.log).graph.path()))
    assert ours == {goes_on_from} - {None}
    assert _sent_at_a_resume(played) == ours


def _turns_among(records: list[Json], path: set[str]) -> set[str]:
    said = json.dumps([record.get("message") for record in records if record.get("uuid") in path])
    return {turn for turn in (SECOND_TURN, OTHER_WAY) if turn in said}


def _sent_at_a_resume(played: Played) -> set[str]:
    step = Step("and once more", args=("--resume", played.log.stem))
    once = dataclasses.replace(RESUMED, steps=(step,))
    run = run_claude(played.binary, played.run.version, once, root=played.run.home.root)
    sent = [json.dumps(request["messages"]) for request in run.requests if "messages" in request]
    asked = next(text for text in sent if "and once more" in text)
    assert "Begun." in asked
    return {turn for turn in (SECOND_TURN, OTHER_WAY) if turn in asked}
