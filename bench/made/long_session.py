"""One session of very many records, with all that sessions hold: what the page of a session is measured and tried on.

    python -m bench.made.long_session OUT [--records 50000] [--agent claude|codex] [--seed 1]

Rules of this room
  1. Exactly as many lines as asked for; the same bytes for a seed.
  2. Every incident occurs within the first thousand lines, and again and again.
  3. `NEEDLE` stands in one of every fifteen records or so: find has thousands of hits.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.made import codex
from bench.made.claude_agents import Call, agent_log, close_agent, completed
from bench.made.claude_eras import ERAS
from bench.made.claude_notes import end_turn, note_edit, open_session, open_turn, start_tools
from bench.made.claude_thread import Session, Thread
from bench.made.claude_tools import Json, ToolRun
from bench.made.dice import Clock, Dice
from bench.made.incidents import INCIDENTS, draw
from bench.made.tally import LogFile, Tally
from bench.made.words import Words

NEEDLE = "quicksilver"
_ERA = ERAS[3]  # 2.1.100 to 2.1.197: thoughts are told, agents answer in place, results keep their patches
_MOST_TIMES = 4  # so much longer than its usual self may a text become
_CONTEXT_LIMIT = 155_000
_WRECKS = (
    b'{"type":"assistant","message":{"role":"assist',
    b"\x00\x00\x00\x00 not JSON at all",
    b"[1, 2, 3]",
)


class ModestDice(Dice):
    """Chance without the rare huge draws: 50,000 records shall be 60 to 100 MB."""

    def tailed(self, least: int, most: int) -> int:
        return super().tailed(least, min(most, least * _MOST_TIMES))


class CountedLog(LogFile):
    """A log that knows how many lines it has, and takes damaged ones."""

    @property
    def n_lines(self) -> int:
        return len(self._lines)

    def add_wreck(self, line: bytes) -> None:
        self._lines.append(line + b"\n")
        self.size += len(line) + 1

    def cut(self, n_lines: int) -> None:
        del self._lines[n_lines:]


@dataclass(frozen=True)
class Made:
    """A session that was made."""

    agent: str
    id: str
    path: Path
    n_lines: int


def write_claude(home: Path, *, n_records: int = 50_000, seed: int = 1, words: Words | None = None) -> Made:
    """Writes the session into `home`, a CLAUDE_CONFIG_DIR."""
    dice, tally = ModestDice(f"long/{seed}"), Tally()
    words = words or Words(seed)
    session = Session(dice, words, _ERA, Clock(dice, day=460), home / "projects", "/home/dev/harbour", tally)
    log = CountedLog(session.folder / f"{session.id}.jsonl", tally)
    thread = Thread(session, log)
    open_session(thread)
    n_turns = 0
    while log.n_lines < n_records:
        _turn(thread, log, n_turns)
        n_turns += 1
    log.cut(n_records)
    log.close()
    return Made("claude", session.id, log.path, n_records)


def _turn(thread: Thread, log: CountedLog, n: int) -> None:
    session, dice = thread.session, thread.session.dice
    began = session.clock.epoch_ms
    session.prompt_id, session.last_prompt = dice.uuid4(), session.words.prose(dice, dice.tailed(60, 3_000))
    open_turn(thread)
    thread.say(session.last_prompt, **session.era.user_fields)
    start_tools(thread)
    for _ in range(dice.between(2, 8)):
        _round(thread)
    INCIDENTS[n % len(INCIDENTS)](thread)
    if n % 4 == 1:
        _agent(thread)
    _answer(thread)
    end_turn(thread, took_ms=session.clock.epoch_ms - began)
    if n % 20 == 7:
        log.add_wreck(_WRECKS[n // 20 % len(_WRECKS)])
    if thread.meter.context > _CONTEXT_LIMIT or n % 50 == 9:
        _compact(thread)


def _round(thread: Thread) -> None:
    """One request with up to five calls side by side, and their results."""
    dice = thread.session.dice
    runs = [draw(thread) for _ in range(dice.weighted((1, 2, 3, 5), (70, 18, 9, 3)))]
    ids = [f"toolu_01{dice.alnum(22)}" for _ in runs]
    uses: list[Json] = [
        {"type": "tool_use", "id": id, "name": run.name, "input": run.input, "caller": {"type": "direct"}}
        for id, run in zip(ids, runs, strict=True)
    ]
    opening = _opening(thread)
    reply = thread.reply([*opening, *uses], "tool_use")
    for block in opening:
        reply.chunk(block)
    parents = [reply.chunk(use) for use in uses]
    for id, run, parent in zip(ids, runs, parents, strict=True):
        _return(thread, id, run, parent)


def _opening(thread: Thread) -> list[Json]:
    dice, words = thread.session.dice, thread.session.words
    blocks: list[Json] = []
    if dice.chance(0.35):
        thought = words.prose(dice, dice.tailed(150, 3_000))
        blocks.append({"type": "thinking", "thinking": thought, "signature": dice.base64(260)})
    if dice.chance(0.4):
        needle = f"The {NEEDLE} test is next. " if dice.chance(0.95) else ""
        blocks.append({"type": "text", "text": needle + words.prose(dice, dice.tailed(70, 1_200))})
    return blocks


def _return(thread: Thread, call: str, run: ToolRun, parent: str) -> None:
    verdict = {} if run.is_error is None else {"is_error": run.is_error}
    block = {"tool_use_id": call, "type": "tool_result", "content": run.content, **verdict}
    thread.say([block], toolUseResult=run.result, sourceToolAssistantUUID=parent, parent=parent)
    note_edit(thread, run)


def _answer(thread: Thread) -> str:
    """The words that end a turn: headings, lists, a table, code."""
    session, dice = thread.session, thread.session.dice
    start = dice.between(0, len(session.words.code) - 30)
    code = "".join(session.words.code[start : start + dice.between(4, 24)])
    prose = session.words.prose(dice, dice.tailed(200, 2_000))
    table = "| what | before | after |\n|---|---:|---:|\n| tests | 211 | 214 |\n| `lint` | 3 | **0** |"
    text = f"## {session.words.title(dice)}\n\n{prose}\n\n```python\n{code}```\n\n{table}\n\n1. one `{NEEDLE}`\n2. two\n"
    block = {"type": "text", "text": text if dice.chance(0.6) else prose}
    thread.reply([block], "end_turn").chunk(block)
    return prose


def _agent(parent: Thread) -> None:
    """A subagent that works in a file of its own, and its answer."""
    session, dice = parent.session, parent.session.dice
    asked = {
        "description": session.words.title(dice),
        "prompt": session.words.prose(dice, dice.tailed(300, 2_000)),
    }
    run = ToolRun("Agent", {**asked, "subagent_type": "general-purpose"}, "", None)
    id, agent = f"toolu_01{dice.alnum(22)}", f"a{dice.hex(16)}"
    use = {"type": "tool_use", "id": id, "name": run.name, "input": run.input, "caller": {"type": "direct"}}
    call = Call(id, run, parent.reply([use], "tool_use").chunk(use))
    thread = Thread(session, agent_log(parent, agent), agent=agent)
    began = session.clock.epoch_ms
    thread.say(asked["prompt"])
    for _ in range(dice.between(1, 3)):
        _round(thread)
    text = _answer(thread)
    close_agent(thread, call, parent, depth=1)
    done = completed(parent, call, agent, text, calls=3, took_ms=session.clock.epoch_ms - began)
    _return(parent, id, done, call.uuid)


def _compact(thread: Thread) -> None:
    before, kept = thread.tail, thread.session.dice.between(9_000, 20_000)
    told = {"trigger": "auto", "preTokens": thread.meter.context, "postTokens": kept, "durationMs": 41_000}
    thread.tail = None
    thread.add(
        "system",
        {"logicalParentUuid": before, "subtype": "compact_boundary"},
        extra={
            "content": "Conversation compacted",
            "isMeta": False,
            "level": "info",
            "compactMetadata": told,
        },
    )
    thread.meter.compact(kept)
    summary = thread.session.words.prose(thread.session.dice, 3_000)
    opening = "This session is being continued from a previous conversation that ran out of context."
    thread.say(f"{opening}\n\n{summary}", isVisibleInTranscriptOnly=True, isCompactSummary=True)


def write_codex(home: Path, *, n_records: int = 50_000, seed: int = 1, words: Words | None = None) -> Made:
    """Writes a rollout into `home`, a CODEX_HOME."""
    dice, tally = ModestDice(f"long-codex/{seed}"), Tally()
    generously = n_records * 3_000  # bytes; what is too much is cut off
    codex.write_thread(home, dice, words or Words(seed), index=2, n_bytes=generously, tally=tally)
    path = next((home / "sessions").rglob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)[:n_records]
    path.write_bytes(b"".join(lines))
    return Made("codex", path.stem[-36:], path, len(lines))


WRITERS = {"claude": write_claude, "codex": write_codex}


def main() -> int:
    """Makes a session and says where it is."""
    parser = argparse.ArgumentParser(description="Makes one very long session.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--agent", choices=tuple(WRITERS), default="claude")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    made = WRITERS[asked.agent](asked.out / asked.agent, n_records=asked.records, seed=asked.seed)
    print(f"{made.path}: {made.n_lines} lines, {made.path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
