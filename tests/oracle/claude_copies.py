"""Cases of Claude Code: the same request in several places, and different ones under the same name."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.logs import (
    DAY,
    HAIKU,
    NOON,
    OPUS,
    ClaudeLog,
    claude,
    later,
    message_id,
    request_id,
    session_id,
    tool_use,
    usage,
)
from tests.oracle.truth import Case, Count, Spent, Truth

ONE, TWO, THREE = session_id(5), session_id(2), session_id(7)  # parents need not sort first
GATEWAY = "minimax-m2"


def cases() -> Iterator[Case]:
    """All of this page."""
    yield fork_with_mark()
    yield fork_without_mark()
    yield fork_of_a_session_that_goes_on()
    yield fork_of_a_fork()
    yield fork_whose_parent_is_gone()
    yield resumed_prefix()
    yield same_file_in_two_homes()
    yield progress_only()
    yield progress_and_own_file()
    yield progress_with_more_output()
    yield gateway_ids_in_one_file()
    yield gateway_id_with_chunks()
    yield gateway_ids_over_files()
    yield gateway_copies_over_files()
    yield second_clock_ids()
    yield empty_id_with_request_id()
    yield empty_id_with_uuid()


def _begun() -> ClaudeLog:
    """Two requests, in the first session."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(3, 1, write=500, w1h=500), request=request_id(1), stop=None)
    log.reply(message_id(1), usage(3, 120, write=500, w1h=500), request=request_id(1))
    log.prompt()
    log.reply(message_id(2), usage(4, 80, write=30, w1h=30, read=500), request=request_id(2))
    return log


BEGUN = [
    Spent(ONE, OPUS, DAY, Count(3, 120, 500, 0, write_1h=500)),
    Spent(ONE, OPUS, DAY, Count(4, 80, 30, 500, write_1h=30)),
]
GONE_ON = Count(5, 90, 20, 530, write_1h=20)


def _goes_on(log: ClaudeLog, n: int) -> None:
    log.prompt("Another way, please.")
    log.reply(message_id(n), usage(5, 90, write=20, w1h=20, read=530), request=request_id(n))


def fork_with_mark() -> Case:
    """As /branch writes it: each copied line says where it is from."""
    parent, fork = _begun(), ClaudeLog(TWO, at=later(NOON, seconds=600))
    for record in list(parent.records):
        assert not isinstance(record, bytes)
        fork.copy([record], forkedFrom={"sessionId": ONE, "messageUuid": record["uuid"]})
    _goes_on(fork, 3)
    truth = Truth([*BEGUN, Spent(TWO, OPUS, DAY, GONE_ON)])
    return Case("fork, marked", "copies are inherited, not spent again", claude(parent, fork), truth)


def fork_without_mark() -> Case:
    """As --fork-session writes it: same uuids and times, another session, nothing else."""
    parent, fork = _begun(), ClaudeLog(TWO, at=later(NOON, seconds=600))
    fork.copy(parent.records)
    _goes_on(fork, 3)
    truth = Truth([*BEGUN, Spent(TWO, OPUS, DAY, GONE_ON)])
    proves = "copies belong to the session that wrote them first, also when nothing marks them"
    return Case("fork, unmarked", proves, claude(parent, fork), truth)


def fork_of_a_session_that_goes_on() -> Case:
    """The fork is the first to write on; a line before its copies that is later than they betrays it."""
    parent, fork = _begun(), ClaudeLog(TWO, at=later(NOON, seconds=600))
    fork.add({"type": "queue-operation", "operation": "enqueue", "content": "Another way, please."})
    fork.copy(parent.records)
    _goes_on(fork, 3)
    parent.prompt("Meanwhile.", timestamp=later(NOON, seconds=900))
    parent.reply(
        message_id(4), usage(6, 7, read=550), request=request_id(4), timestamp=later(NOON, seconds=901)
    )
    own = [Spent(ONE, OPUS, DAY, Count(6, 7, 0, 550)), Spent(TWO, OPUS, DAY, GONE_ON)]
    proves = "who wrote first is not who went on first"
    return Case("fork, parent goes on", proves, claude(parent, fork), Truth([*BEGUN, *own]))


def fork_of_a_fork() -> Case:
    parent, fork, again = _begun(), ClaudeLog(TWO, at=later(NOON, seconds=600)), ClaudeLog(THREE)
    fork.copy(parent.records, forkedFrom={"sessionId": ONE, "messageUuid": "-"})
    _goes_on(fork, 3)
    again.copy(fork.records, forkedFrom={"sessionId": TWO, "messageUuid": "-"})
    again.prompt("And again.", timestamp=later(NOON, seconds=1200))
    again.reply(
        message_id(5), usage(1, 2, read=640), request=request_id(5), timestamp=later(NOON, seconds=1201)
    )
    own = [Spent(TWO, OPUS, DAY, GONE_ON), Spent(THREE, OPUS, DAY, Count(1, 2, 0, 640))]
    proves = "three files hold the first requests, one session spent them"
    return Case("fork of a fork", proves, claude(parent, fork, again), Truth([*BEGUN, *own]))


def fork_whose_parent_is_gone() -> Case:
    parent, fork = _begun(), ClaudeLog(TWO, at=later(NOON, seconds=600))
    fork.copy(parent.records)
    _goes_on(fork, 3)
    spent = [one._replace(session=TWO) for one in BEGUN] + [Spent(TWO, OPUS, DAY, GONE_ON)]
    proves = "what was spent counts as long as one copy is left"
    return Case("fork whose parent was deleted", proves, claude(fork), Truth(spent))


def resumed_prefix() -> Case:
    """1.0.x: history re-emitted into a new file: new uuids, one time, request ids dropped, same usage."""
    first, resumed = _begun(), ClaudeLog(TWO, at=later(NOON, seconds=3600))
    for n, record in enumerate(list(first.records)):
        at = later(NOON, seconds=3600)
        resumed.copy([record], uuid=f"11111111-0000-4000-9000-{n:012d}", timestamp=at, requestId=...)
    _goes_on(resumed, 3)
    truth = Truth([*BEGUN, Spent(TWO, OPUS, DAY, GONE_ON)])
    proves = "a copy may have lost its request id, uuid and time: the message's id alone is the key"
    return Case("resumed prefix of 1.0", proves, claude(first, resumed), truth)


def same_file_in_two_homes() -> Case:
    """A backup, or a synced machine."""
    log = _begun()
    files = claude(log)
    files |= {path.replace("-home-dev-project", "-backup-project"): data for path, data in files.items()}
    return Case("same file twice", "a copied file adds nothing", files, Truth(BEGUN))


def _of_an_agent(agent: str = "a1") -> ClaudeLog:
    log = ClaudeLog(ONE, at=later(NOON, seconds=1), sidechain=True, agent=agent)
    log.prompt("look")
    log.reply(message_id(11), usage(2, 1, write=40), request=request_id(11), model=HAIKU, stop=None)
    log.reply(message_id(11), usage(2, 35, write=40), request=request_id(11), model=HAIKU)
    return log


def _with_progress(inner: ClaudeLog, upto: int) -> ClaudeLog:
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(
        message_id(1), usage(3, 9, read=10), request=request_id(1), content=[tool_use("toolu_1", name="Task")]
    )
    for record in inner.records[:upto]:
        assert not isinstance(record, bytes)
        log.progress(record)
    log.result("toolu_1")
    log.reply(message_id(2), usage(4, 8, read=20), request=request_id(2))
    return log


OUTER = [Spent(ONE, OPUS, DAY, Count(3, 9, 0, 10)), Spent(ONE, OPUS, DAY, Count(4, 8, 0, 20))]


def progress_only() -> Case:
    """The subagent's own file is gone, or never was: 3.5 % of a real corpus stands only here."""
    log = _with_progress(_of_an_agent(), 3)
    truth = Truth([*OUTER, Spent(ONE, HAIKU, DAY, Count(2, 35, 40, 0, write_5m=40))])
    proves = "requests that stand only in progress lines count"
    return Case("progress lines alone", proves, claude(log), truth)


def progress_and_own_file() -> Case:
    inner = _of_an_agent()
    truth = Truth([*OUTER, Spent(ONE, HAIKU, DAY, Count(2, 35, 40, 0, write_5m=40))])
    proves = "progress lines repeat what the agent's file holds"
    return Case(
        "progress and the agent's own file", proves, claude(_with_progress(inner, 2), a1=inner), truth
    )


def progress_with_more_output() -> Case:
    """Never seen, but the rule says who is to be believed."""
    inner = _of_an_agent()
    louder = ClaudeLog(ONE, sidechain=True, agent="a1")
    louder.records = [record for record in inner.records if not isinstance(record, bytes)]
    last = louder.records[-1]
    assert not isinstance(last, bytes)
    louder.records[-1] = last | {"message": last["message"] | {"usage": usage(2, 999, write=40)}}
    truth = Truth([*OUTER, Spent(ONE, HAIKU, DAY, Count(2, 35, 40, 0, write_5m=40))])
    proves = "an agent's own record beats its echo"
    return Case("progress that says more", proves, claude(_with_progress(louder, 3), a1=inner), truth)


def gateway_ids_in_one_file() -> Case:
    """A gateway that calls every message the same."""
    log = ClaudeLog(ONE)
    for n in (1, 2, 3):
        log.prompt(f"Question {n}.")
        log.reply("chatcmpl-1", usage(1000 * n, 10 * n), model=GATEWAY)
    spent = [Spent(ONE, GATEWAY, DAY, Count(1000 * n, 10 * n)) for n in (1, 2, 3)]
    proves = "an id that is not Anthropic's ends with the next prompt when the input is another"
    return Case("gateway id for every message", proves, claude(log), Truth(spent))


def gateway_id_with_chunks() -> Case:
    """Chunks of one message with a result of its own call between them: the input is the same."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply("gen-1", usage(2000, 1), model=GATEWAY, stop=None, content=[tool_use("call_1")])
    log.result("call_1")
    log.reply("gen-1", usage(2000, 55), model=GATEWAY, stop="tool_use", content=[tool_use("call_2")])
    log.result("call_2")
    log.reply("gen-1", usage(2300, 9), model=GATEWAY)
    spent = [Spent(ONE, GATEWAY, DAY, Count(2000, 55)), Spent(ONE, GATEWAY, DAY, Count(2300, 9))]
    proves = "equal input behind a result is a later chunk, other input is the next request"
    return Case("gateway id with chunks", proves, claude(log), Truth(spent))


def _agents_of_a_gateway(id: str) -> tuple[ClaudeLog, ClaudeLog, ClaudeLog]:
    main = ClaudeLog(ONE)
    main.prompt()
    main.reply(message_id(1), usage(3, 30), request=request_id(1), content=[tool_use("toolu_1", name="Task")])
    logs = []
    for n, agent in ((1, "a1"), (2, "a2")):
        log = ClaudeLog(ONE, at=later(NOON, seconds=n / 10), sidechain=True, agent=agent)
        log.prompt(f"part {n}")
        log.reply(id, usage(400 * n, 7 * n), model=GATEWAY)
        logs.append(log)
    one, two = logs
    return main, one, two


def gateway_ids_over_files() -> Case:
    main, one, two = _agents_of_a_gateway("chatcmpl-1")
    spent = [Spent(ONE, OPUS, DAY, Count(3, 30))]
    spent += [Spent(ONE, GATEWAY, DAY, Count(400 * n, 7 * n)) for n in (1, 2)]
    proves = "the same gateway id in two agents' files is two requests"
    return Case("gateway id in two agents' files", proves, claude(main, a1=one, a2=two), Truth(spent))


def second_clock_ids() -> Case:
    """A gateway that names messages by the second: parallel agents collide."""
    main, one, two = _agents_of_a_gateway("msg_20260304120002")
    spent = [Spent(ONE, OPUS, DAY, Count(3, 30))]
    spent += [Spent(ONE, GATEWAY, DAY, Count(400 * n, 7 * n)) for n in (1, 2)]
    proves = "an id made of the clock names whoever asked in that second"
    return Case("ids by the second", proves, claude(main, a1=one, a2=two), Truth(spent))


def gateway_copies_over_files() -> Case:
    """A fork of a gateway's session: uuids and times are kept, so they are copies."""
    parent, fork = ClaudeLog(ONE), ClaudeLog(TWO, at=later(NOON, seconds=600))
    parent.prompt()
    parent.reply("chatcmpl-1", usage(1500, 20), model=GATEWAY)
    fork.copy(parent.records)
    fork.prompt("Another way.")
    fork.reply("chatcmpl-1", usage(1700, 25), model=GATEWAY)
    spent = [Spent(ONE, GATEWAY, DAY, Count(1500, 20)), Spent(TWO, GATEWAY, DAY, Count(1700, 25))]
    proves = "a gateway's message is copied where a uuid, a time or a request id is shared"
    return Case("fork of a gateway's session", proves, claude(parent, fork), Truth(spent))


def empty_id_with_request_id() -> Case:
    log = ClaudeLog(ONE)
    for n in (1, 2):
        log.prompt()
        log.reply("", usage(100 * n, 1), request=request_id(n), stop=None)
        log.reply("", usage(100 * n, 15 * n), request=request_id(n))
    spent = [Spent(ONE, OPUS, DAY, Count(100 * n, 15 * n)) for n in (1, 2)]
    proves = "an empty id is no key; the request id is the next best"
    return Case("empty id, request id", proves, claude(log), Truth(spent))


def empty_id_with_uuid() -> Case:
    log = ClaudeLog(ONE)
    for n in (1, 2):
        log.prompt()
        log.reply("" if n == 1 else None, usage(100 * n, 15 * n))
    spent = [Spent(ONE, OPUS, DAY, Count(100 * n, 15 * n)) for n in (1, 2)]
    proves = "without id and request id, each record stands for itself"
    return Case("no id at all", proves, claude(log), Truth(spent))
