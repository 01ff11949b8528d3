"""Cases of Codex: a running total that is repeated, reset, estimated, copied and continued."""

from __future__ import annotations

from collections.abc import Iterator

import zstandard

from tests.oracle.logs import (
    CODEX,
    DAY,
    CodexLog,
    Json,
    added,
    codex,
    thread_id,
    tokens,
    turn_id,
)
from tests.oracle.truth import Case, Count, Spent, Truth

ONE = thread_id(1)
FIRST = tokens(5434, 563, cached=5000, reasoning=63)
SECOND = tokens(5705, 243, cached=5100, reasoning=16)
THIRD = tokens(6481, 69, cached=5600)
FIRST_SPENT = Spent(ONE, CODEX, DAY, Count(434, 563, 0, 5000, reasoning=63))
SECOND_SPENT = Spent(ONE, CODEX, DAY, Count(605, 243, 0, 5100, reasoning=16))
THIRD_SPENT = Spent(ONE, CODEX, DAY, Count(881, 69, 0, 5600))


def cases() -> Iterator[Case]:
    """All of this page."""
    yield re_emission()
    yield equal_requests()
    yield info_null()
    yield overflow()
    yield estimate()
    yield rollback()
    yield from odd_figures()
    yield from models()
    yield from forms_of_a_file()
    yield from records_per_response()
    yield killed()
    yield count_first()


def _two() -> CodexLog:
    log = CodexLog(ONE)
    log.turn()
    log.counted(FIRST)
    log.counted(SECOND)
    return log


def _case(name: str, proves: str, log: CodexLog, *more: Spent) -> Case:
    return Case(name, proves, codex(log), Truth([FIRST_SPENT, SECOND_SPENT, *more]))


def re_emission() -> Case:
    """After each change of a rate limit, and at the start of each later request, the last count is repeated."""
    log = CodexLog(ONE)
    log.turn()
    log.counted(FIRST)
    log.count(last=FIRST, total=log.total)
    log.count(last=FIRST, total=log.total)
    log.counted(SECOND)
    log.count(last=SECOND, total=log.total)
    return _case("re-emission", "an unchanged total is a repetition", log)


def equal_requests() -> Case:
    log = CodexLog(ONE)
    log.turn()
    for _ in range(3):
        log.counted(FIRST)
    truth = Truth([FIRST_SPENT] * 3)
    proves = "equal usage twice is real when the total grows"
    return Case("equal usage, growing total", proves, codex(log), truth)


def info_null() -> Case:
    log = CodexLog(ONE)
    log.turn()
    log.count()
    log.counted(FIRST)
    log.count()
    log.counted(SECOND)
    return _case("info null", "rate limits alone are no request", log)


def overflow() -> Case:
    """The context overflows: the client overwrites its total with zeros, but for the window's size."""
    log = _two()
    full = tokens(0, 0) | {"total_tokens": 272000}
    log.total = full
    log.count(last=tokens(0, 0) | {"total_tokens": 260055}, total=full)
    log.counted(THIRD)
    return _case("zero reset on overflow", "a total that falls starts anew", log, THIRD_SPENT)


def estimate() -> Case:
    log = _two()
    log.add("compacted", {"message": "", "replacement_history": []})
    log.count(last=tokens(0, 0) | {"total_tokens": 6008}, total=log.total)
    log.count(last=tokens(0, 0) | {"total_tokens": 6008}, total=log.total)
    log.counted(THIRD)
    return _case("estimate after compaction", "an estimate of the context is no request", log, THIRD_SPENT)


def rollback() -> Case:
    log = _two()
    log.event("thread_rolled_back", num_turns=1)
    log.turn()
    log.counted(THIRD)
    return _case("rollback", "what was taken back was paid for", log, THIRD_SPENT)


def odd_figures() -> Iterator[Case]:
    """Counts that do not add up."""
    log = CodexLog(ONE)
    log.turn()
    log.counted(tokens(100, 10, cached=150))
    truth = Truth([Spent(ONE, CODEX, DAY, Count(0, 10, 0, 150))])
    yield Case("cached more than input", "uncached input is never below 0", codex(log), truth)

    log = CodexLog(ONE)
    log.turn()
    log.counted(tokens(1000, 10, cached=600, write=300))
    truth = Truth([Spent(ONE, CODEX, DAY, Count(100, 10, 300, 600))])
    yield Case("cache writes", "written input is neither read nor uncached", codex(log), truth)

    log = CodexLog(ONE)
    log.turn()
    for last in (FIRST, SECOND):
        log.said()
        log.total = {k: log.total[k] + last[k] for k in last if k != "total_tokens"} | {"total_tokens": 0}
        log.count(last=_without_total(last), total=_without_total(log.total))
    yield _case("without total_tokens", "the sum of sums is not needed", log)

    log = CodexLog(ONE)
    log.turn()
    for last in (FIRST, SECOND):
        log.said()
        log.count(last=last)
    yield _case("last alone", "early clients gave no running total", log)

    log = CodexLog(ONE)
    log.turn()
    for last in (FIRST, SECOND):
        log.said()
        log.total = {key: log.total[key] + last[key] for key in last}
        log.count(total=log.total)
    yield _case("total alone", "the difference of two totals is a request", log)


def _without_total(used: Json) -> Json:
    return {key: value for key, value in used.items() if key != "total_tokens"}


def models() -> Iterator[Case]:
    """Which model it was is said for a turn, not for a request."""
    log = CodexLog(ONE)
    log.turn()
    log.counted(FIRST)
    log.turn(model="gpt-5.1")
    log.counted(SECOND)
    truth = Truth([FIRST_SPENT, SECOND_SPENT._replace(model="gpt-5.1")])
    yield Case("change of model", "the latest turn_context names the model", codex(log), truth)

    log = CodexLog(ONE)
    log.event("user_message", message="Please go on.")
    log.counted(FIRST)
    truth = Truth([FIRST_SPENT._replace(model=None)])
    yield Case("no turn_context", "a model that is not named is not guessed", codex(log), truth)


def forms_of_a_file() -> Iterator[Case]:
    """The same lines in other clothes."""
    log = _two()
    truth = Truth([FIRST_SPENT, SECOND_SPENT])
    packed = zstandard.ZstdCompressor().compress(log.bytes())
    yield Case(".jsonl.zst", "cold rollouts are compressed", {f"{log.path}.zst": packed}, truth)
    yield Case(
        "both forms", "the plain file is the same thread", {**codex(log), f"{log.path}.zst": packed}, truth
    )
    blanks = {log.path: log.bytes(blanks=True)}
    yield Case("blanks after colons, Codex", "other writers put blanks", blanks, truth)
    archived = {f".codex/archived_sessions/{log.path.rpartition('/')[2]}": log.bytes()}
    yield Case("archived", "archiving moves a file", archived, truth)
    older = _two()
    older.records = older.records[:-2]
    name = log.path.replace("12-00-00", "12-00-01")
    yield Case(
        "two snapshots of a thread",
        "one thread, whatever the files",
        {name: older.bytes(), **codex(log)},
        truth,
    )


def records_per_response() -> Iterator[Case]:
    """Late clients write one record per response beside their counts."""
    log = CodexLog(ONE, ordinals=True, history_mode="paginated")
    turn = turn_id(1, 1)
    log.turn(turn)
    for n, last in enumerate((FIRST, SECOND)):
        log.counted(last, response=f"resp_{n}", turn=turn)
    yield _case("records beside counts", "one response is counted once", log)

    log = CodexLog(ONE, ordinals=True, history_mode="paginated")
    log.turn(turn)
    log.said()
    log.used(FIRST, response="resp_0", turn=turn)  # killed before its count; the total never hears of it
    log.turn(turn_id(1, 2))
    log.counted(SECOND, response="resp_1", turn=turn_id(1, 2))
    yield _case("record whose count was lost", "a killed run still wrote its record", log)

    log = CodexLog(ONE)
    log.turn(turn)
    log.counted(FIRST)
    log.turn(turn_id(1, 2))
    log.counted(SECOND, response="resp_1", turn=turn_id(1, 2))
    yield _case("old thread, later client", "counts hold where no record stands", log)


def killed() -> Case:
    """0.98 killed between a response and its count."""
    log = _two()
    call: Json = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_1"}
    log.add("response_item", call)
    lost = Spent(ONE, CODEX, DAY, Count(), certainty="missing")
    return _case("killed before the count", "a response without a count is missing", log, lost)


def count_first() -> Case:
    """Up to 0.50 the count of a response stood before its items."""
    log = CodexLog(ONE)
    log.turn()
    for last in (FIRST, SECOND):
        log.total = added(log.total, last)
        log.count(last=last, total=log.total)
        log.said()
    return _case("count before its response", "the last response is counted, though no count follows", log)
