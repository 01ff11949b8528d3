"""What breaks the rules of the tree: layers, features, cycles, names, sizes. `python -m tests.architecture` prints it.

`tests/known_violations.txt` lists what is still broken, a line each; it may only get shorter.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tracklog"
KNOWN = Path(__file__).with_name("known_violations.txt")

# A layer may import those before it. Features are a layer; FEATURES says which of them know each other.
LAYERS = ("sources", "model", "agents", "store", "features", "app", "views")
FEATURES: Mapping[str, frozenset[str]] = {
    "archive": frozenset(),
    "sql": frozenset(),
    "hooks": frozenset(),
    "liveness": frozenset(),
    "reading": frozenset({"archive", "liveness"}),
    "secrets": frozenset({"archive"}),
    "ledger": frozenset({"reading"}),
    "search": frozenset({"archive", "reading", "secrets"}),
    "sessions": frozenset({"archive", "liveness", "reading", "ledger"}),
    "index": frozenset({"archive", "liveness", "reading", "ledger", "search", "sessions"}),
    "conversation": frozenset({"archive", "liveness", "reading", "ledger", "search", "sessions"}),
    "live": frozenset({"liveness", "reading", "ledger", "index"}),
    "replay": frozenset({"reading"}),
    "run": frozenset({"liveness", "reading", "ledger", "live"}),
}
EVERYBODY = frozenset({"errors", "clock", "home", "version"})  # any module may import them
ENTRIES = frozenset(
    {"__init__", "__main__", "hook", "ask_hook", "statusline", "supervisor", "hooking", "demo"}
)  # entry points and data: they belong to no layer
AGENTS = frozenset({"claude_code", "codex"})
AGENT_NAMES = frozenset({"claude", "codex"})  # as logs, options and rows spell them
VIEWS_MAY = (
    frozenset({"app", "views", "model", "statusline", "hook", "ask_hook", "supervisor", ""}) | EVERYBODY
)
PURE = ("model", "agents.claude_code.records", "agents.codex.records")
IMPURE = frozenset({"io", "os", "pathlib", "sqlite3", "subprocess", "time", "psutil", "shutil", "tempfile"})
LAZY = "# Lazy imports: "  # before the reason of all imports inside the functions of a module
HOMONYMS = frozenset({"secrets"})  # modules of the standard library with the name of one of our packages
MOST_MODULES, FEWEST_LINES, LONGEST_FUNCTION = 15, 60, 60
SMALL = {  # modules of few lines, each with its reason
    "__main__": "an entry point",
    "views.cli.main": "an entry point: the status line loads nothing else of the command line",
    "agents.codex.usage": "each agent has the same modules",
    "agents.supported": "the list of agents",
    "app.logs.records": "one question",
    "app.prices": "one question",
    "app.run.prestart": "loaded first of all by `run`, so it loads nothing else",
    "app.run.resume": "one question",
    "app.talk": "a vocabulary",
    "errors": "a vocabulary",
    "version": "asked for from below the public package, which imports what is above",
    "model.ids": "a vocabulary",
    "sources.gc_pause": "used by reading, ledger and index",
    "store.surrogates": "used wherever text goes into SQLite",
    "store.file_stamps": "loaded before every answer, so it loads nothing else",
    "ledger.stored.freshness": "loaded before every answer, so it loads nothing else",
    "views.cli.commands.money.statusline": "a command",
    "views.cli.commands.read.show": "a command",
    "views.cli.commands.store.parquet": "a command",
    "views.documents.places": "two short documents",
    "views.documents.board": "one document",
    "views.documents.final": "one document",
    "views.documents.search": "one document",
    "views.html.cache": "one idea: rendered text, kept",
    "model.wording": "a vocabulary",
    "views.web.site": "one question that every page asks",
}
BETWEEN_WEB_AND_CLI = {  # imports that are wanted, each with its reason
    "views.cli.commands.live.serve -> views.web.server.serve": "`tracklog serve` starts the server",
}
VAGUE = frozenset(
    [
        "Asked",
        "Found",
        "Told",
        "Seen",
        "Spent",
        "Part",
        "Step",
        "Row",
        "Look",
        "Manner",
        "Taken",
        "Given",
        "Heard",
        "Wish",
        "Done",
    ]
)


@dataclass(frozen=True)
class Module:
    """A module of ours."""

    name: str  # without `tracklog.`
    path: Path
    tree: ast.Module
    n_lines: int

    @property
    def package(self) -> str:
        """The top-level package or module; empty for tracklog itself."""
        return self.name.partition(".")[0]

    @property
    def layer(self) -> str:
        return "features" if self.package in FEATURES else self.package

    @property
    def is_init(self) -> bool:
        return self.path.name == "__init__.py"


@cache
def modules() -> Mapping[str, Module]:
    """All modules of the package, by name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text("utf-8")
        found[name] = Module(name, path, ast.parse(text), text.count("\n"))
    return found


def imported(tree: ast.AST, known: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each import in a tree, and whether it is relative: a module of ours without `tracklog.`, others by their full name.

    A module of the standard library may share its name with a package of ours: it has a `/` before it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _ours(alias.name), False
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield node.module or ".", True
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole, base = _ours(f"{node.module}.{alias.name}"), _ours(node.module or "")
                yield whole if whole in known else base, False


def _ours(name: str) -> str:
    if name.partition(".")[0] in HOMONYMS:
        return f"/{name}"
    return "" if name == "tracklog" else name.removeprefix("tracklog.")


@cache
def edges() -> Mapping[str, frozenset[str]]:
    """Which module imports which of ours, also inside functions."""
    known = modules()
    return {
        name: frozenset(to for to, _ in imported(one.tree, known) if to in known and to != name)
        for name, one in known.items()
    }


def layers() -> Iterator[str]:
    """Imports of a later layer, or of a feature that the table does not allow."""
    known = modules()
    for name, targets in edges().items():
        for target in sorted(targets):
            if not may_import(known[name], known[target]):
                yield f"{name} -> {target}"


def may_import(one: Module, other: Module) -> bool:
    """Whether the layers and the table of features allow an import."""
    if (
        one.package in ENTRIES
        or not one.name
        or other.package in EVERYBODY
        or other.package in ENTRIES
        or not other.name
    ):
        return True
    if one.layer == other.layer == "features":
        return one.package == other.package or other.package in FEATURES[one.package]
    if one.layer not in LAYERS or other.layer not in LAYERS:
        return False
    return LAYERS.index(other.layer) <= LAYERS.index(one.layer)


def web_and_cli() -> Iterator[str]:
    """Imports between the command line and the web server that have no reason; and reasons for imports that are gone."""
    found = {
        f"{name} -> {target}"
        for name, targets in edges().items()
        for target in targets
        if {".".join(name.split(".")[:2]), ".".join(target.split(".")[:2])} == {"views.cli", "views.web"}
    }
    yield from sorted(found ^ BETWEEN_WEB_AND_CLI.keys())


def past_app() -> Iterator[str]:
    """Imports of views that bypass `app`, a line for each module and package."""
    for name, targets in edges().items():
        if modules()[name].package == "views":
            for package in sorted({modules()[target].package for target in targets} - VIEWS_MAY):
                yield f"{name} -> {package}"


def cycles() -> Iterator[str]:
    """Modules that import each other, lazy imports included."""
    for group in strongly_connected(edges()):
        yield " ".join(sorted(group))


def strongly_connected(graph: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Groups of nodes that reach each other (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                groups.append(set(stack[at:]))
            del stack[at:]

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10_000))
    try:
        for node in sorted(graph):
            if node not in index:
                visit(node)
    finally:
        sys.setrecursionlimit(limit)
    return groups


def relative_imports() -> Iterator[str]:
    """Relative imports."""
    for name, one in modules().items():
        if any(is_relative for _, is_relative in imported(one.tree, ())):
            yield name


def unexplained_imports() -> Iterator[str]:
    """Imports inside functions that give no reason, counted for each module."""
    for name, one in modules().items():
        if n := len(list(without_reason(one.tree, one.path.read_text("utf-8").splitlines()))):
            yield f"{name} ({n})"


def without_reason(tree: ast.Module, lines: Sequence[str]) -> Iterator[int]:
    """Lines of imports inside functions with no comment on them or above; a module may give one reason for all."""
    if any(line.startswith(LAZY) for line in lines):
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lazy = {
        node.lineno: node.end_lineno or node.lineno
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    explained: set[int] = set()
    for start, end in sorted(lazy.items()):
        above = lines[start - 2].lstrip().startswith("#") or start - 1 in explained
        if above or any("#" in line for line in lines[start - 1 : end]):
            explained.add(end)
        else:
            yield start


def pure_packages() -> Iterator[str]:
    """Modules that must not touch files, clocks, processes or databases, and do."""
    for name, one in modules().items():
        if any(name == pure or name.startswith(f"{pure}.") for pure in PURE):
            for to in sorted({to.partition(".")[0] for to, _ in imported(one.tree, ())} & IMPURE):
                yield f"{name} -> {to}"


def connections_in_views() -> Iterator[str]:
    """Views that open a database or start a process."""
    for name, one in modules().items():
        if one.package == "views":
            for to in sorted(
                {to.partition(".")[0] for to, _ in imported(one.tree, ())} & {"sqlite3", "subprocess"}
            ):
                yield f"{name} -> {to}"


def agent_packages() -> Iterator[str]:
    """Imports of one agent's package from outside `agents/`, and by another agent's."""
    for name, targets in edges().items():
        mine = name.split(".")[1] if name.startswith("agents.") else None
        for target in sorted(targets):
            theirs = target.split(".")[1] if target.startswith("agents.") and target.count(".") else None
            if (
                theirs in AGENTS
                and theirs != mine
                and (mine in AGENTS or modules()[name].package != "agents")
            ):
                yield f"{name} -> {target}"


def agent_names() -> Iterator[str]:
    """Comparisons with the name of one agent outside `agents/`, counted for each module."""
    for name, one in modules().items():
        if one.package != "agents" and (n := sum(map(_compares_agent, ast.walk(one.tree)))):
            yield f"{name} ({n})"


def _compares_agent(node: ast.AST) -> int:
    match node:
        case ast.Compare():
            return sum(
                map(
                    _is_agent_name,
                    [*_options(node.left), *(x for one in node.comparators for x in _options(one))],
                )
            )
        case ast.Dict():
            return any(key is not None and _is_agent_name(key) for key in node.keys)
        case ast.MatchValue():
            return _is_agent_name(node.value)
        case _:
            return 0


def _options(node: ast.AST) -> list[ast.expr]:
    """The elements of a tuple, list or set that is compared with; else the node itself."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            return node.elts
        case ast.expr():
            return [node]
        case _:
            return []


def _is_agent_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in AGENT_NAMES


def agent_modules() -> Iterator[str]:
    """Modules outside `agents/` that are named after an agent."""
    for name, one in modules().items():
        if one.package != "agents" and any(agent in one.path.stem for agent in AGENT_NAMES):
            yield name


def large_folders() -> Iterator[str]:
    """Folders with too many modules."""
    counts = Counter(one.path.parent for one in modules().values() if not one.is_init)
    for folder, n in sorted(counts.items()):
        if n > MOST_MODULES:
            yield f"{folder.relative_to(SOURCE)} ({n})"


def lone_importers() -> Iterator[str]:
    """Modules with one importer, which is in another top-level package.

    A use case may have one caller, and a feature's module one use case: only so views reach features through `app`.
    """
    importers = defaultdict(set)
    for name, targets in edges().items():
        for target in targets:
            importers[target].add(name)
    for name, users in sorted(importers.items()):
        (user, *others) = users
        one, importer = modules()[name], modules()[user]
        is_way_down = one.package == "app" or (one.layer == "features" and importer.package == "app")
        if not others and name.count(".") and importer.package != one.package and not is_way_down:
            yield f"{name} <- {user}"


def small_modules() -> Iterator[str]:
    """Modules of few lines, for no reason; and reasons for modules that are gone or have grown."""
    small = {name for name, one in modules().items() if one.n_lines < FEWEST_LINES and not one.is_init}
    yield from sorted(small ^ SMALL.keys())


def repeated_classes() -> Iterator[str]:
    """Public class names that are used more than once, or say nothing by themselves."""
    homes = defaultdict(list)
    for name, one in modules().items():
        for node in one.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name)
    for class_name, names in sorted(homes.items()):
        if len(names) > 1 or class_name in VAGUE:
            yield f"{class_name}: {' '.join(sorted(names))}"


def long_functions() -> Iterator[str]:
    """Functions that are too long."""
    for name, one in modules().items():
        functions = [
            node for node in ast.walk(one.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        for function in functions:
            if (function.end_lineno or function.lineno) - function.lineno + 1 > LONGEST_FUNCTION:
                yield f"{name}.{function.name}"


def undescribed_packages() -> Iterator[str]:
    """Packages without an `__init__` that says what is inside."""
    packages = {one.path.parent for one in modules().values()}
    for folder in sorted(packages):
        init = folder / "__init__.py"
        if not init.exists() or not ast.get_docstring(ast.parse(init.read_text("utf-8"))):
            yield str(folder.relative_to(SOURCE))


RULES: Mapping[str, Callable[[], Iterable[str]]] = {
    rule.__name__: rule
    for rule in (
        layers,
        web_and_cli,
        past_app,
        cycles,
        relative_imports,
        unexplained_imports,
        pure_packages,
        connections_in_views,
        agent_packages,
        agent_names,
        agent_modules,
        large_folders,
        lone_importers,
        small_modules,
        repeated_classes,
        long_functions,
        undescribed_packages,
    )
}


def known_violations() -> Mapping[str, frozenset[str]]:
    """What `known_violations.txt` lists for each rule."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in KNOWN.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            rule, _, what = line.partition(": ")
            found[rule].add(what)
    return {rule: frozenset(lines) for rule, lines in found.items()}


if __name__ == "__main__":
    for rule, check in RULES.items():
        for line in sorted(set(check())):
            print(f"{rule}: {line}")
