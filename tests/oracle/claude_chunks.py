"""Cases of Claude Code: which of the records of one request counts."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.logs import (
    DAY,
    NOON,
    OPUS,
    SONNET,
    ClaudeLog,
    claude,
    later,
    message_id,
    request_id,
    session_id,
    text,
    tool_use,
    usage,
)
from tests.oracle.truth import Case, Count, Spent, Truth

ONE, TWO = session_id(1), session_id(2)


def cases() -> Iterator[Case]:
    """All of this page."""
    yield growing_chunks()
    yield first_chunk_with_more_input()
    yield interleaved_messages()
    yield chunks_in_other_files()
    yield model_fallback_within_a_message()
    yield equal_usage_of_two_requests()
    yield request_ids_that_differ()
    yield late_final_chunk()
    yield sidechain_in_the_main_file()
    yield message_over_midnight()


def growing_chunks() -> Case:
    """Placeholders first: in agents' files to this day, everywhere before 2.1.97."""
    log = ClaudeLog(ONE)
    log.prompt()
    blocks = [text(), tool_use("toolu_1"), tool_use("toolu_2")]
    for block, output, stop in zip(blocks, (1, 1, 260), (None, None, "tool_use"), strict=True):
        used = usage(3, output, write=900, read=15000)
        log.reply(message_id(1), used, request=request_id(1), stop=stop, content=[block])
    log.result("toolu_1")
    log.result("toolu_2")
    log.reply(message_id(2), usage(5, 40, write=100, read=15900), request=request_id(2))
    spent = [
        Spent(ONE, OPUS, DAY, Count(3, 260, 900, 15000, write_5m=900)),
        Spent(ONE, OPUS, DAY, Count(5, 40, 100, 15900, write_5m=100)),
    ]
    return Case("growing chunks", "the output of the last chunk counts, once", claude(log), Truth(spent))


def first_chunk_with_more_input() -> Case:
    """As MiniMax's gateway does it: the start guesses the input, the end knows it."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(65464, 0), request=request_id(1), stop=None)
    log.reply(message_id(1), usage(63344, 475), request=request_id(1))
    spent = [Spent(ONE, OPUS, DAY, Count(63344, 475))]
    proves = (
        "the winner is one whole record, the one with most output: not the largest total, not field by field"
    )
    return Case("more input in the first chunk", proves, claude(log), Truth(spent))


def interleaved_messages() -> Case:
    log = ClaudeLog(ONE)
    log.prompt()
    for output, stop in ((1, None), (33, "tool_use")):
        log.reply(message_id(1), usage(3, output, read=1000), request=request_id(1), stop=stop)
        log.reply(message_id(2), usage(4, output * 2, read=2000), request=request_id(2), stop=stop)
    spent = [
        Spent(ONE, OPUS, DAY, Count(3, 33, 0, 1000)),
        Spent(ONE, OPUS, DAY, Count(4, 66, 0, 2000)),
    ]
    proves = "chunks of one message need not stand together"
    return Case("interleaved chunks of two messages", proves, claude(log), Truth(spent))


def chunks_in_other_files() -> Case:
    """A checkpoint's or a handed-over session's file ends with a chunk that the next file finishes."""
    first, second = ClaudeLog(ONE), ClaudeLog(TWO, at=later(NOON, seconds=60))
    first.prompt()
    first.reply(message_id(1), usage(7, 2, write=50, read=900), request=request_id(1), stop=None)
    second.reply(message_id(1), usage(7, 310, write=50, read=900), request=request_id(1))
    spent = [Spent(ONE, OPUS, DAY, Count(7, 310, 50, 900, write_5m=50))]
    proves = "one id is one request over all files; it belongs to the session that wrote it first"
    return Case("chunks in two files", proves, claude(first, second), Truth(spent))


def model_fallback_within_a_message() -> Case:
    """Mid-stream fallback: one id, two models, other cache figures."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(3, 4, write=800), request=request_id(1), stop=None)
    log.reply(message_id(1), usage(5, 90, read=700), request=request_id(1), model=SONNET)
    spent = [Spent(ONE, SONNET, DAY, Count(5, 90, 0, 700))]
    proves = "model and figures come from the same record"
    return Case("fallback to another model mid-message", proves, claude(log), Truth(spent))


def equal_usage_of_two_requests() -> Case:
    log = ClaudeLog(ONE)
    log.prompt()
    for n in (1, 2):
        log.reply(message_id(n), usage(3, 20, read=5000), request=request_id(n))
        log.prompt()
    log.reply(message_id(3), usage(3, 20, read=5000), request=request_id(3))
    spent = [Spent(ONE, OPUS, DAY, Count(3, 20, 0, 5000))] * 3
    proves = "equal figures do not make two requests one"
    return Case("three requests with equal usage", proves, claude(log), Truth(spent))


def request_ids_that_differ() -> Case:
    """/btw wrote the whole conversation to an agent's file: ids kept, request ids new."""
    log, aside = ClaudeLog(ONE), ClaudeLog(ONE, at=later(NOON, seconds=60), sidechain=True, agent="b1")
    log.prompt()
    log.reply(message_id(1), usage(3, 50, write=600, w1h=600), request=request_id(1))
    aside.reply(message_id(1), usage(3, 50, write=600, w1h=600), request=request_id(7))
    aside.prompt("By the way?")
    aside.reply(message_id(2), usage(9, 12, read=600), request=request_id(8))
    spent = [
        Spent(ONE, OPUS, DAY, Count(3, 50, 600, 0, write_1h=600)),
        Spent(ONE, OPUS, DAY, Count(9, 12, 0, 600)),
    ]
    proves = "the request id is no part of the key"
    return Case("side question with new request ids", proves, claude(log, b1=aside), Truth(spent))


def late_final_chunk() -> Case:
    """A tool's result, an attachment and a metadata line stand between the chunks."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(
        message_id(1), usage(2, 1, read=400), request=request_id(1), stop=None, content=[tool_use("toolu_1")]
    )
    log.result("toolu_1")
    log.add({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and then?"}})
    log.note({"type": "last-prompt", "lastPrompt": "Please go on."})
    log.reply(message_id(1), usage(2, 77, read=400), request=request_id(1), content=[tool_use("toolu_2")])
    log.result("toolu_2")
    log.reply(message_id(2), usage(2, 8, read=480), request=request_id(2))
    spent = [Spent(ONE, OPUS, DAY, Count(2, 77, 0, 400)), Spent(ONE, OPUS, DAY, Count(2, 8, 0, 480))]
    proves = "a result between two chunks of a real id does not split the message"
    return Case("chunks with a result between them", proves, claude(log), Truth(spent))


def sidechain_in_the_main_file() -> Case:
    """1.0.x and 2.0.x wrote subagents' lines into the session's own file."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(
        message_id(1),
        usage(4, 60, read=100),
        request=request_id(1),
        content=[tool_use("toolu_1", name="Task")],
    )
    log.prompt("look into it", isSidechain=True)
    log.reply(
        message_id(2),
        usage(8, 25, write=70),
        request=request_id(2),
        model=SONNET,
        isSidechain=True,
        stop=None,
    )
    log.reply(message_id(2), usage(8, 25, write=70), request=request_id(2), model=SONNET, isSidechain=True)
    log.result("toolu_1")
    log.reply(message_id(3), usage(5, 61, read=160), request=request_id(3))
    spent = [
        Spent(ONE, OPUS, DAY, Count(4, 60, 0, 100)),
        Spent(ONE, SONNET, DAY, Count(8, 25, 70, 0, write_5m=70)),
        Spent(ONE, OPUS, DAY, Count(5, 61, 0, 160)),
    ]
    proves = "subagents' requests count, wherever they stand"
    return Case("sidechain in the main file", proves, claude(log), Truth(spent))


def message_over_midnight() -> Case:
    log = ClaudeLog(ONE, at="2026-03-04T23:59:57.500Z")
    log.prompt()
    log.reply(message_id(1), usage(6, 3, read=10), request=request_id(1), stop=None)
    log.reply(message_id(1), usage(6, 44, read=10), request=request_id(1))
    log.prompt()
    log.reply(message_id(2), usage(7, 45, read=20), request=request_id(2))
    spent = [
        Spent(ONE, OPUS, DAY, Count(6, 44, 0, 10)),
        Spent(ONE, OPUS, "2026-03-05", Count(7, 45, 0, 20)),
    ]
    proves = "a request belongs to the day of its first chunk"
    return Case("chunks on both sides of midnight", proves, claude(log), Truth(spent))
