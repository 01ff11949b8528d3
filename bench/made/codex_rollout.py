"""The lines of a Codex rollout: envelope, ids, the running token totals.

Rules of this room
  1. `cached` is a part of `input`, `reasoning` a part of `output`; the total is input + output.
  2. Totals only grow: each `token_count` is the one before it plus its own `last`, or a repetition of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.made.dice import Clock, Dice
from bench.made.tally import LogFile, Spent, Tally
from bench.made.words import Words

Json = dict[str, Any]

CONTEXT_WINDOW = 258_400
_BYTES_PER_TOKEN = 4
_CACHE_STEP = 128  # cached prefixes are counted in steps
_COUNTS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")


@dataclass(frozen=True)
class Era:
    """A span of versions that write alike (docs/formats/codex.md)."""

    versions: tuple[str, ...]
    models: tuple[str, ...]
    unified_exec: bool = True  # exec_command with a text header; before: shell with JSON inside the output
    turn_ids: bool = True  # task_started and task_complete, a turn id on every item
    paginated: bool = False  # ordinals, item_completed in place of the mirrors, a usage record per response


ERAS = (
    Era(("0.46.0", "0.50.0", "0.63.0"), ("gpt-5-codex", "gpt-5"), unified_exec=False, turn_ids=False),
    Era(("0.139.0", "0.142.4"), ("gpt-5.3-codex", "gpt-5.5")),
    Era(("0.166.0",), ("gpt-5.1-codex", "gpt-5.6-luna"), paginated=True),
)


class Rollout:
    """One thread's file in the making."""

    def __init__(self, home: Path, dice: Dice, words: Words, *, index: int, tally: Tally) -> None:
        self.dice, self.words, self.era = dice, words, ERAS[index % len(ERAS)]
        self.clock = Clock(dice, day=index % 460)
        self.id, self.turn = dice.uuid7(self.clock), ""
        self.version, self.model = dice.pick(self.era.versions), dice.pick(self.era.models)
        self.cwd = f"/home/dev/{words.name(Dice(f'project/{index % 12}'))}"
        self.tokens = Tokens(dice)
        self._ordinal, self._tally = 0, tally
        stamp = self.clock.stamp()
        name = f"rollout-{stamp[:19].replace(':', '-')}-{self.id}.jsonl"
        self.log = LogFile(home / "sessions" / stamp[:10].replace("-", "/") / name, tally)

    def line(self, kind: str, payload: Json, **more: object) -> None:
        """Writes one line: the envelope and its payload."""
        order = {"ordinal": self._ordinal} if self.era.paginated else {}
        self._ordinal += 1
        label = f"{kind}/{payload['type']}" if "type" in payload else kind
        self.log.add(
            {"timestamp": self.clock.tick(), **order, "type": kind, "payload": payload, **more}, label
        )

    def item(self, kind: str, **fields: object) -> None:
        """Writes what the model saw or said."""
        if not self.era.turn_ids:
            return self.line("response_item", {"type": kind, **fields})
        passed = {"internal_chat_message_metadata_passthrough": {"turn_id": self.turn}}
        payload = {"type": kind, "id": f"{_PREFIXES[kind]}_{self.dice.hex(50)}", **fields, **passed}
        if not self.era.paginated:
            return self.line("response_item", payload)
        return self.line("response_item", payload, metadata={"client_authored": False})

    def event(self, kind: str, **fields: object) -> None:
        self.line("event_msg", {"type": kind, **fields})

    def done(self, kind: str, **item: object) -> None:
        """Newest: a finished item of the turn."""
        now = self.clock.epoch_ms
        times = {"started_at_ms": now - 40, "completed_at_ms": now}
        self.event(
            "item_completed", thread_id=self.id, turn_id=self.turn, item={"type": kind, **item}, **times
        )

    def respond(self, *, output: int, reasoning: int) -> Json:
        """A model response is whole: counts its tokens and returns them."""
        last = self.tokens.spend(output, reasoning)
        cached = last["cached_input_tokens"]
        self._tally.request(Spent(last["input_tokens"] - cached, output, cached, reasoning_tokens=reasoning))
        if self.era.paginated:
            ids = {
                "thread_id": self.id,
                "turn_id": self.turn,
                "session_id": self.id,
                "root_turn_id": self.turn,
            }
            sums = {
                "usage": last,
                "turn_token_usage": self.tokens.of_turn,
                "thread_token_usage": self.tokens.total,
            }
            self.line("token_usage_record", {**ids, "response_id": f"resp_{self.dice.hex(48)}", **sums})
        return last

    def count(self, last: Json | None) -> None:
        """Writes a token_count; without usage it tells the rate limits alone."""
        info = last and {
            "total_token_usage": self.tokens.total,
            "last_token_usage": last,
            "model_context_window": CONTEXT_WINDOW,
        }
        resets = self.clock.epoch_ms // 1_000
        used = {"primary": {"used_percent": 12.0, "window_minutes": 300, "resets_at": resets + 9_000}}
        used |= {"secondary": {"used_percent": 41.0, "window_minutes": 10_080, "resets_at": resets + 400_000}}
        plan = (
            {"credits": None, "plan_type": "pro", "rate_limit_reached_type": None}
            if self.era.turn_ids
            else {}
        )
        limits = {"limit_id": "codex", "limit_name": None, **used, **plan} if self.era.turn_ids else used
        self.event("token_count", info=info, rate_limits=limits)


_PREFIXES = {
    "message": "msg", "reasoning": "rs", "function_call": "fc", "function_call_output": "fco", "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
}  # fmt: skip


class Tokens:
    """The context of a thread, and the sums that Codex repeats on every count."""

    def __init__(self, dice: Dice) -> None:
        self._context, self._seen = dice.between(9_000, 22_000), 0
        self._sums = self._turn_sums = dict.fromkeys(_COUNTS, 0)

    @property
    def context(self) -> int:
        return self._context

    @property
    def total(self) -> Json:
        return dict(self._sums)

    @property
    def of_turn(self) -> Json:
        return dict(self._turn_sums)

    def start_turn(self) -> None:
        self._turn_sums = dict.fromkeys(_COUNTS, 0)

    def feed(self, text: str) -> None:
        self._context += len(text) // _BYTES_PER_TOKEN

    def compact(self, kept: int) -> None:
        self._context, self._seen = kept, 0

    def spend(self, output: int, reasoning: int) -> Json:
        sent, cached = self._context, self._seen // _CACHE_STEP * _CACHE_STEP
        self._context, self._seen = sent + output, sent
        last = dict(zip(_COUNTS, (sent, cached, output, reasoning, sent + output), strict=True))
        self._sums = {name: self._sums[name] + last[name] for name in _COUNTS}
        self._turn_sums = {name: self._turn_sums[name] + last[name] for name in _COUNTS}
        return last
