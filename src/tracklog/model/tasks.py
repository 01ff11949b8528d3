"""What runs in the background, and what was said of it, wherever in the session that stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tracklog.model.events import TaskSeen
from tracklog.model.facts import CallFacts
from tracklog.model.fold import FileFold
from tracklog.model.ids import CallId, TaskId
from tracklog.records.base import opened

_ASKING = ("TaskOutput", "AgentOutputTool", "BashOutput", "TaskStop", "KillShell", "KillBash")
_NAMES_OF_TASKS = ("task_id", "bash_id", "shell_id", "agentId", "session_id")


class Tasks:
    """All that was said of background work, by the task, by the call that began it, and by its description."""

    def __init__(self, folds: Iterable[FileFold], calls: Mapping[CallId, CallFacts]) -> None:
        self.call_of: dict[TaskId, CallId] = {}
        self._by_task: dict[TaskId, list[TaskSeen]] = {}
        self._by_call: dict[CallId, list[TaskSeen]] = {}
        self._by_description: dict[str, list[TaskSeen]] = {}
        seen = [event for fold in folds for event in fold.facts.get(TaskSeen, [])]
        for event in sorted(seen, key=lambda event: (event.at or "", event.place)):
            assert isinstance(event, TaskSeen)
            self._take(event, calls)

    def _take(self, event: TaskSeen, calls: Mapping[CallId, CallFacts]) -> None:
        if event.is_by_words and not _is_asked_by_a_tool_for_tasks(event, calls):
            return
        task = event.task or _asked_for(event, calls)
        if task is not None:
            self._by_task.setdefault(task, []).append(event)
            if event.call is not None:
                self.call_of.setdefault(task, event.call)
        if event.call is not None:
            self._by_call.setdefault(event.call, []).append(event)
        if task is None and event.call is None and event.description:
            self._by_description.setdefault(event.description, []).append(event)

    def seen_of(self, call: CallFacts) -> list[TaskSeen]:
        """What was said of the work that a call began, in order, each word once."""
        found = list(self._by_call.get(call.called.call, []))
        for result in call.results:
            if result.task is not None:
                found += self._by_task.get(result.task, [])
        if self._by_description and any(result.said == "backgrounded" for result in call.results):
            arguments = opened(call.called.input)
            if isinstance(arguments, dict) and isinstance(arguments.get("description"), str):
                found += self._by_description.get(arguments["description"], [])
        if not found:
            return found
        unique = {(event.place, event.end): event for event in found}
        return sorted(unique.values(), key=lambda event: (event.at or "", event.place))


def _is_asked_by_a_tool_for_tasks(event: TaskSeen, calls: Mapping[CallId, CallFacts]) -> bool:
    asking = calls.get(event.asked_by) if event.asked_by else None
    return asking is not None and asking.called.name in _ASKING


def _asked_for(event: TaskSeen, calls: Mapping[CallId, CallFacts]) -> TaskId | None:
    """The task that a call asked about, where the answer does not name it."""
    asking = calls.get(event.asked_by) if event.asked_by else None
    arguments = opened(asking.called.input) if asking else None
    if not isinstance(arguments, dict):
        return None
    named = next((arguments[key] for key in _NAMES_OF_TASKS if key in arguments), None)
    return TaskId(str(named)) if named is not None else None
