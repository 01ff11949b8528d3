"""Made Codex threads: prompts, reasoning, commands, patches, token counts, compactions.

Rules of this room
  1. A call stands before its output, both with one call_id; what mirrors them stands where its era puts it.
  2. Text that the screen shows is written twice: as the model's item and as an event (or, newest, a finished item).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from bench.made.codex_rollout import CONTEXT_WINDOW, Json, Rollout
from bench.made.dice import Dice
from bench.made.tally import Tally
from bench.made.words import Words

Answer = Callable[[], None]

_COMMANDS = ("rg -n", "sed -n '1,200p'", "git diff --", "pytest -q", "ls -la", "cat", "go test ./... -run")


def write_thread(home: Path, dice: Dice, words: Words, *, index: int, n_bytes: int, tally: Tally) -> None:
    """Writes one rollout of about `n_bytes`."""
    rollout = Rollout(home, dice, words, index=index, tally=tally)
    _open(rollout)
    while rollout.log.size < n_bytes:
        _turn(rollout)
    rollout.log.close()
    tally.sessions += 1


def _open(rollout: Rollout) -> None:
    dice, era = rollout.dice, rollout.era
    git = {
        "commit_hash": dice.hex(40),
        "branch": "main",
        "repository_url": "https://example.org/dev/project.git",
    }
    meta: Json = {
        "id": rollout.id,
        "timestamp": rollout.clock.stamp(),
        "cwd": rollout.cwd,
        "originator": "codex_cli_rs",
    }
    meta |= {"cli_version": rollout.version, "source": "cli"}
    if not era.turn_ids:
        return rollout.line("session_meta", {**meta, "instructions": None, "git": git})
    told = {"text": rollout.words.prose(dice, 15_000)}
    meta |= {
        "session_id": rollout.id,
        "thread_source": "user",
        "model_provider": "openai",
        "base_instructions": told,
    }
    if era.paginated:
        meta |= {"history_mode": "paginated", "context_window": {"window_id": dice.uuid7(rollout.clock)}}
    return rollout.line("session_meta", {**meta, "git": git})


def _turn(rollout: Rollout) -> None:
    dice, began = rollout.dice, rollout.clock.epoch_ms
    rollout.turn = dice.uuid7(rollout.clock)
    rollout.tokens.start_turn()
    if rollout.era.turn_ids:
        rollout.event(
            "task_started",
            turn_id=rollout.turn,
            started_at=began // 1_000,
            model_context_window=CONTEXT_WINDOW,
            collaboration_mode_kind="default",
        )
    _context(rollout)
    _prompt(rollout)
    rollout.count(None)
    for _ in range(dice.between(2, 14)):
        _round(rollout)
    said = _speak(rollout, dice.tailed(400, 5_000), phase="final_answer")
    rollout.count(rollout.respond(output=1 + len(said) // 4, reasoning=0))
    if rollout.era.turn_ids:
        now = rollout.clock.epoch_ms
        times = {"completed_at": now // 1_000, "duration_ms": now - began, "time_to_first_token_ms": 2_100}
        rollout.event("task_complete", turn_id=rollout.turn, last_agent_message=said, **times)
    if rollout.tokens.context > CONTEXT_WINDOW * 3 // 4:
        _compact(rollout)


def _context(rollout: Rollout) -> None:
    if not rollout.era.turn_ids:
        policy = {"approval_policy": "never", "sandbox_policy": {"mode": "danger-full-access"}}
        return rollout.line(
            "turn_context",
            {"cwd": rollout.cwd, **policy, "model": rollout.model, "effort": "high", "summary": "auto"},
        )
    settings = {"model": rollout.model, "reasoning_effort": "high", "developer_instructions": None}
    context: Json = {
        "turn_id": rollout.turn,
        "cwd": rollout.cwd,
        "approval_policy": "never",
        "sandbox_policy": {"type": "danger-full-access"},
    }
    context |= {
        "permission_profile": {"type": "disabled"},
        "model": rollout.model,
        "realtime_active": False,
        "effort": "high",
        "summary": "auto",
    }
    return rollout.line(
        "turn_context", {**context, "collaboration_mode": {"mode": "default", "settings": settings}}
    )


def _prompt(rollout: Rollout) -> None:
    dice = rollout.dice
    text = rollout.words.prose(dice, dice.tailed(80, 4_000))
    rollout.tokens.feed(text)
    rollout.item("message", role="user", content=[{"type": "input_text", "text": text}])
    if rollout.era.paginated:
        content = [{"type": "text", "text": text, "text_elements": []}]
        rollout.done("UserMessage", id=dice.uuid7(rollout.clock), content=content)
    else:
        rollout.event("user_message", message=text, images=[], local_images=[], text_elements=[])


def _round(rollout: Rollout) -> None:
    """One response of the model: thoughts, a word, its calls; then what they gave."""
    dice = rollout.dice
    thought = _think(rollout) if dice.chance(0.6) else 0
    said = len(_speak(rollout, dice.tailed(90, 900), phase="commentary")) // 4 if dice.chance(0.5) else 0
    ask = _ask_patch if dice.chance(0.07) else _ask_command
    answers = [ask(rollout) for _ in range(dice.weighted((1, 2, 3), (75, 17, 8)))]
    last = rollout.respond(output=said + thought + 40 * len(answers), reasoning=thought)
    for answer in answers:
        answer()
    rollout.count(last)
    if dice.chance(0.25):
        rollout.count(last)  # the rate limits moved, the totals did not


def _think(rollout: Rollout) -> int:
    """Writes reasoning that only its ciphertext keeps; returns its tokens."""
    dice = rollout.dice
    size = dice.tailed(300, 6_000)
    summary = rollout.words.title(dice)
    if rollout.era.paginated:
        rollout.done("Reasoning", id=f"rs_{dice.hex(50)}", summary_text=[summary], raw_content=[])
    else:
        rollout.event("agent_reasoning", text=summary)
    rollout.item(
        "reasoning",
        summary=[{"type": "summary_text", "text": summary}],
        content=None,
        encrypted_content=f"gAAAAA{dice.base64(size)}",
    )
    return size // 5


def _speak(rollout: Rollout, length: int, *, phase: str) -> str:
    text = rollout.words.prose(rollout.dice, length)
    phased = {"phase": phase} if rollout.era.turn_ids else {}
    if rollout.era.paginated:
        rollout.done(
            "AgentMessage",
            id=f"msg_{rollout.dice.hex(50)}",
            content=[{"type": "Text", "text": text}],
            **phased,
        )
    else:
        rollout.event("agent_message", message=text, **phased)
    rollout.item("message", role="assistant", content=[{"type": "output_text", "text": text}], **phased)
    return text


def _ask_command(rollout: Rollout) -> Answer:
    """Writes a call of the shell; returns what will write its output."""
    dice, call = rollout.dice, f"call_{rollout.dice.alnum(24)}"
    command = f"{dice.pick(_COMMANDS)} {rollout.words.path(dice)}"
    unified: Json = {
        "cmd": command,
        "workdir": rollout.cwd,
        "yield_time_ms": 1_000,
        "max_output_tokens": 12_000,
    }
    asked: Json = (
        unified
        if rollout.era.unified_exec
        else {"command": ["bash", "-lc", command], "workdir": rollout.cwd, "timeout_ms": 120_000}
    )
    name = "exec_command" if rollout.era.unified_exec else "shell"
    rollout.item("function_call", name=name, arguments=json.dumps(asked), call_id=call)
    return lambda: _command_output(rollout, call, command)


def _command_output(rollout: Rollout, call: str, command: str) -> None:
    dice, code = rollout.dice, int(rollout.dice.chance(0.12))
    text, seconds = rollout.words.output(dice, dice.tailed(700, 60_000)), dice.between(1, 9_000) / 1_000
    if dice.chance(0.002):
        picture = {
            "type": "input_image",
            "image_url": f"data:image/png;base64,{dice.base64(dice.tailed(60_000, 300_000))}",
        }
        return rollout.item("function_call_output", call_id=call, output=[picture])
    if not rollout.era.unified_exec:
        body = json.dumps(
            {"output": text, "metadata": {"exit_code": code, "duration_seconds": seconds}}, ensure_ascii=False
        )
    else:
        header = f"Chunk ID: {dice.hex(6)}\nWall time: {seconds:.4f} seconds\nProcess exited with code {code}"
        body = f"{header}\nOriginal token count: {len(text) // 4}\nOutput:\n{text}"
    if rollout.era.paginated:
        _command_done(rollout, call, command, text, code)
    rollout.tokens.feed(body)
    return rollout.item("function_call_output", call_id=call, output=body)


def _command_done(rollout: Rollout, call: str, command: str, text: str, code: int) -> None:
    ran = {
        "command": ["/bin/bash", "-lc", command],
        "cwd": f"file://{rollout.cwd}",
        "parsed_cmd": [{"type": "unknown", "cmd": command}],
    }
    outcome = {
        "status": "failed" if code else "completed",
        "aggregated_output": text,
        "exit_code": code,
        "duration": {"secs": 0, "nanos": 27_481},
    }
    rollout.done(
        "CommandExecution", id=call, process_id="5554", **ran, source="unified_exec_startup", **outcome
    )


def _ask_patch(rollout: Rollout) -> Answer:
    """Writes a patch; returns what will write how it went."""
    dice, call, path = rollout.dice, f"call_{rollout.dice.alnum(24)}", rollout.words.path(rollout.dice)
    code = rollout.words.code
    at = dice.between(0, len(code) - 60)
    removed, added = code[at : at + dice.between(1, 9)], code[at + 9 : at + 9 + dice.between(1, 50)]
    hunk = "".join([f"-{line}" for line in removed] + [f"+{line}" for line in added])
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{hunk}*** End Patch\n"
    rollout.item("custom_tool_call", status="completed", call_id=call, name="apply_patch", input=patch)
    diff = f"@@ -{at},{len(removed)} +{at},{len(added)} @@\n{hunk}"
    return lambda: _patch_output(rollout, call, path, diff)


def _patch_output(rollout: Rollout, call: str, path: str, diff: str) -> None:
    text = f"Success. Updated the following files:\nM {path}\n"
    changes = {f"{rollout.cwd}/{path}": {"type": "update", "unified_diff": diff, "move_path": None}}
    went = {"changes": changes, "status": "completed", "stdout": text, "stderr": ""}
    if rollout.era.paginated:
        rollout.done("FileChange", id=call, **went)
    elif rollout.era.turn_ids:
        rollout.event("patch_apply_end", call_id=call, turn_id=rollout.turn, success=True, **went)
    rollout.tokens.feed(text)
    rollout.item(
        "custom_tool_call_output", call_id=call, output=f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{text}"
    )


def _compact(rollout: Rollout) -> None:
    """The history is replaced by a short restatement; the next request starts without a cache."""
    kept = rollout.words.prose(rollout.dice, 8_000)
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": kept}]}]
    rollout.line("compacted", {"message": "", "replacement_history": history})
    rollout.tokens.compact(len(kept) // 4 + 9_000)
    if rollout.era.paginated:
        rollout.done("ContextCompaction", id=rollout.dice.uuid7(rollout.clock))
    else:
        rollout.event("context_compacted")
