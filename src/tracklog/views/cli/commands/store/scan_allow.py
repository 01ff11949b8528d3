"""What `tracklog scan` leaves aside: allowed, allowed no more, listed."""

from __future__ import annotations

import os

from tracklog.app.index.open import indexed
from tracklog.errors import NotThere, UserError
from tracklog.home import Home
from tracklog.secrets.allowlist import LIST_NAME, Allowance, allow, allow_list, disallow, meant
from tracklog.secrets.redact import redaction_key
from tracklog.store.catalogue import numbers
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, safe, talk, tilde


def change_and_list(
    home: Home, *, to_allow: str | None, to_disallow: str | None, why: str, as_json: bool
) -> None:
    """Changes the list as asked, and shows what is on it now."""
    if to_allow is not None:
        _refuse_a_value(to_allow, home)
        one = meant(to_allow)
        if one.path is not None and not os.path.lexists(one.path) and not _is_known(one.path, home):
            raise UserError(f"{safe(to_allow)} is neither a hash that `tracklog scan` shows nor a log")
        if not allow(home, one._replace(why=why)):
            talk(f"tracklog: {to_allow} is allowed already")
    elif to_disallow is not None and not disallow(home, meant(to_disallow)):
        raise NotThere(f"{to_disallow} is not allowed: `tracklog scan --allowed` lists what is")
    entries = allow_list(home).entries
    if as_json:
        answer_json({"allowed": [one._asdict() for one in entries]})
        return
    for one in entries:
        answer(f"{_what(one)}{f'  {safe(one.why)}' if one.why else ''}")
    if not entries:
        answer("Nothing is allowed.")
    else:
        talk(f"tracklog: the list is {tilde(home.path / LIST_NAME)}")


def _refuse_a_value(words: str, home: Home) -> None:
    """The list holds no values, and neither does what we say."""
    from tracklog.secrets.find import find
    from tracklog.secrets.redact import hash_of

    for one in find(os.fsencode(words)).found:
        if one.value == os.fsencode(words):
            hash = hash_of(redaction_key(home), one.value)
            raise UserError(f"that is a secret itself, which is not written down: its hash is {hash[:8]}")


def _is_known(path: str, home: Home) -> bool:
    """Whether the index knows such a log, or logs below such a folder: their source may be gone."""
    with indexed((), home=home.path, talk=STDERR, syncs=False, settles=False) as index:
        known = numbers(index.database.db) if index is not None else {}
    return any(one == path or one.startswith(f"{path}/") for one in known)


def _what(one: Allowance) -> str:
    if one.hash is not None:
        return one.hash
    return safe(tilde(one.path or "")) + (f":{one.line}" if one.line is not None else "")
