"""Sessions with a secret planted in them: in every place and disguise in which one may stand.

A plant is the first true example of a rule. `text` is the example with what stands around the value, where a rule can see it;
`value` is the secret alone, which is known only because it was seen elsewhere in the session.
"""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from tracklog.secrets.find import find
from tracklog.secrets.rules import Rule, shipped_rules


class Plant(NamedTuple):
    """A secret, and the text in which a rule sees it."""

    kind: str
    text: str
    value: str


class Piece(NamedTuple):
    """A line or a text with something hidden in it; what stands around must come out as it went in."""

    before: bytes
    hidden: bytes
    after: bytes

    @property
    def data(self) -> bytes:
        return self.before + self.hidden + self.after


Place = Callable[[Plant], Piece]


def plants() -> list[Plant]:
    """One of every kind of the rules that are shipped."""
    return [_plant(rule) for rule in shipped_rules().rules]


def _plant(rule: Rule) -> Plant:
    example = rule.true[0]
    value = next((one.value for one in find(example).found if one.kind == rule.kind), None)
    return Plant(
        rule.kind, example.decode(), (value if value is not None else _by_pattern(rule, example)).decode()
    )


def _by_pattern(rule: Rule, example: bytes) -> bytes:
    """What the rule alone calls the value, where another one was quicker, or none found it (then that shows as a leak)."""
    haystack = example.lower() if rule.nocase else example
    for keyword in rule.keywords:
        for found in re.finditer(re.escape(keyword), haystack):
            match = rule.pattern.match(example, found.start())
            if match is not None:
                return match["v"] if "v" in match.re.groupindex else match[0]
    raise AssertionError(f"the first true example of {rule.kind} does not fit its pattern")


def escaped(text: str) -> str:
    """As it stands between the quotes of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _unicode(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


_MARK = "\x02"  # stands for what is hidden, until the line around it is made


def _around(whole: str, hidden: str) -> Piece:
    before, after = whole.split(_MARK)
    return Piece(before.encode(), hidden.encode(), after.encode())


def _line(record: dict[str, object], hidden: str) -> Piece:
    """A line of a log; `_MARK` in the record is the place of what is hidden, which is given as it stands in the line."""
    return _around(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")).replace("\\u0002", _MARK) + "\n", hidden
    )


def _claude(content: object, **more: object) -> dict[str, object]:
    envelope = {
        "parentUuid": None,
        "sessionId": "5f0c",
        "version": "2.1.0",
        "cwd": "/srv/work",
        "timestamp": "2026-01-02T03:04:05Z",
    }
    return {**envelope, "type": "user", "message": {"role": "user", "content": content}, **more}


def _codex(payload: dict[str, object]) -> dict[str, object]:
    return {"timestamp": "2026-01-02T03:04:05.678Z", "type": "response_item", "payload": payload}


def _prompt(told: str) -> Place:
    """A prompt of Claude Code that tells `told`, where `_MARK` is the secret in JSON's escapes."""
    return lambda plant: _line(_claude(told), escaped(plant.text))


def _value_in(told: str) -> Place:
    return lambda plant: _line(_claude(told), escaped(plant.value))


def _disguised(told: str, disguise: Callable[[str], str]) -> Place:
    """The text in a disguise which JSON does not change, or `disguise` escapes itself."""
    return lambda plant: _line(_claude(told), disguise(plant.text))


def _plain(told: str) -> Place:
    """Bytes that are no JSON."""
    return lambda plant: _around(told, plant.text)


def _base64(text: str, *, before: str = "# settings of the service\n", after: str = "\nport = 8080\n") -> str:
    return base64.b64encode(f"{before}{text}{after}".encode()).decode()


def _wrapped(text: str) -> str:
    """As `base64` prints it: lines of 76 letters."""
    return escaped(base64.encodebytes(f"# settings of the service\n{text}\nport = 8080\n".encode()).decode())


def _nested(plant: Plant) -> Piece:
    arguments = json.dumps({"command": ["bash", "-lc", f"run {plant.text}"]})
    return _line(
        _codex({"type": "function_call", "name": "shell", "arguments": _MARK, "call_id": "c1"}),
        escaped(arguments),
    )


def _nested_twice(plant: Plant) -> Piece:
    inner = json.dumps({"body": json.dumps({"config": plant.text})})
    return _line(_codex({"type": "function_call_output", "call_id": "c1", "output": _MARK}), escaped(inner))


def _twice_in_a_line(plant: Plant) -> Piece:
    record = _claude(
        [{"type": "tool_result", "content": "first\x03"}], toolUseResult={"stdout": "first\x03", "stderr": ""}
    )
    whole = json.dumps(record, separators=(",", ":")) + "\n"
    first, second, last = whole.split("\\u0003")
    hidden = escaped(f"\n{plant.text}\n")
    return Piece(first.encode(), (hidden + second + hidden).encode(), last.encode())


def _structured_patch(plant: Plant) -> Piece:
    patch = [
        {
            "oldStart": 1,
            "oldLines": 1,
            "newStart": 1,
            "newLines": 2,
            "lines": [" kept", "-old = 1", f"+{_MARK}"],
        }
    ]
    record = _claude("done", toolUseResult={"filePath": "/srv/work/.env", "structuredPatch": patch})
    return _line(record, escaped(plant.text))


def _torn(plant: Plant) -> Piece:
    piece = _line(_claude(f"it is {_MARK}"), escaped(plant.text))
    return piece._replace(after=b"\n")


def _torn_before(plant: Plant) -> Piece:
    piece = _line(_claude(f"it is {_MARK} and more"), escaped(plant.text))
    return piece._replace(before=piece.before[-6:])


def _object_key(plant: Plant) -> Piece:
    return _line(_claude("x", toolUseResult={"tokens": {_MARK: {"used": 1}}}), escaped(plant.value))


def _in_array(plant: Plant) -> Piece:
    return _line(_claude("x", args=["--flag", _MARK, "--other"]), escaped(plant.text))


def _slashed(text: str) -> str:
    return escaped(text).replace("/", "\\/")


PLACES: dict[str, Place] = {
    # Lines of Claude Code.
    "a prompt": _prompt(f"please use {_MARK} for it"),
    "an answer": lambda p: _line(
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": f"I set {_MARK} there."}]},
        },
        escaped(p.text),
    ),
    "thinking": lambda p: _line(
        {
            "type": "assistant",
            "message": {
                "content": [{"type": "thinking", "thinking": f"So:\n{_MARK}\nNow", "signature": "x"}]
            },
        },
        escaped(p.text),
    ),
    "a heredoc in a command": lambda p: _line(
        {
            "message": {
                "content": [
                    {
                        "type": "tool_use",
                        "name": "Bash",
                        "input": {"command": f"cat > .env <<'EOF'\n{_MARK}\nEOF"},
                    }
                ]
            }
        },
        escaped(p.text),
    ),
    "a result, twice in its line": _twice_in_a_line,
    "a structured patch": _structured_patch,
    "a diff in a text": _prompt(f"@@ -1,2 +1,2 @@\n-old = 1\n+{_MARK}\n kept"),
    "a file with line numbers": _prompt(f"     1→# settings\n     2→{_MARK}\n     3→"),
    "a title": lambda p: _line(
        {"type": "summary", "summary": f"Rotate {_MARK}", "leafUuid": "1"}, escaped(p.text)
    ),
    "a hook's output": lambda p: _line(
        {"type": "attachment", "attachment": {"type": "hook_success", "stdout": f"{_MARK}\n", "exitCode": 0}},
        escaped(p.text),
    ),
    "a compact array": _in_array,
    "a key of an object": _object_key,
    "a file's name": _value_in(f"/srv/backups/{_MARK}.tar.gz"),
    "a folder's name": _value_in(f"cd '/srv/{_MARK}/src' && ls"),
    "an image's alt text": _value_in(f"![{_MARK}](shot.png)"),
    "glued to letters": _value_in(f"abc{_MARK}xyz"),
    "a cookie": lambda p: _line(_claude(f"Cookie: {_MARK}"), escaped(f"theme=dark; t={p.value}; lang=en")),
    "a path of the web": lambda p: _line(
        _claude(f"GET /hooks/{_MARK}/send HTTP/1.1"), quote(p.value, safe="")
    ),
    # Lines of Codex.
    "arguments of a call": _nested,
    "JSON in JSON in JSON": _nested_twice,
    "a message of Codex": lambda p: _line(
        _codex(
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": f"Done: {_MARK}"}],
            }
        ),
        escaped(p.text),
    ),
    "instructions of Codex": lambda p: _line(
        {"type": "session_meta", "payload": {"instructions": f"# Rules\n\n- {_MARK}\n"}}, escaped(p.text)
    ),
    "a list of arguments": lambda p: _line(
        _codex({"type": "local_shell_call", "action": {"command": ["bash", "-lc", _MARK]}}), escaped(p.text)
    ),
    # What stands around it.
    "an environment": _prompt(f"SHELL=/bin/sh\nLANG=C\n{_MARK}\nPWD=/srv/work\n"),
    "a block of markdown": _prompt(f"Use:\n\n```sh\n{_MARK}\n```\n"),
    "code in markdown": _prompt(f"Use `{_MARK}` here"),
    "a list of YAML": _prompt(f"steps:\n  - {_MARK}\n  - x\n"),
    "a table": _prompt(f"| name | value |\n|---|---|\n| x | {_MARK} |\n"),
    "between tabs": _prompt(f"1\t{_MARK}\t2"),
    "between angle brackets": _prompt(f"<output>\n{_MARK}\n</output>"),
    "beside Chinese": _prompt(f"密钥是：{_MARK}。请保存"),
    "touching Chinese": _prompt(f"密钥{_MARK}。"),
    "beside emoji": _prompt(f"🔑{_MARK}🔑"),
    "in colours": _prompt(f"\x1b[1;31m{_MARK}\x1b[0m ok"),
    "in lines of Windows": _prompt(f"first\r\n{_MARK}\r\nlast\r\n"),
    "a torn line": _torn,
    "a line without its beginning": _torn_before,
    # Encoded.
    "escaped slashes": _disguised(f"it is {_MARK} now", _slashed),
    "Unicode escapes": _disguised(f"it is {_MARK} now", _unicode),
    "Unicode escapes in JSON in JSON": _disguised(
        f"it is {_MARK} now", lambda text: _unicode(text).replace("\\", "\\\\")
    ),
    "HTML": _disguised(f"<pre>{_MARK}</pre>", lambda text: escaped(html.escape(text))),
    "quoted for a shell": _disguised(f"curl -H {_MARK} -s", lambda text: escaped(shlex.quote(text))),
    "in the middle of a query": _disguised(
        f"open /login?next={_MARK}&x=1", lambda text: quote(text, safe="")
    ),
    "at the end of a query": _disguised(f"open /login?next={_MARK} first", lambda text: quote(text, safe="")),
    "a query in small letters": _disguised(
        f"open /login?next={_MARK} first", lambda text: quote(text, safe="").replace("%2F", "%2f")
    ),
    "quoted twice for the web": _disguised(
        f"open /login?next={_MARK} first", lambda text: quote(quote(text, safe=""), safe="")
    ),
    "every byte quoted": _disguised(
        f"q={_MARK}", lambda text: "".join(f"%{byte:02X}" for byte in text.encode())
    ),
    "base64 of a file": _disguised(f"config: {_MARK}", _base64),
    "base64, one byte further": _disguised(
        f"config: {_MARK}", lambda text: _base64(text, before="#  of the service.....\n")
    ),
    "base64, two bytes further": _disguised(
        f"config: {_MARK}", lambda text: _base64(text, before="#   of the service.....\n")
    ),
    "base64 for the web": _disguised(
        f"t={_MARK}.", lambda text: _base64(text).replace("+", "-").replace("/", "_").rstrip("=")
    ),
    "base64 in lines": _disguised(f"$ base64 .env\n{_MARK}$", _wrapped),
    "base64 of the value": lambda p: _line(
        _claude(f"config: {_MARK}"), base64.b64encode(p.value.encode()).decode()
    ),
    "base64 of base64": _disguised(
        f"config: {_MARK}", lambda text: base64.b64encode(_base64(text).encode()).decode()
    ),
    "hexadecimal": lambda p: _line(_claude(f"xxd: {_MARK} ok"), p.value.encode().hex()),
    "hexadecimal in capitals": lambda p: _line(_claude(f"xxd: {_MARK} ok"), p.value.encode().hex().upper()),
    # No JSON at all.
    "the start of a text": _plain(f"{_MARK}\nand more\n"),
    "the end of a text": _plain(f"it is\n{_MARK}"),
    "a text alone": _plain(_MARK),
    "between NULs": _plain(f"\0\0{_MARK}\0\0"),
    "a plain text of Windows": _plain(f"first\r\n{_MARK}\r\nlast\r\n"),
    "raw colours": _plain(f"\x1b[32m{_MARK}\x1b[0m\n"),
}

# Those that hold the value without what stands around it: it is known from elsewhere, or has no shape of its own.
VALUE_ALONE = frozenset(
    {
        "a key of an object", "a file's name", "a folder's name", "an image's alt text", "glued to letters", "a cookie",
        "a path of the web", "base64 of the value", "hexadecimal", "hexadecimal in capitals",
    }
)  # fmt: skip
# Those where letters that may belong to a value stand beside it, or it is a part of something that is secret as a whole.
TOUCHED = frozenset(
    {
        "a file's name",
        "a folder's name",
        "an image's alt text",
        "glued to letters",
        "a cookie",
        "a path of the web",
        "in the middle of a query",
    }
)
NO_JSON = frozenset(
    {
        "a torn line", "a line without its beginning", "the start of a text", "the end of a text", "a text alone",
        "between NULs", "a plain text of Windows", "raw colours",
    }
)  # fmt: skip


def session_of(plant: Plant) -> dict[str, Piece]:
    """A session that holds the secret in every place."""
    return {name: place(plant) for name, place in PLACES.items()}
