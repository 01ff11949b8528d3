"""Every command, every document of the HTTP API and every page sees one appended line at once.

Each question gets a line of its own, so that none profits from what the one before it has read: an answer of the model
with a text, a call and tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import fork_server
from tests.views.cli.command import ONE, Answer, environment, tracklog, transcript_in
from tests.views.cli.written import PRICE, Log, tool, working_day
from tests.views.web.served import Served, served, until

REQUESTS, CALLS, LINES = 3, 2, 11
Sees = Callable[
    [Answer, str, int], bool
]  # an answer, the words of the newest line, how many lines were appended


class Growing:
    """A session that is written now; its lines are a second old, or a little more."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.n = 0
        self._log: Log = working_day()
        self._began = datetime.now(UTC) - timedelta(minutes=5)
        self._write()

    def append(self) -> str:
        """Write one line; the words in it are nowhere else."""
        self.n += 1
        words = f"zanzibar{self.n}"
        call = tool(f"toolu_{words}", f"Tool{self.n}", command=f"echo {words}")
        self._log.answer(f"msg_{words}", words, stop="end_turn")
        line = self._log.lines[-1]
        line["message"]["content"].append(call)
        line["message"]["usage"] = {"input_tokens": 4000 * self.n, "output_tokens": 1}
        self._write()
        return words

    def _write(self) -> None:
        for n, line in enumerate(self._log.lines):
            at = self._began + timedelta(seconds=n)
            line["timestamp"] = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._log.write_in(self.home)


def says(answer: Answer, words: str, _: int) -> bool:
    return words in answer.out


def counts(find: Callable[[Any], object], before: int) -> Sees:
    return lambda answer, _, n: find(answer.json) == before + n


def all_requests(document: Any) -> object:
    return document["total"]["requests"]


PATH = "PATH"  # of the log
COMMANDS: dict[str, Sees] = {
    "sessions --json": counts(lambda told: told["sessions"][0]["requests"], REQUESTS),
    f"show {ONE} --json": says,
    "show @last": says,
    f"show {PATH}": says,
    f"final {ONE} --last-text": says,
    "calls --json": says,
    f"calls {ONE} --json": counts(lambda told: len(told["calls"]), CALLS),
    f"agents {ONE} --json": counts(lambda told: told["threads"][0]["requests"], REQUESTS),
    f"graph {ONE} --json": counts(lambda told: int(told["branches"][0]["to"][2:]), LINES),
    "usage --json": counts(all_requests, REQUESTS),
    "usage session --json": counts(all_requests, REQUESTS),
    "usage tool --json": lambda answer, _, n: f'"Tool{n}"' in answer.out,
    "usage --count every-line --json": lambda answer, _, n: f'"input_tokens": {_input(n)}' in answer.out,
    f"carried {ONE} --json": lambda answer, _, n: answer.json["cost_micro_usd"] == _cost(n),
    "search PHRASE": says,
    "sql --json select_requests": counts(lambda told: told["rows"][0][0], REQUESTS),
    "sql --json select_ledger": counts(lambda told: told["rows"][0][0], REQUESTS),
    "sql --json select_calls": counts(lambda told: told["rows"][0][0], CALLS),
    "top --once --all --json": says,
    f"records {PATH} --json": lambda answer, _, n: len(answer.rows) == LINES + n,
    "doctor --json": counts(lambda told: sum(one["lines"] for one in told["coverage"]), LINES),
    "verify --json": counts(lambda told: told["files"][0]["lines"], LINES),
    "places --json": lambda answer, _, __: _bytes_told(answer) == _bytes_there(answer),
    "scan --json": lambda answer, _, __: answer.json["scanned"]["new_bytes"] > 0,
}
SQL = {f"select_{view}": f"select count(*) from {view}" for view in ("requests", "ledger", "calls")}


def _input(n: int) -> int:
    """The sum of input tokens over all lines that have any; each of the first seven has one."""
    return 7 + 4000 * n * (n + 1) // 2


def _bytes_told(answer: Answer) -> int:
    return sum(one["bytes"] for one in answer.json["places"])


def _bytes_there(answer: Answer) -> int:
    folders = {one["path"] for one in answer.json["places"]}
    return sum(log.stat().st_size for folder in folders for log in Path(folder).rglob("*.jsonl"))


def _cost(n: int) -> int:
    """In micro-dollars: a token in for 5 $ a million, one out for 25 $."""
    return REQUESTS * PRICE + 5 * 4000 * n * (n + 1) // 2 + 25 * n


def ask(growing: Growing, question: str, words: str) -> Answer:
    given = {PATH: str(transcript_in(growing.home)), "PHRASE": words, **SQL}
    return tracklog(*(given.get(word, word) for word in question.split()), home=growing.home)


@pytest.mark.parametrize("is_indexed", [True, False], ids=["with an index", "without"])
def test_every_command_sees_it(is_indexed: bool, tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    if is_indexed:
        tracklog("index", home=tmp_path)
    unseen = []
    for question, sees in COMMANDS.items():
        words = growing.append()
        answer = ask(growing, question, words)
        if answer.code != 0 or not sees(answer, words, growing.n):
            unseen.append((question, answer.code, answer.err, answer.out[-400:]))
    assert unseen == []


def test_the_status_line_of_a_client_that_does_not_tell_its_context_sees_it(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    for _ in range(3):
        growing.append()
        used = 4000 * growing.n * 100 // 200_000
        assert f"{used}%" in status_line(tmp_path), growing.n


def status_line(home: Path) -> str:
    told = {"session_id": ONE, "transcript_path": str(transcript_in(home)), "version": "1.0.80"}
    said = fork_server.run(
        ["statusline"], env=environment(home), cwd=home, timeout_s=60, stdin=json.dumps(told).encode()
    )
    return said.stdout.decode()


DOCUMENTS: dict[str, Sees] = {
    "/api/v1/sessions": COMMANDS["sessions --json"],
    f"/api/v1/show/{ONE}": says,
    f"/api/v1/final/{ONE}?last-text=1": says,
    "/api/v1/calls": says,
    f"/api/v1/calls/{ONE}": COMMANDS[f"calls {ONE} --json"],
    f"/api/v1/agents/{ONE}": COMMANDS[f"agents {ONE} --json"],
    f"/api/v1/graph/{ONE}": COMMANDS[f"graph {ONE} --json"],
    "/api/v1/usage": COMMANDS["usage --json"],
    "/api/v1/usage/tool": COMMANDS["usage tool --json"],
    "/api/v1/search?q=PHRASE": says,
    "/api/v1/top?all=1": says,
    "/api/v1/doctor": COMMANDS["doctor --json"],
    "/api/v1/index": counts(lambda told: told["lines"], LINES),
}
PAGES = [
    "/",
    "/_/board",
    "/sessions?tool=TOOL",
    "/calls?tool=TOOL",
    "/search?q=PHRASE",
    "/_/search?q=PHRASE",
    f"/s/claude/{ONE}",
]


def test_every_document_and_page_sees_it(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    with served(tmp_path, "--no-open", makes_logs=False) as server:
        until(lambda: server.json("/api/v1/index")["status"]["state"] == "fresh")
        unseen = []
        for target, sees in DOCUMENTS.items():
            words = growing.append()
            answer = asked(server, target.replace("PHRASE", words))
            if not sees(answer, words, growing.n):
                unseen.append((target, answer.code, answer.out[-400:]))
        assert unseen == []
        for page in PAGES:
            words = growing.append()
            target = page.replace("PHRASE", words).replace("TOOL", f"Tool{growing.n}")
            sign = "Fix the test." if page.startswith("/sessions") else words
            until(partial(shows, server, target, sign))


def shows(server: Served, target: str, sign: str) -> bool:
    return sign in asked(server, target).out


def asked(server: Served, target: str) -> Answer:
    got = server.get(target)
    return Answer(got.status, got.body.decode(), "")
