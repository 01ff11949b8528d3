"""Every verdict, produced by the real client and asserted: what was staged is what `tracklog calls` says."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from tests.lab.asking import ask
from tests.lab.run import LabRun
from tests.lab.scenarios import CLAUDE, CODEX
from tests.lab.verdict_table import FATES, Fate, fates_of, scenarios_of
from tests.lab.words import Json
from tracklog.model.session import Outcome, Verdict

pytestmark = pytest.mark.lab

MOMENT = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d")
DELEGATION = re.compile(r"'(Agent|Task|Workflow|spawn_agent)'")
CODEX_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")
SEEN_ELSEWHERE = {"running"}  # a log at rest cannot show it: the client looks at itself while it works
SELF_SEEN = ("asked_within",)
ASKED_BY_THE_PERSON = "review"  # Codex works it out in a subagent that no call asked for
DELEGATING = (*(s.name for s in (*CLAUDE, *CODEX) if DELEGATION.search(repr(s.threads))), "review")


def an_hour_later(run: LabRun, place: Path) -> Path:
    """A copy of the client's directory in which all that happened is an hour longer ago."""
    copied = place / run.config_dir.name
    shutil.copytree(run.config_dir, copied, ignore=shutil.ignore_patterns("*.key", "*.lock", "*.sock"))
    for path in copied.rglob("*.jsonl"):
        path.write_bytes(MOMENT.sub(_an_hour_before, path.read_bytes()))
    return copied


def _an_hour_before(moment: re.Match[bytes]) -> bytes:
    earlier = datetime.fromisoformat(moment[0].decode()) - timedelta(hours=1)
    return earlier.isoformat(timespec="seconds").encode()


def the_call(fate: Fate, calls: list[Json]) -> Json:
    """The one call that a row is about."""
    fitting = [c for c in calls if c["name"] == fate.tool and fate.word in json.dumps(c["input"])]
    assert len(fitting) > fate.nth, f"no such call: {fate} among {[(c['name'], c['input']) for c in calls]}"
    return fitting[fate.nth]


def kinds_of(evidence: list[Json]) -> set[str]:
    """What kinds of line the evidence points to."""
    return {kind for place in evidence for kind in _kinds(_line(place))}


def _line(place: Json) -> Json:
    line: Json = json.loads(Path(place["path"]).read_bytes().splitlines()[place["line"] - 1])
    return line


def _kinds(line: Json) -> Iterator[str]:
    payload = line.get("payload") or {}
    yield from (
        part for part in (line.get("type"), payload.get("type"), payload.get("item", {}).get("type")) if part
    )
    yield (line.get("attachment") or {}).get("type", "")
    content = (line.get("message") or {}).get("content")
    for block in content if isinstance(content, list) else []:
        yield block["type"]
    text = json.dumps(line)
    if line.get("type") in ("user", "attachment", "queue-operation") and "<task-notification>" in text:
        yield "task-notification"
    if line.get("type") == "user" and "[Request interrupted by user" in text:
        yield "interruption"


def what_is_told(fate: Fate, call: Json) -> Json:
    """The call in the words of the table."""
    return {
        "call": f"{fate.tool} {fate.word}",
        "verdict": call["verdict"],
        "outcome": call["outcome"],
        "timed_out": call["timed_out"],
        "sureness": call["sureness"] if fate.sureness else None,
        "not in the evidence": sorted(set(fate.lines) - kinds_of(call["evidence"])),
    }


def what_was_staged(fate: Fate) -> Json:
    """The row in the same words."""
    return {
        "call": f"{fate.tool} {fate.word}",
        "verdict": fate.verdict,
        "outcome": fate.outcome,
        "timed_out": fate.timed_out,
        "sureness": fate.sureness,
        "not in the evidence": [],
    }


def _every_fate_is_told(run: LabRun, place: Path) -> None:
    logs = "".join(log.read_text("utf-8", "replace") for log in run.logs)
    fates = fates_of(run.agent, run.version, run.scenario.name, logs)
    if not fates:
        pytest.skip(f"the table has no row for {run.scenario.name} on {run.agent} {run.version}")
    calls = ask(an_hour_later(run, place), "calls")["calls"]
    told = [what_is_told(fate, the_call(fate, calls)) for fate in fates]
    assert told == [what_was_staged(fate) for fate in fates]


@pytest.mark.lab_of(agent="claude", scenarios=scenarios_of("claude"))
def test_a_call_of_claude_code_gets_the_verdict_of_the_fate_it_met(lab_run: LabRun, tmp_path: Path) -> None:
    _every_fate_is_told(lab_run, tmp_path)


@pytest.mark.lab_of(agent="codex", scenarios=scenarios_of("codex"))
def test_a_call_of_codex_gets_the_verdict_of_the_fate_it_met(lab_run: LabRun, tmp_path: Path) -> None:
    _every_fate_is_told(lab_run, tmp_path)


@pytest.mark.lab_of(scenarios=SELF_SEEN)
def test_a_call_that_asks_about_itself_is_running(lab_run: LabRun) -> None:
    seen = json.loads((lab_run.home.cwd / "within.json").read_text())["calls"]
    assert [(c["verdict"], c["outcome"]) for c in seen] == [("running", None)]


@pytest.mark.lab_of(scenarios=SELF_SEEN)
def test_a_call_in_the_background_that_asks_about_itself_is_still_running_there(lab_run: LabRun) -> None:
    behind = lab_run.home.cwd / "behind.json"
    if not behind.exists():
        pytest.skip(f"{lab_run.agent} {lab_run.version} starts nothing in the background")
    seen = [c for c in json.loads(behind.read_text())["calls"] if "behind.json" in json.dumps(c["input"])]
    assert [(c["verdict"], c["outcome"]) for c in seen if c["verdict"] != "running"] == [
        ("backgrounded", "running")
    ]


def test_each_tool_use_in_the_logs_is_one_call(lab_run: LabRun) -> None:
    told = [c["id"] for c in ask(lab_run.config_dir, "calls")["calls"]]
    wished = {i for line in lab_run.lines() for i in _wishes(line)}
    assert {i: n for i, n in Counter(told).items() if n > 1} == {}
    assert wished - set(told) == set()


@pytest.mark.lab_of(scenarios=("agents", "fork", "kill", "nested_agents", "resume"))
def test_the_calls_of_all_sessions_are_those_of_each(lab_run: LabRun) -> None:
    root = lab_run.config_dir
    told = ask(root, "calls")["calls"]
    sessions = [s["id"] for s in ask(root, "sessions")["sessions"]]
    apart = [c for s in sessions for c in ask(root, "calls", s)["calls"]]
    assert sorted(apart, key=_by_id) == sorted(told, key=_by_id)


def _by_id(call: Json) -> str:
    return str(call["id"])


def _wishes(line: Json) -> Iterator[str]:
    """The ids of the calls that a line makes."""
    payload = line.get("payload") or {}
    if line.get("type") == "response_item" and payload.get("type") in CODEX_CALLS:
        yield payload["call_id"]
    content = (line.get("message") or {}).get("content")
    if line.get("type") == "assistant" and isinstance(content, list):
        yield from (b["id"] for b in content if b["type"] in ("tool_use", "server_tool_use"))


@pytest.mark.lab_of(scenarios=DELEGATING)
def test_every_subagent_is_joined_to_the_call_that_asked_for_it(lab_run: LabRun) -> None:
    root = lab_run.config_dir
    calls = ask(root, "calls")["calls"]
    trees = [ask(root, "agents", s) for s in sorted({c["session"] for c in calls})]
    agents = [t for tree in trees for t in _all_threads(tree["threads"]) if t["id"] != "main"]
    asked = [t for t in agents if not t["warmup"]]
    known = {c["id"] for c in calls}
    assert [t for t in asked if t["parent_thread"] is None] == []
    assert [t for t in asked if t["parent_call"] not in known and t["type"] != ASKED_BY_THE_PERSON] == []
    assert _delegated(lab_run) - {path for t in asked for path in t["paths"]} == set()


def test_only_a_run_that_delegates_has_subagents(lab_run: LabRun) -> None:
    assert lab_run.scenario.name in DELEGATING or _delegated(lab_run) == set()


def _delegated(run: LabRun) -> set[str]:
    """The logs of subagents, without those that 2.0.30 starts for itself (and may leave empty)."""
    firsts = {str(p): p.read_bytes().splitlines()[:1] for p in run.logs}
    return {path for path, lines in firsts.items() if any(_is_of_a_subagent(json.loads(x)) for x in lines)}


def _is_of_a_subagent(first: Json) -> bool:
    is_warmup = (first.get("message") or {}).get("content") == "Warmup"
    of_codex = (first.get("payload") or {}).get("thread_source") == "subagent"
    return of_codex or (first.get("isSidechain") is True and not is_warmup)


def _all_threads(threads: list[Json]) -> Iterator[Json]:
    for thread in threads:
        yield thread
        yield from _all_threads(thread["children"])


def test_every_verdict_and_every_outcome_has_a_row() -> None:
    assert set(get_args(Verdict)) - {fate.verdict for fate in FATES} == SEEN_ELSEWHERE
    assert set(get_args(Outcome)) - {fate.outcome for fate in FATES} == SEEN_ELSEWHERE
