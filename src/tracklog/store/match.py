"""From words to the language of SQLite's full-text search, every one of them quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracklog.store.query import Query, Term
from tracklog.store.texts import ROLES
from tracklog.store.words import CJK, EMOJI, camel_parts, cjk_words, emoji_words, role_word

_CJK_RUN = re.compile(f"[{CJK}]+")
_OTHER_WRITING = re.compile(f"[{CJK}{EMOJI}\ufe0f\u200d]+")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,39}")


def match_of(query: Query, words: str | None = None) -> str | None:
    """The expression that finds the words of a query, and more if they are given, in texts of its roles; None: any text."""
    wanted = [_any(map(expression, group)) for group in query.groups]
    wanted += [words] if words is not None else []
    roles = [ROLES[one.value] for one in query.filters if one.key == "role" and not one.is_not]
    wanted += [_any(f'parts : "{role_word(role)}"' for role in roles)] if roles else []
    if not wanted:
        return None
    return f"{every(wanted)} NOT {_any(map(expression, query.nots))}" if query.nots else every(wanted)


def expression(term: Term) -> str:
    """The expression for one word or phrase."""
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
    """An identifier is found whole, and as a part of a longer one; a beginning of a hash as one."""
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
    """Words as a phrase, whatever they hold."""
    return '"' + words.replace('"', '""') + '"'


def every(parts: Iterable[str]) -> str:
    """What holds all of these."""
    return f"({' AND '.join(parts)})"


def _any(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"
