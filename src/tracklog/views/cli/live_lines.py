"""Live events in words: a line for people, a document for scripts."""

from __future__ import annotations

import json

from tracklog.live.journal import LiveEvent
from tracklog.views.cli.printing import excerpt, safe, short_id

_WIDTH = 100


def event_document(event: LiveEvent) -> str:
    """One line of JSON: what every event has, and behind it what only this kind has."""
    known = {
        "n": event.n,
        "at": event.at,
        "event": event.event,
        "session": event.session,
        "agent": event.agent,
        "thread": event.thread,
        "line": event.line,
        "path": event.path,
        "cwd": event.cwd,
    }
    return json.dumps(
        {**event.data, **known} if event.data.keys() & known.keys() else {**known, **event.data}
    )


def event_line(event: LiveEvent) -> str:
    """One line for people: when, whose, what."""
    who = short_id(event.session or "") if event.session else ""
    thread = "" if event.thread in (None, "main") else f" {short_id(event.thread or '')}"
    return f"{event.at[11:19]}  {who}{thread}  {_words(event)}".rstrip()


def _words(event: LiveEvent) -> str:
    facts = event.data
    match event.event:
        case "state_changed":
            doing = f": {excerpt(str(facts['doing']), _WIDTH)}" if facts.get("doing") else ""
            waits = f" for {safe(str(facts['waiting_for']))}" if facts.get("waiting_for") else ""
            return f"{safe(str(facts.get('state')))}{waits}{doing}"
        case "waiting_began":
            return f"needs you: {excerpt(str(facts.get('doing') or facts.get('waiting_for')), _WIDTH)}"
        case "prompt_given":
            return f"> {excerpt(str(facts.get('text')), _WIDTH)}"
        case "model_replied":
            text = facts.get("text") or facts.get("error")
            return excerpt(str(text), _WIDTH) if text else f"answered ({safe(str(facts.get('stop_reason')))})"
        case "tool_called":
            return f"{safe(str(facts.get('name')))} {excerpt(_told(facts.get('input')), _WIDTH)}"
        case "tool_returned":
            code = f", exit code {facts['exit_code']}" if facts.get("exit_code") is not None else ""
            return f"{safe(str(facts.get('said')))}{code}"
        case "hook_called":
            return f"hook {safe(str(facts.get('hook')))} {safe(str(facts.get('tool') or ''))}".rstrip()
        case "gap":
            return f"{facts.get('lost')} events came and went before they could be shown"
        case name:
            told = ", ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
            return f"{name.replace('_', ' ')} {excerpt(told, _WIDTH)}".rstrip()


def _told(given: object) -> str:
    from tracklog.model.telling import told

    return told(given, None)
