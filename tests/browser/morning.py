"""A morning with seven agents, for pictures: two wait for a person, three work, two are quiet.

Rules of this room
  1. What they say is written here; times are told from now, so that a picture is the same whenever it is taken.
  2. Their processes are ours, and end with it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.browser.homes import lasting_process
from tests.browser.serving import Homes
from tests.live.live_home import append, now_ms, start_ticks

Json = dict[str, Any]
FIRST = "3e0c6d1a-0000-4000-8000-00000000000"


@dataclass(frozen=True)
class Told:
    """One session of the morning: the prompt, the calls that were made, and what its client says of it now."""

    project: str
    prompt: str
    said: str
    status: str
    began_min: int  # minutes ago
    context: int  # tokens that the last request read
    last: tuple[str, Json] | None = None  # a call that has no result yet
    last_s: int = 30  # how long ago it was asked for
    waits_for: str | None = None
    branch: str = "main"
    model: str = "claude-sonnet-4-5-20250929"
    n_calls: int = 24
    helpers: tuple[tuple[str, str, Json], ...] = ()


MORNING = (
    Told(
        "shop", "Let the basket survive a reload, with a test for it.", "The migration is written; it must run once.", "waiting", 41, 88_000,
        ("Bash", {"command": "npx prisma migrate deploy", "description": "Apply the migration"}), 95, "permission prompt", "basket-in-db",
        model="claude-opus-4-5-20251101",
    ),
    Told(
        "site", "Make the search page fast on a telephone.", "Two ways are open, and they look different.", "waiting", 23, 61_000,
        ("AskUserQuestion", {"questions": [{"question": "Shall results load while one scrolls, or by a button?", "header": "Results", "options": [{"label": "While scrolling", "description": "no click"}, {"label": "By a button", "description": "calmer"}]}]}),
        240, "input needed", "search-speed",
    ),
    Told(
        "engine", "The nightly build takes 40 minutes. Find out why, and halve it.", "Three parts are slow; each is looked at by itself.", "busy", 64, 143_000,
        None, 170, None, "faster-nightly", "claude-opus-4-5-20251101", 61,
        (
            ("Profile the linker", "Bash", {"command": "perf record -g ninja -C out app"}),
            ("Measure the cache of the compiler", "Bash", {"command": "ccache --show-stats --verbose"}),
            ("Read how tests are sharded", "Grep", {"pattern": "shard_count", "path": "ci/"}),
        ),
    ),
    Told(
        "tally", "Count words in all languages of the sample, not only in English.", "Now the tests for Thai, which has no blanks.", "busy", 12, 37_000,
        ("Bash", {"command": "pytest -q tests/test_thai.py"}), 18,
    ),
    Told(
        "api", "Write the handler for refunds; follow what payments does.", "It follows payments.py, with one difference at the ledger.", "busy", 8, 29_000,
        ("Edit", {"file_path": "/home/dev/api/src/refunds.py", "old_string": "pass", "new_string": "return settle(refund)"}), 3, None, "refunds",
    ),
    Told("docs", "Every example of the guide should run.", "All 46 run. Two were wrong since the last release, and are mended.", "idle", 95, 72_000, last_s=1_500, branch="examples"),
    Told("infra", "Why was the queue full last night?", "A worker waited for a lock that its own retry held. The log shows it at 02:14.", "idle", 180, 118_000, last_s=4_000),
)  # fmt: skip
_STEPS: tuple[tuple[str, Json], ...] = (
    ("Read", {"file_path": "/home/dev/src/main.py"}),
    ("Grep", {"pattern": "TODO", "path": "src/"}),
    ("Bash", {"command": "pytest -q", "description": "Run the tests"}),
    ("Edit", {"file_path": "/home/dev/src/main.py", "old_string": "a", "new_string": "b"}),
)


@contextmanager
def morning(homes: Homes) -> Iterator[list[str]]:
    """Writes the sessions and lets their processes live; yields their ids."""
    (homes.claude / "sessions").mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for n, told in enumerate(MORNING):
            process = stack.enter_context(lasting_process())
            stack.callback(process.kill)
            writer = Writer(homes.claude, f"{FIRST}{n}", told, random.Random(n))
            writer.write()
            writer.register(process.pid)
        yield [f"{FIRST}{n}" for n in range(len(MORNING))]


@dataclass
class Writer:
    """Writes one session as its client would have."""

    home: Path
    session: str
    told: Told
    dice: random.Random
    lines: dict[str, list[bytes]] = field(default_factory=dict)
    _n: int = 0

    @property
    def folder(self) -> Path:
        return self.home / "projects" / f"-home-dev-{self.told.project}"

    def write(self) -> None:
        """The main log, and those of subagents."""
        told, began = self.told, self.told.began_min * 60
        ends = told.last_s + 10
        self.line("user", began, message={"role": "user", "content": told.prompt})
        for n in range(told.n_calls):
            ago = began - 20 - (began - ends - 20) * (n / told.n_calls) ** self.dice.uniform(0.8, 1.3)
            self.call(self._id(n), *_STEPS[n % 4], ago_s=ago, done=n / told.n_calls)
        asked = [
            (f"h{n}", "Agent", {"description": one[0], "prompt": one[0]})
            for n, one in enumerate(told.helpers)
        ]
        asked += [("last", *told.last)] if told.last else []
        uses = [
            {"type": "tool_use", "id": self._id(id), "name": name, "input": given}
            for id, name, given in asked
        ]
        self.reply(
            [{"type": "text", "text": told.said}, *uses], told.last_s, stop="tool_use" if uses else "end_turn"
        )
        for n, helper in enumerate(told.helpers):
            self.helper(n, *helper)
        self._flush()

    def call(self, id: str, name: str, given: Json, *, ago_s: float, done: float, thread: str = "") -> None:
        use = {"type": "tool_use", "id": id, "name": name, "input": given}
        self.reply(
            [use], ago_s, stop="tool_use", context=int(self.told.context * (0.3 + 0.7 * done)), thread=thread
        )
        result = {"type": "tool_result", "tool_use_id": id, "content": "ok"}
        self.line("user", ago_s - 2, thread, message={"role": "user", "content": [result]})

    def helper(self, n: int, description: str, name: str, given: Json) -> None:
        """A subagent that works now."""
        thread, call = f"a{n}{self.session[:8]}", self._id(f"h{n}")
        self.line("user", 168, thread, message={"role": "user", "content": description})
        for k in range(4):
            self.call(f"{call}-{k}", *_STEPS[k], ago_s=150 - 30 * k, done=0.2, thread=thread)
        use = {"type": "tool_use", "id": f"{call}-now", "name": name, "input": given}
        self.reply([use], 20 + 13 * n, stop="tool_use", context=21_000, thread=thread)
        beside = self.folder / self.session / "subagents"
        beside.mkdir(parents=True, exist_ok=True)
        meta = {"agentType": "general-purpose", "description": description, "toolUseId": call}
        (beside / f"agent-{thread}.meta.json").write_text(json.dumps(meta))

    def reply(
        self,
        content: list[Json],
        ago_s: float,
        *,
        stop: str | None,
        context: int | None = None,
        thread: str = "",
    ) -> None:
        read = context or self.told.context
        usage = {
            "input_tokens": 12,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": read,
            "output_tokens": self.dice.randint(80, 900),
        }
        message = {
            "id": f"msg_{self.session[-1]}{self._n}",
            "role": "assistant",
            "model": self.told.model,
            "content": content,
            "stop_reason": stop,
            "usage": usage,
        }
        self.line("assistant", ago_s, thread, requestId=f"req_{self.session[-1]}{self._n}", message=message)

    def line(self, kind: str, ago_s: float, thread: str = "", **more: Any) -> None:
        self._n += 1
        at = datetime.now(UTC) - timedelta(seconds=ago_s)
        of = self.lines.setdefault(thread, [])
        record = {
            "type": kind, "uuid": f"{self.session}{thread}{len(of) + 1}", "parentUuid": f"{self.session}{thread}{len(of)}" if of else None, "sessionId": self.session,
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "cwd": f"/home/dev/{self.told.project}",
            "gitBranch": self.told.branch, "version": "2.1.325", "isSidechain": bool(thread), **({"agentId": thread} if thread else {}), **more,
        }  # fmt: skip
        of.append(json.dumps(record).encode() + b"\n")

    def register(self, pid: int) -> None:
        """What the client says of itself."""
        entry = {
            "pid": pid, "sessionId": self.session, "cwd": f"/home/dev/{self.told.project}", "status": self.told.status, "procStart": start_ticks(pid),
            "startedAt": now_ms() - self.told.began_min * 60_000, "statusUpdatedAt": now_ms() - self.told.last_s * 1000,
        }  # fmt: skip
        waits = {"waitingFor": self.told.waits_for} if self.told.waits_for else {}
        (self.home / "sessions" / f"{pid}.json").write_text(json.dumps(entry | waits))

    def _id(self, of: int | str) -> str:
        return f"toolu_{self.session[-1]}{of}"

    def _flush(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for thread, lines in self.lines.items():
            beside = self.folder / self.session / "subagents" / f"agent-{thread}.jsonl"
            append(beside if thread else self.folder / f"{self.session}.jsonl", b"".join(lines))
