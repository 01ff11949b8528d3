"""Prepare a child before it starts, so that its log, its hooks and its session id are known by then.

Rules
  1. Anything that the folder's own settings would execute must be trusted before anything runs.
  2. Anything that cannot be prepared (a full disk, a home that may not be written) is a problem in the result; the run goes
     on without it: stream, log and exit code remain.
  3. A session that another process has open is refused: both would write into one log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.agents.supported import support_for
from tracklog.errors import UserError, why_failed
from tracklog.home import Home
from tracklog.model.run_request import RunRequest
from tracklog.run.process.prestart import WaitingSupervisor
from tracklog.run.process.private_dir import Fifo, PrivateFolder, folder_of, left_folders, make_private
from tracklog.run.process.private_dir import handler as stop_handler
from tracklog.run.process.supervise import MARK, program_named, supervisor_for, sweep
from tracklog.run.trust import Untrusted, is_trusted, risks_in, trust

if TYPE_CHECKING:
    from tracklog.agents.base import AgentClient
    from tracklog.ledger.prices.rates import Prices
    from tracklog.reading.session_files import SessionFiles
    from tracklog.run.find_logs import ChildLogs  # only when the client is there


def refuse_if_open(agent: str, session: str, *, env: Mapping[str, str], home: Home) -> None:
    """Raise UserError if a living process has this session open."""
    from tracklog.run.parent import writer_of  # slow to load, and most runs go on with nothing

    writer = writer_of(agent, session, env=env, home=home)
    if writer is None:
        return
    since = datetime.fromtimestamp(writer.since_ms / 1000).astimezone()
    raise UserError(
        f"{session} is open in process {writer.pid}, which runs since {since:%Y-%m-%d %H:%M:%S}: two processes would write "
        f"into one log; end that process, go on in a copy with `tracklog fork {session}`, or pass --force"
    )


def interactive_command(agent: str, session: str, *, client: str | None, env: Mapping[str, str]) -> list[str]:
    """The client's command for going on with a session in the terminal, with an absolute path of the program."""
    ours = support_for(agent).client
    return [program_named(client or ours.program, env), *ours.interactive_arguments(session)]


_SCHEMA = "schema.json"
_SETTINGS = "settings.json"


class Prepared:
    """A child that is ready to start."""

    def __init__(
        self,
        run: str,
        request: RunRequest,
        home: Home,
        *,
        env: dict[str, str],
        session: str | None,
        began_ms: int,
    ) -> None:
        self.run, self.request, self.home, self.env = run, request, home, env
        self.client = support_for(request.agent).client
        self.session = session  # None: the client will name it
        self.began_ms = began_ms
        self.argv: list[str] = []
        self.supervisor: WaitingSupervisor | None = None  # waits for its order
        self.folder: PrivateFolder | None = None
        self.fifo: Fifo | None = None
        self.problems: list[str] = []

    @cached_property
    def logs(self) -> ChildLogs:
        """Finds its logs."""
        from tracklog.run.find_logs import ChildLogs  # only when the client is there

        cwd = Path(self.request.cwd)
        return ChildLogs(self.request.agent, cwd, self.env, since_ns=self.began_ms * 1_000_000)

    @cached_property
    def related(self) -> list[SessionFiles]:
        """The sessions whose requests its own log may repeat."""
        source = (
            self.logs.files_of(self.request.resume) if self.request.is_fork and self.request.resume else None
        )
        return [source] if source is not None else []


def new_run() -> str:
    """An id for a run."""
    return os.urandom(8).hex()


def new_session() -> str:
    """An id for a session: a random UUID (version 4), without the module that makes them, which is slow to load."""
    data = bytearray(os.urandom(16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    name = data.hex()
    return "-".join((name[:8], name[8:12], name[12:16], name[16:20], name[20:]))


def prepare(
    request: RunRequest, *, home: Home, env: Mapping[str, str], prices: Callable[[], Prices], run: str
) -> Prepared:
    """Prepare everything; raises UserError for a request that cannot be carried out."""
    if request.resume is not None and not request.is_fork and not request.is_forced:
        refuse_if_open(request.agent, request.resume, env=env, home=home)
    note = ask_for_trust(request, home, env)
    _refuse_without_price(request, prices)
    client = support_for(request.agent).client
    child_env = client.environment(env) | {MARK: run}
    now_ms = time.time_ns() // 1_000_000
    prepared = Prepared(
        run, request, home, env=child_env, session=_session_of(request, client), began_ms=now_ms
    )
    prepared.problems += [note] if note is not None else []
    prepared.supervisor = supervisor_for(folder_of(home, run))
    try:
        _make_folder(prepared)
        prepared.argv = _argv(prepared)
    except BaseException:
        put_away(prepared)
        raise
    return prepared


def put_away(prepared: Prepared) -> None:
    """Remove all that was made for the run."""
    if prepared.supervisor is not None:
        prepared.supervisor.discard()
    if prepared.fifo is not None:
        prepared.fifo.close()
    if prepared.folder is not None:
        prepared.folder.remove()


def ask_for_trust(request: RunRequest, home: Home, env: Mapping[str, str]) -> str | None:
    """Raise Untrusted if the folder's own settings would execute something that nobody has trusted."""
    risks = risks_in(Path(request.cwd), request.agent, env)
    folder = Path(request.trusted_as or request.cwd)
    if not risks or is_trusted(home, folder, risks):
        return None
    if not request.is_trusted:
        raise Untrusted(Path(request.cwd), risks)
    return trust(home, folder, risks)


def _refuse_without_price(request: RunRequest, prices: Callable[[], Prices]) -> None:
    """Refuse a cost limit for a full model name without a price; only the client knows what short names such as `opus` mean."""
    if request.limits.max_cost_micro_usd is None:
        return
    client = support_for(request.agent).client
    is_full_name = request.model is not None and client.is_full_model_name(request.model)
    if prices().rates(request.model) is None and is_full_name:
        raise UserError(
            f"{request.model} has no price, so that --max-cost cannot be kept: give it one in prices.toml"
        )


def _session_of(request: RunRequest, client: AgentClient) -> str | None:
    if request.resume is not None and not request.is_fork:
        return request.resume
    return (request.session or new_session()) if client.takes_session_id else None


def _make_folder(prepared: Prepared) -> None:
    try:
        prepared.home.make()
        if left_folders(prepared.home):
            sweep(prepared.home)
        prepared.folder = make_private(prepared.home, prepared.run)
        if prepared.client.reporting_hooks and prepared.folder.fifo is not None:
            prepared.fifo = Fifo(prepared.folder.fifo)
    except (OSError, UserError) as error:
        why = why_failed(error) if isinstance(error, OSError) else str(error)
        prepared.problems.append(f"no hooks for this run: {why}")


def _argv(prepared: Prepared) -> list[str]:
    request, client = prepared.request, prepared.client
    settings = _written(prepared, _SETTINGS, _settings(prepared))
    wanted = client.schema_file(request)
    schema = _written(prepared, _SCHEMA, wanted)
    if wanted is not None and schema is None:
        raise UserError(f"the schema cannot be handed over: {prepared.problems[-1]}")
    arguments = client.arguments(request, session=prepared.session, settings=settings, schema=schema)
    return [request.client or client.program, *arguments]


def _settings(prepared: Prepared) -> bytes | None:
    """The settings of this run: the hooks that report to us, and the one that puts permission requests here."""
    client = prepared.client
    if prepared.folder is None or prepared.folder.fifo is None:
        return None
    reporting = stop_handler(prepared.folder.fifo)
    hooks = {event: [reporting] for event in client.reporting_hooks}
    if (wait_s := prepared.request.ask_here_s) is not None and client.permission_event is not None:
        from tracklog.run.process.permission_hook import handler as ask_handler  # most runs ask nobody

        asking = ask_handler(prepared.folder.path, home=prepared.home, wait_s=wait_s)
        hooks[client.permission_event] = [asking, reporting]
    return client.settings(hooks)


def _written(prepared: Prepared, name: str, data: bytes | None) -> Path | None:
    if data is None or prepared.folder is None:
        return None
    try:
        return prepared.folder.write(name, data)
    except OSError as error:
        prepared.problems.append(f"no hooks for this run: {why_failed(error)}")
        return None
