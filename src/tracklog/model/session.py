"""A session as it really was: plain values, each pointing to the lines that prove it.

Rules
  1. Values only: nothing here reads, folds or prints. They are made by `assemble`.
  2. What a log never said is None or empty, never a guess; a guess is marked `inferred`.
  3. Times are texts in UTC as the log has them, units are in the names.
"""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Literal

import msgspec
from msgspec import Raw, field

from tracklog.clock import NO_TIME, moment_ms
from tracklog.model.events import GroupedBy, Origin, Place, TextSource
from tracklog.model.ids import CallId, NodeId, RequestId, SessionId, TaskId, ThreadId
from tracklog.model.records import opened
from tracklog.model.states import NOT_LOOKED, Life
from tracklog.model.usage import Certainty, Tokens

Verdict = Literal[
    "ok",
    "error",
    "denied",
    "blocked",
    "interrupted",
    "timed_out",
    "sibling_error",
    "backgrounded",
    "running",
    "lost",
    "abandoned",
]
_LARGEST_GROUP = 500
Outcome = Literal["ok", "error", "killed", "running", "unknown"]
Sureness = Literal["stated", "inferred"]
ThreadState = Literal["running", "waiting", "idle", "ended", "failed", "killed", "crashed", "unknown"]
WhyBranch = Literal["rewind", "edit", "fork", "two_writers"]


class Value(msgspec.Struct, kw_only=True):
    """A plain value."""


class Phase(Value):
    """A moment in the life of a call."""

    what: str  # asked, permission, allowed, hook_before, progress, hook_after, returned, read, notified
    at: str | None
    place: Place


class HookRun(Value):
    """A hook that ran, and what came of it."""

    event: str | None
    name: str | None
    outcome: str
    command: str | None
    text: str
    exit_code: int | None
    took_ms: float | None
    at: str | None
    place: Place


class CallResult(Value):
    """What came back from a call."""

    place: Place
    at: str | None
    text: str  # as the model saw it, without the client's envelope
    full_text: str = ""  # where that is only a preview: the longer text that the log itself holds
    text_source: TextSource = "result"
    is_error: bool | None = None
    report: Raw = Raw()
    side_file: str | None = None  # a file name inside the session's own folder of results
    exit_code: int | None = None  # as this result states it
    took_ms: float | None = None  # as this result states it
    whole_tokens: int | None = (
        None  # of the whole output, of which the text may be a part, as the client counted
    )
    whole_lines: int | None = None
    envelope_bytes: int = 0  # of the client's own words around the text: the model reads them, too
    n_images: int = 0
    is_note: bool = False  # written by a later resume, because nothing was known

    @property
    def structured(self) -> Any:
        """What the tool reported to programs, parsed; None where the log has nothing."""
        return opened(self.report)


class TouchedFile(Value):
    """A file that a call read or changed, and how."""

    path: str  # as the call names it: absolute, or relative to the folder that it worked in
    act: Literal["read", "add", "update", "delete", "move"]
    moved_to: str | None = None
    added: int = 0  # lines
    removed: int = 0
    diff: str = ""  # unified; `@@ @@` where the log does not say which lines they are


class Stated(Value):
    """What the client says a subagent's work came to. Never to be added to our own counts."""

    took_ms: float | None = None
    tokens: int | None = None
    tool_uses: int | None = None
    usage: dict[str, Any] | None = None


class Call(Value):
    """One tool invocation, from the model's wish to the result it read."""

    id: CallId
    session: SessionId
    agent: str
    thread: ThreadId
    name: str
    verdict: Verdict
    sureness: Sureness
    why: str  # the rule that gave the verdict
    evidence: list[Place]
    outcome: Outcome | None = None
    timed_out: bool = False
    on_active_branch: bool = True
    turn: int | None = None
    request: RequestId | None = None
    node: NodeId | None = None
    input: Raw = Raw()
    ran_input: Raw = Raw()  # what ran in its place, where a hook changed it and the log shows it
    called_at: str | None = None
    returned_at: str | None = None
    ended_at: str | None = None  # of work in the background
    took_ms: float | None = None
    took_by: Literal["stated", "log_times"] | None = None
    run_ms: float | None = (
        None  # how long of that it ran, and how long it waited for a person's permission or answer
    )
    waited_ms: float | None = None
    exit_code: int | None = None
    error: str | None = None
    decision: str | None = None
    feedback: str | None = None
    results: list[CallResult] = field(default_factory=list)  # more than one is odd
    noted: Raw = Raw()  # what the client noted beside the result: the changes of a patch, a server's answer
    group: list[CallId] = field(default_factory=list)  # all calls of its request, itself among them
    inherited_by: list[SessionId] = field(default_factory=list)
    is_inherited: bool = False
    phases: list[Phase] = field(default_factory=list)
    hooks: list[HookRun] = field(default_factory=list)
    task: TaskId | None = None
    spawned: ThreadId | None = None
    stated: Stated | None = None
    server: str | None = None
    is_server_side: bool = False
    parent_call: CallId | None = None

    @property
    def parallel_with(self) -> list[CallId]:
        """The other calls of the same request; of a hostile crowd the first few hundred."""
        return [id for id in self.group[:_LARGEST_GROUP] if id != self.id]

    @property
    def arguments(self) -> Any:
        """The input, parsed."""
        return opened(self.input)

    @property
    def files(self) -> list[TouchedFile]:
        """The files that it read and changed, or wanted to change; whether it did so, its verdict says."""
        # imported here because lists of calls need none of it
        from tracklog.model.diff.calls import changes_of_call, files_read

        report = next((one.report for one in reversed(self.results) if one.report), self.noted)
        asked, noted = opened(self.ran_input or self.input), opened(self.noted)
        changed = changes_of_call(asked, opened(report)) or changes_of_call(None, noted)
        read = [TouchedFile(path=path, act="read") for path in files_read(self.name, asked, noted)]
        return read + [
            TouchedFile(
                path=file.path,
                act=file.act,
                moved_to=file.moved_to,
                added=file.counts[0],
                removed=file.counts[1],
                diff=file.diff,
            )
            for file in changed
        ]

    @property
    def diff(self) -> str:
        """What it changed in files, or wanted to change, as a unified diff; empty for calls that change none."""
        return "".join(file.diff for file in self.files)

    @property
    def result(self) -> CallResult | None:
        """The result that counts: the last one that is more than a note."""
        real = [result for result in self.results if not result.is_note] or self.results
        return real[-1] if real else None


class Request(Value):
    """One call of the API, put together from all its lines."""

    id: RequestId
    thread: ThreadId
    turn: int | None
    model: str | None
    at: str | None
    ended_at: str | None
    text: str  # all blocks of text
    thinking: str
    stop_reason: str | None
    calls: list[CallId]
    places: list[Place]
    final_text: str = ""  # its last block of text: what the client gives as the answer
    text_blocks: list[tuple[Place, str]] = field(
        default_factory=list
    )  # each with its line: calls may be between
    node: NodeId | None = None  # of its last line
    error: str | None = None
    is_synthetic: bool = False
    has_hidden_thought: bool = False
    on_active_branch: bool = True
    is_inherited: bool = False
    grouped_by: GroupedBy = "message_id"  # without any id lines that follow each other count as one: inferred
    # What it used and cost, from the ledger; None and False until `app` has priced the session (app/library/sessions.py).
    tokens: Tokens | None = None  # None also: the log does not say, or a fork copied it from another session
    certainty: Certainty | None = None
    cost_micro_usd: int | None = None  # None also: no price is known
    cost_is_lower_bound: bool = False


class Prompt(Value):
    """What a person, a program or an agent above asked for."""

    text: str
    origin: Origin
    at: str | None
    place: Place
    node: NodeId | None = None  # its record on the tree; of agents without a tree, their own id of the turn
    n_images: int = 0
    n_documents: int = 0


class Turn(Value):
    """A prompt and all that followed until the next one."""

    n: int
    thread: ThreadId
    prompts: list[Prompt]  # one, or none where the log begins amid a turn
    requests: list[RequestId]
    calls: list[CallId]
    at: str | None
    ended_at: str | None
    text: str  # the last words of the model
    took_ms: float | None = None  # from the prompt to the last line, by the log's times
    stated_ms: float | None = None  # as the client says
    stated_text: str | None = None  # the answer, as the client states it at the end
    is_closed: bool = False  # the client said that it was over
    is_interrupted: bool = False
    on_active_branch: bool = True
    is_inherited: bool = False

    @property
    def prompt(self) -> str:
        """The words that opened it."""
        return self.prompts[0].text if self.prompts else ""


class Thread(Value):
    """The main line of work, or a subagent's."""

    id: ThreadId
    parent_thread: ThreadId | None = None
    parent_call: CallId | None = None
    type: str | None = None
    description: str | None = None
    name: str | None = None
    team: str | None = None
    model: str | None = None
    state: ThreadState = "unknown"
    sureness: Sureness = "stated"
    joined_by: str | None = None  # what links it to the call that spawned it
    is_warmup: bool = False
    is_internal: bool = False
    worktree: str | None = None
    paths: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    children: list["Thread"] = field(default_factory=list)

    def walk(self) -> Iterator["Thread"]:
        """This thread and all below it."""
        stack = [self]
        while stack:
            thread = stack.pop()
            yield thread
            stack += reversed(thread.children)


class Branch(Value):
    """A way through the conversation, from its first record behind the fork to its last."""

    id: str
    parent: str | None
    start: NodeId | None  # where it leaves its parent branch
    end: NodeId | None
    is_active: bool
    why: WhyBranch | None = None
    nodes: list[NodeId] = field(default_factory=list)  # of a way that was left: all, in the order of the log


class Compaction(Value):
    """A place where the past was summed up, and what was kept of it word by word."""

    place: Place
    at: str | None
    trigger: str | None
    tokens_before: int | None
    tokens_after: int | None
    took_ms: float | None
    kept: list[NodeId]
    summary: str


class TodoList(Value):
    """The todo list from a moment on."""

    at: str | None
    place: Place
    items: list[tuple[str, str]]  # status and text
    is_whole: bool = True  # False: of a very long list, only what changed


class Question(Value):
    """What the agent asked the person, and what the person said."""

    call: CallId
    question: str
    options: list[str]
    answer: str | None


class Failure(Value):
    """A request that the API did not answer."""

    place: Place
    at: str | None
    text: str
    status: int | None
    attempt: int | None
    of_attempts: int | None
    is_final: bool


class Interruption(Value):
    """A moment at which the person, or a signal, stopped the turn."""

    at: str | None
    place: Place
    thread: ThreadId
    in_tool: bool = False  # a call was at work


class ClientCommand(Value):
    """A command of the client that the person ran: `/compact`, or a shell line with `!`."""

    kind: Literal["slash", "shell"]
    name: str  # `/compact`; of a shell line, the whole line
    arguments: str
    at: str | None
    place: Place
    output: str | None = None  # what it printed, where the log has that
    is_error: bool = False


class Note(Value):
    """Something of note, such as a queue operation, a link, a change of mode; commands are here, too."""

    what: str
    value: str
    at: str | None
    place: Place
    detail: str = ""


class Problem(Value):
    """Something that does not fit, and its place."""

    place: Place
    what: str


class Stray(Value):
    """A result whose call is in none of the session's files."""

    call: CallId | None
    place: Place
    text: str


class Session(Value):
    """One conversation with an agent, with all its threads."""

    id: SessionId
    agent: str
    paths: list[str]
    main: Thread
    title: str | None = None
    titles: dict[str, str] = field(default_factory=dict)  # by source
    cwd: str | None = None
    cwds: list[str] = field(default_factory=list)
    branch: str | None = None  # of git
    versions: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    entrypoint: str | None = None
    permission_modes: list[str] = field(default_factory=list)
    started_at: str | None = None
    last_at: str | None = None
    state: str = "unknown"
    life: Life = NOT_LOOKED  # what the state rests on
    signs: bytes | None = None  # what log and hooks say that it does, to be judged again later
    unjoined: list[Thread] = field(default_factory=list)  # subagents whose call is in no file
    branches: list[Branch] = field(default_factory=list)
    orphans: list[NodeId] = field(default_factory=list)
    active_nodes: list[NodeId] = field(default_factory=list)  # the living branch, root first
    compactions: list[Compaction] = field(default_factory=list)
    retracted: list[NodeId] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    interruptions: list[Interruption] = field(default_factory=list)
    commands: list[ClientCommand] = field(default_factory=list)
    todos: list[TodoList] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    hooks: list[HookRun] = field(default_factory=list)  # those of no call
    injected: list[Note] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    forked_from: SessionId | None = None
    forks: list[SessionId] = field(default_factory=list)
    inherited: list[tuple[Place, Place]] = field(
        default_factory=list
    )  # first and last line of each copied run

    @property
    def threads(self) -> list[Thread]:
        """All threads, the main one first."""
        return [thread for top in (self.main, *self.unjoined) for thread in top.walk()]

    @property
    def turns(self) -> list[Turn]:
        """The turns of the main thread, in the order of the log."""
        return self.main.turns

    @property
    def requests(self) -> list[Request]:
        """The requests of all threads."""
        return [request for thread in self.threads for request in thread.requests]

    @property
    def calls(self) -> list[Call]:
        """The calls of all threads in time order. One without a time has that of the call before it in its thread."""
        timed: list[tuple[int, Call]] = []
        times: dict[CallId, int] = {}
        for thread in self.threads:
            last_ms = times.get(thread.parent_call, NO_TIME) if thread.parent_call else NO_TIME
            for call in thread.calls:
                called_ms = moment_ms(call.called_at)
                last_ms = times[call.id] = last_ms if called_ms == NO_TIME else called_ms
                timed.append((last_ms, call))
        return [call for _, call in sorted(timed, key=itemgetter(0))]

    @property
    def calls_by_thread(self) -> list[Call]:
        """The same calls thread by thread, the main one's first, each in the order of its log."""
        return [call for thread in self.threads for call in thread.calls]

    @property
    def final(self) -> Request | None:
        """The last request of the living branch; what the client said in the model's name is none."""
        living = [
            request
            for request in self.main.requests
            if request.on_active_branch and (not request.is_synthetic or request.error is not None)
        ]
        return living[-1] if living else None
