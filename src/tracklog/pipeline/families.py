"""The sessions that share history: forks, and copies that a resume made.

Claude Code writes no marker into most forks (docs/formats/claude_code.md): the copies give themselves away by the ids
that they keep. A copy begins where its original begins, or at a compaction, so the first ids of one file stand in the
other. Whether lines are really shared, and who wrote them, is for `model.lineage` to say.

Rules of this room
  1. Candidates are the sessions of the same project folder, and those that a session names, wherever they are.
  2. Heads are read first. Whole files are searched only for what no head told, and not more than SEARCHED_BYTES.
  3. Bytes are searched, not parsed: a session too many costs little, a missed one splits a history.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tracklog.pipeline.descent import Kinship
from tracklog.pipeline.heads import first_records
from tracklog.pipeline.sessions import SessionFiles
from tracklog.records.claude_code.envelope import Envelope
from tracklog.records.claude_code.messages import AssistantLine
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.found import Agent, LogFile

Name = tuple[Agent, str]  # two agents may have given the same id
HEAD_BYTES = 1 << 16
SEARCHED_BYTES = 1 << 28
_LINES_ASKED = 200  # for the first ids of a file
_OVERLAP = 256  # longer than any id: what two chunks cut is found in the second
_IDS = (re.compile(rb'"uuid": ?"([^"\\]{1,64})"'), re.compile(rb'"id": ?"(msg_[^"\\]{1,64})"'))
_NAMED = re.compile(rb'"(?:sessionId|continuedInSessionId|parentSessionId)"\s*:\s*"([^"\\]{1,128})"')
# After /clear, lines name the session that their process began with; also after some forks. So it is only a hint.
_HINTED = re.compile(rb'"session_id"\s*:\s*"([^"\\]{1,128})"')


def family(session: SessionFiles, everything: Iterable[SessionFiles]) -> list[SessionFiles]:
    """The other sessions that have, or may have, lines in common with this one; in the order given."""
    others = [other for other in everything if other.agent == session.agent and other.id != session.id]
    found = _codex_family(session, others) if session.agent == "codex" else _claude_family(session, others)
    return [other for other in others if other.id in found]


def families(everything: Iterable[SessionFiles]) -> dict[Name, Kinship]:
    """The family of each session that has one, told from heads alone: for reading all of them in one go."""
    known = {(session.agent, session.id): session for session in everything}
    top = {name: name for name in known}

    def top_of(name: Name) -> Name:
        while top[name] != name:
            top[name] = name = top[top[name]]
        return name

    for one, other in _links(known.values()):
        if other in known:
            top[top_of(one)] = top_of(other)
    members: dict[Name, list[SessionFiles]] = defaultdict(list)
    for name, session in known.items():
        members[top_of(name)].append(session)
    kin = {name: Kinship(sessions) for name, sessions in members.items() if sessions[1:]}
    return {name: kin[top_of(name)] for name in known if top_of(name) in kin}


def kin_keys(session: SessionFiles) -> list[tuple[str, bytes]]:
    """By which a session finds its family, and is found: what it begins with, what its head holds, whom it names."""
    keys = [("names", name.encode("utf-8", "replace")) for name in session.sources]
    if session.agent != "claude":
        return keys
    glance = _glance(session)
    keys += [("names", name.encode("utf-8", "replace")) for name in glance.named if name != session.id]
    keys += [("begins", key) for key in glance.ids]
    return keys + [("holds", key) for key in _ids_at_the_head(glance)]


def _ids_at_the_head(glance: _Glance) -> set[bytes]:
    return {key for pattern in _IDS for key in pattern.findall(glance.head)}


def _links(sessions: Collection[SessionFiles]) -> Iterator[tuple[Name, Name]]:
    """Sessions and those that they have to do with, who may not be there."""
    for session in sessions:
        for source in session.sources:
            yield (session.agent, session.id), (session.agent, source)
    glances = (_glance(session) for session in sessions if session.agent == "claude")
    for one, other in _links_by_heads(glances):
        yield ("claude", one), ("claude", other)


def _links_by_heads(glances: Iterable[_Glance]) -> Iterator[tuple[str, str]]:
    """All that hold an id with which some begin are linked to one of these: a link for each, not for each pair."""
    begins: dict[bytes, str] = {}
    held: list[tuple[str, set[bytes]]] = []
    for glance in glances:
        id = glance.session.id
        yield from ((id, name) for name in glance.named)
        yield from ((id, begins.setdefault(key, id)) for key in glance.ids)
        held.append((id, _ids_at_the_head(glance)))
    for id, keys in held:
        yield from ((id, begins[key]) for key in keys if key in begins)


def _codex_family(session: SessionFiles, others: list[SessionFiles]) -> set[str]:
    """All that are linked by what their heads say, in either direction, over any number of steps."""
    found, waiting = {session.id}, [session]
    while waiting:
        one = waiting.pop()
        for other in others:
            if other.id not in found and (one.id in other.sources or other.id in one.sources):
                found.add(other.id)
                waiting.append(other)
    return found


class _Glance(NamedTuple):
    """The beginning and the end of a session's transcripts."""

    session: SessionFiles
    head: bytes
    named: frozenset[str]  # sessions from which lines came, or in which they go on
    ids: tuple[bytes, ...]  # the first uuid and the first message's id of each


def _claude_family(session: SessionFiles, others: list[SessionFiles]) -> set[str]:
    ours = _glance(session)
    hinted = _names(_HINTED, ours.head) | _names(_HINTED, _tails(session))
    near = [other for other in others if _projects(other) & _projects(session)]
    named = [other for other in others if other.id in ours.named | hinted and other not in near]
    strangers = [_glance(other) for other in [*near, *named]]
    found, waiting = {session.id}, [ours]
    while waiting:
        one = waiting.pop()
        related = [other for other in strangers if _are_related(one, other)]
        found |= {other.session.id for other in related}
        strangers = [other for other in strangers if other not in related]
        waiting += related
    return found | _found_inside(ours, strangers)


def _are_related(one: _Glance, other: _Glance) -> bool:
    if other.session.id in one.named or one.session.id in other.named:
        return True
    return any(key in other.head for key in one.ids) or any(key in one.head for key in other.ids)


def _found_inside(ours: _Glance, strangers: list[_Glance]) -> set[str]:
    """Those that begin in the middle of our files, or in which ours begin: forks behind a compaction."""
    held = _ids_in(ours.session) if strangers and _size(ours.session) <= SEARCHED_BYTES else set()
    found = {other.session.id for other in strangers if not held.isdisjoint(other.ids)}
    allowance = SEARCHED_BYTES
    for other in sorted(strangers, key=lambda other: -other.session.changed_ns):
        allowance -= _size(other.session)
        if allowance < 0:
            break
        if other.session.id not in found and _stands_in(other.session, ours.ids):
            found.add(other.session.id)
    return found


def _glance(session: SessionFiles) -> _Glance:
    head = _heads(session)
    ids = dict.fromkeys(key for file in session.mains for key in _first_ids(file))
    return _Glance(session, head, _names(_NAMED, head) | _names(_NAMED, _tails(session)), tuple(ids))


def _heads(session: SessionFiles) -> bytes:
    return b"\n".join(_bytes_at(file, 0) for file in session.mains)


def _tails(session: SessionFiles) -> bytes:
    return b"\n".join(
        _bytes_at(file, file.size - HEAD_BYTES) for file in session.mains if file.size > HEAD_BYTES
    )


def _names(pattern: re.Pattern[bytes], text: bytes) -> frozenset[str]:
    return frozenset(name.decode("utf-8", "replace") for name in pattern.findall(text))


def _bytes_at(file: LogFile, start: int) -> bytes:
    try:
        return next(chunks(file, max(start, 0), size=HEAD_BYTES), b"")
    except NotReadable:
        return b""


def _first_ids(file: LogFile) -> list[bytes]:
    """The ids of the first line on the tree, and of the first answer."""
    uuid = message = None
    for record in first_records(file, _LINES_ASKED):
        uuid = uuid or (record.uuid if isinstance(record, Envelope) else None)
        message = message or (record.message.id if isinstance(record, AssistantLine) else None)
        if uuid and message:
            break
    return [name.encode() for name in (uuid, message) if name]


def _ids_in(session: SessionFiles) -> set[bytes]:
    """All uuids of lines and ids of messages in the transcripts."""
    return {key for text in _texts(session) for pattern in _IDS for key in pattern.findall(text)}


def _stands_in(session: SessionFiles, keys: Iterable[bytes]) -> bool:
    return any(key in text for text in _texts(session) for key in keys)


def _texts(session: SessionFiles) -> Iterator[bytes]:
    """The contents of the transcripts, each piece with the end of the one before it."""
    for file in session.mains:
        rest = b""
        try:
            for chunk in chunks(file):
                yield rest + chunk
                rest = chunk[-_OVERLAP:]
        except NotReadable:
            continue


def _projects(session: SessionFiles) -> set[str | Path]:
    """The project folders by name, since the same one may stand in several homes; elsewhere the whole path."""
    return {_project(file) for file in session.mains}


def _project(file: LogFile) -> str | Path:
    folder = file.path.parent
    return folder.name if folder.parent.name == "projects" else folder


def _size(session: SessionFiles) -> int:
    return sum(file.size for file in session.mains)
