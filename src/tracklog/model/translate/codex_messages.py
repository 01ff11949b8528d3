"""Messages and thoughts: words of the model, of a person, of the client, and of other agents.

Rules of this room
  1. A model's item always gives `ModelReplied`, with its request.
  2. Each text of a message in the user's name is judged for itself (codex_texts.py); what is left is one prompt.
  3. A prompt is given once, however often it stands in the file (codex_memory.py).
"""

from __future__ import annotations

from typing import Any

from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    Event,
    ModelReplied,
    PromptGiven,
    SessionDescribed,
    StrangeSeen,
    TaskSeen,
    TextInjected,
)
from tracklog.model.ids import TaskId
from tracklog.model.translate.codex_memory import Memory, Where
from tracklog.model.translate.codex_texts import (
    injected_as,
    inside,
    is_cipher,
    is_picture_tag,
    notice,
    read_mail,
    shell_line,
)
from tracklog.records.base import UnknownPart
from tracklog.records.codex import items


def message(item: items.Message, where: Where, memory: Memory) -> list[Event]:
    """What a message says, by whose name it bears."""
    if item.role == "assistant":
        # The summary is told by the compaction; in the conversation nobody said it.
        text = "" if memory.is_summary else _spoken(item)
        return reply(item, where, memory, text=text, is_last=item.phase == "final_answer")
    memory.end_request()
    where = with_turn(item, where)
    if item.role == "user":
        return _user(item, where, memory)
    return [
        TextInjected(**where, why=injected_as(text, stated) or item.role, text=text)
        for text, stated in _texts(item)
    ]


def agent_message(item: items.AgentMessage, where: Where, memory: Memory) -> list[Event]:
    """What one agent wrote to another."""
    memory.end_request()
    where = with_turn(item, where)
    shown = [text for part in item.content if not is_cipher(text := _mail_text(part))]
    return mail("".join(shown), where, memory)


def mail(text: str, where: Where, memory: Memory) -> list[Event]:
    """A task from the agent above is a subagent's prompt; all other mail is the client's to show."""
    read, is_task = read_mail(text), memory.origin == "agent" and memory.mail_triggers
    memory.mail_triggers = False
    if read.kind == "NEW_TASK" or (read.kind is None and is_task):
        return [PromptGiven(**where, text=read.text, origin="agent")]
    return [TextInjected(**where, why="peer", text=text)]


def reasoning(item: items.Reasoning, where: Where, memory: Memory) -> list[Event]:
    """What the model thought, where the log keeps it readable."""
    parts = [*item.summary, *(item.content or [])]
    thinking = "\n\n".join(part.text for part in parts if not isinstance(part, UnknownPart))
    hidden = not thinking and bool(item.encrypted_content)
    return reply(item, where, memory, thinking=thinking, has_hidden_thought=hidden)


def reply(
    item: items.Item,
    where: Where,
    memory: Memory,
    *,
    text: str = "",
    thinking: str = "",
    has_hidden_thought: bool = False,
    is_last: bool = False,
) -> list[Event]:
    """A part of the answer to the request that is open."""
    is_synthetic, memory.is_after_review = memory.is_after_review, False
    replied = ModelReplied(
        **with_turn(item, where),
        request=memory.request(),
        model=memory.model,
        text=text,
        thinking=thinking,
        has_hidden_thought=has_hidden_thought,
        is_last=is_last,
        is_synthetic=is_synthetic,
        effort=memory.effort,
    )
    return [*memory.prompts.settle(), replied]


def with_turn(item: items.Item, where: Where) -> Where:
    """The same place, in the turn that the item names."""
    turn = item.turn_id
    return where if turn is None or turn == where["turn"] else {**where, "turn": turn}


def _user(item: items.Message, where: Where, memory: Memory) -> list[Event]:
    events: list[Event] = []
    words: list[str] = []
    for text, stated in _texts(item):
        why = injected_as(text, stated)
        if why is not None:
            events += _injected(why, text, where, memory)
        elif not is_picture_tag(text):
            words.append(text)
    n_images = n_pictures(item.content)
    if not words and n_images and memory.n_pictures_due:
        memory.n_pictures_due -= 1
        memory.n_picture_mirrors_due += 1
        return [*events, TextInjected(**where, why="image", text="")]
    if words or n_images:
        prompt = PromptGiven(**where, text="\n".join(words), origin=memory.origin, n_images=n_images)
        has_no_mirror = memory.is_bare or memory.is_inherited
        events += memory.prompts.heard(prompt, has_no_mirror=has_no_mirror)
    return [*events, *_strange_parts(item, where)]


def _injected(why: str, text: str, where: Where, memory: Memory) -> list[Event]:
    if why == "shell":
        line = shell_line(text)
        printed = CommandPrinted(**where, text=line.printed, is_error=line.is_error)
        return [CommandRun(**where, kind="shell", name=line.command), printed]
    events: list[Event] = [TextInjected(**where, why=why, text=text)]
    if why == "notification" and (told := notice(text)):
        events.append(TaskSeen(**where, task=TaskId(told.agent), end=told.end, text=told.text))
    if why == "environment" and memory.is_bare and (cwd := inside(text, "cwd")):
        memory.described["cwd"] = cwd
        events.append(SessionDescribed(**where, **memory.described))
    return events


def _texts(item: items.Message) -> list[tuple[str, str | None]]:
    """The texts of a message, each with the kind that the client states for it."""
    if isinstance(item.content, str):
        return [(item.content, None)]
    said = item.passthrough or item.metadata
    kinds = said.content_item_kinds if said is not None and said.content_item_kinds else []
    stated = kinds if len(kinds) == len(item.content) else [None] * len(item.content)
    parts = zip(item.content, stated, strict=True)
    return [
        (part.text, kind) for part, kind in parts if isinstance(part, (items.InputText, items.OutputText))
    ]


def _spoken(item: items.Message) -> str:
    return "\n".join(text for text, _ in _texts(item))


def _mail_text(part: Any) -> str:
    return part.encrypted_content if isinstance(part, items.EncryptedContent) else getattr(part, "text", "")


def n_pictures(content: Any) -> int:
    """How many pictures stand among the parts of a message or an output."""
    parts = content if isinstance(content, list) else []
    return sum(isinstance(part, items.InputImage) for part in parts)


def _strange_parts(item: items.Message, where: Where) -> list[Event]:
    parts = item.content if isinstance(item.content, list) else []
    unknown = [part for part in parts if isinstance(part, UnknownPart)]
    return [StrangeSeen(**where, kind=part.name, problem=part.why) for part in unknown]
