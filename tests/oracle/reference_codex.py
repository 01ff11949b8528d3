"""The brute force for Codex: a thread's own counts, in order, each held against the total before it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tests.oracle.reading import Found, Json, inside, whole
from tests.oracle.truth import NOTHING, Count, Spent

_FIELDS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SPOKEN = ("message", "reasoning", "function_call", "custom_tool_call", "local_shell_call")

Usage = tuple[int, ...]


class Used(NamedTuple):
    """A response, as a file tells of it."""

    key: tuple[object, ...]
    day: str
    model: str | None
    usage: Usage


class Thread(NamedTuple):
    """A file of Codex."""

    file: list[Found]
    id: str
    meta: Json
    began: str

    @property
    def turns(self) -> set[str]:
        """The turns that stand in it."""
        return {turn for f in self.file if (turn := turn_of(f.value))}


def codex_spent(files: list[list[Found]]) -> list[Spent]:
    """All requests of Codex's rollouts."""
    threads = sorted((_thread(file) for file in files if file), key=lambda t: (t.began, t.file[0].path))
    by_id = {t.id: t for t in reversed(threads)}
    claimed: dict[tuple[object, ...], None] = {}
    spent = []
    for thread in threads:
        own = list(_own(thread, threads, by_id))
        session = _session(thread, by_id)
        for used in _numbered(_used(thread, own)):
            if used.key not in claimed:
                claimed[used.key] = None
                spent.append(Spent(session, used.model, used.day, _count(used.usage)))
        spent += _uncounted(thread, own, session, is_newest=not _is_followed(thread, threads))
    return spent


def _thread(file: list[Found]) -> Thread:
    metas = [_payload(f.value) for f in file if f.value.get("type") == "session_meta"]
    meta = metas[0] if metas else {}
    named = _UUID.search(file[0].path.rpartition("/")[2])
    id = meta.get("id") or (named.group() if named else file[0].path)
    began = meta.get("timestamp") or file[0].value.get("timestamp") or ""
    return Thread(file, str(id), meta, str(began))


def _payload(record: Json) -> Json:
    payload = record.get("payload")
    return payload if isinstance(payload, dict) else {}


def turn_of(record: Json) -> str | None:
    """The turn that a line opens."""
    payload = _payload(record)
    opens = record.get("type") == "turn_context" or payload.get("type") in ("task_started", "turn_started")
    turn = payload.get("turn_id")
    return turn if opens and isinstance(turn, str) else None


def _session(thread: Thread, by_id: dict[str, Thread]) -> str:
    """A subagent belongs to the session at the root of its parents."""
    seen: set[str] = set()
    while thread.id not in seen:
        seen.add(thread.id)
        spawn = inside(thread.meta, "source", "subagent", "thread_spawn", "parent_thread_id")
        parent = spawn or thread.meta.get("parent_thread_id")
        root = thread.meta.get("session_id")
        if isinstance(root, str) and root:
            return root
        if not isinstance(parent, str):
            return thread.id
        if parent not in by_id:
            return parent
        thread = by_id[parent]
    return thread.id


def _own(thread: Thread, threads: list[Thread], by_id: dict[str, Thread]) -> Iterator[tuple[bool, Found]]:
    """Each line, and whether it is the thread's own."""
    first = thread.meta.get("subagent_history_start_ordinal")
    if isinstance(first, int):
        for found in thread.file:
            yield whole(found.value.get("ordinal")) >= first, found
        return
    metas = {str(_payload(f.value).get("id")) for f in thread.file if f.value.get("type") == "session_meta"}
    others = {id for id in metas if _UUID.fullmatch(id)} - {thread.id}
    source = thread.meta.get("forked_from_id")
    if thread.meta.get("history_base") or not (others or source):
        yield from ((True, found) for found in thread.file)
        return
    parents = [by_id[id] for id in {*others, source} if id in by_id and id != thread.id]
    if thread.turns:
        yield from _by_turns(thread, {turn for parent in parents for turn in parent.turns})
    else:
        yield from _by_counts(thread, parents)


def _by_turns(thread: Thread, inherited: set[str]) -> Iterator[tuple[bool, Found]]:
    """Own from the first turn that no parent has and that is not older than the thread (UUIDv7: ids are times)."""
    is_own = False
    for found in thread.file:
        turn = turn_of(found.value)
        if turn and turn not in inherited and not _is_older(turn, thread.id):
            is_own = True
        yield is_own, found


def _is_older(turn: str, thread: str) -> bool:
    is_time = all(_UUID.fullmatch(id) and id[14] == "7" for id in (turn, thread))
    return is_time and turn[:13] < thread[:13]


def _by_counts(thread: Thread, parents: list[Thread]) -> Iterator[tuple[bool, Found]]:
    """No turns are named: counts that a parent made before are its own."""
    before = {_pair(f.value) for parent in parents for f in parent.file} - {None}
    for found in thread.file:
        yield _pair(found.value) not in before, found


def _pair(record: Json) -> tuple[Usage | None, Usage | None] | None:
    info = _info(record)
    return (_usage(info.get("last_token_usage")), _usage(info.get("total_token_usage"))) if info else None


def _info(record: Json) -> Json | None:
    payload = _payload(record)
    info = payload.get("info")
    is_count = record.get("type") == "event_msg" and payload.get("type") == "token_count"
    return info if is_count and isinstance(info, dict) else None


def _usage(value: object) -> Usage | None:
    return tuple(whole(value.get(field)) for field in _FIELDS) if isinstance(value, dict) else None


def _used(thread: Thread, lines: list[tuple[bool, Found]]) -> Iterator[Used]:
    """The responses of a thread: from records of them where those stand, else from its counts."""
    models = _models(thread)
    before: Usage | None = None
    recorded: list[Usage] = []
    model, turn = None, None
    for is_own, found in lines:
        record, payload = found.value, _payload(found.value)
        turn = turn_of(record) or turn
        if record.get("type") == "turn_context":
            model = payload.get("model")
        day = str(record.get("timestamp"))[:10]
        if record.get("type") == "token_usage_record":
            usage = _usage(payload.get("usage"))
            if usage and is_own:
                recorded.append(usage[:5])
                of = models.get(payload.get("turn_id"), model)
                yield Used(("response", payload.get("response_id")), day, of, usage)
            continue
        pair = _pair(record)
        if pair is None:
            continue
        last, total = pair
        usage = _counted(last, total, before)
        before = total or before
        if usage is None or not is_own:
            continue
        if usage[:5] in recorded:
            recorded.remove(usage[:5])
            continue
        yield Used((thread.id, turn, last, total), day, model, usage)


def _models(thread: Thread) -> dict[object, str]:
    return {
        _payload(f.value).get("turn_id"): _payload(f.value)["model"]
        for f in thread.file
        if f.value.get("type") == "turn_context" and "model" in _payload(f.value)
    }


def _counted(last: Usage | None, total: Usage | None, before: Usage | None) -> Usage | None:
    """What a count says was used; None if it repeats, or only measures the context."""
    if total is not None and total == before:
        return None
    if last is not None:
        return last if last[0] or last[3] else None
    if total is None:
        return None
    grown = tuple(now - then for now, then in zip(total, before or (0,) * 6, strict=True))
    return grown if min(grown) >= 0 else total


def _numbered(used: Iterator[Used]) -> Iterator[Used]:
    """Equal counts of one file are different ones; the same one in another file is the same."""
    seen: Counter[tuple[object, ...]] = Counter()
    for one in used:
        seen[one.key] += 1
        is_response = one.key[0] == "response"
        yield one if is_response else one._replace(key=(*one.key, seen[one.key]))


def _count(usage: Usage) -> Count:
    given, cached, written, output, reasoning, _ = usage
    return Count(max(given - cached - written, 0), output, written, cached, reasoning=reasoning)


def _is_followed(thread: Thread, threads: list[Thread]) -> bool:
    """Whether another file of the same thread holds more of it."""
    return any(t.id == thread.id and len(t.file) > len(thread.file) for t in threads)


def _uncounted(
    thread: Thread, lines: list[tuple[bool, Found]], session: str, *, is_newest: bool
) -> list[Spent]:
    """The responses that no count follows. Clients up to 0.50 wrote the count first: there it proves nothing."""
    days: list[str] = []
    model = None
    is_running = is_count_first = is_known = False
    for is_own, found in lines:
        record, payload = found.value, _payload(found.value)
        is_spoken = record.get("type") == "response_item" and _is_spoken(payload)
        is_count = _info(record) is not None or record.get("type") == "token_usage_record"
        if (is_spoken or is_count) and not is_known:
            is_known, is_count_first = True, is_count
        if record.get("type") == "turn_context":
            model = payload.get("model")
        if is_count:
            days, is_running = [], False
        elif is_own and is_spoken and not is_running:
            days.append(str(record.get("timestamp"))[:10])
        is_running = is_spoken or (is_running and record.get("type") != "response_item")
    if is_count_first or not is_newest:
        return []
    return [Spent(session, model, day, NOTHING, "missing") for day in days]


def is_bare(file: list[Found]) -> bool:
    """Whether Codex wrote it before 0.32, when lines had no envelope and nobody counted."""
    return any("record_type" in f.value for f in file)


def bare_spent(file: list[Found]) -> list[Spent]:
    """The responses of such a log: all that the model says in a row is one."""
    items = [f.value for f in file if "type" in f.value]
    said = [_is_spoken(item) for item in items]
    n = sum(now and not before for before, now in zip([False, *said], said, strict=False))
    return [Spent(str(file[0].value.get("id")), None, "", NOTHING, "missing")] * n


def _is_spoken(payload: Json) -> bool:
    return payload.get("type") in _SPOKEN and payload.get("role", "assistant") == "assistant"
