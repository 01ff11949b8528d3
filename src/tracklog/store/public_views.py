"""The public SQL views of the index: a stable interface, unlike its tables.

Rules
  1. Views and columns may be added; none is renamed, dropped or given another meaning without a new schema version.
  2. Every view and every column has a description of one sentence: docs/schema.md is generated from these.
  3. Times are ISO 8601 texts as the log has them, flags are 0 or 1, lists are JSON, a place is a path and a line.
  4. Sessions that `tracklog sessions` does not list are left out with all their parts. Their costs stay in the ledger,
     and their logs stay in `files` and `texts`.
  5. Every view in the index is one of these: any other comes from another release, and is dropped.
"""

from __future__ import annotations

import sqlite3
from typing import Literal, NamedTuple

from tracklog.store.text import ROLES

SCHEMA_VERSION = 1  # of the views
Type = Literal["text", "integer", "real"]


class ViewColumn(NamedTuple):
    """A column of a view: its name, type, description and SQL expression."""

    name: str
    type: Type
    what: str
    sql: str


class PublicView(NamedTuple):
    """A view; `time` names the column that gives a row its month, `scope` says by what rows belong to a log."""

    name: str
    what: str
    columns: tuple[ViewColumn, ...]
    source: str
    time: str | None = None
    scope: Literal["session", "path"] = "session"

    @property
    def select(self) -> str:
        """The SELECT statement of the view."""
        columns = ",\n".join(f'  {column.sql} as "{column.name}"' for column in self.columns)
        return f"select\n{columns}\n{self.source}"

    @property
    def statement(self) -> str:
        """The CREATE VIEW statement, exactly as SQLite stores it."""
        return f"CREATE VIEW {self.name} as\n{self.select}"


def _own(name: str, type: Type, what: str) -> ViewColumn:
    """A column that the row's own table has under the same name."""
    return ViewColumn(name, type, what, f"own.{name}")


def _ms_as_text(sql: str) -> str:
    return f"strftime('%Y-%m-%dT%H:%M:%fZ', {sql} / 1000.0, 'unixepoch')"


def _part(rows: str) -> str:
    """FROM clause: the rows of a table that belong to listed sessions, joined with their sessions."""
    return f"from {rows} own\njoin session_rows session on session.id = own.session_row and session.is_listed = 1"


_WITH_LOG = "\nleft join log_files log on log.id = own.file"
_AGENT = ViewColumn("agent", "text", "The product: `claude` or `codex`.", "session.agent")
_SESSION = ViewColumn("session", "text", "The id of the session.", "session.session")
_THREAD = _own("thread", "text", "`main`, or the id of a subagent.")
_PATH = ViewColumn("path", "text", "The log in which it stands.", "log.path")
_LINE = _own("line", "integer", "The line of that log, counted from 1.")
_ON_ACTIVE_BRANCH = _own(
    "on_active_branch", "integer", "1 unless the conversation was taken back to before it."
)
_INHERITED = ViewColumn(
    "inherited",
    "integer",
    "1: a copy that a fork took along; the original stands in the session that it came from.",
    "own.is_inherited",
)
_ROLE_NAMES = " ".join(f"when {number} then '{name}'" for name, number in ROLES.items())

SESSIONS = PublicView(
    "sessions",
    "One row for each session, as `tracklog sessions` lists them.",
    (
        ViewColumn("id", "text", "The id of the session.", "own.session"),
        _own("agent", "text", "The product: `claude` or `codex`."),
        _own("path", "text", "The log of its main thread."),
        _own("title", "text", "What it is called: by its user, by the client, or after its first prompt."),
        _own("project", "text", "The name of the folder that it worked in."),
        _own("cwd", "text", "That folder."),
        _own("branch", "text", "The branch of git that was checked out."),
        _own("models", "text", "The models that answered, as a JSON list."),
        _own("versions", "text", "The releases of the client that wrote it, as a JSON list."),
        _own("entrypoint", "text", "How the client was started, in its own words."),
        _own("started_at", "text", "When it began."),
        _own("last_at", "text", "When its last line was written."),
        _own(
            "state",
            "text",
            "What it did when the index was last brought up to date, in the words of `tracklog top`: `working`, "
            "`waiting`, `idle`, `ended`, `crashed`, `unknown`.",
        ),
        _own("turns", "integer", "How many prompts it answered, without those of copies."),
        _own("requests", "integer", "How many answers an API gave, without copies."),
        _own("calls", "integer", "How many tools were called, without copies."),
        _own("errors", "integer", "How many of these calls have the verdict `error`."),
        _own("threads", "integer", "How many threads it has, the main one among them."),
        _own("only_here", "integer", "1: its log is gone from its place, and only the archive has it."),
        _own("forked_from", "text", "The id of the session that it is a fork of."),
        _own("not_understood", "integer", "How many of its lines were not understood."),
    ),
    "from session_rows own\nwhere own.is_listed = 1",
    time="started_at",
)

THREADS = PublicView(
    "threads",
    "One row for each thread of a session: the main one and every subagent.",
    (
        _AGENT,
        _SESSION,
        ViewColumn("id", "text", "`main`, or the id of a subagent.", "own.thread"),
        _own("parent_thread", "text", "The thread that started it."),
        _own("parent_call", "text", "The id of the call that started it."),
        _own("type", "text", "What kind of subagent it is."),
        _own("description", "text", "What it was started for, in a few words."),
        _own("state", "text", "How it stands, as far as the log tells."),
        _own("sureness", "text", "Whether the log says who started it (`stated`) or it is `inferred`."),
        _own("joined_by", "text", "By what it was joined to the call that started it."),
        ViewColumn(
            "warmup", "integer", "1: the client only warmed up, nobody asked for anything.", "own.is_warmup"
        ),
        _own("requests", "integer", "How many answers an API gave in it."),
        _own("calls", "integer", "How many tools it called."),
    ),
    _part("thread_rows"),
)

TURNS = PublicView(
    "turns",
    "One row for each turn: a prompt and all that followed it.",
    (
        _AGENT,
        _SESSION,
        _THREAD,
        _own("n", "integer", "The number of the turn in its thread."),
        _own("at", "text", "When it began."),
        _own("ended_at", "text", "When its last line was written."),
        _own("took_ms", "real", "How long it took, in milliseconds."),
        _own("requests", "integer", "How many requests were made in it."),
        _own("calls", "integer", "How many tools were called in it."),
        ViewColumn("interrupted", "integer", "1: it was stopped by the person.", "own.is_interrupted"),
        _ON_ACTIVE_BRANCH,
        _INHERITED,
        _PATH,
        _LINE,
    ),
    _part("turn_rows") + _WITH_LOG,
    time="at",
)

PROMPTS = PublicView(
    "prompts",
    "One row for each text that was given to an agent; a turn may have several.",
    (
        _AGENT,
        _SESSION,
        _THREAD,
        _own("turn", "integer", "The number of the turn in its thread."),
        _own("n", "integer", "The number of the prompt in its turn."),
        _own("origin", "text", "Where it comes from."),
        _own("at", "text", "When it was given."),
        _own("text", "text", "Its first 300 characters."),
        _PATH,
        _LINE,
    ),
    _part("prompt_rows") + _WITH_LOG,
    time="at",
)

REQUESTS = PublicView(
    "requests",
    "One row for each request of a session; what it used stands in `ledger`, where every request counts once.",
    (
        _AGENT,
        _SESSION,
        ViewColumn("id", "text", "The id of the answer.", "own.request"),
        _THREAD,
        _own("turn", "integer", "The number of the turn in its thread."),
        _own("n", "integer", "Its place among the requests of the session."),
        _own("model", "text", "The model that answered."),
        _own("at", "text", "When the answer began."),
        _own("ended_at", "text", "When its last line was written."),
        _own("stop_reason", "text", "Why the answer ended, in the words of the API."),
        _own("error", "text", "What went wrong, in the words of the client."),
        _own("calls", "integer", "How many tools it called."),
        ViewColumn(
            "synthetic",
            "integer",
            "1: no API answered, the client wrote it in the model's place.",
            "own.is_synthetic",
        ),
        _ON_ACTIVE_BRANCH,
        _INHERITED,
        _PATH,
        _own("first_line", "integer", "The first line of that log in which it stands."),
        _own("last_line", "integer", "The last one."),
    ),
    _part("request_rows") + _WITH_LOG,
    time="at",
)

CALLS = PublicView(
    "calls",
    "One row for each tool call of a session, with its verdict; copies in forks have `inherited` = 1.",
    (
        ViewColumn("id", "text", "The id of the call, as the API gave it.", "own.call"),
        _AGENT,
        _SESSION,
        _THREAD,
        _own("turn", "integer", "The number of the turn in its thread."),
        _own("request", "text", "The id of the request that asked for it."),
        _own("n", "integer", "Its place among the calls of the session."),
        _own("name", "text", "The tool."),
        _own("verdict", "text", "How it ended: see docs/verdicts.md."),
        _own("outcome", "text", "How it ended in the background, if its verdict is `backgrounded`."),
        _own("timed_out", "integer", "1: a time limit ended it or moved it to the background."),
        _own("sureness", "text", "Whether the log says so (`stated`) or it is `inferred`."),
        _own("why", "text", "What the verdict rests on."),
        _own("called_at", "text", "When it was asked for."),
        _own("returned_at", "text", "When its result was written."),
        _own("took_ms", "real", "How long it took, in milliseconds."),
        _own("took_by", "text", "Whether that is `stated` by the client or taken from `log_times`."),
        _own("exit_code", "integer", "What a command ended with."),
        _own("did", "text", "In a few words what it did."),
        _own("error", "text", "The beginning of what went wrong."),
        _ON_ACTIVE_BRANCH,
        _INHERITED,
        _own("owner", "text", "The session that made the call, if this one only holds a copy."),
        ViewColumn("path", "text", "The log in which it was asked for.", "log.path"),
        _LINE,
    ),
    _part("call_rows") + _WITH_LOG,
    time="called_at",
)

BRANCHES = PublicView(
    "branches",
    "One row for each branch of a conversation.",
    (
        _AGENT,
        _SESSION,
        ViewColumn("id", "text", "The id of the branch.", "own.branch"),
        _own("parent", "text", "The branch that it leaves."),
        ViewColumn("first_record", "text", "The id of the record that it begins with.", "own.start_node"),
        ViewColumn("last_record", "text", "The id of the record that it ends with.", "own.end_node"),
        ViewColumn("active", "integer", "1: the conversation goes on here.", "own.is_active"),
        _own("why", "text", "How it came about: `rewind`, `edit`, `fork` or `two_writers`."),
    ),
    _part("branch_rows"),
)

PROBLEMS = PublicView(
    "problems",
    "One row for each line that was not understood, or log that was not readable to its end.",
    (
        _AGENT,
        _SESSION,
        _own("n", "integer", "Its place among the problems of the session."),
        _own("what", "text", "What is wrong."),
        _PATH,
        _LINE,
    ),
    _part("problem_rows") + _WITH_LOG,
)

FILES = PublicView(
    "files",
    "One row for each file that an agent wrote, whether it still stands at its place or only in the archive.",
    (
        _own("path", "text", "Where it stands or last stood."),
        _own("root", "text", "The home or folder in which it was found."),
        _own("agent", "text", "Whose it is; null: of nobody we know."),
        _own("kind", "text", "What it is: a transcript, a subagent's, or a file beside them."),
        _own("session", "text", "The session that it belongs to."),
        ViewColumn(
            "only_here", "integer", "1: it is gone, and only the archive has it.", "own.state = 'kept'"
        ),
        ViewColumn("file_bytes", "integer", "Its size when it was last read.", "nullif(own.size, -1)"),
        ViewColumn("bytes", "integer", "How much of its contents was read.", "own.contents_bytes"),
        _own("lines", "integer", "How many whole lines that is."),
        ViewColumn("read", "integer", "How many pieces were understood.", "own.pieces_read"),
        ViewColumn(
            "unknown", "integer", "How many are of a kind that nobody has named yet.", "own.pieces_unknown"
        ),
        ViewColumn("broken", "integer", "How many are no JSON.", "own.pieces_broken"),
        _own("recovered", "integer", "How many of those understood were taken out of torn lines."),
        ViewColumn("modified_at", "text", "When it was last changed.", _ms_as_text("own.mtime_ns / 1000000")),
        _own("generation", "integer", "How many times it was written anew, counted from 1."),
        ViewColumn("archived_bytes", "integer", "What it takes up in the archive.", "archive.stored_bytes"),
        _own("problem", "text", "Why it could not be read to its end."),
    ),
    "from log_files own\n"
    "left join archives archive on archive.file = own.id and archive.generation = own.generation\n"
    "where own.state <> 'past'",
    scope="path",
)

LEDGER = PublicView(
    "ledger",
    "One row for each request to an API, in whatever files it stands, with the tokens that it used: its sums are those of `tracklog usage`.",
    (
        _own("id", "integer", "The number by which `costs` names it; another one after each change."),
        ViewColumn(
            "key",
            "text",
            "The id of the answer, or a name of ours where the log gives none: the `id` of its row in `requests`. "
            "Of a request that was counted in parts each part has a row with its id.",
            "coalesce((select named.request from entry_requests named where named.entry = own.id), own.key)",
        ),
        _own("agent", "text", "The product: `claude` or `codex`."),
        _own("session", "text", "The session that wrote it down first."),
        _THREAD,
        ViewColumn("at", "text", "When it was first written down.", _ms_as_text("own.at_ms")),
        _own("model", "text", "The model that answered."),
        _own("entrypoint", "text", "How the client was started, in its own words."),
        _own("certainty", "text", "Whether its count is `final`, `partial` (at least so much) or `missing`."),
        ViewColumn("input_tokens", "integer", "What no cache held.", "own.input"),
        ViewColumn(
            "output_tokens", "integer", "All that was billed as output, reasoning included.", "own.output"
        ),
        ViewColumn(
            "reasoning_tokens", "integer", "The part of the output that is reasoning.", "own.reasoning"
        ),
        ViewColumn("cache_write_tokens", "integer", "What was written to the cache.", "own.cache_write"),
        ViewColumn(
            "cache_write_5m_tokens", "integer", "The part of that for five minutes.", "own.cache_write_5m"
        ),
        ViewColumn("cache_write_1h_tokens", "integer", "The part of that for an hour.", "own.cache_write_1h"),
        ViewColumn("cache_read_tokens", "integer", "What was read from the cache.", "own.cache_read"),
        _own("web_searches", "integer", "How many searches of the web it made."),
        ViewColumn(
            "stated_cost_micro_usd",
            "integer",
            "What the log itself says that it cost, in millionths of a dollar.",
            "(own.stated_pico_usd + 500000 - (own.stated_pico_usd % 2000000 = 500000)) / 1000000",
        ),
        _own("inherited_by", "text", "The sessions that hold a copy of it, as a JSON list."),
        ViewColumn("path", "text", "The log whose figures count.", "log.path"),
        ViewColumn("offset", "integer", "The byte at which their line begins there.", "own.counted_offset"),
        ViewColumn(
            "project",
            "text",
            "The project of its session, as in `sessions`.",
            "(select session.project from session_rows session "
            "where session.agent = own.agent and session.session = own.session)",
        ),
        ViewColumn(
            "count_key",
            "text",
            "By what the log tells this count from others: the id of the response, or figures that stand for it.",
            "own.key",
        ),
    ),
    "from entry_rows own\njoin log_files log on log.id = own.counted_file",
    time="at",
    scope="path",
)

PASSAGES = PublicView(
    "texts",
    "One row for each text that `tracklog search` looks through: where it stands; the text itself stays in the log.",
    (
        _own("id", "integer", "Its number, which grows with time; in SQLite its row in `words`, too."),
        ViewColumn("agent", "text", "The product: `claude` or `codex`.", "log.agent"),
        ViewColumn("session", "text", "The session that its log belongs to.", "log.session"),
        ViewColumn(
            "role",
            "text",
            f"What it is: {', '.join(f'`{name}`' for name in ROLES)}.",
            f"case own.role {_ROLE_NAMES} end",
        ),
        ViewColumn("at", "text", "When it was written.", _ms_as_text("own.at_ms")),
        ViewColumn(
            "name",
            "text",
            "The tool, or the model that wrote it.",
            "(select name.name from names name where name.id = own.name)",
        ),
        ViewColumn(
            "call",
            "text",
            "The id of the call whose input or result it is.",
            "(select called.call from call_rows called where called.call_key = own.call_key limit 1)",
        ),
        _PATH,
        _LINE,
        _own("offset", "integer", "The byte at which that line begins."),
        _own("n", "integer", "Which text of the line it is, counted from 0."),
    ),
    "from text_rows own\njoin log_files log on log.id = own.file and log.state <> 'past'",
    time="at",
    scope="path",
)

SECRETS = PublicView(
    "secrets",
    "One row for each secret that `tracklog scan` found in a line of a log, as of the last scan; never its value.",
    (
        ViewColumn("agent", "text", "The product: `claude` or `codex`.", "log.agent"),
        ViewColumn("session", "text", "The session that its log belongs to.", "log.session"),
        _own("kind", "text", "What kind of secret it is, as the rules call it."),
        _own(
            "hash",
            "text",
            "A hash of the value, keyed with a key of this machine: the same value has the same.",
        ),
        ViewColumn("times", "integer", "How often it stands in that line.", "own.count"),
        _PATH,
        _LINE,
        ViewColumn(
            "only_here",
            "integer",
            "1: the log is gone from its place, and only the archive has it.",
            "log.state = 'kept'",
        ),
    ),
    "from secret_rows own\njoin log_files log on log.id = own.file and log.state <> 'past'\n"
    "join secret_scans scan on scan.file = log.id and scan.generation = log.generation",
    scope="path",
)

VIEWS = (
    SESSIONS,
    THREADS,
    TURNS,
    PROMPTS,
    REQUESTS,
    CALLS,
    BRANCHES,
    PROBLEMS,
    FILES,
    LEDGER,
    PASSAGES,
    SECRETS,
)


def make_views(db: sqlite3.Connection) -> bool:
    """Creates the current views; returns whether anything was written."""
    if has_views(db):
        return False
    db.execute("savepoint views")
    try:
        drop_views(db)
        for view in VIEWS:
            db.execute(view.statement)
    except BaseException:
        db.execute("rollback to views")
        raise
    finally:
        db.execute("release views")
    return True


def has_views(db: sqlite3.Connection) -> bool:
    """Whether the index has exactly the current views."""
    return _views_in(db) == {view.name: view.statement for view in VIEWS}


def drop_views(db: sqlite3.Connection) -> None:
    """Drops all views: SQLite does not alter a table if a view would no longer fit it."""
    for name in _views_in(db):
        db.execute(f'drop view "{name}"')


def _views_in(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("select name, sql from sqlite_master where type = 'view'").fetchall())
