"""Find the sessions that share history (forks, and copies made by a resume), and what they share.

Some agents write no marker into most forks: copies are recognised by the ids that they keep. A copy begins where its
original begins, or at a compaction, so the first ids of one file occur in the other. Whether lines are really shared,
and which session wrote them, is decided by `model.lineage`.

Rules
  1. Candidates are the sessions that a session names, wherever they are. If copies may name no other session, those of
     the same project folder are candidates too.
  2. Heads of logs are read first. Whole files are searched only for links that no head shows, and at most
     SEARCHED_BYTES in each project folder, the newest sessions first; one that is too long is skipped, not the others.
  3. Bytes are searched, not parsed: a session too many costs little, a missed one splits a history.
  4. Many lookups among the same sessions go to one `Relatives`: each log is read once, not once per lookup.
  5. Ids found in a log are cached by the whole `LogFile`: a log that was written, replaced or moved is read again. One
     that cannot be read gives nothing now, and is not cached: the next lookup tries again.
  6. Cached ids are hashes of 8 bytes. A collision adds a session too many, which costs little.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.base import SessionFiles, SharedIds
from tracklog.agents.registry import pieces_of
from tracklog.agents.supported import support_for
from tracklog.model.ids import SessionId
from tracklog.model.lineage.copies import Descent, descents
from tracklog.model.lineage.trace import Trace
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import THREAD_KINDS, Agent, FileKind, LogFile

OnRefused = Callable[[LogFile, NotReadable], None]


class Kinship:
    """The sessions of one family, shared by readers of several of them.

    What they share is computed on first use, from one pass over each log; the traces are not kept.
    """

    def __init__(self, sessions: Iterable[SessionFiles], *, on_refused: OnRefused | None = None) -> None:
        self.sessions = tuple(sessions)
        self._on_refused = on_refused
        self._descents: dict[SessionId, Descent] | None = None

    def descent(self, session: str) -> Descent:
        """What one session has in common with the others."""
        if self._descents is None:
            self._descents = descents(self._traces())
        return self._descents.get(SessionId(session)) or Descent()

    def _traces(self) -> Iterator[Trace]:
        for session in self.sessions:
            for file in session.files:
                if file.kind in THREAD_KINDS:
                    yield _trace_of(file, session.id, on_refused=self._on_refused)


def _trace_of(file: LogFile, session: str, *, on_refused: OnRefused | None = None) -> Trace:
    """The trace of one log; of a damaged one, as far as it could be read."""
    logs = support_for(file.agent).logs
    thread = file.session if logs.has_id_per_thread and file.session != session else None
    if file.kind is FileKind.SUBAGENT:
        thread = file.path.name.partition(".")[0]
    trace, look_at = Trace(str(file.path), session, thread=thread, says_copies=logs.says_copies), logs.look_at
    try:
        for piece in pieces_of(file):
            n_known = len(trace.keys)
            look_at(trace, piece)
            if len(trace.keys) == n_known:
                trace.noted(piece.line, piece.at)
    except NotReadable as error:
        if on_refused is not None:
            on_refused(file, error)
        return trace  # reading the session meets the same error and reports it
    return trace


Name = tuple[Agent, str]  # two agents may have given the same id
SEARCHED_BYTES = 1 << 28
_CACHED_LOGS = 16_384
_Project = tuple[Agent, str | Path]


def family(session: SessionFiles, everything: Iterable[SessionFiles]) -> list[SessionFiles]:
    """The other sessions that have, or may have, lines in common with this one; in the order given."""
    return Relatives(everything).of(session)


class Relatives:
    """Looks up families of sessions; what is read for one lookup is used by the next."""

    def __init__(self, everything: Iterable[SessionFiles]) -> None:
        self._everything = list(everything)
        self._order = {(one.agent, one.id): n for n, one in enumerate(self._everything)}
        self._projects: dict[_Project, _Neighbourhood] = {}
        self._linked: dict[Agent, _Threads] = {}

    def of(self, session: SessionFiles) -> list[SessionFiles]:
        """The other sessions that have, or may have, lines in common with this one; in the order given."""
        if support_for(session.agent).logs.says_copies:
            found: Collection[str] = self._threads_of(session.agent).related(session)
        else:
            found = self._project_of(session).family(session.id)
        places = (self._order.get((session.agent, id)) for id in found if id != session.id)
        return [self._everything[place] for place in sorted(place for place in places if place is not None)]

    def _threads_of(self, agent: Agent) -> _Threads:
        if agent not in self._linked:
            self._linked[agent] = _Threads([one for one in self._everything if one.agent == agent])
        return self._linked[agent]

    def _project_of(self, session: SessionFiles) -> _Neighbourhood:
        """The sessions of its project folder, and those that it names elsewhere."""
        keys, known = _projects(session), self._known(session.agent, session.id)
        if len(keys) == 1 and known is not None and known.mains == session.mains:
            [key] = keys
            project = self._projects.get(key)
            if project is None:
                project = self._projects[key] = _Neighbourhood(self._near.get(key, ()))
            far = [one for one in self._named_by(session) if one.id not in project.sessions]
            if not far:
                return project
            return _Neighbourhood([*project.sessions.values(), *far])
        near = [one for key in keys for one in self._near.get(key, ())]
        return _Neighbourhood([*near, *self._named_by(session), session])

    def _named_by(self, session: SessionFiles) -> list[SessionFiles]:
        ids = _hashed_ids(session)
        known = (self._known(session.agent, id) for id in ids.named | ids.hinted)
        return [one for one in known if one is not None]

    def _known(self, agent: Agent, id: str) -> SessionFiles | None:
        place = self._order.get((agent, id))
        return None if place is None else self._everything[place]

    @cached_property
    def _near(self) -> Mapping[_Project, Sequence[SessionFiles]]:
        near: dict[_Project, list[SessionFiles]] = defaultdict(list)
        for session in self._everything:
            if not support_for(session.agent).logs.says_copies:
                for project in _projects(session):
                    near[project].append(session)
        return near


class _Neighbourhood:
    """Sessions that are compared with each other, by the ids at their beginnings."""

    def __init__(self, sessions: Iterable[SessionFiles]) -> None:
        self.sessions = {session.id: session for session in sessions}
        self._ids = {id: _hashed_ids(session) for id, session in self.sessions.items()}
        self._beginning: dict[int, list[str]] = defaultdict(list)  # the sessions that begin with an id
        for id, ids in self._ids.items():
            for key in ids.begins:
                self._beginning[key].append(id)
        self._known_to: dict[int, list[str]] = defaultdict(list)  # those that hold such an id in their heads
        self._naming: dict[str, list[str]] = defaultdict(list)  # those that name a session
        self._keys: dict[str, set[int]] = {}
        for id, ids in self._ids.items():
            self._keys[id] = self._beginning.keys() & {*ids.begins, *ids.holds}
            for key in self._keys[id]:
                self._known_to[key].append(id)
            for name in ids.named:
                self._naming[name].append(id)
        self._related: dict[str, frozenset[str]] = {}

    def family(self, id: str) -> frozenset[str]:
        """A session, those that heads link to it, and those that only a search finds."""
        return self._told_by_heads(id) | self._found_inside(id)

    def _told_by_heads(self, id: str) -> frozenset[str]:
        """All sessions that heads link to one, over any number of steps; the same set for each of them."""
        if id not in self._related:
            found, waiting = {id}, [id]
            asked: set[int] = set()
            while waiting:
                one = waiting.pop()
                linked = [*self._ids[one].named, *self._naming.get(one, ())]
                for key in self._keys[one] - asked:
                    linked += self._known_to[key]
                asked |= self._keys[one]
                new = {name for name in linked if name in self._ids} - found
                found |= new
                waiting += new
            related = frozenset(found)
            self._related |= dict.fromkeys(related, related)
        return self._related[id]

    def _found_inside(self, id: str) -> set[str]:
        """Sessions whose first ids occur inside this one's files, or the reverse: forks after a compaction."""
        if len(self._told_by_heads(id)) == len(self.sessions):
            return set()
        held = self._inside.get(id)
        if held is None:
            held = self._searched(id) if _size(self.sessions[id]) <= SEARCHED_BYTES else set()
        found = {name for key in held for name in self._beginning[key]}
        return found | {name for key in self._ids[id].begins for name in self._around.get(key, ())}

    def _searched(self, id: str) -> set[int]:
        return self._beginning.keys() & set(_hashes_inside(self.sessions[id]))

    @cached_property
    def _inside(self) -> dict[str, set[int]]:
        """First ids of sessions that occur anywhere in each one's transcripts, as far as these are searched."""
        inside: dict[str, set[int]] = {}
        allowance = SEARCHED_BYTES
        for id, session in sorted(self.sessions.items(), key=lambda one: -one[1].changed_ns):
            if (size := _size(session)) <= allowance:
                allowance -= size
                inside[id] = self._searched(id)
        return inside

    @cached_property
    def _around(self) -> dict[int, list[str]]:
        """The sessions that contain the first id of another one, by this id."""
        around: dict[int, list[str]] = defaultdict(list)
        for id, keys in self._inside.items():
            for key in keys:
                around[key].append(id)
        return around


class _Threads:
    """The sessions of an agent, linked in both directions by the sources that their heads name."""

    def __init__(self, sessions: Iterable[SessionFiles]) -> None:
        self._known = {session.id: session for session in sessions}
        self._named_by: dict[str, list[str]] = defaultdict(list)
        for session in self._known.values():
            for source in session.sources:
                self._named_by[source].append(session.id)

    def related(self, session: SessionFiles) -> set[str]:
        """All that are linked to a session over any number of steps."""
        found, waiting = {session.id}, [session]
        while waiting:
            one = waiting.pop()
            linked = {*one.sources, *self._named_by.get(one.id, ())}
            new = (linked & self._known.keys()) - found
            found |= new
            waiting += [self._known[id] for id in new]
        return found


def families(everything: Iterable[SessionFiles]) -> dict[Name, Kinship]:
    """The family of each session that has one, from heads alone: for reading all sessions in one go."""
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
    """Keys by which a session is linked to its family: its first ids, the ids in its head, the sessions it names."""
    keys = [("names", name.encode("utf-8", "replace")) for name in session.sources]
    ids = _ids_of(session)
    keys += [("names", name.encode("utf-8", "replace")) for name in ids.named if name != session.id]
    keys += [("begins", key) for key in ids.begins]
    return keys + [("holds", key) for key in ids.holds]


def _links(sessions: Collection[SessionFiles]) -> Iterator[tuple[Name, Name]]:
    """Pairs of linked sessions; the second may not exist."""
    for session in sessions:
        for source in session.sources:
            yield (session.agent, session.id), (session.agent, source)
    for agent in dict.fromkeys(session.agent for session in sessions):
        for one, other in _links_by_ids(session for session in sessions if session.agent == agent):
            yield (agent, one), (agent, other)


def _links_by_ids(sessions: Iterable[SessionFiles]) -> Iterator[tuple[str, str]]:
    """Links each session that holds an id to one that begins with it: one link each, not one per pair."""
    begins: dict[bytes, str] = {}
    held: list[tuple[str, frozenset[bytes]]] = []
    for session in sessions:
        id, ids = session.id, _ids_of(session)
        yield from ((id, name) for name in ids.named)
        yield from ((id, begins.setdefault(key, id)) for key in ids.begins)
        held.append((id, ids.holds))
    for id, keys in held:
        yield from ((id, begins[key]) for key in keys if key in begins)


def _projects(session: SessionFiles) -> set[_Project]:
    logs = support_for(session.agent).logs
    return {(session.agent, logs.project_of(file)) for file in session.mains}


def _size(session: SessionFiles) -> int:
    return sum(file.size for file in session.mains)


def _ids_of(session: SessionFiles) -> SharedIds:
    """The ids in all transcripts of a session, uncached: for readers that look at each session once."""
    found = []
    for file in session.mains:
        try:
            found.append(support_for(file.agent).logs.shared_ids(file))
        except NotReadable:
            continue
    return SharedIds(
        tuple(dict.fromkeys(key for one in found for key in one.begins)),
        frozenset().union(*(one.holds for one in found)),
        frozenset().union(*(one.named for one in found)),
        frozenset().union(*(one.hinted for one in found)),
    )


class _HashedIds(NamedTuple):
    """Ids of a session, small enough to be cached: as hashes."""

    begins: tuple[int, ...] = ()
    holds: array[int] = array("q")
    named: frozenset[str] = frozenset()
    hinted: frozenset[str] = frozenset()


def _hashed_ids(session: SessionFiles) -> _HashedIds:
    """Hashes of the ids in all transcripts of a session, cached by log."""
    found = []
    for file in session.mains:
        try:
            found.append(_hashed_ids_in(file))
        except NotReadable:
            continue
    if len(found) == 1:
        return found[0]
    holds = array("q")
    for one in found:
        holds.extend(one.holds)
    return _HashedIds(
        tuple(dict.fromkeys(key for one in found for key in one.begins)),
        holds,
        frozenset().union(*(one.named for one in found)),
        frozenset().union(*(one.hinted for one in found)),
    )


@lru_cache(maxsize=_CACHED_LOGS)
def _hashed_ids_in(file: LogFile) -> _HashedIds:
    ids = support_for(file.agent).logs.shared_ids(file)
    return _HashedIds(tuple(map(hash, ids.begins)), array("q", map(hash, ids.holds)), ids.named, ids.hinted)


def _hashes_inside(session: SessionFiles) -> Iterator[int]:
    """The hashes of all ids of lines and messages in the transcripts of a session, cached by log."""
    for file in session.mains:
        try:
            yield from _hashes_in(file)
        except NotReadable:
            continue


@lru_cache(maxsize=_CACHED_LOGS)
def _hashes_in(file: LogFile) -> array[int]:
    return array("q", set(map(hash, support_for(file.agent).logs.ids_inside(file))))
