"""Who somebody is: what a log gives away, and what it must not be taken for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_each
from tracklog.secrets.identity import Private, known, private_in
from tracklog.secrets.identity_spots import IdentityMatch, Spotter


def told(text: str) -> set[tuple[str, str]]:
    return {(one.kind, one.value.decode()) for one in private_in(text.encode())}


def masked(text: str, *privates: Private) -> str:
    """The text with `«kind»` where an identity stood."""
    data, parts, at = text.encode(), [], 0
    for spot in Spotter(privates).spots(data):
        parts += [data[at : spot.start], f"«{spot.private.kind}»".encode()]
        at = spot.end
    return b"".join([*parts, data[at:]]).decode()


ADA = (Private("home", b"/home/adalove"), Private("user", b"adalove"))
HOME_OF_ADA = {("home", "/home/adalove")}
ADA_AND_HER_HOME = {("home", "/home/adalove"), ("user", "adalove")}


@for_each(
    "text, expected",
    [
        ('{"cwd":"/home/adalove/work"}', ADA_AND_HER_HOME),
        ('{"cwd":"/home/adalove"}', ADA_AND_HER_HOME),
        ('{"payload":"{\\"cwd\\":\\"/home/adalove\\"}"}', ADA_AND_HER_HOME),
        ('{"snapshot":{"workingDirectory":"/home/adalove/x"}}', ADA_AND_HER_HOME),
        ("PATH=/bin\nHOME=/home/adalove\n", ADA_AND_HER_HOME),
        ("cat /home/adalove/.ssh/config", ADA_AND_HER_HOME),
        ("~/.claude/projects/-home-adalove-work/x.jsonl", ADA_AND_HER_HOME),
        ("cd /home/adalove && ls", HOME_OF_ADA),
        ('"text":"first\\n/home/adalove/a.py: no"', HOME_OF_ADA),
        ("cc -I/home/adalove/include", HOME_OF_ADA),
        ("file:///home/adalove/a.html", HOME_OF_ADA),
        ('"path":"\\/home\\/adalove\\/a"', HOME_OF_ADA),
        ("?dir=%2Fhome%2Fadalove%2Fa", HOME_OF_ADA),
        ("see /home/adalove.", HOME_OF_ADA),
        ("在/home/adalove的文件", HOME_OF_ADA),
        ("/Users/adalove", {("home", "/Users/adalove")}),
        ("/Users/adalove/a.py", {("home", "/Users/adalove"), ("user", "adalove")}),
        ("C:\\Users\\adalove\\a", {("home", "C:\\Users\\adalove"), ("user", "adalove")}),
        ('"c:\\\\\\\\Users\\\\\\\\adalove\\\\\\\\a"', {("home", "C:\\Users\\adalove"), ("user", "adalove")}),
        ("C:/Users/adalove", {("home", "C:\\Users\\adalove")}),
        ("C:\\Users\\Ada Love\\a", {("home", "C:\\Users\\Ada Love"), ("user", "Ada Love")}),
        ("/home/josé/.x", {("home", "/home/josé"), ("user", "josé")}),
        ('"/home/jos\\u00e9/.x"', {("home", "/home/josé"), ("user", "josé")}),
        ('"/home/adalove\\u001b[0m"', HOME_OF_ADA),
    ],
)
def test_a_home_gives_itself_away_and_its_owner_where_a_machine_wrote_it(
    text: str, expected: set[tuple[str, str]]
) -> None:
    assert told(text) == expected


@pytest.mark.parametrize("name", ["user", "runner", "ubuntu", "vscode", "node", "max", "al"])
def test_of_a_home_that_anybody_may_have_the_path_alone_counts(name: str) -> None:
    assert told(f'{{"cwd":"/home/{name}/work"}}') == {("home", f"/home/{name}")}


@pytest.mark.parametrize(
    "text",
    [
        '{"cwd":"/root/work"}',
        "HOME=/root",
        "https://example.org/home/welcome",
        "app/home/page.tsx",
        "GET /users/adalove",
        "JAVA_HOME=/usr/lib/jvm",
        "--home-dir=/srv",
        "import { home } from './home/index'",
        "the users/adalove route",
    ],
)
def test_what_only_looks_like_a_home_tells_nothing(text: str) -> None:
    assert told(text) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("adalove@engine-7:~/src$ make", {("user", "adalove"), ("host", "engine-7")}),
        ('"out\\nadalove@engine-7:/srv$ "', {("user", "adalove"), ("host", "engine-7")}),
        ("[adalove@engine-7 ~]$ ls", {("user", "adalove"), ("host", "engine-7")}),
        ("Linux engine-7 6.8.0-45-generic #45-Ubuntu SMP", {("host", "engine-7")}),
        ("Darwin Adas-Air.local 23.4.0 Darwin Kernel Version 23.4.0", {("host", "Adas-Air.local")}),
        ("SHELL=/bin/sh\nUSER=adalove\nHOSTNAME=engine-7\n", {("user", "adalove"), ("host", "engine-7")}),
        ("root@localhost:~# id", set()),
        ("GIT_USER=adalove\n", set()),
        ("Linux kernel 6.8 is out", set()),
    ],
)
def test_shells_and_environments_name_users_and_hosts(text: str, expected: set[tuple[str, str]]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Author: Ada <ada.love@engines.org>",
        '"userEmail":"The user\'s email address is ada.love@engines.org."',
        '"log\\nada.love@engines.org\\n"',
        '"\\u003cada.love@engines.org\\u003e"',
        "mailto:ada.love@engines.org?subject=x",
        "?mail=ada.love%40engines.org&x=1",
        '"ada.love\\u0040engines.org"',
        "写信给ada.love@engines.org。",
    ],
)
def test_the_address_of_a_person_is_found(text: str) -> None:
    assert told(text) == {("email", "ada.love@engines.org")}


@for_each(
    "text",
    [
        "Co-Authored-By: Claude <noreply@anthropic.com>",
        "git@github.com:owner/name.git",
        "ssh://deploy@engines.org/srv/x",
        "https://user:word@engines.org/x",
        "deploy@engines.org:/srv/www",
        "someone@example.com",
        "17+ada@users.noreply.github.com",
        "foo@bar",
        "left-pad@1.2.3",
        "left-pad@1.2.dev",
        "npm i @types/node@20.x @scope/pkg",
        "icon@2x.png",
        "    @app.route('/x')",
        '"def f():\\n@pytest.mark.slow\\n"',
        "scores = q@k.to(device)",
        "test@engines.org",
        "your.name@engines.org",
    ],
)
def test_addresses_of_machines_documents_and_packages_are_nobodys(text: str) -> None:
    assert told(text) == set()


def test_the_owner_of_a_session_is_an_account() -> None:
    uuid = "0b1e2c3d-4f50-4a61-8b72-9c83ad94be05"
    line = f'{{"type":"bridge-session","ownerAccountUuid":"{uuid}","sessionId":"{uuid[::-1]}"}}'
    assert told(line) == {("account", uuid)}


def test_what_the_caller_knows_is_taken_but_for_words_of_everybody() -> None:
    told_by_caller = known(home="/data/people/ada/", user="root", host="engine-7", emails=["ada@acme.com"])
    assert told_by_caller == {
        Private("home", b"/data/people/ada"),
        Private("host", b"engine-7"),
        Private("email", b"ada@acme.com"),
    }
    assert known(home="/root", user="dev") == set()


@for_each(
    "text, expected",
    [
        ("/home/adalove/work", "«home»/work"),
        ("file:///home/adalove", "file://«home»"),
        ('"\\/home\\/adalove\\/x"', '"«home»\\/x"'),
        ("%2Fhome%2Fadalove%2Fx", "«home»%2Fx"),
        ("projects/-home-adalove-work/a.jsonl", "projects/«home»-work/a.jsonl"),
        ('"-home-adalove-a\\n-home-adalove-b"', '"«home»-a\\n«home»-b"'),
        ("/var/mail/adalove", "/var/mail/«user»"),
        ('"x\\nadalove\\tstaff"', '"x\\n«user»\\tstaff"'),
        ("-rw-r--r-- 1 adalove adalove 12 a", "-rw-r--r-- 1 «user» «user» 12 a"),
        ("adalove-laptop, (adalove)", "«user»-laptop, («user»)"),
        ("adalovely /home/adalove2 xadalove my_adalove", "adalovely /home/adalove2 xadalove my_adalove"),
        ("\x1b[32madalove\x1b[0m", "\x1b[32m«user»\x1b[0m"),
    ],
)
def test_a_home_is_found_in_every_shape_and_a_name_as_a_whole_word(text: str, expected: str) -> None:
    assert masked(text, *ADA) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C:\\Users\\Ada Love\\x", "«home»\\x"),
        ('"C:\\\\Users\\\\Ada Love\\\\x"', '"«home»\\\\x"'),
        ("c:/Users/Ada Love/x", "«home»/x"),
        ("projects/C--Users-Ada-Love-x/", "projects/«home»-x/"),
    ],
)
def test_a_home_of_windows_is_found_however_it_is_escaped(text: str, expected: str) -> None:
    assert masked(text, Private("home", b"C:\\Users\\Ada Love")) == expected


@pytest.mark.parametrize(
    "text", ["a ada@acme.com b", "a ada%40acme.com b", "a ada\\u0040acme.com b", "a Ada@ACME.com b"]
)
def test_an_address_that_is_known_is_found_whoever_it_may_be(text: str) -> None:
    assert masked(text, Private("email", b"ada@acme.com")) == "a «email» b"


def test_the_longer_of_two_homes_wins() -> None:
    homes = (Private("home", b"/home/ada"), Private("home", b"/home/ada-maria"))
    found = Spotter(homes).spots(b"/home/ada-maria/x /home/ada/x")
    assert found == [IdentityMatch(homes[1], 0, 15), IdentityMatch(homes[0], 18, 27)]


def test_a_name_beyond_ascii_is_found_as_json_writes_it() -> None:
    jose = [Private("home", "/home/josé".encode()), Private("user", "josé".encode())]
    line = json.dumps({"cwd": "/home/josé/x", "by": "josé"})
    assert masked(line, *jose) == '{"cwd": "«home»/x", "by": "«user»"}'
    assert private_in(line.encode()) == set(jose)


_pieces = st.sampled_from(
    [
        b"/home/",
        b"/Users/",
        b"C:\\Users\\",
        b"ada",
        b"@",
        b".com",
        b"\\n",
        b"\\u00e9",
        b"-home-",
        b"%2F",
        b'"cwd":"',
        b" ",
    ]
)


@given(st.lists(st.one_of(_pieces, st.binary(max_size=6)), max_size=30).map(b"".join))
def test_any_bytes_are_read_and_what_is_learned_is_spotted_in_order_and_apart(data: bytes) -> None:
    learned = private_in(data)
    end = 0
    for spot in Spotter(learned).spots(data):
        assert end <= spot.start < spot.end <= len(data)
        assert spot.private in learned
        end = spot.end
