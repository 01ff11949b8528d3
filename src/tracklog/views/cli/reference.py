"""The reference of the command line in Markdown, made from click's own help: `docs/cli.md` is this output.

python -m tracklog.views.cli.reference > docs/cli.md
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from tracklog.views.cli.click_app import COMMANDS, app, load
from tracklog.views.cli.exit_codes import PROGRAM

_HEAD = """\
<!-- Made by `python -m tracklog.views.cli.reference`; do not edit. -->
# The command line

Answers go to stdout, talk and progress to stderr. `--json` prints one document with `"schema_version": 1`
(`records`, `watch` and `replay`: JSON Lines). Colour only on a terminal, and never against `NO_COLOR`. Whatever comes from a log or a file
name is made safe for the terminal: control characters, escapes and direction marks are spelled out.

`CLAUDE_CONFIG_DIR` and `CODEX_HOME` say where the agents' homes are, `TRACKLOG_HOME` where tracklog keeps its own
files, `TRACKLOG_PORT` where `serve` listens. `--root DIR` replaces the agents' homes.

| exit code | meaning |
|---|---|
| 0 | fine |
| 1 | the check found something, or the thing asked for is not there |
| 2 | wrong use |
| 124 | the time of `wait --timeout` is over |
| 130 | interrupted |

Broken lines in logs change the exit code of `verify` only. For completion of commands and options in bash:
`eval "$(_TRACKLOG_COMPLETE=bash_source tracklog)"`; `zsh_source` and `fish_source` do the same for those shells.

## What `--json` prints

Fields may be added; none is renamed or dropped without a new `schema_version`. Times are ISO 8601, as the log says them.

| command | document |
|---|---|
| `sessions` | `sessions`: `id, agent, path, title, project, cwd, branch, models, versions, entrypoint, started_at, last_at, state, evidence, turns, requests, calls, errors, threads, cost_micro_usd, cost_is_lower_bound, only_here, period_cost_micro_usd, period_cost_is_lower_bound`; `cost_micro_usd` is that of the whole session, `period_…` what was spent between `--since` and `--until`, null without these |
| `show` | `session` as above; `turns`: `n, prompt, at, requests, calls, text, ended_at, took_ms, interrupted, on_active_branch, inherited, stated_ms, client_texts, cost_micro_usd, cost_is_lower_bound`, its `requests`: `id, model, at, text, calls, grouped_by, tokens, certainty, cost_micro_usd, cost_is_lower_bound`, with `--thinking` also `thinking`; `tokens`: the counts of `usage` by the same names, or null; its `client_texts`: `id, at, text, error`. About the whole session: `todos`: `at, path, line, items, whole`, its `items`: `status, text`; `questions`: `call, question, options, answer`; `links`: `what, target, at, path, line`; `strays`: `call, path, line`; `problems`: `path, line, what`; `hooks` of no call: `event, name, outcome, command, exit_code, took_ms, at, path, line`; `permission_modes`; `titles` by source; `retracted`: ids of records; `forked_from`; `forks`; `copied`: `path, first_line, last_line`; `started_by`: `run, how, agent, session, from`, or null; `started` and `continued_by`: `run, agent, session, how, at, ended_by` ([live.md](live.md#who-started-whom)) |
| `final` | `session, text, source, request`; `source` is `log`, `result_line` or `stop_payload`; without text, `text` and `source` are null |
| `calls` | `calls`: `id, session, agent, thread, name, input, verdict, outcome, timed_out, sureness, evidence, on_active_branch, called_at, returned_at, took_ms, took_by, exit_code, error, parallel_with, inherited_by, why, decision, feedback, spawned, mcp_server, stated, hooks, phases`; `evidence`: `path, line`; `stated`: `took_ms, tokens, tool_uses`, or null; `hooks`: `event, name, outcome, path, line`; `phases`: `what, at, path, line` |
| `agents` | `threads`: `id, parent_thread, parent_call, type, description, state, sureness, requests, calls, cost_micro_usd, cost_is_lower_bound, joined_by, warmup, paths, children`; the first is `main`, further ones are joined to nothing; `runs`: `run, agent, session, how, at, ended_by, state, cost_micro_usd, name` |
| `graph` | `branches`: `id, parent, from, to, active, why`; `compactions`: `path, line, at, trigger, tokens_before, tokens_after, kept`; `orphans`: ids of records |
| `top` | `sessions`: `id, agent, state, waiting_for, doing, since, evidence, pid, cost_micro_usd, context_used, call, project, cwd, title, model, tokens, subagents, pending, last_words, last_at, path, started_by`, who needs you first ([live.md](live.md#the-board)) |
| `serve` | `url, port, pid, home`, as soon as the port is taken; `url` signs in who opens it first ([security.md](security.md#signing-in)) |
| `watch` | lines of `n, at, event, session, agent, thread, line, path, cwd`, and what the event adds ([live.md](live.md#events)) |
| `wait` | `session, text, source, request` as `final`; `state, waiting_for, doing, call, since, evidence, pid` as `top` |
| `run`, `resume`, `fork` | the client's own result object, and `agent, run, transcript_path, exit_code, ended_by, error, calls, denials, files_changed, entrypoint, cost_micro_usd, bounds, unpriced_requests, partial_requests, sources, left_behind, problems`, with `--worktree` also `worktree` ([run.md](run.md#the-result)); with `--detach`: `run, agent, session_id, transcript_path, pid, result_path`; with `--many` JSON Lines of results with `id, n, digest, attempts, cost_micro_usd_all_attempts, batch`; with `--repeat`: `runs`, `comparison` |
| `answer` | `asks`: `id, agent, session, run, thread, cwd, mode, tool, input, input_is_cut, suggestions, at, until, path`; with a verdict one of them, and `verdict, reason, taken, fate` ([answer.md](answer.md)) |
| `hooks status` | `hooks`: `agent, level, path, event, matcher, command, ours, why_not`, in the order in which they fire; `problems`: `path, what` |
| `hooks install` · `hooks uninstall` | `files`: `agent, level, path, outcome, events`; `outcome` is `installed`, `changed`, `already there`, `not free`, `taken out` or `was not there` |
| `usage` | `group, count, cost, zone, as_model, as_of`; `rows`: `key, requests, input_tokens, output_tokens, reasoning_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, cache_read_tokens, web_searches, cost_micro_usd, unpriced_requests, partial_requests, missing_requests, bounds, awaited_requests, inherited_requests, stated_cost_micro_usd, stated_requests, difference_micro_usd, cache_saving_micro_usd, cache_hit_rate, models, first_at, last_at`, of `blocks` also `burn`; `bounds`: `output_tokens, cost_micro_usd`, each `[at least, at most]`; `total`: the same; `hidden`: `session, agent, what, model, at, path, line, tokens, detail, cost_micro_usd`, where `tokens` is one sum and `detail` has its parts; `unpriced_models`; with `--uncertain` also `uncertain`: `key, certainty, agent, session, thread, model, at, path, line` and tokens as above |
| `carried` | `session, cost_micro_usd, cost_is_lower_bound, prompt_cost_micro_usd`; `kinds`: `kind, things, read_tokens, cost_micro_usd`; `carried`: `rank, kind, name, call, what, thread, path, line, bytes, tokens, estimated, reads, unpriced_reads, read_tokens, first_cost_micro_usd, carried_cost_micro_usd, cost_micro_usd` |
| `prices` | `book`: `made_from, made_on`; `models`: `model, vendor, max_output_tokens, prices`; its `prices`: `terms, since, hours_utc, source, steps`; `steps`: `above_prompt_tokens` and the prices; `multipliers`: `vendor, service_tier` or `geo`, `times, source` |
| `tracklog` | `places` as below, `coverage` as below, of the newest logs |
| `places` | `places`: `agent, path, kind, files, bytes`; `skipped`: `path, why` |
| `path` | `path, agent, exists`; a session that is nowhere has null, null, false |
| `records` | lines of `line, offset, length, reading, kind, at, id, why, recovered`; with `--extra` also `extra`, with `--raw` also `raw` |
| `verify` | `identical`; `files`: `path, bytes, sha256, lines, pieces, read, unknown, broken, recovered, identical, archived`; `skipped`: `path, why`; `archive`: `logs, only_here, damaged, outdated, not_archived` |
| `doctor` | `checks`: `name, state, evidence, advice`; `coverage`: `agent, version, kind, lines, bytes, reading`; `unknown`: `agent, kind, key, count, example, why`; `broken`: the first places; `skipped`: `path, why` |
| `statusline` | `model, cost_micro_usd, lines_added, lines_removed, context_tokens, context_window, context_window_is_assumed, context_percent, limit_used_percent, limit_left_s, today_cost_micro_usd, block_left_s` ([statusline.md](statusline.md)) |
| `index` | `files, bytes, lines, read, unknown, broken, recovered, sessions, seconds, only_here` of all that is known; `new_files, new_bytes` and `problems` of this run |
| `rebuild` | `logs, sessions, kept_logs, missing_logs, missing_sessions, damaged_logs, replaced, old_index, problems, seconds` |
| `search` | `total, exact`; `hits`: `session, agent, path, line, kind, source, at, snippet, url, marks` ([search.md](search.md)) |
| `sql` | `columns, rows, truncated` ([schema.md](schema.md)) |
| `parquet` | `path`; `views`: `name, rows, files, bytes` |
| `scan` | `findings`: `kind, path, line, count, hash, session, agent, only_here`, never a value; `skipped`: `path, why`; `scanned`: `files, bytes, new_bytes`; `rules`, their version; `allowed`, how many places are left aside ([redaction.md](redaction.md)); with `--allow`, `--disallow` and `--allowed` only `allowed`: `hash, path, line, why` |
| `redact` | on stderr: `replaced`: `class, kind, hash, count, places`; `near_misses`: `kind, why, count, places` |
| `archive` | `path, logs, contents_bytes, stored_bytes, saving, only_here, only_here_bytes, past, recompressed, pruned, oldest_at`; with --prune `dry_run, freed_bytes, left_bytes, pruned, spared`; with --recompress `recompressed, before_bytes, after_bytes, swept, problems` |
| `restore` | `session, agent, restored`; `files`: `path, kind, bytes, modified_at` |
| `replay` | lines of `at, step, session, path, bytes, detail` ([replay.md](replay.md)) |
| `demo` | `path, files, bytes, roots` |

A row of `sessions` counts what is the session's own, left branches included; what a fork copied belongs to the session
that it came from. `requests` are answers of an API; what a client wrote in the model's place is none, and stands in
`client_texts`. A session of warm-ups alone is none. `errors` are calls with the verdict `error`. `cost_micro_usd` is null
where nothing has a price, and at least so much where `cost_is_lower_bound`. `only_here` is true where
the transcripts stand nowhere but in the archive.

In `top`, `watch`, `wait`, `sessions` and `show` a `state` is `working`, `waiting`, `idle`, `ended`, `crashed` or `unknown`, in the
first three also `pending` or `lost`. That of a thread in `agents` is `running`, `waiting`, `idle`, `ended`, `failed`, `killed`,
`crashed` or `unknown`. All of them, and the verdicts `running` and `lost`, rest on the same look at processes ([live.md](live.md));
`since` and `evidence` belong to it. `waiting_for` is `permission`, `answer` or `plan`, and null where a person opened a dialog.
`context_used` goes from 0 to 1. `subagents` are those that work now, `pending` those that were asked for and have no log yet.
`started_by` is null for a session that no run has written; its `agent` and `session` are null where a person ran it.
An empty `paths` in `agents` means that the log of this thread is missing: only the result of its call names it, so its
`requests` and `calls` are 0 and its cost is null. With `parent_thread` null it is a `main` of which only subagents are left.

`usage` counts each request to an API once ([accounting.md](accounting.md)). `requests` are those whose answer stands in a
log, with or without usage; `missing_requests` are those without, and the `awaited_requests`, of which no line tells.

A log that cannot be read to its end is said on stderr, and what was read of it counts; a session of which nothing could
be read is not listed, and asked for by name it is exit code 1. `strays` are results whose call stands nowhere, `problems`
lines that were not understood, or logs `not readable`. `whole` is false where, of a very long todo list, only the change
is given. `stated` is what the client says a subagent's work came to, never to be added to our own counts.
`took_by` says whether a time is `stated` by the client or taken from `log_times`; `sureness` is `stated` or `inferred`.

`agent` is `claude`, `codex`, or null for files of agents that we do not know. `reading` is `read`, `unknown` or
`broken`, and `pieces = read + unknown + broken`. In `doctor` a `state` is `ok`, `warn` or `fail`. Of a `.zst` file `bytes` and
`sha256` are those of the stored file, `lines` those of its contents. `identical` is about bytes alone; a log that
cannot be read to its end spoils it, and what was only left alone (a link, a pipe, a second name) does not.
"""


def reference() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    ctx = click.Context(app, info_name=PROGRAM, terminal_width=100, max_content_width=100)
    yield _section(PROGRAM, app.get_help(ctx))
    for name, command in commands():
        inner = click.Context(command, info_name=name, parent=ctx)
        yield _section(f"{PROGRAM} {name}", command.get_help(inner))


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with the words that call it; behind a group, those in it."""
    for name in COMMANDS:
        command = load(name)
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in command.commands.items())


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
