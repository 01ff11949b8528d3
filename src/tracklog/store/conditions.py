"""What the filters of a query mean in SQL."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tracklog.model.projects import last_part
from tracklog.store.odd_texts import as_text
from tracklog.store.query import Query
from tracklog.store.scope import Scope
from tracklog.store.texts import EPOCH_S, NOWHERE, ROLES, SLOT_BITS

_EVER = (1 << 62) - 1
_SLACK_S = 600  # a text whose second was full stands some seconds later
_FEW_FILES = 400  # for so many the span of their texts is looked up
_OWN_MODEL = (ROLES["answer"], ROLES["thinking"])


class Conditions(NamedTuple):
    """Parts of a WHERE over texts `t` and their logs `f`, and the values in them."""

    where: list[str]
    values: dict[str, Any]


def conditions_of(db: sqlite3.Connection, query: Query, scope: Scope | None) -> Conditions:
    """What every hit must fulfil."""
    made = _Made(db)
    made.span(query.since_ms, query.until_ms)
    files = None if scope is None or scope.is_everything(db) else _files_in(db, scope)
    by_key: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for one in query.filters:
        by_key[one.key, one.is_not].append(one.value)
    for (key, is_not), values in by_key.items():
        if key in ("session", "project"):
            fitting = _files_of_sessions(db, key, values)
            files = _narrowed(db, files, fitting, is_not=is_not)
        elif key != "role" or is_not:  # whose texts are wanted, the words say (match.py)
            made.add(key, values, is_not=is_not)
    if files is not None:
        made.only_in(files)
    return Conditions(made.where, made.values)


def _narrowed(db: sqlite3.Connection, files: set[int] | None, fitting: set[int], *, is_not: bool) -> set[int]:
    if files is None:
        files = {row[0] for row in db.execute("select id from log_files where state <> 'past'")}
    return files - fitting if is_not else files & fitting


def _files_in(db: sqlite3.Connection, scope: Scope) -> set[int]:
    inside, values = scope.condition("path")
    return {
        row[0] for row in db.execute(f"select id from log_files where state <> 'past' and {inside}", values)
    }


class _Made:
    """Conditions as they are put together."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.where: list[str] = [f"t.file <> {NOWHERE}"]
        self.values: dict[str, Any] = {"first_id": 0, "last_id": _EVER}

    def value(self, value: Any) -> str:
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def span(self, since_ms: int | None, until_ms: int | None) -> None:
        """By the ids, which grow with time; then to the millisecond, where the text states one."""
        if since_ms is not None:
            self.values["first_id"] = max(since_ms // 1000 - EPOCH_S, 0) << SLOT_BITS
            self.where.append(f"(t.at_ms is null or t.at_ms >= {self.value(since_ms)})")
        if until_ms is not None:
            self.values["last_id"] = max((until_ms // 1000 - EPOCH_S + _SLACK_S), 0) << SLOT_BITS
            self.where.append(f"(t.at_ms is null or t.at_ms < {self.value(until_ms)})")

    def only_in(self, files: set[int]) -> None:
        listed = self.value(json.dumps(sorted(files)))
        self.where.append(f"t.file in (select value from json_each({listed}))")
        if len(files) <= _FEW_FILES:
            question = f"select min(id), max(id) from text_rows where file in (select value from json_each({listed}))"
            first, last = self._db.execute(question, self.values).fetchone()
            self.values["first_id"] = max(self.values["first_id"], first or 0)
            self.values["last_id"] = min(self.values["last_id"], last or 0)

    def add(self, key: str, values: list[str], *, is_not: bool) -> None:
        means: dict[str, Callable[[str], str]] = {
            "role": self._role,
            "agent": self._agent,
            "verdict": self._verdict,
            "tool": self._tool,
            "path": self._path,
            "model": self._model,
        }
        fits = " or ".join(map(means[key], values))
        self.where.append(f"not ifnull(({fits}), 0)" if is_not else f"({fits})")

    def _role(self, value: str) -> str:
        return f"t.role = {self.value(ROLES[value])}"

    def _agent(self, value: str) -> str:
        return f"f.agent = {self.value(value)}"

    def _verdict(self, value: str) -> str:
        return self._call(f"c.verdict = {self.value(value)}")

    def _tool(self, value: str) -> str:
        """By the name that the input states; a result has only its call to tell."""
        wanted = [_like(value, has_star=True)]
        if value.startswith("mcp__"):  # all tools of a server
            wanted.append(f"{_like(value.rstrip('_'))}\\_\\_%")
        likes = [f"like {self.value(one)} escape '\\'" for one in wanted]
        own = " or ".join(f"name {like}" for like in likes)
        called = " or ".join(f"c.name {like}" for like in likes)
        named = f"t.name in (select id from names where {own}) or {self._call(f'({called})')}"
        return f"(t.call_key is not null and ({named}))"

    def _path(self, value: str) -> str:
        """A part of the path of the log, or of the file that a call named."""
        part = f"like {self.value(f'%{_like(value)}%')} escape '\\'"
        return f"(f.path {part} or {self._call(f'c.did {part}')})"

    def _model(self, value: str) -> str:
        """Answers by their own model; everything else by those that its session used."""
        part = f"like {self.value(f'%{_like(value)}%')} escape '\\'"
        own = f"t.role in {_OWN_MODEL} and t.name in (select id from names where name {part})"
        session = "(s.agent, s.session) = (f.agent, f.session)"
        others = f"exists (select 1 from session_rows s where {session} and s.models {part})"
        return f"(({own}) or (t.role not in {_OWN_MODEL} and {others}))"

    def _call(self, condition: str) -> str:
        return f"exists (select 1 from call_rows c where c.call_key = t.call_key and {condition})"


def _like(value: str, *, has_star: bool = False) -> str:
    """A value as LIKE takes it; a star at its end stands for anything."""
    rest = value.rstrip("*") if has_star else value
    quoted = rest.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{quoted}%" if rest != value else quoted


def _files_of_sessions(db: sqlite3.Connection, key: str, values: Iterable[str]) -> set[int]:
    find = _files_of_named if key == "session" else _files_of_project
    return {file for value in values for file in find(db, value)}


def _files_of_named(db: sqlite3.Connection, beginning: str) -> list[int]:
    """By the beginning of the id of the session, or of a thread of it."""
    asked = "select id from log_files where state <> 'past' and (session like ?1 escape '\\' or own_session like ?1 escape '\\')"
    return [row[0] for row in db.execute(asked, (f"{_like(beginning)}%",))]


def _files_of_project(db: sqlite3.Connection, project: str) -> list[int]:
    names = [
        (agent, session)
        for agent, session, cwd, cwds in db.execute("select agent, session, cwd, cwds from session_rows")
        if any(_is_in(project, folder) for folder in _folders(cwd, cwds))
    ]
    asked = "select id from log_files where agent = ? and session = ? and state <> 'past'"
    return [row[0] for name in names for row in db.execute(asked, name)]


def _folders(cwd: Any, cwds: Any) -> list[str]:
    return json.loads(as_text(cwds)) if cwds else [as_text(cwd)] if cwd else []


def _is_in(project: str, folder: str) -> bool:
    """A project is meant by its name, or by its folder."""
    if os.sep not in project and project not in (".", ".."):
        return last_part(folder).lower() == project.lower()
    meant = os.path.abspath(os.path.expanduser(project)).rstrip(os.sep)
    return f"{folder.rstrip(os.sep)}{os.sep}".startswith(f"{meant}{os.sep}")
