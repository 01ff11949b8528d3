"""Todo lists over time, questions with their answers, and background tasks with all reports about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Raw

from tracklog.model.events import TaskSeen
from tracklog.model.fold.log import FileFold
from tracklog.model.fold.thread import CallFacts
from tracklog.model.ids import CallId, TaskId
from tracklog.model.records import opened
from tracklog.model.session import Call, Question, TodoList

_ASKING = ("TaskOutput", "AgentOutputTool", "BashOutput", "TaskStop", "KillShell", "KillBash")
_NAMES_OF_TASKS = ("task_id", "bash_id", "shell_id", "agentId", "session_id")


class Tasks:
    """Reports about background work, by task, by the call that began it, and by description."""

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


_LONGEST = 200  # entries of a list that is kept whole at each change


def todo_lists(calls: Iterable[Call]) -> list[TodoList]:
    """Each state of the list, from TodoWrite, TaskCreate and TaskUpdate, and Codex's plan."""
    found: list[TodoList] = []
    tasks: dict[str, tuple[str, str]] = {}  # by id: status and text
    for call in calls:
        items = _whole_list(call)
        is_whole = True
        if items is None and (changed := _change(call, tasks)) is not None:
            is_whole = len(tasks) <= _LONGEST
            items = list(tasks.values()) if is_whole else [tasks.get(changed, ("deleted", ""))]
        if items is not None:
            found.append(TodoList(at=call.called_at, place=call.evidence[0], items=items, is_whole=is_whole))
    return found


def _whole_list(call: Call) -> list[tuple[str, str]] | None:
    key = {"TodoWrite": "todos", "update_plan": "plan"}.get(call.name)
    arguments = call.arguments if key else None
    listed = arguments.get(key) if isinstance(arguments, dict) else None
    if not isinstance(listed, list) or call.verdict != "ok":
        return None
    return [_item(one) for one in listed if isinstance(one, dict)]


def _item(item: dict[str, Any]) -> tuple[str, str]:
    text = item.get("content") or item.get("step") or item.get("subject") or ""
    return str(item.get("status") or ""), str(text)


def _change(call: Call, tasks: dict[str, tuple[str, str]]) -> str | None:
    """Takes one creation or update in; the id of the task that changed."""
    arguments = call.arguments if call.name in ("TaskCreate", "TaskUpdate") else None
    if not isinstance(arguments, dict) or call.verdict != "ok":
        return None
    if call.name == "TaskCreate":
        id = _created_id(call, len(tasks))
        tasks[id] = ("pending", str(arguments.get("subject") or ""))
        return id
    id = str(arguments.get("taskId") or "")
    if arguments.get("status") == "deleted":
        return id if tasks.pop(id, None) is not None else None
    if id not in tasks and not arguments.get("subject"):
        return None  # of a task that this session never made
    status, text = tasks.get(id, ("", ""))
    tasks[id] = (str(arguments.get("status") or status), str(arguments.get("subject") or text))
    return id


def _created_id(call: Call, n_known: int) -> str:
    report = call.result.structured if call.result else None
    task = report.get("task") if isinstance(report, dict) else None
    id = task.get("id") if isinstance(task, dict) else None
    return str(id) if id is not None else str(n_known + 1)


def questions(calls: Iterable[Call]) -> list[Question]:
    """What the agent asked the person; the answer is None where none came."""
    return [question for call in calls for question in _asked(call)]


def _asked(call: Call) -> list[Question]:
    if call.name not in ("AskUserQuestion", "request_user_input"):
        return []
    arguments = call.arguments
    asked = arguments.get("questions") if isinstance(arguments, dict) else None
    answers = _answers(call)
    return [
        Question(
            call=call.id,
            question=str(one.get("question") or ""),
            options=_labels(one.get("options")),
            answer=_answer(answers, one),
        )
        for one in (asked if isinstance(asked, list) else [])
        if isinstance(one, dict)
    ]


def _labels(options: Any) -> list[str]:
    listed = options if isinstance(options, list) else []
    return [str(option.get("label")) for option in listed if isinstance(option, dict)]


def _answers(call: Call) -> dict[str, Any]:
    result = call.result
    report = result.structured if result else None
    if not isinstance(report, dict) and result is not None and result.text.startswith("{"):
        report = opened(Raw(result.text.encode("utf-8", "surrogatepass")))
    answers = report.get("answers") if isinstance(report, dict) else None
    return answers if isinstance(answers, dict) else {}


def _answer(answers: dict[str, Any], question: dict[str, Any]) -> str | None:
    said = answers.get(str(question.get("question")), answers.get(str(question.get("id"))))
    if isinstance(said, dict):
        said = said.get("answers")
    if isinstance(said, list):
        said = ", ".join(str(one) for one in said)
    return None if said is None else str(said)
