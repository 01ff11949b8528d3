"""The made logs are what they claim: the same for a seed, like real ones, and right to the token."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tracklog.agents.claude_code.records.reader import READER as CLAUDE_READER
from tracklog.agents.codex.records.reader import READER as CODEX_READER
from tracklog.agents.reader import Reader
from tracklog.sources.lines import cut

Json = dict[str, Any]

SCRIPT = Path(__file__).parents[2] / "bench" / "make_logs.py"
METADATA = {
    "agent-name", "ai-title", "api-request", "api-request-blob", "api-request-shape", "bridge-session", "cost-state",
    "custom-title", "file-history-snapshot", "last-prompt", "mode", "permission-mode", "queue-operation", "tools-used",
}  # fmt: skip
COUNTED = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


def make(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), "--out", str(out), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def logs_in(home: Path) -> list[Path]:
    return sorted(home.rglob("*.jsonl"))


def records_of(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def fingerprint(home: Path) -> str:
    files = sorted(path for path in home.rglob("*") if path.is_file())
    whole = hashlib.sha256()
    for path in files:
        whole.update(f"{path.relative_to(home).as_posix()}\n".encode())
        whole.update(path.read_bytes())
    return whole.hexdigest()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made")
    assert make(out, "--mb", "20", "--seed", "4").returncode == 0
    return out


@pytest.fixture(scope="module")
def told(made: Path) -> Json:
    report: Json = json.loads((made / "made.json").read_text(encoding="utf-8"))
    return report


@pytest.fixture(scope="module")
def claude(made: Path) -> dict[Path, list[Json]]:
    return {path: records_of(path) for path in logs_in(made / "claude")}


@pytest.fixture(scope="module")
def codex(made: Path) -> dict[Path, list[Json]]:
    return {path: records_of(path) for path in logs_in(made / "codex")}


def is_main(path: Path) -> bool:
    return not path.name.startswith("agent-")


def version_of(records: list[Json]) -> tuple[int, ...]:
    stated = next(record["version"] for record in records if "version" in record)
    return tuple(int(part) for part in stated.split("."))


def messages_of(records: list[Json]) -> Iterator[Json]:
    """API messages as they stand in assistant records and in the copies that progress records hold."""
    for record in records:
        holder = record.get("data", {}).get("message", {}) if record["type"] == "progress" else record
        if holder.get("type") == "assistant":
            yield holder["message"]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("once", "again"):
        make(tmp_path / name, "--mb", "2", "--seed", "7")
    assert fingerprint(tmp_path / "once") == fingerprint(tmp_path / "again")


def test_another_seed_gives_other_bytes(tmp_path: Path) -> None:
    for seed in ("7", "8"):
        make(tmp_path / seed, "--mb", "0.3", "--seed", seed)
    assert fingerprint(tmp_path / "7") != fingerprint(tmp_path / "8")


def test_the_bytes_of_a_seed_do_not_drift_between_machines_and_pythons(tmp_path: Path) -> None:
    """Whoever changes the maker on purpose writes the new sum here: figures measured before are then no longer comparable."""
    make(tmp_path / "out", "--mb", "2", "--seed", "7")
    assert fingerprint(tmp_path / "out") == "043c6cd3cc7164b737233921da8f51318bae14ca6b0b46dbc11a11e1350fe3e8"


def test_one_agent_alone_can_be_asked_for(tmp_path: Path) -> None:
    make(tmp_path / "out", "--mb", "0.3", "--agent", "codex")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["codex", "made.json"]


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    refused = make(tmp_path, "--mb", "0.3")
    assert (refused.returncode, [path.name for path in tmp_path.iterdir()]) == (2, ["mine.txt"])
    assert "not empty" in refused.stderr


def test_the_report_counts_what_stands_on_disk(made: Path, told: Json) -> None:
    for agent in ("claude", "codex"):
        contents = [path.read_bytes() for path in logs_in(made / agent)]
        lines = [line for content in contents for line in content.splitlines(keepends=True)]
        seen = {
            "files": len(contents),
            "n_bytes": sum(map(len, contents)),
            "lines": len(lines),
            "longest_line": max(map(len, lines)),
        }
        assert seen == {name: told[agent][name] for name in seen}


def test_about_as_many_bytes_are_made_as_were_asked_for(told: Json) -> None:
    assert 20_000_000 <= told["claude"]["n_bytes"] + told["codex"]["n_bytes"] < 22_500_000


def test_lines_are_as_long_as_real_ones(told: Json, made: Path) -> None:
    sums = [told["claude"], told["codex"]]
    assert 2_800 < sum(one["n_bytes"] for one in sums) / sum(one["lines"] for one in sums) < 5_000
    assert sum(len(line) > 100_000 for path in logs_in(made) for line in path.read_bytes().splitlines()) >= 5


def test_they_compress_like_real_logs(made: Path) -> None:
    contents = [path.read_bytes() for path in logs_in(made)]
    packed = sum(len(zstandard.ZstdCompressor(level=3).compress(content)) for content in contents)
    assert 4 < sum(map(len, contents)) / packed < 8


def test_text_is_not_ascii_alone_and_holds_quotes_newlines_escapes_and_separators(made: Path) -> None:
    whole = b"".join(path.read_bytes() for path in logs_in(made))
    for piece in ('\\"', "\\n", "\\\\", "\\t", "\\u001b[32m", "設定", "é", "🚧", "\u2028"):
        assert piece.encode() in whole


@pytest.mark.parametrize(("agent", "reader"), [("claude", CLAUDE_READER), ("codex", CODEX_READER)])
def test_the_readers_know_every_line_and_every_key(made: Path, agent: str, reader: Reader) -> None:
    not_read, unnamed = [], []
    for path in logs_in(made / agent):
        drift = reader.drift()
        for piece in reader.read(cut([path.read_bytes()])):
            not_read += [] if piece.reading == "read" else [piece.record]
            unnamed += drift.strays(piece)
    assert (not_read, unnamed) == ([], [])


def test_claude_homes_have_the_layout_of_real_ones(made: Path) -> None:
    home = made / "claude"
    shapes = Counter(_shape(path.relative_to(home)) for path in home.rglob("*") if path.is_file())
    assert set(shapes) == {
        "projects/SLUG/SESSION.jsonl",
        "projects/SLUG/agent-ID.jsonl",
        "projects/SLUG/SESSION/subagents/agent-ID.jsonl",
        "projects/SLUG/SESSION/subagents/agent-ID.meta.json",
    }


def _shape(path: Path) -> str:
    parts = list(path.parts)
    parts[1] = "SLUG" if parts[1].startswith("-home-dev-") else parts[1]
    if len(parts) > 3 or not parts[-1].startswith("agent-"):
        parts[2] = "SESSION" + parts[2][36:]
    if parts[-1].startswith("agent-"):
        _, _, suffix = parts[-1].partition(".")
        parts[-1] = f"agent-ID.{suffix}"
    return "/".join(parts)


def test_codex_homes_have_the_layout_of_real_ones(codex: dict[Path, list[Json]]) -> None:
    for path, records in codex.items():
        *_, sessions, year, month, day, name = path.parts
        began, thread = name[len("rollout-") :][:19], name[len("rollout-") + 20 : -len(".jsonl")]
        meta = records[0]
        assert (sessions, f"{year}-{month}-{day}") == ("sessions", began[:10])
        assert (meta["type"], meta["payload"]["id"]) == ("session_meta", thread)
        assert meta["payload"]["timestamp"][:19].replace(":", "-") == began


def test_every_span_of_versions_is_there(
    claude: dict[Path, list[Json]], codex: dict[Path, list[Json]]
) -> None:
    versions = {version_of(records) for records in claude.values()}
    assert {version[:2] for version in versions} == {(1, 0), (2, 0), (2, 1)}
    assert max(versions) == (2, 1, 325)
    clients = {int(records[0]["payload"]["cli_version"].split(".")[1]) for records in codex.values()}
    assert min(clients) < 64
    assert max(clients) == 166


def test_every_kind_of_record_that_real_sessions_are_made_of_occurs(claude: dict[Path, list[Json]]) -> None:
    kinds = {_kind(record) for records in claude.values() for record in records}
    assert kinds >= METADATA | {
        "user", "assistant", "summary", "progress/hook_progress", "progress/bash_progress", "progress/agent_progress",
        "system/turn_duration", "system/stop_hook_summary", "system/compact_boundary", "attachment/total_tokens_reminder",
        "attachment/hook_success", "attachment/queued_command",
    }  # fmt: skip


def _kind(record: Json) -> str:
    inner = (
        record.get("subtype")
        or record.get("data", {}).get("type")
        or record.get("attachment", {}).get("type")
    )
    return f"{record['type']}/{inner}" if inner else str(record["type"])


def test_every_tool_and_block_that_real_sessions_use_occurs(claude: dict[Path, list[Json]]) -> None:
    everything = [record for records in claude.values() for record in records]
    blocks = [
        block
        for record in everything
        if record["type"] == "assistant"
        for block in record["message"]["content"]
    ]
    assert {block["type"] for block in blocks} == {"text", "thinking", "tool_use"}
    tools = {block["name"] for block in blocks if block["type"] == "tool_use"}
    assert tools >= {
        "Bash",
        "Read",
        "Edit",
        "Write",
        "Grep",
        "Glob",
        "TodoWrite",
        "Task",
        "Agent",
        "TaskUpdate",
        "mcp__browser__page_text",
    }


def test_late_versions_write_as_much_metadata_as_real_ones(claude: dict[Path, list[Json]]) -> None:
    late = [
        records for path, records in claude.items() if is_main(path) and version_of(records) >= (2, 1, 100)
    ]
    lines = [record["type"] in METADATA for records in late for record in records]
    assert 0.25 < sum(lines) / len(lines) < 0.46


def test_every_record_hangs_on_one_that_stands_before_it(claude: dict[Path, list[Json]]) -> None:
    for path, records in claude.items():
        seen: set[str | None] = {None}
        for record in records:
            if "parentUuid" in record:
                assert record["parentUuid"] in seen, path
                seen.add(record["uuid"])


def test_every_call_has_one_result_behind_it_that_hangs_on_the_call(claude: dict[Path, list[Json]]) -> None:
    for records in claude.values():
        open_calls: dict[str, str] = {}
        for record in records:
            content = record["message"]["content"] if record["type"] in ("user", "assistant") else ""
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_use":
                    open_calls[block["id"]] = record["uuid"]
                elif block["type"] == "tool_result":
                    assert open_calls.pop(block["tool_use_id"]) == record["parentUuid"]
        assert open_calls == {}


def test_calls_run_side_by_side_and_results_come_between_chunks(claude: dict[Path, list[Json]]) -> None:
    calls, torn_apart = Counter[str](), 0
    for records in claude.values():
        spoken = [
            record["message"].get("id") for record in records if record["type"] in ("assistant", "user")
        ]
        torn_apart += sum(
            a == c is not None and b != a for a, b, c in zip(spoken, spoken[1:], spoken[2:], strict=False)
        )
        calls.update(m["id"] for m in messages_of(records) if m["content"][0]["type"] == "tool_use")
    assert max(calls.values()) >= 3
    assert torn_apart > 0


def test_chunks_of_a_message_share_its_request_and_hold_one_block_each(
    claude: dict[Path, list[Json]],
) -> None:
    requests = defaultdict(set)
    for records in claude.values():
        for record in records:
            if record["type"] == "assistant":
                requests[record["message"]["id"]].add(record["requestId"])
                assert len(record["message"]["content"]) == 1
    assert {len(names) for names in requests.values()} == {1}


def test_main_files_since_2_1_97_have_the_final_usage_on_every_chunk(claude: dict[Path, list[Json]]) -> None:
    for path, records in claude.items():
        if is_main(path) and version_of(records) >= (2, 1, 97):
            usages = defaultdict(set)
            for message in messages_of(records):
                usages[message["id"]].add(json.dumps(message["usage"]))
            assert {len(told) for told in usages.values()} == {1}


@pytest.mark.parametrize(("least", "most"), [((1, 0, 0), (2, 1, 96)), ((2, 1, 97), (2, 1, 324))])
def test_earlier_chunks_have_a_placeholder_before_that_and_in_agent_files(
    claude: dict[Path, list[Json]], least: tuple[int, ...], most: tuple[int, ...]
) -> None:
    outputs = defaultdict(list)
    for path, records in claude.items():
        if least <= version_of(records) <= most and not (least == (2, 1, 97) and is_main(path)):
            for message in messages_of(records):
                outputs[message["id"]].append(message["usage"]["output_tokens"])
    growing = [counts for counts in outputs.values() if len(set(counts)) > 1]
    assert growing
    assert all(
        max(counts[:-1]) <= 8
        for counts in outputs.values()
        if len(set(counts)) > 1 and counts == sorted(counts)
    )


def test_claude_tokens_add_up_to_the_report(claude: dict[Path, list[Json]], told: Json) -> None:
    best: dict[str, Json] = {}
    for records in claude.values():
        for message in messages_of(records):
            known = best.setdefault(message["id"], message["usage"])
            if message["usage"]["output_tokens"] > known["output_tokens"]:
                best[message["id"]] = message["usage"]
    sums = {ours: sum(usage[theirs] for usage in best.values()) for ours, theirs in COUNTED.items()}
    assert len(best) == told["claude"]["requests"]
    assert sums == {name: told["claude"]["tokens"][name] for name in sums}


def test_a_request_reads_from_the_cache_what_those_before_it_wrote(claude: dict[Path, list[Json]]) -> None:
    for path, records in claude.items():
        if is_main(path) and version_of(records) >= (2, 0, 0):
            usages = {
                message["id"]: message["usage"]
                for record in records
                if record["type"] == "assistant"
                for message in messages_of([record])
            }
            cached = 0
            for usage in usages.values():
                assert usage["cache_read_input_tokens"] in (cached, 0)
                cached = usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]


def test_the_clients_own_cost_record_equals_the_sum_of_the_requests(claude: dict[Path, list[Json]]) -> None:
    compared = 0
    for path, records in claude.items():
        states = [record for record in records if record["type"] == "cost-state"]
        if not states:
            continue
        files = [records, *(claude[agent] for agent in sorted(path.with_suffix("").rglob("*.jsonl")))]
        usages = {message["id"]: message["usage"] for one in files for message in messages_of(one)}
        (stated,) = states[-1]["modelUsage"].values()
        assert stated["inputTokens"] == sum(usage["input_tokens"] for usage in usages.values())
        assert stated["outputTokens"] == sum(usage["output_tokens"] for usage in usages.values())
        assert stated["cacheCreationInputTokens"] == sum(
            usage["cache_creation_input_tokens"] for usage in usages.values()
        )
        compared += 1
    assert compared > 0


def test_an_agents_meta_file_names_the_call_that_started_it(made: Path) -> None:
    metas = sorted((made / "claude").rglob("*.meta.json"))
    assert metas
    for meta in metas:
        spawned = json.loads(meta.read_text(encoding="utf-8"))
        session = meta.parents[1].with_suffix(".jsonl")
        parent = spawned.get("parentAgentId")
        holder = meta.with_name(f"agent-{parent}.jsonl") if parent else session
        assert f'"id":"{spawned["toolUseId"]}"' in holder.read_text(encoding="utf-8")


def test_edits_carry_patches_that_turn_the_old_file_into_the_next_one(claude: dict[Path, list[Json]]) -> None:
    applied = 0
    for records in claude.values():
        for result in (record.get("toolUseResult") for record in records):
            if isinstance(result, dict) and result.get("originalFile") and "oldString" in result:
                (hunk,) = result["structuredPatch"]
                kept = [line[1:] for line in hunk["lines"] if line[0] in " -"]
                start = hunk["oldStart"] - 1
                assert result["originalFile"].split("\n")[start : start + hunk["oldLines"]] == kept
                applied += 1
    assert applied > 20


def test_every_codex_call_has_one_output_behind_it(codex: dict[Path, list[Json]]) -> None:
    for records in codex.values():
        open_calls: list[str] = []
        for payload in (record["payload"] for record in records if record["type"] == "response_item"):
            if payload["type"] in ("function_call", "custom_tool_call"):
                open_calls.append(payload["call_id"])
            elif payload["type"].endswith("_output"):
                open_calls.remove(payload["call_id"])
        assert open_calls == []


def test_every_kind_of_codex_line_occurs(told: Json) -> None:
    assert set(told["codex"]["kinds"]) >= {
        "session_meta", "turn_context", "token_usage_record", "response_item/message", "response_item/reasoning",
        "response_item/function_call", "response_item/function_call_output", "response_item/custom_tool_call",
        "response_item/custom_tool_call_output", "event_msg/token_count", "event_msg/user_message", "event_msg/agent_message",
        "event_msg/task_started", "event_msg/task_complete", "event_msg/item_completed", "event_msg/patch_apply_end",
    }  # fmt: skip


def test_codex_totals_grow_by_their_last_usage_and_add_up_to_the_report(
    codex: dict[Path, list[Json]], told: Json
) -> None:
    sums, requests, repeated = Counter[str](), 0, 0
    for records in codex.values():
        total = Counter[str]()
        for info in (r["payload"]["info"] for r in records if r["payload"].get("type") == "token_count"):
            if info is None or total == info["total_token_usage"]:
                repeated += info is not None
                continue
            assert Counter(info["total_token_usage"]) == total + Counter(info["last_token_usage"])
            total, requests = Counter(info["total_token_usage"]), requests + 1
        sums += total
    expected = told["codex"]["tokens"]
    assert repeated > 0
    assert requests == told["codex"]["requests"]
    assert sums["cached_input_tokens"] == expected["cache_read_tokens"]
    assert sums["input_tokens"] == expected["input_tokens"] + expected["cache_read_tokens"]
    assert (sums["output_tokens"], sums["reasoning_output_tokens"]) == (
        expected["output_tokens"],
        expected["reasoning_tokens"],
    )


def test_newest_codex_lines_are_numbered_without_a_gap(codex: dict[Path, list[Json]]) -> None:
    newest = [
        records for records in codex.values() if records[0]["payload"].get("history_mode") == "paginated"
    ]
    assert newest
    for records in newest:
        assert [record["ordinal"] for record in records] == list(range(len(records)))
