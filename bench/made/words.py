"""The text of made logs: code, prose, command output.

Everything here is our own: words and templates, filled by chance. Real logs compress four to eight times with zstd -3
because they repeat themselves (a file is read, edited and shown again), not because their text is poor; so the lines are
many and different, and the stories built on them do the repeating.
"""

from __future__ import annotations

from bench.made.dice import Dice

_VERBS = [
    "read", "write", "load", "save", "parse", "build", "merge", "split", "fetch", "index", "scan", "track", "close",
    "open", "start", "stop", "check", "update", "remove", "insert", "rotate", "refresh", "render", "format",
    "collect", "resolve", "validate", "schedule", "dispatch", "encode", "decode", "measure", "publish", "retry",
    "cancel", "flush", "archive", "restore", "compare", "translate", "normalise", "attach", "detach", "reserve",
    "release", "sample", "trim", "pack", "unpack", "sign", "verify", "route",
]  # fmt: skip
_NOUNS = [
    "record", "session", "ledger", "cursor", "buffer", "segment", "offset", "token", "budget", "window", "worker",
    "queue", "bucket", "shard", "replica", "cache", "header", "footer", "payload", "envelope", "stream", "batch",
    "chunk", "frame", "invoice", "tariff", "parcel", "basket", "vessel", "berth", "harbour", "crane", "manifest",
    "schedule", "route", "station", "platform", "ticket", "sensor", "reading", "valve", "pump", "turbine", "meter",
    "grid", "outage", "tenant", "policy", "role", "grant", "secret", "branch", "commit", "patch", "hunk", "blame",
    "snapshot", "checkpoint", "journal", "column", "table", "view", "trigger", "query", "plan", "filter", "facet",
    "widget", "panel", "layout", "theme", "palette", "glyph", "canvas", "layer", "brush", "anchor", "margin",
    "gutter", "tooltip", "dialog", "banner", "badge", "avatar", "timeline", "lane",
]  # fmt: skip
_ADJECTIVES = [
    "stale", "fresh", "partial", "missing", "duplicate", "pending", "finished", "nested", "flat", "sparse", "dense",
    "hidden", "visible", "remote", "local", "empty", "oversized", "torn", "valid", "invalid", "signed", "cached",
    "lazy", "eager", "strict", "tolerant", "shared", "private", "stable", "volatile", "early", "late", "quiet",
]  # fmt: skip
_TYPES = [
    "int", "str", "bool", "bytes", "float", "Path", "datetime", "Decimal", "number", "string", "boolean",
    "Uint8Array", "Record", "error", "[]byte", "time.Time",
]  # fmt: skip
_FOLDERS = [
    "src", "lib", "core", "api", "web", "store", "worker", "views", "models", "services", "tests", "internal",
    "pkg", "cmd", "tools", "scripts", "docs",
]  # fmt: skip
_SUFFIXES = [
    ".py", ".py", ".ts", ".ts", ".tsx", ".go", ".rs", ".md", ".json", ".css", ".sql", ".sh", ".toml", ".yaml",
]  # fmt: skip
_ELSEWHERE = [
    "Die Prüfung läuft durch, nur die Größe stimmt noch nicht: 3 Fälle fehlen.",
    "Le contrôle réussit, mais la clé « durée » manque à l’entrée n° 7.",
    "El índice está al día; quedan dos señales por revisar mañana.",
    "設定ファイルを読み直してから、もう一度テストを実行してください。",
    "索引已经更新，但是缓存里的旧记录还没有删除。",
    "Проверка прошла, осталось исправить порядок строк в отчёте.",
    "다음 단계에서 캐시를 비우고 다시 확인하겠습니다.",
    "✅ done — 🚧 two left, → see the “notes” file… naïve café façade",
    "a line\u2028with a separator that does not end it",
]
_CODE = [
    "def {a}_{n}({b}: {t}, *, {m}: {t} | None = None) -> {t}:",
    "    {b} = {a}_{n}({c}, {m}={k})",
    "    if {b} is None or not {b}.{c}:",
    '        raise ValueError(f"{d} {n}: {{{b}!r}} at {k}")',
    "    for {c}, {m} in enumerate(self._{n}s.values()):",
    '    return {{"{n}": {b}, "{m}": {c}.{a}({k}), "{d}": True}}',
    '    assert {a}_{n}("{c}/{m}-{k}") == [{k}, {j}], "{d} {n} after {a}"',
    "    # {d} {n}s are kept until the {m} may {a}: the {c} may still need them.",
    "class {A}{N}({M}{N}):",
    '    """{D} {n}s, {a} by {m} and keep in order of {c}."""',
    "    with open({b} / '{n}.{m}', 'rb') as {c}:",
    "    except ({N}Error, {M}Error) as {b}:",
    "from {m}.{n} import {A}{N}, {a}_{m}",
    "  const {a}{N} = await {b}.{m}({{ {n}: {k}, {c}: '{d}' }});",
    "  if (!{b}?.{n} || {b}.{n}.length > {k}) {{",
    "    throw new {M}Error(`{d} {n}: ${{{b}.{c}}} (${{{k}}})`);",
    "export function {a}{N}({b}: {M}{N}, {c}: {t}): {t} {{",
    "  return {b}.filter(({c}) => {c}.{n} !== '{d}').map({a}{N});",
    '    <{M} className="{n} {n}--{d}" on{A}={{() => {a}{N}({k})}}>',
    "func ({c} *{N}) {A}{M}(ctx context.Context, {b} {t}) ({t}, error) {{",
    '\tif err := {c}.{a}{N}(ctx, {b}, {k}); err != nil {{\n\t\treturn fmt.Errorf("{a} {n}: %w", err)',
    "\t{b}, ok := {c}.{m}[{k}]",
    "\tdefer {c}.{a}()",
    "    let {b} = {c}.{a}_{n}(&{m}, {k})?;",
    "    match {c} {{ {N}::{A}({b}) => {b}.{m}(), _ => return Err({M}Error::{D}) }}",
    "SELECT {n}_id, {m}, count(*) FROM {n}s WHERE {c} > {k} AND {d} = '{a}' GROUP BY {m};",
    '  {n}_{m}: "{a}/{c}\\\\{d}"  # {k}',
    "}}",
    "",
    "",
]
_SENTENCES = [
    "The {d} {n} comes from `{a}_{m}`, which never looks at the {c}.",
    "I will {a} the {n} first and then see whether the {m} still needs a {c}.",
    "There are {k} {n}s in the {m}; {j} of them are {d}.",
    "That explains it: we {a} the {c} twice, once per {n} and once per {m}.",
    "Before we {a} the {n}, the {d} {m} has to be gone.",
    '`{c}.{a}()` returns a {d} {n}, so the "{m}" check fails with {k} instead of {j}.',
    "Let me look at how the {m} handles {d} {n}s.",
    "Now the tests for the {n}: {k} pass, {j} fail because of the {d} {c}.",
    "Please {a} the {n} without touching the {m}, and keep the {c} {d}.",
    "**{D} {n}s** are kept in `{c}/{m}.json` ; {a} them every {k} seconds.",
    "- {a} each {n} once, in the order of its {m}",
    "Two ways: {a} the {c} when the {n} closes, or let the {m} do it. The first is simpler.",
]
_OUTPUT = [
    "tests/{c}/test_{n}.py::test_a_{d}_{n}_can_{a}_{k} PASSED",
    "tests/{c}/test_{m}.py::test_{a}_{m}_{j} FAILED",
    "E       AssertionError: assert {{'{n}': {k}}} == {{'{n}': {j}, '{m}': \"{d}\"}}",
    '{f}:{k}: error: Argument 1 to "{a}_{n}" has incompatible type "{t}"  [arg-type]',
    "-rw-r--r--  1 dev dev {k:>8} Sep {j:>2} 14:{x} {n}_{m}.{c}",
    "\u001b[32m✓\u001b[39m {n} > {a}s the {d} {m} \u001b[2m({j} ms)\u001b[22m",
    "{h} {a} {d} {n}s in the {m}",
    "diff --git a/{f} b/{f}\nindex {h}..{g} 100644",
    "@@ -{k},{j} +{k},{j} @@ {a}_{n}",
    "+    {b} = {a}_{n}({c}, {k})",
    "-    {b} = {c}.{m}",
    "[{k}/{j}] {A}ing {n}::{m} ({h})",
    "2026-0{y}-1{y}T0{y}:{x}:{x}.{k}Z {d} {n} id={h}{g} {m}={j} took={k}ms",
    "warning: unused variable `{b}` in {f}:{k}:{y}",
    "GET /api/{n}/{h}?{m}={k} 200 {j}ms",
    '{f}:{k}:    {b} = {a}_{n}({c}, "{m}")',
    "",
]


_PARAGRAPH, _BLOCK = 170, 300  # mean lengths, in characters


def _cast(dice: Dice, paths: list[str]) -> dict[str, str | int]:
    """The words that a few lines in a row are about."""
    verb, noun, other, third, fourth = dice.pick(_VERBS), *dice.picks(_NOUNS, 4)
    adjective = dice.pick(_ADJECTIVES)
    names = {
        "a": verb,
        "n": noun,
        "m": other,
        "c": third,
        "d": adjective,
        "b": fourth[:5],
        "t": dice.pick(_TYPES),
    }
    titles = {"A": verb.title(), "N": noun.title(), "M": other.title(), "D": adjective.title()}
    numbers = {
        "k": dice.tailed(7, 90_000),
        "j": dice.between(1, 99),
        "x": dice.between(10, 59),
        "y": dice.between(1, 9),
    }
    return {**names, **titles, **numbers, "h": dice.hex(8), "g": dice.hex(8), "f": dice.pick(paths)}


def _lines(dice: Dice, templates: list[str], paths: list[str], *, count: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < count:
        cast = _cast(dice, paths)
        lines += [template.format_map(cast) for template in dice.picks(templates, 4)]
    return lines


def _path(dice: Dice) -> str:
    depth = "/".join(dice.picks(_FOLDERS, dice.between(1, 3)))
    return f"{depth}/{dice.pick(_ADJECTIVES)}_{dice.pick(_NOUNS)}{dice.pick(_SUFFIXES)}"


class Words:
    """Pools of text, filled once from a seed, and the texts cut from them."""

    def __init__(self, seed: int, *, lines: int = 20_000) -> None:
        dice = Dice(f"words/{seed}")
        self._paths = [_path(dice) for _ in range(lines // 8)]
        self.code = [
            line + "\n" for line in "\n".join(_lines(dice, _CODE, self._paths, count=lines)).split("\n")
        ]
        sentences = _lines(dice, _SENTENCES, self._paths, count=lines // 2) + _ELSEWHERE * (lines // 800)
        self._paragraphs = [" ".join(dice.picks(sentences, dice.between(1, 4))) for _ in range(lines // 4)]
        printed = [
            line + "\n"
            for line in _lines(dice, _OUTPUT, self._paths, count=lines) + _ELSEWHERE * (lines // 4_000)
        ]
        self._blocks = ["".join(dice.picks(printed, dice.between(2, 9))) for _ in range(lines // 4)]

    def prose(self, dice: Dice, length: int) -> str:
        """About `length` characters of talk."""
        return "\n\n".join(dice.picks(self._paragraphs, max(1, length // _PARAGRAPH)))

    def output(self, dice: Dice, length: int) -> str:
        """About `length` characters as a command prints them."""
        return "".join(dice.picks(self._blocks, max(1, length // _BLOCK)))

    def path(self, dice: Dice) -> str:
        """A path inside a project, as programs print it."""
        return dice.pick(self._paths)

    def title(self, dice: Dice) -> str:
        return f"{dice.pick(_VERBS).title()} {dice.pick(_ADJECTIVES)} {dice.pick(_NOUNS)}s"

    def name(self, dice: Dice) -> str:
        return f"{dice.pick(_ADJECTIVES)}-{dice.pick(_VERBS)}-{dice.pick(_NOUNS)}"
