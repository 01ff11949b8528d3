"""Start a child; load what understands it while the client starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.home import Home, usual_home
from tracklog.model.run_request import RunRequest
from tracklog.run.prepare import new_run, prepare, put_away
from tracklog.run.process.supervise import start_supervised
from tracklog.run.registration import RunRegistration
from tracklog.run.request import checked

if TYPE_CHECKING:
    from tracklog.ledger.prices.rates import Prices
    from tracklog.run.child import Child
    from tracklog.run.result import Result

# Lazy imports: the client starts before what only its end needs is loaded.


def start(
    request: RunRequest,
    *,
    home: Path | Home | None = None,
    env: Mapping[str, str] | None = None,
    prices: Callable[[], Prices] | None = None,
    run: str | None = None,
) -> Child:
    """Start a child and return at once; a thread reads its events.

    `home` is where tracklog keeps its own files; `env` the environment of the child and where the agents' homes are.
    Raises `UserError` for a request that cannot be carried out, and `Untrusted` if the folder's own settings would execute
    something that nobody has trusted.
    """
    ours = home if isinstance(home, Home) else Home(home or usual_home())
    known = prices or prices_of(ours)
    given = os.environ if env is None else env
    prompt = _bytes_of(checked(request).prompt)
    prepared = prepare(request, home=ours, env=given, prices=known, run=run or new_run())
    recording = RunRegistration(prepared, given)
    try:
        # A list continues from the register, which must know all that may cost. And another process that wants to go on
        # with the same session must find us there before the client writes anything.
        if request.batch is not None or request.resume is not None:
            recording.started()
        folder = prepared.folder.path if prepared.folder is not None else None
        client = start_supervised(
            prepared.argv, cwd=Path(request.cwd), env=prepared.env, folder=folder, waiting=prepared.supervisor
        )
        prepared.supervisor = None  # it has its order
    except BaseException:
        put_away(prepared)
        recording.ended(None)
        raise
    try:
        client.feed(prompt)
        from tracklog.run.child import Child

        return Child(prepared, client, prices=known, recording=recording)
    except BaseException:  # most likely an interrupt: nobody would read the client's events
        client.close()
        put_away(prepared)
        recording.ended(None)
        raise


def run(
    request: RunRequest, *, home: Path | Home | None = None, env: Mapping[str, str] | None = None
) -> Result:
    """Starts a child and waits for its result; the child is cancelled if the wait is interrupted."""
    with start(request, home=home, env=env) as child:
        return child.result()


def _bytes_of(prompt: str) -> bytes:
    """The prompt as bytes, as it came from a terminal or a file; half characters from elsewhere become `?`."""
    try:
        return prompt.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return prompt.encode("utf-8", "replace")


def prices_of(home: Home) -> Callable[[], Prices]:
    """The prices with the user's own over them, read when first asked for."""

    @cache
    def prices() -> Prices:
        from tracklog.ledger.prices.rates import NAME, prices_with

        return prices_with(home.path / NAME)

    return prices
