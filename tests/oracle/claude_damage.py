"""Cases of Claude Code: what never came to an end, what never reached the transcript, and torn bytes."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.logs import (
    DAY,
    NOON,
    OPUS,
    SONNET,
    ClaudeLog,
    Files,
    Json,
    claude,
    dumps,
    later,
    message_id,
    request_id,
    session_id,
    text,
    tool_use,
    usage,
)
from tests.oracle.truth import Case, Count, HiddenSpent, Spent, Truth

ONE, TWO = session_id(1), session_id(2)
PATH = f".claude/projects/-home-dev-project/{ONE}.jsonl"


def cases() -> Iterator[Case]:
    """All of this page."""
    yield from unfinished()
    yield from said_by_the_client()
    yield from hidden()
    yield from torn()


def unfinished() -> Iterator[Case]:
    """Requests whose last word is not on disk."""
    yield killed_run()
    yield cut_stream()
    yield reply_without_usage()
    yield prompt_without_answer()


def killed_run() -> Case:
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(3, 40), request=request_id(1), content=[tool_use("toolu_1")])
    log.result("toolu_1")
    log.reply(message_id(2), usage(4, 2, read=600), request=request_id(2), stop=None)
    spent = [
        Spent(ONE, OPUS, DAY, Count(3, 40)),
        Spent(ONE, OPUS, DAY, Count(4, 2, 0, 600), certainty="partial"),
    ]
    proves = "a placeholder is a lower bound, and said to be one"
    return Case("killed run", proves, claude(log), Truth(spent))


def cut_stream() -> Case:
    """2.1.197 invents an `end_turn` when the stream breaks; only the error behind it tells."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(3, 5), request=request_id(1))
    _says_error(log, "API Error: Connection closed mid-response. The response above may be incomplete.")
    spent = [Spent(ONE, OPUS, DAY, Count(3, 5), certainty="partial")]
    proves = "an invented stop reason does not make a placeholder final"
    return Case("stream cut mid-response", proves, claude(log), Truth(spent))


def reply_without_usage() -> Case:
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), None, request=request_id(1))
    log.prompt()
    log.reply(message_id(2), usage(4, 9), request=request_id(2))
    spent = [Spent(ONE, OPUS, DAY, Count(), certainty="missing"), Spent(ONE, OPUS, DAY, Count(4, 9))]
    return Case("reply without usage", "a request without figures is missing", claude(log), Truth(spent))


def prompt_without_answer() -> Case:
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(4, 9), request=request_id(1))
    log.prompt("And then?")
    spent = [Spent(ONE, OPUS, DAY, Count(4, 9)), Spent(ONE, None, DAY, Count(), "missing", "awaited")]
    proves = "a turn that awaits its answer has a request that is not on disk"
    return Case("prompt without an answer", proves, claude(log), Truth(spent))


def _says_error(log: ClaudeLog, words: str) -> None:
    used = usage() | {"service_tier": None}
    log.reply(
        "0a0a0a0a-0000-4000-8000-000000000000",
        used,
        model="<synthetic>",
        stop="stop_sequence",
        content=[text(words)],
        isApiErrorMessage=True,
    )


def said_by_the_client() -> Iterator[Case]:
    """Words in the model's name that no model said."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply("0b0b0b0b-0000-4000-8000-000000000000", usage(), model="<synthetic>", stop="stop_sequence")
    log.prompt()
    log.reply(message_id(1), usage(4, 9), request=request_id(1))
    truth = Truth([Spent(ONE, OPUS, DAY, Count(4, 9))])
    yield Case("<synthetic>", "the client's own words cost nothing", claude(log), truth)
    log = ClaudeLog(ONE)
    log.prompt()
    for _ in range(3):
        _says_error(log, "API Error: 529 Overloaded")
    log.prompt("Again.")
    log.reply(message_id(1), usage(4, 9), request=request_id(1))
    yield Case("API errors", "refused requests cost nothing", claude(log), truth)


def _cost_state(models: dict[str, Count]) -> Json:
    names = ("inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
    stated = {
        model: dict(zip(names, count.four, strict=True))
        | {"webSearchRequests": count.searches, "costUSD": sum(count.four) / 1000}
        for model, count in models.items()
    }
    total = sum(model["costUSD"] for model in stated.values())
    return {"type": "cost-state", "totalCostUSD": total, "modelUsage": stated}


def _micro_usd(*counts: Count) -> int:
    """What such sums say that it cost: a thousandth of a dollar for a token."""
    return sum(sum(count.four) for count in counts) * 1000


def hidden() -> Iterator[Case]:
    """What the client's own sums know and the transcript does not."""
    yield hidden_compact()
    yield hidden_search()
    yield hidden_before_a_kill()
    yield hidden_in_a_parent()


def _worked(log: ClaudeLog, n: int) -> Spent:
    log.prompt()
    log.reply(message_id(n), usage(4, 10 * n, read=100), request=request_id(n))
    return Spent(log.session, OPUS, DAY, Count(4, 10 * n, 0, 100))


def hidden_compact() -> Case:
    """Cumulative over resumes: the last one counts. [1m] is a name of the same model."""
    log = ClaudeLog(ONE)
    one = _worked(log, 1)
    log.note(_cost_state({OPUS: one.tokens}))
    two = _worked(log, 2)
    compact = Count(77777, 650)
    both = one.tokens.plus(two.tokens).plus(compact)
    log.note(_cost_state({f"{OPUS}[1m]": both}))
    log.note(_cost_state({f"{OPUS}[1m]": both}))
    truth = Truth([one, two], [HiddenSpent(ONE, OPUS, compact)], _micro_usd(both))
    return Case("hidden /compact", "cost-state minus transcript is hidden", claude(log), truth)


def hidden_search() -> Case:
    log = ClaudeLog(ONE)
    one = _worked(log, 1)
    search = Count(3000, 200, searches=3)
    log.note(_cost_state({OPUS: one.tokens, SONNET: search}))
    truth = Truth([one], [HiddenSpent(ONE, SONNET, search)], _micro_usd(one.tokens, search))
    return Case("hidden web search", "a search's own request is hidden", claude(log), truth)


def hidden_before_a_kill() -> Case:
    """The last run was killed: its requests are behind the last sum and must not eat up what it reveals."""
    log = ClaudeLog(ONE)
    one = _worked(log, 1)
    compact = Count(500, 60)
    log.note(_cost_state({OPUS: one.tokens.plus(compact)}))
    two = _worked(log, 2)
    truth = Truth([one, two], [HiddenSpent(ONE, OPUS, compact)], _micro_usd(one.tokens, compact))
    proves = "a sum is held against what stood before it"
    return Case("hidden, then killed", proves, claude(log), truth)


def hidden_in_a_parent() -> Case:
    """A fork's sum starts from its parent's, hidden calls included."""
    parent, fork = ClaudeLog(ONE), ClaudeLog(TWO, at=later(NOON, seconds=600))
    one = _worked(parent, 1)
    fork.copy(parent.records)
    compact = Count(500, 60)
    parent.note(_cost_state({OPUS: one.tokens.plus(compact)}))
    two = _worked(fork, 2)
    fork.note(_cost_state({OPUS: one.tokens.plus(compact).plus(two.tokens)}))
    stated = _micro_usd(one.tokens, compact, two.tokens)
    truth = Truth([one, two], [HiddenSpent(ONE, OPUS, compact)], stated)
    proves = "what a parent hid is not hidden a second time by its fork"
    return Case("hidden in a fork's parent", proves, claude(parent, fork), truth)


def _two_requests() -> tuple[ClaudeLog, Truth]:
    log = ClaudeLog(ONE)
    return log, Truth([_worked(log, 1), _worked(log, 2)])


def torn() -> Iterator[Case]:
    """Bytes that no client should write, and some did."""
    log, truth = _two_requests()
    lines = [line if isinstance(line, bytes) else dumps(line) for line in log.records]

    def case(name: str, proves: str, data: bytes) -> Case:
        files: Files = {PATH: data}
        return Case(name, proves, files, truth)

    whole = log.bytes()
    yield case("CRLF", "line ends of another system", log.bytes(end=b"\r\n"))
    yield case("BOM", "a mark before the first record", b"\xef\xbb\xbf" + b"\n".join(lines[1:]) + b"\n")
    yield case("blanks after colons", "other writers put blanks", log.bytes(blanks=True))
    yield case("no last newline", "the last line may still be growing", whole[:-1])
    yield case(
        "run of NULs", "a crash leaves zeros", lines[0] + b"\n" + bytes(64) + b"\n".join(lines[1:]) + b"\n"
    )
    wreck = lines[3][: len(lines[3]) // 2]
    torn = b"\n".join([*lines[:3], wreck + lines[3]]) + b"\n"
    yield case("torn line with a record behind it", "the good record on a torn line counts", torn)
    glued = b"\n".join([lines[0], lines[1] + lines[2], lines[3]]) + b"\n"
    yield case("two records on a line", "a lost newline loses nothing", glued)
    yield case("not UTF-8", "one bad byte spoils one character", whole.replace(b"Fine.", b"F\xe9ne."))
    separators = whole.replace(b"Fine.", "F\u2028i\u0085ne.".encode())
    yield case("line separators inside a text", "a line ends with \\n alone", separators)
    doubled = whole.replace(b'"output_tokens":', b'"output_tokens":1,"output_tokens":')
    yield case("key given twice", "the last one counts, as for the client itself", doubled)
    deep = b'{"type":"user","x":' + b"[" * 300 + b"]" * 300 + b"}\n"
    yield case("deep nesting and blank lines", "odd lines are passed over", b"\n\n" + deep + whole)
