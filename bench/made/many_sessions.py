"""Very many small sessions of both agents in many projects: what lists are measured and tried on.

    python -m bench.made.many_sessions OUT [--sessions 20000] [--seed 1]

Rules of this room
  1. Small, yet whole: a prompt, calls with different ends, an answer, a title; four of five are Claude Code's.
  2. Their days, projects, models, tools and verdicts differ, so that every filter has something to leave out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.made.claude_eras import ERAS
from bench.made.claude_notes import end_turn, open_session, open_turn
from bench.made.claude_thread import Session, Thread
from bench.made.claude_tools import TOOLS, ToolRun
from bench.made.codex_rollout import Rollout
from bench.made.dice import Clock, Dice
from bench.made.incidents import denied, missing_file
from bench.made.tally import LogFile, Tally
from bench.made.words import Words

N_PROJECTS = 60
_TOOLS = ("Bash", "Bash", "Read", "Edit", "Grep", "Write", "TodoWrite", "mcp")
_DAYS = 460


class SmallDice(Dice):
    """Chance whose every length is near its least."""

    def tailed(self, least: int, most: int) -> int:
        return min(most, super().tailed(least // 4 + 1, least))


def write_many(
    out: Path, *, n_sessions: int = 20_000, seed: int = 1, n_projects: int = N_PROJECTS, is_even: bool = False
) -> dict[str, int]:
    """Fills `out` with homes (claude, codex); returns how many sessions each has.

    Half of the sessions are in one project, unless they are spread evenly.
    """
    words, tally = Words(seed, lines=4_000), Tally()
    cwds = [f"/home/dev/{words.name(Dice(f'many/{seed}/{n}'))}-{n}" for n in range(n_projects)]
    counts = {"claude": 0, "codex": 0}
    for n in range(n_sessions):
        agent = "codex" if n % 5 == 4 else "claude"
        dice = SmallDice(f"many/{seed}/{n}")
        project = n if is_even else Dice(f"project/{seed}/{n}").tailed(1, n_projects) - 1
        cwd = cwds[project % n_projects]
        (_codex if agent == "codex" else _claude)(out / agent, dice, words, cwd, n=n, tally=tally)
        counts[agent] += 1
    return counts


def _claude(home: Path, dice: Dice, words: Words, cwd: str, *, n: int, tally: Tally) -> None:
    clock = Clock(dice, day=n % _DAYS)
    session = Session(dice, words, ERAS[n % len(ERAS)], clock, home / "projects", cwd, tally)
    thread = Thread(session, LogFile(session.folder / f"{session.id}.jsonl", tally))
    if not session.era.request_metadata:
        open_session(thread)
    began = clock.epoch_ms
    session.last_prompt = words.prose(dice, 60)
    open_turn(thread)
    thread.say(session.last_prompt, **session.era.user_fields)
    for _ in range(dice.between(1, 3)):
        _call(thread, TOOLS[dice.pick(_TOOLS)](session.place))
    if n % 11 == 0:
        missing_file(thread)
    block = {"type": "text", "text": words.prose(dice, 200)}
    thread.reply([block], "end_turn").chunk(block)
    if n % 17 == 0:
        denied(thread)
    end_turn(thread, took_ms=clock.epoch_ms - began)
    thread.log.close()


def _call(thread: Thread, run: ToolRun) -> None:
    call = f"toolu_01{thread.session.dice.alnum(22)}"
    use = {"type": "tool_use", "id": call, "name": run.name, "input": run.input}
    parent = thread.reply([use], "tool_use").chunk(use)
    verdict = {} if run.is_error is None else {"is_error": run.is_error}
    block = {"tool_use_id": call, "type": "tool_result", "content": run.content, **verdict}
    kept = run.result if not isinstance(run.result, dict) else {**run.result, "originalFile": None}
    thread.say([block], toolUseResult=kept, parent=parent)


def _codex(home: Path, dice: Dice, words: Words, cwd: str, *, n: int, tally: Tally) -> None:
    rollout = Rollout(home, dice, words, index=n, tally=tally)
    about = {"id": rollout.id, "timestamp": rollout.clock.stamp(), "cwd": cwd, "originator": "codex_cli_rs"}
    git = {"commit_hash": dice.hex(40), "branch": "main", "repository_url": "https://example.org/dev/a.git"}
    rollout.line("session_meta", {**about, "cli_version": rollout.version, "source": "cli", "git": git})
    rollout.line("turn_context", {"cwd": cwd, "model": rollout.model, "effort": "high", "summary": "auto"})
    text = words.prose(dice, 60)
    rollout.item("message", role="user", content=[{"type": "input_text", "text": text}])
    rollout.event("user_message", message=text, images=[])
    for _ in range(dice.between(1, 3)):
        call, code = f"call_{dice.alnum(24)}", int(dice.chance(0.2))
        asked = json.dumps({"cmd": f"cat {words.path(dice)}", "workdir": cwd})
        rollout.item("function_call", name="exec_command", arguments=asked, call_id=call)
        said = f"Chunk ID: {dice.hex(6)}\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n"
        output = said + words.output(dice, 200)
        rollout.tokens.feed(output)
        rollout.item("function_call_output", call_id=call, output=output)
    answer = words.prose(dice, 150)
    rollout.event("agent_message", message=answer)
    rollout.item("message", role="assistant", content=[{"type": "output_text", "text": answer}])
    rollout.count(rollout.respond(output=len(answer) // 4, reasoning=0))
    rollout.log.close()


def main() -> int:
    """Makes the sessions and says how many there are."""
    parser = argparse.ArgumentParser(description="Makes very many small sessions.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--sessions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(write_many(asked.out, n_sessions=asked.sessions, seed=asked.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
