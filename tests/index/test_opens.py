"""How often an index opens a log: once where few logs are new, at most three times where many are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.index.known_homes import (
    Made,
    append,
    claude_session,
    codex_session,
    transcript,
    two_sessions,
    write,
)
from tests.oracle.logs import CodexLog, message_id, thread_id, tool_use, usage
from tracklog.index.rebuild import with_index
from tracklog.index.refresh import Refreshed, RefreshSteps, refresh
from tracklog.ledger.prices.rates import Prices
from tracklog.store.database import DamagedIndex, Database

MANY = 70  # more of each agent than stay open
MOST = 3  # to see to which session it belongs, to read it, and to see whether it repeats the usage of another


def index(made: Made) -> Refreshed:
    """Bring the index up to date with all steps, as `tracklog index` does."""
    prices = Prices.load()

    def work(database: Database) -> Refreshed:
        steps = RefreshSteps(load_prices=lambda: prices, tends_archive=True)
        return refresh(database, made.roots, steps)

    return with_index(made.home, work, on_damage=_never)


def _never(damage: DamagedIndex, aside: Path) -> None:
    raise AssertionError(f"{aside.name}: {damage}")


def opens_per_log(made: Made, opened: list[str]) -> dict[str, int]:
    """How often each log was opened by its path, which is given from the folder of both homes on."""
    logs = {str(path): str(path.relative_to(made.top)) for path in made.logs()}
    return dict(Counter(logs[path] for path in opened if path in logs))


def home_of_both(top: Path) -> Made:
    """A session of each agent: with a subagent, an output file, a fork in the same project and one of Codex."""
    made = two_sessions(top)
    output = transcript(made, claude_session(1).session).with_suffix("") / "tool-results" / "b1.txt"
    write(output, b"long output\n" * 5000)
    one, fork = claude_session(1), claude_session(3)
    one.reply(message_id(9), usage(1, 1), stop="tool_use", content=[tool_use("toolu_long")])
    one.result("toolu_long", toolUseResult={"stdout": "long", "persistedOutputPath": str(output)})
    fork.records[:0] = one.records
    write(transcript(made, one.session), one.bytes())
    write(transcript(made, fork.session), fork.bytes())
    heir = CodexLog(thread_id(5), forked_from_id=thread_id(2))
    heir.replay(codex_session(2))
    heir.event("user_message", message="Go on.")
    write(top / heir.path, heir.bytes())
    write(made.codex / "history.jsonl", b'{"session_id":"x","ts":1,"text":"hello"}\n')
    return made


def home_of_many(top: Path) -> Made:
    """More logs of both agents than stay open, in sessions that share nothing."""
    made = Made(top)
    for n in range(MANY):
        one = claude_session(n)
        write(transcript(made, one.session), one.bytes())
        below = transcript(made, one.session).with_suffix("") / "subagents"
        write(below / f"agent-a{n}.jsonl", claude_session(n, agent=f"a{n}").bytes())
        other = codex_session(n)
        write(top / other.path, other.bytes())
    return made


def test_where_few_logs_are_new_each_is_opened_once(tmp_path: Path, opened_files: list[str]) -> None:
    made = home_of_both(tmp_path)
    opened_files.clear()
    index(made)
    opens = opens_per_log(made, opened_files)
    assert opens == {str(path.relative_to(made.top)): 1 for path in made.logs()}


def test_where_few_logs_have_grown_each_is_opened_once(tmp_path: Path, opened_files: list[str]) -> None:
    made = home_of_both(tmp_path)
    index(made)
    grown = [path for path in made.logs() if path.name.startswith(("agent-a1.jsonl", "rollout-"))]
    for path in grown:
        append(path, path.read_bytes().splitlines(keepends=True)[-1])
    opened_files.clear()
    index(made)
    opens = opens_per_log(made, opened_files)
    assert {path: opens.get(str(path.relative_to(made.top))) for path in grown} == dict.fromkeys(grown, 1)
    assert set(opens.values()) == {1}


def test_where_many_logs_are_new_none_is_opened_more_than_three_times(
    tmp_path: Path, opened_files: list[str]
) -> None:
    made = home_of_many(tmp_path)
    opened_files.clear()
    index(made)
    opens = opens_per_log(made, opened_files)
    assert len(opens) == 3 * MANY
    assert {path: n for path, n in opens.items() if n > MOST} == {}
