"""Answer permission requests of sessions started with `tracklog run --ask-here`.

Rules
  1. The first answer counts, wherever it was given; the outcome says what became of this one.
  2. A session does not answer its own requests.
  3. An answer that was given for a request as it was shown carries its digest: a request that has changed since is not
     answered, and one whose input is known in part only is not allowed.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal

from tracklog.errors import NotThere, UserError
from tracklog.home import Home
from tracklog.liveness.permission_requests import OpenPermissionRequest as OpenPermissionRequest
from tracklog.liveness.permission_requests import open_permission_requests
from tracklog.run.process.permission_hook import MOST_REASON as MOST_REASON
from tracklog.run.process.permission_hook import Fate, give
from tracklog.run.process.permission_hook import Verdict as Verdict
from tracklog.run.process.supervise import MARK

LAST = "@last"

AnswerOutcome = Fate | Literal["own", "changed", "cut"]  # the last three: nothing was answered


def open_requests(
    home: Home, session: str | None = None, *, call: str | None = None
) -> list[OpenPermissionRequest]:
    """The open requests, the newest first: all, or those of a session or run, or the one with an id.

    Names may be cut short; `@last` is the session that asked last. Raises NotThere where a name has no open request.
    """
    found = open_permission_requests(home)
    if session is not None:
        found = _of_session(session, found)
    return found if call is None else _with_id(call, found)


def open_request(home: Home, run: str, id: str) -> OpenPermissionRequest | None:
    """The open request of a run with this id."""
    return next((ask for ask in open_permission_requests(home) if (ask.run, ask.id) == (run, id)), None)


def is_own(ask: OpenPermissionRequest) -> bool:
    """Whether the session that asks has started this process."""
    return ask.run == os.environ.get(MARK)


def digest_of(ask: OpenPermissionRequest) -> str:
    """A digest of all that is shown of a request."""
    seen = [
        ask.run,
        ask.id,
        ask.session,
        ask.thread,
        ask.cwd,
        ask.mode,
        ask.tool,
        ask.input,
        ask.input_bytes,
        ask.at_ms,
    ]
    return blake2b(json.dumps(seen, sort_keys=True).encode("ascii"), digest_size=16).hexdigest()


def answer_request(
    ask: OpenPermissionRequest, verdict: Verdict, *, reason: str | None = None, shown: str | None = None
) -> AnswerOutcome:
    """Answer a request. `reason` is for the model, with a denial; `shown` the digest of the request as it was shown."""
    if shown is not None and not hmac.compare_digest(
        digest_of(ask).encode(), shown.encode("utf-8", "replace")
    ):
        return "changed"
    if is_own(ask):
        return "own"
    if shown is not None and ask.is_cut and verdict == "allow":
        return "cut"
    return give(ask, verdict, reason=reason if verdict == "deny" else None)


def _of_session(session: str, asks: Sequence[OpenPermissionRequest]) -> list[OpenPermissionRequest]:
    if session == LAST:
        return [ask for ask in asks if ask.run == asks[0].run] or _nothing_open("of any session")
    named = [ask for ask in asks if session in (ask.session, ask.run)]
    begun = [
        ask for ask in asks if session and (ask.session.startswith(session) or ask.run.startswith(session))
    ]
    found = named or begun
    if len({ask.session for ask in found}) > 1:
        names = ", ".join(sorted({ask.session for ask in found}))
        raise UserError(f"{session} is the start of several sessions that ask: {names}; name more of it")
    return found or _nothing_open(f"of {session}")


def _with_id(call: str, asks: Sequence[OpenPermissionRequest]) -> list[OpenPermissionRequest]:
    found = [ask for ask in asks if ask.id == call] or [
        ask for ask in asks if call and ask.id.startswith(call)
    ]
    return found or _nothing_open(f"with the id {call}")


def _nothing_open(whose: str) -> list[OpenPermissionRequest]:
    raise NotThere(
        f"no open question {whose}: `tracklog answer` lists those there are, and only sessions that were started "
        "with `tracklog run --ask-here` have any"
    )
