"""Starts a child: what is needed to understand it is loaded while the client gets up."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.home import Home
from tracklog.model.run_request import RunRequest
from tracklog.run.prepare import new_run, prepare, put_away
from tracklog.run.process.supervise import start_supervised
from tracklog.run.registration import RunRegistration
from tracklog.run.request import checked

if TYPE_CHECKING:
    from tracklog.ledger.prices.rates import Prices
    from tracklog.run.child import Child

# Lazy imports: the client starts before what only its end needs is loaded.


def start(
    request: RunRequest,
    *,
    home: Path | Home | None = None,
    env: Mapping[str, str] | None = None,
    prices: Callable[[], Prices] | None = None,
    run: str | None = None,
) -> Child:
    """Starts a child and comes back at once; it is listened to by a thread.

    `home` is where tracklog keeps its own files; `env` the environment of the child and where the agents' homes are.
    Raises `UserError` for a request that makes no sense, and `Untrusted` if the folder's own settings would execute something, and nobody has said that they may.
    """
    ours = home if isinstance(home, Home) else Home(home or usual_home())
    known = prices or prices_of(ours)
    given = os.environ if env is None else env
    prompt = _bytes_of(checked(request).prompt)
    prepared = prepare(request, home=ours, env=given, prices=known, run=run or new_run())
    recording = RunRegistration(prepared, given)
    try:
        # A list goes on from what the register knows: it must know all that may cost. And who wants to go on with
        # the same session finds us there before the client has said a word.
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
    except BaseException:  # an interrupt, most likely: nobody is there to listen to the client
        client.close()
        put_away(prepared)
        recording.ended(None)
        raise


def _bytes_of(prompt: str) -> bytes:
    """As it came from a terminal or a file; half a letter that came from neither is handed on as an unknown one."""
    try:
        return prompt.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return prompt.encode("utf-8", "replace")


def prices_of(home: Home) -> Callable[[], Prices]:
    """The prices, with the user's own over them, when they are first asked for."""

    @cache
    def prices() -> Prices:
        from tracklog.ledger.prices.rates import NAME, prices_with

        return prices_with(home.path / NAME)

    return prices


def usual_home() -> Path:
    """Where tracklog keeps its files if nobody says otherwise."""
    if named := os.environ.get("TRACKLOG_HOME"):
        return Path(named).absolute()
    from platformdirs import user_data_path

    return user_data_path("tracklog")
