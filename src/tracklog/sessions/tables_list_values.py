"""The values by which lists are filtered, and the conditions that they make."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from tracklog.model.session_rules import is_tool
from tracklog.sessions.listed import FacetKind, use_in

_MCP = "mcp__"
LIST = "(select value from json_each(?))"  # a parameter that is a list
Condition = tuple[str, list[Any]]  # of `list_rows s` or `list_calls l`, with its parameters


class ListValues:
    """The values that listed sessions have, by their numbers."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._of: dict[FacetKind, dict[int, str]] = {}

    def of(self, kind: FacetKind) -> dict[int, str]:
        """The values of a kind that any session has."""
        if kind not in self._of:
            asked = (
                "select id, name from list_values v where kind = ? "
                "and exists (select 1 from facets where value = v.id) order by id"
            )
            self._of[kind] = dict(self._db.execute(asked, (kind,)).fetchall())
        return self._of[kind]

    @cached_property
    def project_labels(self) -> dict[str, str]:
        """Projects as they are written, by their names in small letters; where that differs, as it was last."""
        labels: dict[str, list[int]] = {}
        names = self.of(FacetKind.LABEL)
        for id, name in names.items():
            labels.setdefault(name.lower(), []).append(id)
        return {name: names[ids[0] if len(ids) == 1 else self._last(ids)] for name, ids in labels.items()}

    def _last(self, ids: list[int]) -> int:
        """Which of some values the session has that lived last."""
        asked = (
            f"select f.value from facets f join list_rows s on s.row = f.row where f.value in {LIST} "
            "order by s.last_ms desc, s.agent desc, s.session desc limit 1"
        )
        return int(self._db.execute(asked, (json.dumps(ids),)).fetchone()[0])

    @cached_property
    def tool_labels(self) -> dict[str, str]:
        """Tools as they are written most, by their names in small letters."""
        labels: dict[str, dict[str, list[int]]] = {}
        for id, name in self.of(FacetKind.USE).items():
            tool, _ = use_in(name)
            labels.setdefault(tool.lower(), {}).setdefault(tool, []).append(id)
        return {
            name: next(iter(spelled))
            if len(spelled) == 1
            else max(spelled, key=lambda tool: self._most(spelled[tool]))
            for name, spelled in labels.items()
        }

    def _most(self, ids: list[int]) -> tuple[int, str, str]:
        """The use of a tool that most sessions have: their number, tool and verdict."""
        asked = f"select count(*), value from facets where value in {LIST} group by value"
        names = self.of(FacetKind.USE)
        return max((n, *use_in(names[id])) for n, id in self._db.execute(asked, (json.dumps(ids),)))

    def in_project(self, project: str) -> list[int]:
        """A project by its name, or the folders below one that begins with a slash."""
        wanted = project.lower()
        named = [id for id, name in self.of(FacetKind.PROJECT).items() if name == wanted]
        if named or not project.startswith("/"):  # `/` itself is a name, too
            return named
        top = f"{project.rstrip('/')}/"
        return [id for id, folder in self.of(FacetKind.FOLDER).items() if f"{folder}/".startswith(top)]

    def models_meant(self, part: str) -> list[int]:
        """The models of this name; if there is none, those whose name has this part."""
        meant, models = part.lower(), self.of(FacetKind.MODEL)
        exact = [id for id, name in models.items() if name.lower() == meant]
        return exact or [id for id, name in models.items() if meant in name.lower()]

    def uses_meant(self, tool: str | None, verdict: str | None) -> list[int]:
        """The values of sessions with a call of this tool and verdict: of all tools of an MCP server by its name."""
        if tool is None:
            return [
                id for id, name in self.of(FacetKind.VERDICT).items() if verdict is None or name == verdict
            ]
        if verdict is None:
            return [id for id, name in self.of(FacetKind.TOOL).items() if is_tool(name, tool)]
        uses = ((id, use_in(name)) for id, name in self.of(FacetKind.USE).items())
        return [id for id, (name, how) in uses if how == verdict and is_tool(name, tool)]

    def has_narrower_tools(self, tool: str) -> bool:
        """Whether the name of a tool selects other tools, too."""
        return tool.startswith(_MCP) and len(self.uses_meant(tool, None)) > 1


def with_any(ids: Iterable[int]) -> Condition:
    """The sessions that have any of these values."""
    return f"s.row in (select row from facets where value in {LIST})", [json.dumps(list(ids))]


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Conditions that hold together."""
    some = [one for one in conditions if one[0] != "true"]
    where = " and ".join(f"({where})" for where, _ in some)
    return where or "true", [value for _, values in some for value in values]
