"""The reference of the command line in Markdown, made from click's own help: `docs/cli.md` is this output.

python -m tracklog.views.cli.reference > docs/cli.md
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from tracklog.views.cli.app import COMMANDS, PROGRAM, app, load

_HEAD = """\
<!-- Made by `python -m tracklog.views.cli.reference`; do not edit. -->
# The command line

Answers go to stdout, talk and progress to stderr. `--json` prints one document with `"schema_version": 1`
(`records`: JSON Lines). Colour only on a terminal, and never against `NO_COLOR`. Whatever comes from a log or a file
name is made safe for the terminal: control characters, escapes and direction marks are spelled out.

`CLAUDE_CONFIG_DIR` and `CODEX_HOME` say where the agents' homes are, `TRACKLOG_HOME` where tracklog keeps its own
files. `--root DIR` replaces the agents' homes.

| exit code | meaning |
|---|---|
| 0 | fine |
| 1 | the check found something, or the thing asked for is not there |
| 2 | wrong use |
| 130 | interrupted |

Broken lines in logs change the exit code of `verify` only. For completion of commands and options in bash:
`eval "$(_TRACKLOG_COMPLETE=bash_source tracklog)"`; `zsh_source` and `fish_source` do the same for those shells.

## What `--json` prints

Fields may be added; none is renamed or dropped without a new `schema_version`. Times are ISO 8601, as the log says them.

| command | document |
|---|---|
| `sessions` | `sessions`: `id, agent, path, title, project, cwd, branch, models, versions, entrypoint, started_at, last_at, state, turns, requests, calls, errors, threads, cost_micro_usd, only_here` |
| `show` | `session` as above; `turns`: `n, prompt, at, requests, calls, text, ended_at, took_ms, interrupted, on_active_branch, inherited, stated_ms, client_texts`, its `requests`: `id, model, at, text, calls`, with `--thinking` also `thinking`; its `client_texts`: `id, at, text, error`. About the whole session: `todos`: `at, path, line, items, whole`, its `items`: `status, text`; `questions`: `call, question, options, answer`; `links`: `what, target, at, path, line`; `strays`: `call, path, line`; `problems`: `path, line, what`; `hooks` of no call: `event, name, outcome, command, exit_code, took_ms, at, path, line`; `permission_modes`; `titles` by source; `retracted`: ids of records; `forked_from`; `forks`; `copied`: `path, first_line, last_line` |
| `final` | `session, text, source, request`; `source` is `log` or `stop_payload`; without text, `text` and `source` are null |
| `calls` | `calls`: `id, session, agent, thread, name, input, verdict, outcome, timed_out, sureness, evidence, on_active_branch, called_at, returned_at, took_ms, took_by, exit_code, error, parallel_with, inherited_by, why, decision, feedback, spawned, mcp_server, stated, hooks, phases`; `evidence`: `path, line`; `stated`: `took_ms, tokens, tool_uses`, or null; `hooks`: `event, name, outcome, path, line`; `phases`: `what, at, path, line` |
| `agents` | `threads`: `id, parent_thread, parent_call, type, description, state, sureness, requests, calls, cost_micro_usd, joined_by, warmup, paths, children`; the first is `main`, further ones are joined to nothing |
| `graph` | `branches`: `id, parent, from, to, active, why`; `compactions`: `path, line, at, trigger, tokens_before, tokens_after, kept`; `orphans`: ids of records |
| `tracklog` | `places` as below, `coverage` as below, of the newest logs |
| `places` | `places`: `agent, path, kind, files, bytes`; `skipped`: `path, why` |
| `path` | `path, agent, exists`; a session that is nowhere has null, null, false |
| `records` | lines of `line, offset, length, reading, kind, at, id, why, recovered`; with `--extra` also `extra`, with `--raw` also `raw` |
| `verify` | `identical`; `files`: `path, bytes, sha256, lines, pieces, read, unknown, broken, recovered, identical`; `skipped`: `path, why` |
| `doctor` | `checks`: `name, state, evidence, advice`; `coverage`: `agent, version, kind, lines, bytes, reading`; `unknown`: `agent, kind, key, count, example, why`; `broken`: the first places; `skipped`: `path, why` |
| `demo` | `path, files, bytes, roots` |

A row of `sessions` counts what is the session's own, left branches included; what a fork copied belongs to the session
that it came from. `requests` are answers of an API; what a client wrote in the model's place is none, and stands in
`client_texts`. A session of warm-ups alone is none. `errors` are calls with the verdict `error`. `cost_micro_usd` is null
and `only_here` false for now.

A log that cannot be read to its end is said on stderr, and what was read of it counts; a session of which nothing could
be read is not listed, and asked for by name it is exit code 1. `strays` are results whose call stands nowhere, `problems`
lines that were not understood, or logs `not readable`. `whole` is false where, of a very long todo list, only the change
is given. `stated` is what the client says a subagent's work came to, never to be added to our own counts.
`took_by` says whether a time is `stated` by the client or taken from `log_times`; `sureness` is `stated` or `inferred`.

`agent` is `claude`, `codex`, or null for files of agents that we do not know. `reading` is `read`, `unknown` or
`broken`, and `pieces = read + unknown + broken`. `state` is `ok`, `warn` or `fail`. Of a `.zst` file `bytes` and
`sha256` are those of the stored file, `lines` those of its contents. `identical` is about bytes alone; a log that
cannot be read to its end spoils it, and what was only left alone (a link, a pipe, a second name) does not.
"""


def reference() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    ctx = click.Context(app, info_name=PROGRAM, terminal_width=100, max_content_width=100)
    yield _section(PROGRAM, app.get_help(ctx))
    for name in COMMANDS:
        command = load(name)
        inner = click.Context(command, info_name=name, parent=ctx)
        yield _section(f"{PROGRAM} {name}", command.get_help(inner))


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
