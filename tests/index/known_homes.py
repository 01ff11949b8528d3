"""Homes with logs and an index of them, and everything that an index knows, to be compared with another one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.index.indexed_logs import PRICES
from tests.oracle.logs import (
    ClaudeLog,
    CodexLog,
    dumps,
    message_id,
    session_id,
    thread_id,
    tokens,
    tool_use,
    turn_id,
    usage,
)
from tests.oracle.logs import text as said
from tracklog.archive import tables
from tracklog.archive.files import contents
from tracklog.home import Home
from tracklog.index.rebuild import with_index
from tracklog.index.session_rows import session_files, settle_sessions
from tracklog.index.sync import Synced, sync
from tracklog.ledger.stored.refresh import settle_ledger
from tracklog.sources.log_file import Root
from tracklog.store import catalogue
from tracklog.store.database import DamagedIndex, Database, put_setting, writing
from tracklog.views.cli.click_app import run

Rows = list[tuple[Any, ...]]
Snapshot = dict[str, Any]

_PARTS = {
    "thread_rows": "n, thread, parent_thread, parent_call, type, description, state, sureness, joined_by, is_warmup, "
    "requests, calls",
    "turn_rows": "thread, n, at, ended_at, took_ms, {file}, line, requests, calls, is_interrupted, on_active_branch, "
    "is_inherited",
    "prompt_rows": "thread, turn, n, origin, at, {file}, line, text",
    "request_rows": "n, request, thread, turn, model, at, ended_at, stop_reason, error, calls, {file}, first_line, "
    "last_line, is_synthetic, on_active_branch, is_inherited",
    "call_rows": "n, call, call_key, owner, thread, turn, request, name, verdict, outcome, sureness, why, timed_out, "
    "called_at, returned_at, took_ms, took_by, exit_code, on_active_branch, is_inherited, {file}, line, did, error",
    "branch_rows": "n, branch, parent, start_node, end_node, is_active, why",
    "problem_rows": "n, {file}, line, what",
}
_SESSION = (
    "agent, session, is_settled, is_listed, only_here, path, title, project, cwd, cwds, branch, models, versions, "
    "entrypoint, started_at, last_at, last_ms, state, turns, requests, calls, errors, threads, forked_from, not_understood"
)


@dataclass(frozen=True)
class Made:
    """A folder with the homes of both agents."""

    top: Path

    @property
    def claude(self) -> Path:
        """Claude Code's home."""
        return self.top / ".claude"

    @property
    def codex(self) -> Path:
        """Codex's home."""
        return self.top / ".codex"

    @property
    def home(self) -> Home:
        """Where tracklog keeps its files."""
        return Home(self.top / "tracklog")

    @property
    def roots(self) -> list[Root]:
        """Where the logs are looked for."""
        return [Root(self.claude, "claude"), Root(self.codex, "codex")]

    def logs(self) -> list[Path]:
        """All that stands in the homes of the agents, by path."""
        found = (path for home in (self.claude, self.codex) for path in home.rglob("*"))
        return sorted(path for path in found if path.is_file())


def index_of(made: Made, *, home: Home | None = None, settles: bool = True, is_full: bool = False) -> Synced:
    """Brings an index up to date as the commands do; a new one takes over the archive that it finds."""

    def work(database: Database) -> Synced:
        done = sync(database, made.roots, is_full=is_full)
        if settles:
            settle_sessions(database)
        return done

    return with_index(home or made.home, work, on_damage=_never)


def read_in(made: Made) -> None:
    """Brings the index up to date, the ledger as well."""
    index_of(made)
    with writing(made.home) as database:
        settle_ledger(database, session_files(database), PRICES)


def index_without_archive(made: Made) -> None:
    with writing(made.home) as database:
        with database.transaction() as db:
            put_setting(db, "archive", "off")
        sync(database, made.roots, with_archive=False)
        settle_sessions(database)
        settle_ledger(database, session_files(database), PRICES)


def _never(damage: DamagedIndex, aside: Path) -> None:
    raise AssertionError(f"{aside.name}: {damage}")


def fresh_index(made: Made, where: Path, *, with_archive: bool = True) -> Home:
    """An index that was made at once, from the logs as they stand and a copy of the archive."""
    home = Home(where)
    home.make()
    if with_archive and made.home.archive.exists():
        shutil.copytree(made.home.archive, home.archive)
    index_of(made, home=home)
    return home


def snapshot(home: Home) -> Snapshot:
    """All that an index knows, but for its own numbers."""
    with writing(home) as database:
        return {
            "logs": _logs(database),
            "texts": _texts(database),
            "sessions": _rows(database, f"select {_SESSION} from session_rows order by agent, session"),
            **{table: _part(database, table, columns) for table, columns in _PARTS.items()},
        }


def answers(made: Made, home: Home) -> dict[str, Any]:
    """What the commands say."""
    return {
        name: answer(made, home, *name.split())
        for name in ("sessions", "calls", "usage session", "usage daily")
    }


def answer(made: Made, home: Home, *words: str) -> Any:
    """The document that a command prints."""
    roots = [word for root in made.roots for word in ("--root", str(root.path))]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*words, "--json", *roots, "--home", str(home.path)])
    assert code == 0, (words, code, err.getvalue())
    return json.loads(out.getvalue())


def stored_bytes(home: Home) -> dict[str, bytes]:
    """What the archive holds of each log that counts."""
    with writing(home) as database:
        at = tables.archived(database.db)
        return {
            row.path: b"".join(contents(home.archive, at[row.id]))
            for row in catalogue.all_files(database.db)
            if row.id in at
        }


def is_anything_gone(home: Home) -> bool:
    """Whether the index knows a log that does not stand at its place, or did once."""
    with writing(home) as database:
        return any(row.state != "here" for row in catalogue.all_files(database.db, with_past=True))


def _logs(database: Database) -> Rows:
    return _rows(
        database,
        "select path, root, agent, kind, session, state, contents_bytes, position, lines, pieces_read, pieces_unknown, "
        "pieces_broken, recovered, problem from log_files where state <> 'past' order by path",
    )


def _texts(database: Database) -> Rows:
    return _rows(
        database,
        "select f.path, t.line, t.offset, t.n, t.role, t.at_ms, n.name, t.call_key from text_rows t "
        "join log_files f on f.id = t.file left join names n on n.id = t.name where f.state <> 'past' "
        "order by f.path, t.line, t.n",
    )


def _part(database: Database, table: str, columns: str) -> Rows:
    named = columns.format(file=f"(select path from log_files f where f.id = {table}.file)")
    names = ", ".join(f"{table}.{name}" if name.isidentifier() else name for name in named.split(", "))
    return _rows(
        database,
        f"select s.session, {names} from {table} join session_rows s on s.id = {table}.session_row "
        f"order by s.agent, s.session, {table}.n{', ' + table + '.thread' if 'thread' in columns else ''}",
    )


def _rows(database: Database, question: str) -> Rows:
    return database.db.execute(question).fetchall()


def claude_session(n: int, *, agent: str | None = None) -> ClaudeLog:
    """A transcript that begins with a prompt."""
    log = ClaudeLog(session_id(n), sidechain=agent is not None, agent=agent)
    claude_turn(log, n if agent is None else n + 500)
    return log


def claude_turn(log: ClaudeLog, n: int) -> bytes:
    """A prompt, a call, its result and an answer; the bytes of these lines."""
    before = len(log.records)
    at = n * 1000 + before
    call = f"toolu_{log.session[-6:]}{at:08d}"
    log.prompt(f"Please look at part {at} of the_story in camelCase.")
    log.reply(message_id(at), usage(100 + at, 7, write=50), stop="tool_use", content=[tool_use(call)])
    log.result(call)
    log.reply(message_id(at + 1), usage(20, 9, read=150), content=[said(f"Part {at} is fine: naïve 日本語.")])
    return lines(log, before)


def codex_session(n: int) -> CodexLog:
    """A rollout with one turn."""
    log = CodexLog(thread_id(n))
    codex_turn(log, n)
    return log


def codex_turn(log: CodexLog, n: int) -> bytes:
    """A prompt, a call, its output, an answer and the count."""
    before = len(log.records)
    turn, call = turn_id(n, before), f"call_{n}_{before}"
    log.turn(turn, words=f"Please look at part {before} of the rollout.")
    arguments = json.dumps({"command": ["ls", str(before)]})
    log.add(
        "response_item", {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call}
    )
    output = json.dumps({"output": "fine\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
    log.add("response_item", {"type": "function_call_output", "call_id": call, "output": output})
    log.counted(tokens(100 + before, 9, cached=50))
    log.event("task_complete", turn_id=turn, last_agent_message="Fine.")
    return lines(log, before)


def lines(log: ClaudeLog | CodexLog, start: int = 0) -> bytes:
    """The lines of a log from a record on."""
    return b"".join((r if isinstance(r, bytes) else dumps(r)) + b"\n" for r in log.records[start:])


def write(path: Path, data: bytes) -> Path:
    """Writes a file with the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def append(path: Path, data: bytes) -> None:
    """Adds bytes to a file."""
    with open(path, "ab") as stream:
        stream.write(data)


def transcript(made: Made, session: str, *, slug: str = "-home-dev-project") -> Path:
    """Where Claude Code keeps a session."""
    return made.claude / "projects" / slug / f"{session}.jsonl"


def two_sessions(top: Path) -> Made:
    """A session of each agent, the one of Claude Code with a subagent."""
    made = Made(top)
    one = claude_session(1)
    write(transcript(made, one.session), one.bytes())
    below = transcript(made, one.session).with_suffix("") / "subagents"
    write(below / "agent-a1.jsonl", claude_session(1, agent="a1").bytes())
    write(below / "agent-a1.meta.json", b'{"agentType":"Explore"}')
    other = codex_session(2)
    write(top / other.path, other.bytes())
    return made


def environment(made: Made) -> dict[str, str]:
    """For a process that is to know of these homes alone."""
    known = {"HOME": str(made.top), "TRACKLOG_HOME": str(made.home.path), "PATH": os.defpath}
    return {**known, "CLAUDE_CONFIG_DIR": str(made.claude), "CODEX_HOME": str(made.codex)}
