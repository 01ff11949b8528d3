"""The rules of `secrets.toml`, each tried on its own examples, and on what agents write that only looks like a secret."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import NamedTuple

from tracklog.secrets.find import find
from tracklog.secrets.rules import MUTE, Rule, RuleBook, rules_in, shipped_rules

_WIDEST = 8192  # bytes that one match may take: the bound of the search's time
_MOST_KEYWORDS = 217  # each is a pass over all data
_FEWEST_CHECKED = 146  # shapes that were compared with public material
_CHECKS = ("", "jwt")
_ESCAPED_LINE_END = re.compile(rb"\\+n")  # only blocks have any; their value is told with plain ones
_LINE_NUMBER = re.compile(rb"(?m)^(?:[\w./]+:[0-9]+:| +[0-9]+\xe2\x86\x92)")  # that a tool put before a line

BYTES = files("tracklog.secrets").joinpath("data/secrets.toml").read_bytes()
BOOK = shipped_rules()

# What stands in every agent's log.
LOOK_ALIKES = [
    '"uuid":"5e0f6c3a-9d1b-4f27-8a35-0c9b7e64d2f1","parentUuid":"b7a41d90-2c6e-4e58-9f03-7d1a5c8e6b24"',
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    '"usage":{"input_tokens":123,"cache_read_input_tokens":48213,"output_tokens":907}',
    '"id":"toolu_01T1x1fJ34qAmk2tNTrN7Up6","name":"Bash"',
    '"id":"msg_01XFDUDYJgAACzvnptvVoYEL","request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"',
    '"call_id":"call_Vp8rJ2kQ0mXz5tLwYbN3hSdE"',
    '"signature":"EqQBCkYIBRgCKkDa3mX9vTq1PzR7bKc0LwYh5sNf8uJdE2gHxQ6iVtZo4yMpBn1kWlCr3aSvU9eXjT7zGq0OIhD5"',
    '"data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="',
    '"prompt_cache_key":"0199f3a2-7c41-7d20-9b6e-3f5a8c1d0e42"',
    "def login(user: str, password: str, token: str | None = None) -> None:",
    "token = get_token()",
    '"api_key": null, "password": "", "secret": false',
    "const key = process.env.API_KEY ?? import.meta.env.VITE_API_KEY",
    'TOKEN = os.environ["TOKEN"]',
    "password = password",
    "self.password = make_password(password1)",
    '"integrity": "sha512-9fWq3mZ7xT1vLk0bRcYpN5sHd2uJ8eGiA6oQwXyBtMzKjF4nVlCrS3hP7gEaUDI0OxTq6ZbWmYk1vN8cLf2Rsw=="',
    'hash = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"',
    'checksum = "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3a94a8fe5ccb19ba61c4c0873"',
    "curl -H 'Authorization: Bearer $TOKEN' https://api.acme.dev",
    'headers = {"Authorization": f"Bearer {token}", "X-Api-Key": api_key}',
    "postgres://user:password@localhost/db and redis://localhost:6379/0",
    "postgresql://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app",
    "git clone git@github.com:acme/tool.git && ssh://git@acme.dev:22/tool.git",
    "!function(e,t){for(var n=e.token,r=t.secret;n&&r;)n=r.key_1=o[i2](n)}(a,b);var password=c?d1:e2",
    "password_reset_token_expires_at: datetime = field(default_factory=now)",
    "<input type=\"password\" name='password' autocomplete=\"current-password\" minlength=8>",
    "Enter password: \nPassword must have at least 8 characters",
    "ANTHROPIC_API_KEY=sk-ant-api03-... OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "task-4f3c2b1a9e8d7c6b5a4f3c2b1a9e8d7c and risk-assessment-2024-overview",
    '"nextPageToken": "CAUQAA1b2C3d4E5f6G7h8I9j0K", "eos_token": "<|endoftext|>"',
    "if password == 'correct-horse' or token in known_tokens_2024:",
    "docker run -u 1000:1000 -e POSTGRES_PASSWORD=postgres -e TOKEN=$TOKEN image",
    "«secret:github-pat:0a1b2c3d» and password=«secret:password-assigned:99aabbcc»",
]  # fmt: skip


class Example(NamedTuple):
    """A text, and the secret in it: what stands between its first and its last `·`."""

    kind: str
    text: bytes
    value: bytes


def _example(kind: str, written: str) -> Example:
    begin, end = written.index(MUTE), written.rindex(MUTE)
    value = written[begin:end].replace(MUTE, "").encode()
    plain = _LINE_NUMBER.sub(b"", _ESCAPED_LINE_END.sub(b"\n", value))
    return Example(kind, written.replace(MUTE, "").encode(), plain)


DOCUMENT = tomllib.loads(BYTES.decode())
TRUE = {
    rule["kind"]: [_example(rule["kind"], written) for written in rule["true"]] for rule in DOCUMENT["rule"]
}


EXAMPLES = [example for rule in BOOK.rules for example in TRUE[rule.kind]]


def test_a_true_example_is_found_as_that_kind_with_that_value_and_nothing_else() -> None:
    found = [(example, [(one.kind, one.value) for one in find(example.text).found]) for example in EXAMPLES]
    assert [one for one in found if one[1] != [(one[0].kind, one[0].value)]] == []


def test_a_true_example_is_found_in_a_line_of_a_log_as_well() -> None:
    lines = [
        (one.kind, b'{"type":"user","content":"seen:\\n' + _as_json(one.text) + b'\\n"}\n')
        for one in EXAMPLES
    ]
    found = [(kind, line, [one.kind for one in find(line).found]) for kind, line in lines]
    assert [one for one in found if one[2] != [one[0]]] == []


def test_a_false_example_is_not_found_as_that_kind() -> None:
    examples = [(rule.kind, text) for rule in BOOK.rules for text in rule.false]
    assert [one for one in examples if one[0] in {found.kind for found in find(one[1]).found}] == []


def test_what_only_looks_like_a_secret_is_left_alone() -> None:
    assert [text for text in LOOK_ALIKES if find(text.encode()).found] == []


def test_a_key_of_some_documentation_is_left_alone() -> None:
    keys = sorted(BOOK.known_examples)
    texts = [text for key in keys for text in (key, b"token: " + key, b'"client_secret": "' + key + b'"')]
    assert [text for text in texts if find(text).found] == []


def test_a_rule_says_what_it_is_and_where_its_shape_is_documented() -> None:
    for rule in BOOK.rules:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.kind), rule.kind
        assert rule.what == rule.what.strip() != "", rule.kind
        assert re.fullmatch(r"https://[^\s/]+\.[^\s/]+/\S*", rule.source), rule.kind
        assert rule.check in _CHECKS, rule.kind
        assert 0.0 <= rule.min_entropy < 5.0, rule.kind


def test_each_rule_says_whether_its_shape_was_checked_and_most_were() -> None:
    checked = [rule["checked"] for rule in DOCUMENT["rule"]]
    assert all(isinstance(one, bool) for one in checked)
    assert sum(checked) >= _FEWEST_CHECKED


def test_a_rule_has_examples_of_what_it_is_and_of_what_it_is_not() -> None:
    for rule in BOOK.rules:
        assert len(set(rule.true)) >= 2, rule.kind
        assert len(set(rule.false)) >= 2, rule.kind
        assert rule.block in ("", "head", "tail"), rule.kind


def test_a_keyword_stands_where_its_pattern_begins() -> None:
    for rule in BOOK.rules:
        assert rule.keywords, rule.kind
        for keyword in rule.keywords:
            assert len(keyword) >= 2, rule.kind
            assert not rule.nocase or keyword == keyword.lower(), rule.kind
        assert all(_begins_at_a_keyword(rule, text) for text in rule.true), rule.kind


def test_a_pattern_is_bounded_in_width() -> None:
    for rule in BOOK.rules:
        parsed = re._parser.parse(rule.pattern.pattern, rule.pattern.flags)  # type: ignore[attr-defined]  # it alone tells the width
        _, widest = parsed.getwidth()
        assert widest <= _WIDEST, rule.kind


def test_there_are_at_least_a_hundred_rules_and_no_two_of_a_kind() -> None:
    kinds = [rule.kind for rule in BOOK.rules]
    assert len(kinds) >= 100
    assert sorted(set(kinds)) == sorted(kinds)


def test_the_passes_over_the_data_stay_few() -> None:
    assert len(BOOK.at_keywords()) <= _MOST_KEYWORDS


def test_the_file_of_the_rules_holds_nothing_that_a_scanner_takes_for_a_leak() -> None:
    assert find(BYTES).found == []


def test_the_version_changes_with_the_rules() -> None:
    changed: RuleBook = rules_in(BYTES + b"\n# one more word\n")
    assert rules_in(BYTES).version == BOOK.version != changed.version


def _as_json(text: bytes) -> bytes:
    """As it stands inside a string of JSON."""
    escaped = text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return escaped.replace(b"\n", b"\\n").replace(b"\t", b"\\t")


def _begins_at_a_keyword(rule: Rule, text: bytes) -> bool:
    searched = text.lower() if rule.nocase else text
    places = (match.start() for word in rule.keywords for match in re.finditer(re.escape(word), searched))
    return any(rule.pattern.match(text, place) for place in places)
