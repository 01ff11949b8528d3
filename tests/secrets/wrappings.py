"""Ways in which tools print a text: each takes what a secret stands in and returns what an agent would see of it.

A wrapping keeps the bytes of each line together, so a reader of the output has the secret; several prefix every line, which
tears a secret of several lines apart. `lines_of` names what must then be gone: every line of the secret that holds something.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
import shlex
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from tests.secrets.planted import Plant

Wrapping = Callable[[str], str]
_LEAST_LINE = 16  # letters of a line that are worth something by themselves
_MARKER = re.compile(r"-----|^[A-Za-z-]+: ")


def lines_of(plant: Plant) -> list[bytes]:
    """The parts of a secret that must not be had from what was cleaned."""
    lines = [line.strip() for line in re.split(r"\r?\n|\\n", plant.value)]
    held = [line for line in lines if len(line) >= _LEAST_LINE and not _MARKER.search(line)]
    return [line.encode() for line in held] if len(lines) > 1 else [plant.value.encode()]


def _each_line(before: Callable[[int], str], after: str = "") -> Wrapping:
    return lambda text: "".join(f"{before(n)}{line}{after}\n" for n, line in enumerate(text.splitlines(), 1))


def _before(prefix: str, after: str = "") -> Wrapping:
    return _each_line(lambda _: prefix, after)


def _csv(text: str) -> str:
    stream = io.StringIO()
    csv.writer(stream).writerows([["id", "note", "at"], [7, text, "2026-01-02"]])
    return stream.getvalue()


def _json(text: str) -> str:
    return json.dumps({"content": text})


def _yaml_block(text: str) -> str:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return f"data:\n  note: |\n{lines}  other: 1\n"


def _wrapped(columns: int) -> Wrapping:
    """As a terminal of so many columns shows it: every line goes on in the next row."""
    return lambda text: "".join(
        line[at : at + columns] + "\n"
        for line in text.splitlines()
        for at in range(0, len(line) or 1, columns)
    )


def _grep_colours(text: str) -> str:
    file, line = "\x1b[35m\x1b[Kdeploy/app.conf\x1b[m\x1b[K", "\x1b[32m\x1b[K{}\x1b[m\x1b[K"
    colon = "\x1b[36m\x1b[K:\x1b[m\x1b[K"
    return "".join(
        f"{file}{colon}{line.format(n)}{colon}{one}\n" for n, one in enumerate(text.splitlines(), 1)
    )


def _grep_match(text: str) -> str:
    """grep colours what it was asked for."""
    return re.sub(r"(BEGIN [A-Z ]*KEY|(?i:password|secret|token))", "\x1b[01;31m\x1b[K\\1\x1b[m\x1b[K", text)


def _log_json(text: str) -> str:
    lines = [
        json.dumps({"ts": "2026-01-02T03:04:05Z", "level": "info", "msg": line}) for line in text.splitlines()
    ]
    return "\n".join(lines) + "\n"


def _html_numeric(text: str) -> str:
    return "".join(f"&#{ord(letter)};" if not letter.isalnum() else letter for letter in text)


def _html_hex(text: str) -> str:
    return "".join(f"&#x{ord(letter):X};" if not letter.isalnum() else letter for letter in text)


def _html_rows(text: str) -> str:
    rows = "".join(
        f'<tr><td class="n">{n}</td><td class="line"><span>{html.escape(line)}</span></td></tr>\n'
        for n, line in enumerate(text.splitlines(), 1)
    )
    return f"<table>\n{rows}</table>\n"


def _notebook(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text.splitlines(keepends=True)}]}, indent=1)


WRAPPINGS: dict[str, Wrapping] = {
    # Searching and reading files.
    "grep -rn": _each_line(lambda n: f"deploy/app.conf:{n}:"),
    "grep -r": _before("./deploy/keys/app.conf:"),
    "grep -n": _each_line(lambda n: f"{n}:"),
    "grep -C": _each_line(lambda n: f"deploy/app.conf-{n}-"),
    "grep with a blank": _each_line(lambda n: f"  {n}: "),
    "grep in colours": _grep_colours,
    "what grep asks for in colours": _grep_match,
    "ripgrep with a column": _each_line(lambda n: f"src/app_conf.py:{n}:5:"),
    "grep on Windows": _each_line(lambda n: f"C:\\deploy\\app.conf:{n}:"),
    "git grep": _each_line(lambda n: f"HEAD~3:deploy/app.conf:{n}:"),
    "git blame": _each_line(lambda n: f"1f0c3a9b (Ada Lovelace 2026-01-02 03:04:05 +0000 {n:3}) "),
    "a diff that adds": lambda t: "@@ -1,2 +1,9 @@\n kept\n" + _before("+")(t),
    "a diff that removes": lambda t: "@@ -1,9 +1,2 @@\n kept\n" + _before("-")(t),
    "a combined diff": _before("++"),
    "cat -n": _each_line(lambda n: f"{n:6}\t"),
    "cat -A": _before("", "$"),
    "nl with a bar": _each_line(lambda n: f"{n:4} | "),
    "bat": _each_line(lambda n: f"{n:4} │ "),
    "an arrow": _each_line(lambda n: f"{n:6}→"),
    "sed -n l": lambda t: _before("", "$")(t.replace("\\", "\\\\")),
    "head of several files": lambda t: f"==> app.conf <==\n{t}\n\n==> b.conf <==\nx\n",
    # Formats.
    "a JSON string": _json,
    "JSON in JSON": lambda t: _json(_json(t)),
    "JSON in JSON in JSON": lambda t: _json(_json(_json(t))),
    "a list of JSON strings": lambda t: json.dumps(["a", t, "b"]),
    "pretty JSON of lines": _notebook,
    "a YAML block": _yaml_block,
    "a YAML list": lambda t: "".join(f"  - {line}\n" for line in t.splitlines()),
    "a YAML string": lambda t: f"note: {json.dumps(t)}\nother: 1\n",
    "a YAML comment": _before("# "),
    "TOML": lambda t: f'[a]\nnote = """\n{t}"""\n',
    "an .env file": lambda t: f"A=1\n{t}\nB=2\n",
    "an .env string": lambda t: f"NOTE={json.dumps(t)}\nB=2\n",
    "an INI section": lambda t: f"[main]\n{t}\n; end\n",
    "HTML": lambda t: f"<pre>{html.escape(t)}</pre>",
    "HTML in one line": lambda t: f"<p>{html.escape(t)}</p>".replace("\n", "<br>"),
    "HTML in one line, closed": lambda t: f"<p>{html.escape(t)}</p>".replace("\n", "<br />"),
    "HTML rows": _html_rows,
    "HTML numbers": _html_numeric,
    "HTML hexadecimal numbers": _html_hex,
    "an HTML attribute": lambda t: f'<input name="n" value="{html.escape(t)}">',
    "HTML code": lambda t: f"<code>{html.escape(t)}</code>, then",
    "XML": lambda t: f"<note><![CDATA[{t}]]></note>",
    "XML text": lambda t: f"<string>{html.escape(t)}</string>\n",
    "a Markdown row": lambda t: "| name | value |\n|---|---|\n| x | " + t.replace("\n", "<br>") + " |\n",
    "a narrow Markdown row": lambda t: "|x|" + t.replace("\n", "<br>") + "|\n",
    "Markdown code in a row": lambda t: "| x | `" + t.replace("\n", " ") + "` |\n",
    "a Markdown quote": _before("> "),
    "bold Markdown": lambda t: f"**{t}**",
    "CSV": _csv,
    "TSV": lambda t: "7\t" + t.replace("\n", "\\n") + "\t2026\n",
    "psql": lambda t: " id | note\n----+-----\n  7 | " + t.replace("\n", "+\n    | ") + "\n(1 row)\n",
    "a box of mysql": lambda t: "| 7 | " + t.replace("\n", "\\n") + " |\n+---+",
    # Logs.
    "a log with the time": _before("2026-01-02T03:04:05.678Z INFO app[12]: "),
    "a log in brackets": _before("[2026-01-02 03:04:05,678] [DEBUG] [app.main] "),
    "syslog": _before("Jan  2 03:04:05 web-1 app[4711]: "),
    "a log of JSON": _log_json,
    "logfmt": lambda t: "".join(
        f"ts=2026-01-02 level=info msg={json.dumps(line)} n=1\n" for line in t.splitlines()
    ),
    "docker compose": _before("web-1  | "),
    "docker compose in colours": _before("\x1b[36mweb-1  | \x1b[0m"),
    "kubectl --prefix": _before("[pod/web-5f0c/app] "),
    "GitHub Actions": _before("2026-01-02T03:04:05.1234567Z "),
    "a CI job": _before("build\tUNKNOWN STEP\t2026-01-02T03:04:05Z "),
    "set -x": _before("+ "),
    "set -x twice": _before("++ export "),
    # Shells.
    "shell history": _each_line(lambda n: f"  {n + 500}  "),
    "zsh history": _before(": 1767323045:0;"),
    "history with time": _each_line(lambda n: f" {n + 500}  2026-01-02 03:04:05 "),
    "echo": lambda t: f"echo {shlex.quote(t)} > f\n",
    "echo in double quotes": lambda t: 'echo "' + t.replace('"', '\\"') + '" | tee f\n',
    "printf": lambda t: f"printf '%s\\n' {shlex.quote(t)}; ls",
    "ssh": lambda t: f'ssh web "cat <<EOF\n{t}\nEOF"',
    "a subshell": lambda t: f"x=$(run {t})",
    "a prompt": lambda t: f"ada@web:~/work$ {t}\nada@web:~/work$ ",
    "a prompt of root": lambda t: f"[root@web ~]# {t}\n",
    "a curl header": lambda t: f"curl -s -H {shlex.quote('X-Note: ' + t)} https://api.engines.org/v1",
    "curl data": lambda t: f"curl -d {shlex.quote(json.dumps({'note': t}))} https://api.engines.org",
    "curl -v": _before("> X-Note: "),
    "a URL query": lambda t: f"https://api.engines.org/?note={quote(t, safe='')}&page=2",
    "a form": lambda t: f"a=1&note={quote_plus('# ' + t)}&b=2",
    # Code.
    "Python repr": lambda t: f"{{'note': {t!r}, 'n': 1}}",
    "Python repr of bytes": lambda t: f"note={t.encode()!r}",
    "a dataclass": lambda t: f"Settings(note={t!r}, n=1)",
    "a traceback": lambda t: f"ValueError: {t}\n",
    "Python lines": lambda t: "".join(f"    {line + chr(10)!r}\n" for line in t.splitlines()),
    "JavaScript lines": lambda t: " +\n".join(f"  {json.dumps(line + chr(10))}" for line in t.splitlines()),
    "a JavaScript template": lambda t: f"const note = `{t}`;",
    "a comment": _before("// "),
    "a comment of C": lambda t: "/*\n" + _before(" * ")(t) + " */\n",
    "a comment of SQL": _before("-- "),
    "SQL insert": lambda t: "INSERT INTO notes VALUES (7, '" + t.replace("'", "''") + "', now());",
    "SQL with E": lambda t: "INSERT INTO n VALUES (E'" + t.replace("'", "\\'").replace("\n", "\\n") + "');",
    "an assertion": lambda t: f"E       AssertionError: assert {t!r} == ''\n",
    "lines of pytest": _before("E         - "),
    # Terminals.
    "colours around": lambda t: f"\x1b[1;32m{t}\x1b[0m\n",
    "colours around each line": _before("\x1b[38;5;12m", "\x1b[0m"),
    "colours as text": lambda t: f"\\x1b[32m{t}\\x1b[0m\n",
    "colours as octal text": lambda t: f"\\033[32m{t}\\033[0m\n",
    "erased to the end of the line": _before("", "\x1b[K"),
    "a box": lambda t: "╭────╮\n" + _before("│ ", "   │")(t) + "╰────╯\n",
    "a box of ASCII": _before("| ", "   |"),
    "carriage returns": lambda t: t.replace("\n", "\r\n") + "\r\n",
    "indented": _before("        "),
    "tabs": _before("\t\t"),
    "quoted mail": _before("> > "),
    # Encoded.
    "base64 of a file": lambda t: base64.b64encode(f"# file\n{t}\n# end of the file\n".encode()).decode(),
    "base64 in lines": lambda t: base64.encodebytes(f"# file\n{t}\n# end of the file\n".encode()).decode(),
    "base64 in grep": lambda t: _each_line(lambda n: f"deploy/b64:{n}:")(
        base64.encodebytes(f"# file\n{t}\n# end of the file\n".encode()).decode()
    ),
    "a secret of Kubernetes": lambda t: f"data:\n  app.conf: {base64.b64encode(t.encode()).decode()}\n",
    "a data URL": lambda t: (
        f"data:text/plain;base64,{base64.b64encode(f'# file {t} end of it'.encode()).decode()}"
    ),
    "Unicode escapes": lambda t: "".join(f"\\u{ord(one):04x}" for one in t),
    "sentence": lambda t: f"I have set {t}, and it works.",
    "sentence at the end": lambda t: f"The line is {t}.",
    "in brackets": lambda t: f"the settings ({t}) are used",
    "in square brackets": lambda t: f"args [{t}] given",
    "in braces": lambda t: f"conf {{{t}}} given",
    "in Markdown code": lambda t: f"Use `{t}` here.",
    "a fence": lambda t: f"```ini\n{t}\n```",
}
TERMINALS: dict[str, Wrapping] = {f"a terminal of {n} columns": _wrapped(n) for n in (60, 80, 120)}
