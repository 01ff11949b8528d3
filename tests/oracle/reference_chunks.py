"""The records of Claude Code's answers, and which of them tell of the same request: rules 1 and 4 of docs/accounting.md."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tests.oracle.reading import Found, Json, inside, whole
from tests.oracle.truth import Count

OF_ANTHROPIC = re.compile(r"msg_(bdrk_|vrtx_)?01[A-Za-z0-9]{22}")
NO_TIME = datetime.min.replace(tzinfo=UTC)


class Chunk(NamedTuple):
    """A record of an answer."""

    path: str
    line: int
    id: str
    request: str
    uuid: str
    session: str
    at: datetime
    model: str | None
    stop: str | None
    usage: Json | None
    calls: frozenset[str]
    is_echo: bool  # from a progress line
    is_copy: bool  # says that it was forked

    @property
    def sent(self) -> tuple[int, int, int]:
        """What tells two requests apart: input and cache figures."""
        count = count_of(self.usage or {})
        return count.input, count.write, count.read


def count_of(usage: Json) -> Count:
    """The figures of a usage object."""
    five = whole(inside(usage, "cache_creation", "ephemeral_5m_input_tokens"))
    hour = whole(inside(usage, "cache_creation", "ephemeral_1h_input_tokens"))
    return Count(
        input=whole(usage.get("input_tokens")),
        output=whole(usage.get("output_tokens")),
        write=max(whole(usage.get("cache_creation_input_tokens")), five + hour),
        read=whole(usage.get("cache_read_input_tokens")),
        write_5m=five,
        write_1h=hour,
        reasoning=whole(inside(usage, "output_tokens_details", "thinking_tokens")),
        searches=whole(inside(usage, "server_tool_use", "web_search_requests")),
    )


def has_odd_figure(usage: Json) -> bool:
    """Whether anything stands in a usage where a figure should, and is none."""
    said = [value for key, value in usage.items() if key.endswith("_tokens")]
    for part in ("cache_creation", "output_tokens_details", "server_tool_use"):
        inner = usage.get(part)
        said += inner.values() if isinstance(inner, dict) else []
    return any(one is not None and one != 0 and whole(one) == 0 for one in said)


def chunk_of(found: Found, session: str) -> Chunk | None:
    """The answer in a record: its own, or, in a progress line, the one it repeats."""
    outer = found.value
    is_echo = outer.get("type") == "progress"
    record = inside(outer, "data", "message") if is_echo else outer
    message = inside(record, "message")
    if inside(record, "type") != "assistant" or not isinstance(message, dict):
        return None
    if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
        return None
    usage = message.get("usage")
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return Chunk(
        path=found.path,
        line=found.line,
        id=text_in(message.get("id")),
        request=text_in(record.get("requestId")),
        uuid=text_in(record.get("uuid")),
        session=session,
        at=moment(record.get("timestamp") or outer.get("timestamp")),
        model=message.get("model") if isinstance(message.get("model"), str) else None,
        stop=message.get("stop_reason"),
        usage=usage if isinstance(usage, dict) else None,
        calls=frozenset(text_in(inside(b, "id")) for b in blocks if inside(b, "type") == "tool_use"),
        is_echo=is_echo,
        is_copy="forkedFrom" in outer,
    )


def session_of(file: list[Found]) -> str:
    """Whose log a file is: the last session that it names, for what came before was copied, or a start that was left."""
    named = (text_in(f.value.get("sessionId")) for f in reversed(file))
    return next((id for id in named if id and " " not in id), Path(file[0].path).stem if file else "")


def text_in(value: object) -> str:
    """A text, or an empty one."""
    return value if isinstance(value, str) else ""


def moment(stamp: object) -> datetime:
    """A time of the log."""
    try:
        at = datetime.fromisoformat(text_in(stamp))
    except ValueError:
        return NO_TIME
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def day_of(at: datetime) -> str:
    """The day of a time, in UTC; empty if there is no time."""
    return "" if at == NO_TIME else f"{at:%Y-%m-%d}"


def messages(files: list[list[Found]]) -> list[list[Chunk]]:
    """The chunks of each request."""
    sure: dict[str, list[Chunk]] = defaultdict(list)
    unsure: dict[str, list[list[Chunk]]] = defaultdict(list)
    for file in files:
        for id, group in _runs(file):
            if OF_ANTHROPIC.fullmatch(id):
                sure[id] += group
            elif id:
                unsure[id].append(group)
            else:
                for chunk in group:
                    sure[chunk.request or chunk.uuid or f"{chunk.path}:{chunk.line}"].append(chunk)
    groups = list(sure.values())
    for runs in unsure.values():
        groups += _joined(runs)
    return groups


def _runs(file: list[Found]) -> Iterator[tuple[str, list[Chunk]]]:
    """The chunks of a file by id; a gateway's id begins a new message where R2 says so."""
    session = session_of(file)
    open_runs: dict[str, list[Chunk]] = {}
    is_over: dict[str, bool] = defaultdict(bool)
    for found in file:
        chunk = chunk_of(found, session)
        if chunk is None:
            ended = _ends(found.value)
            for id, run in open_runs.items():
                is_over[id] |= ended is None or bool(ended & {c for r in run for c in r.calls})
            continue
        run = open_runs.setdefault(chunk.id, [])
        is_gateway = chunk.id and not OF_ANTHROPIC.fullmatch(chunk.id)
        if is_gateway and is_over[chunk.id] and all(c.sent != chunk.sent for c in run):
            yield chunk.id, run
            open_runs[chunk.id] = run = []
            is_over[chunk.id] = False
        run.append(chunk)
    yield from open_runs.items()


def _ends(record: Json) -> set[str] | None:
    """The calls that a record answers; None if it is a prompt, which ends every message."""
    if record.get("type") != "user":
        return set()
    content = inside(record, "message", "content")
    blocks = content if isinstance(content, list) else []
    answered = {text_in(inside(b, "tool_use_id")) for b in blocks if inside(b, "type") == "tool_result"}
    return answered if answered or record.get("isMeta") else None


def _joined(runs: list[list[Chunk]]) -> list[list[Chunk]]:
    """Runs of different files that share a uuid, a time or a request id are one message."""
    groups: list[list[Chunk]] = []
    for run in sorted(runs, key=lambda run: (run[0].path, run[0].line)):
        same = [g for g in groups if _are_copies(g, run)]
        groups = [g for g in groups if g not in same]
        groups.append([chunk for group in same for chunk in group] + run)
    return groups


def _are_copies(one: list[Chunk], two: list[Chunk]) -> bool:
    if {c.path for c in one} & {c.path for c in two}:
        return False
    return any(bool(_marks(one, key) & _marks(two, key)) for key in ("uuid", "at", "request"))


def _marks(chunks: Iterable[Chunk], key: str) -> set[object]:
    return {getattr(c, key) for c in chunks} - {"", NO_TIME}
