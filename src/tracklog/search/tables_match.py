"""Translate a query into SQL conditions and an FTS5 expression.

Of a regular expression, the words that every match must contain narrow down the texts that are read.

Rules
  1. Only parts that no match can lack count: literal runs outside of alternatives and optional parts.
  2. A word at the edge of a run may continue beyond it. One whose start is sure is searched as a prefix; one that may
     start earlier is not searched at all.
  3. No word is better than a wrong one: then the newest texts are read, as far as the time allows.
  4. Every word in an expression is quoted.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tracklog.model.session_rules import last_part
from tracklog.search.query import Query, Term
from tracklog.store.scope import Scope
from tracklog.store.surrogates import as_text
from tracklog.store.text import (
    CJK,
    EMOJI,
    EPOCH_S,
    NOWHERE,
    ROLES,
    SLOT_BITS,
    camel_parts,
    cjk_words,
    emoji_words,
    role_word,
)

_EVER = (1 << 62) - 1
_SLACK_S = 600  # a text whose second was full gets an id some seconds later
_FEW_FILES = 400  # for so many the span of their texts is looked up
_OWN_MODEL = (ROLES["answer"], ROLES["thinking"])


class Conditions(NamedTuple):
    """Parts of a WHERE over texts `t` and their logs `f`, and the values in them."""

    where: list[str]
    values: dict[str, Any]


def conditions_of(db: sqlite3.Connection, query: Query, scope: Scope | None) -> Conditions:
    """The conditions that every hit meets."""
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
        elif key != "role" or is_not:  # the FTS expression selects roles (match_of)
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
    """Collects conditions."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.where: list[str] = [f"t.file <> {NOWHERE}"]
        self.values: dict[str, Any] = {"first_id": 0, "last_id": _EVER}

    def value(self, value: Any) -> str:
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def span(self, since_ms: int | None, until_ms: int | None) -> None:
        """Limits ids, which grow with time; then to the millisecond, where a text states its time."""
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
        """Matches the tool's name that an input states; for a result that of its call."""
        wanted = [_like(value, has_star=True)]
        if value.startswith("mcp__"):  # all tools of a server
            wanted.append(f"{_like(value.rstrip('_'))}\\_\\_%")
        likes = [f"like {self.value(one)} escape '\\'" for one in wanted]
        own = " or ".join(f"name {like}" for like in likes)
        called = " or ".join(f"c.name {like}" for like in likes)
        named = f"t.name in (select id from names where {own}) or {self._call(f'({called})')}"
        return f"(t.call_key is not null and ({named}))"

    def _path(self, value: str) -> str:
        """Matches a part of the log's path, or of what a call did."""
        part = f"like {self.value(f'%{_like(value)}%')} escape '\\'"
        return f"(f.path {part} or {self._call(f'c.did {part}')})"

    def _model(self, value: str) -> str:
        """Matches answers by their own model, all else by the models of its session."""
        part = f"like {self.value(f'%{_like(value)}%')} escape '\\'"
        own = f"t.role in {_OWN_MODEL} and t.name in (select id from names where name {part})"
        session = "(s.agent, s.session) = (f.agent, f.session)"
        others = f"exists (select 1 from session_rows s where {session} and s.models {part})"
        return f"(({own}) or (t.role not in {_OWN_MODEL} and {others}))"

    def _call(self, condition: str) -> str:
        return f"exists (select 1 from call_rows c where c.call_key = t.call_key and {condition})"


def _like(value: str, *, has_star: bool = False) -> str:
    """A value escaped for LIKE; with `has_star`, a star at its end matches anything."""
    rest = value.rstrip("*") if has_star else value
    quoted = rest.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{quoted}%" if rest != value else quoted


def _files_of_sessions(db: sqlite3.Connection, key: str, values: Iterable[str]) -> set[int]:
    find = _files_of_named if key == "session" else _files_of_project
    return {file for value in values for file in find(db, value)}


def _files_of_named(db: sqlite3.Connection, beginning: str) -> list[int]:
    """Logs whose session's id, or own id, begins so."""
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
    """Whether a folder belongs to a project, which is given by name or by path."""
    if os.sep not in project and project not in (".", ".."):
        return last_part(folder).lower() == project.lower()
    meant = os.path.abspath(os.path.expanduser(project)).rstrip(os.sep)
    return f"{folder.rstrip(os.sep)}{os.sep}".startswith(f"{meant}{os.sep}")


_CJK_RUN = re.compile(f"[{CJK}]+")
_OTHER_WRITING = re.compile(f"[{CJK}{EMOJI}\ufe0f\u200d]+")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,39}")


def match_of(query: Query, words: str | None = None) -> str | None:
    """Expression for the words of a query, and `words` if given, in texts of its roles; None: any text."""
    wanted = [_any(map(expression, group)) for group in query.groups]
    wanted += [words] if words is not None else []
    roles = [ROLES[one.value] for one in query.filters if one.key == "role" and not one.is_not]
    wanted += [_any(f'parts : "{role_word(role)}"' for role in roles)] if roles else []
    if not wanted:
        return None
    return f"{every(wanted)} NOT {_any(map(expression, query.nots))}" if query.nots else every(wanted)


def expression(term: Term) -> str:
    """Expression for one word or phrase."""
    found = [_cjk(run) for run in _CJK_RUN.findall(term.words)]
    found += [f'parts : "{word}"' for word in emoji_words(term.words)]
    if not found:
        return _plain(term)
    rest = (part for part in _OTHER_WRITING.sub(" ", term.words).split() if any(map(str.isalnum, part)))
    return every([*found, *map(quoted, rest)])


def is_hash(word: str) -> bool:
    """Whether a word looks like the beginning of a hash, which people rarely type whole."""
    return _HASH.fullmatch(word) is not None


def _plain(term: Term) -> str:
    """Expression for an identifier, whole or within a longer one; what looks like a hash is searched as a prefix."""
    if term.is_prefix or (not term.is_phrase and is_hash(term.words)):
        return f"{quoted(term.words)} *"
    parts = camel_parts(term.words) if term.words.isalnum() and not term.is_phrase else []
    whole = quoted(term.words)
    return f"({whole} OR {quoted(' '.join(parts))})" if parts else whole


def _cjk(run: str) -> str:
    if len(run) == 1:
        return f"parts : {quoted(run)} *"
    return f"parts : {quoted(' '.join(cjk_words(run)[:-1]))}"


def quoted(words: str) -> str:
    """Words quoted as a phrase, whatever characters they contain."""
    return '"' + words.replace('"', '""') + '"'


def every(parts: Iterable[str]) -> str:
    """Expression that requires all of these."""
    return f"({' AND '.join(parts)})"


def _any(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"


_MOST_WORDS = 12
_SHORTEST_LIKELY = 3
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_BEYOND_ASCII = re.compile(f"[{CJK}]+|[{EMOJI}]")
_BORDER = "\0"  # marks where in a run a word surely ends or begins


def words_of_pattern(pattern: str) -> str | None:
    """Expression that finds every text the pattern can match; None if the pattern has no sure word."""
    found = dict.fromkeys(word for run in _runs(pattern) for word in _words_in(run))
    return every(list(found)[:_MOST_WORDS]) if found else None


def likely_words(pattern: str) -> str | None:
    """Expression for texts that a pattern without a sure word probably matches: `Error` as the start of a word."""
    runs = [found[0] for run in _runs(pattern) for found in _ASCII_WORD.finditer(run)]
    longest = max(runs, key=len, default="")
    if len(longest) < _SHORTEST_LIKELY:
        return None
    parts = camel_parts(longest)
    return f"({quoted(longest)} * OR {quoted(' '.join(parts))} *)" if parts else f"{quoted(longest)} *"


def _runs(pattern: str) -> list[str]:
    """The literal parts that every match contains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]  # the only way to know what is literal
    runs = [""]
    _collect(parsed, runs)
    return runs


def _collect(parsed: Iterable[Any], runs: list[str]) -> None:
    """Appends literals to the last run, and begins a new run at every part that is not literal."""
    for what, value in parsed:
        name = str(what)
        if name == "LITERAL":
            runs[-1] += chr(value)
        elif name == "AT" and str(value) != "AT_NON_BOUNDARY":
            runs[-1] += _BORDER
        elif name == "SUBPATTERN":
            _collect(value[3], runs)
        else:
            runs.append("")
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] >= 1:
                _collect(value[2], runs)
                runs.append("")


def _words_in(run: str) -> Iterable[str]:
    for found in _ASCII_WORD.finditer(run):
        before, behind = run[: found.start()][-1:], run[found.end() :][:1]
        if before and before.isascii():
            is_whole = bool(behind) and behind.isascii()
            yield quoted(found[0]) if is_whole else f"{quoted(found[0])} *"
    for other in _BEYOND_ASCII.findall(run):
        yield expression(Term(other))
