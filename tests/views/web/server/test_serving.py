"""The real server in a process of its own, spoken to over sockets."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.views.cli.command import command, environment, tracklog
from tests.views.web.asking import Answer
from tests.views.web.served import PATIENCE_S, Served, answer_on, open_files, served, until, words_of
from tracklog.errors import UserError
from tracklog.views.web.server import access_control, serve
from tracklog.views.web.server.access_control import HEADERS, LARGEST_BODY
from tracklog.views.web.server.listen import address_of, hosts_of
from tracklog.views.web.server.sign_in import GOOD_FOR_S

pytestmark = pytest.mark.xdist_group("served")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home"), "--port", "0", "--no-open") as one:
        until(lambda: one.get("/api/v1/index").status == 200)
        yield one


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that waits for the head of a request for one second, and for its body as long."""
    limits = {f"{serve.__name__}:HEAD_WITHIN_S": 1.0, f"{access_control.__name__}:SLOWEST_BODY_S": 1.0}
    with served(tmp_path_factory.mktemp("home"), "--port", "0", "--no-open", constants=limits) as one:
        until(lambda: one.get("/api/v1/index").status == 200)
        yield one


def known_headers(answer: Answer) -> dict[str, str | None]:
    return {name: answer.header(name) for name in HEADERS}


# --- the link


def test_the_first_line_is_the_link_and_it_is_printed_before_the_port_listens(tmp_path: Path) -> None:
    for n in range(3):
        with served(tmp_path, "--port", "0", "--no-open", cold=n == 0) as one:
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/sign-in\?code=[\w-]{43}", one.link)
            answer = one.say(f"GET {one.link.partition(one.host)[2]} HTTP/1.1", f"Host: {one.host}")
            assert answer.status == 200


def test_the_link_signs_in_and_the_cookie_opens_everything(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--no-open") as one:
        target = one.link.partition(one.host)[2]
        signed = one.say(f"GET {target} HTTP/1.1", f"Host: {one.host}")
        cookie = (signed.header("set-cookie") or "").partition(";")[0]
        again = one.say(f"GET {target} HTTP/1.1", f"Host: {one.host}")
        page = one.say("GET / HTTP/1.1", f"Host: {one.host}", f"Cookie: {cookie}")
        css = one.say("GET /static/base.css HTTP/1.1", f"Host: {one.host}", f"Cookie: {cookie}")
        assert [signed.status, again.status, page.status, css.status] == [200, 403, 200, 200]


def test_no_secret_is_among_the_words_the_environment_or_the_talk_of_the_server(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--no-open", cold=True) as server:
        code = server.link.partition("code=")[2]
        until(lambda: server.get("/api/v1").status == 200)
        children = [int(pid) for pid in _children(server.process.pid)]
        said = b"".join(words_of(pid) for pid in [server.process.pid, *children])
        said += (server.own.parent / "stderr.txt").read_bytes()
        assert b"serve" in said
        assert [secret.encode() in said for secret in (server.token, code)] == [False, False]


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_no_page_holds_the_token(server: Served) -> None:
    for target in ("/", "/doctor", "/nowhere", "/api/v1/places", "/api/v1/doctor"):
        answer = server.get(target)
        assert server.token not in answer.text + str(answer.headers)


def test_what_the_server_keeps_is_for_its_user_alone(server: Served) -> None:
    modes = {path.relative_to(server.own): path.stat().st_mode & 0o077 for path in server.own.rglob("*")}
    assert {path for path, mode in modes.items() if mode} == set()


def test_another_serve_prints_a_new_link_to_the_one_that_runs(server: Served) -> None:
    home = server.own.parent
    answer = tracklog("serve", "--no-open", home=home, env={"TRACKLOG_HOME": str(server.own)})
    link = answer.out.strip()
    assert (answer.code, answer.err) == (
        0,
        f"tracklog: process {server.process.pid} serves this already; the link to it works once\n",
    )
    assert link.startswith(f"http://{server.host}/sign-in?code=")
    assert server.say(f"GET {link.partition(server.host)[2]} HTTP/1.1", f"Host: {server.host}").status == 200


def test_as_json_the_link_comes_in_a_document(server: Served) -> None:
    words = ("serve", "--no-open", "--json")
    document = tracklog(*words, home=server.own.parent, env={"TRACKLOG_HOME": str(server.own)}).json
    link = document.pop("url")
    assert document == {
        "schema_version": 1,
        "port": server.port,
        "pid": server.process.pid,
        "home": str(server.own),
    }
    assert server.say(f"GET {link.partition(server.host)[2]} HTTP/1.1", f"Host: {server.host}").status == 200


def test_a_link_that_is_too_old_is_refused(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--no-open") as one:
        for kept in (one.own / "serve/codes").iterdir():
            os.utime(kept, (time.time() - GOOD_FOR_S - 5,) * 2)
        until(lambda: one.get("/api/v1").status == 200)
        answer = one.say(f"GET {one.link.partition(one.host)[2]} HTTP/1.1", f"Host: {one.host}")
        assert (answer.status, "This link is spent" in answer.text) == (403, True)


def test_a_link_of_a_server_that_has_ended_is_good_at_no_other(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--no-open") as one:
        until(lambda: one.get("/api/v1").status == 200)
        one.end()
        assert os.listdir(one.own / "serve/codes") == []


# --- the port


def test_a_port_that_is_taken_is_said_loudly_and_no_other_is_taken(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        answer = tracklog("serve", "--port", str(port), "--no-open", home=tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert re.fullmatch(
        rf"tracklog: port {port} is taken by process {os.getpid()} \(.+\): end it, or name another port with "
        r"--port N \(0: any that is free\)\n",
        answer.err,
    )


def test_a_port_that_is_taken_by_tracklog_with_other_folders_is_said_so(
    server: Served, tmp_path: Path
) -> None:
    env = {"TRACKLOG_HOME": str(server.own)}
    words = ("serve", "--port", str(server.port), "--no-open", "--root", str(tmp_path))
    answer = tracklog(*words, home=server.own.parent, env=env)
    assert (answer.code, answer.out) == (1, "")
    assert f"is taken by process {server.process.pid}, which is tracklog with other folders" in answer.err


def test_only_this_machine_is_listened_to(server: Served) -> None:
    listening = _listening_of(server.process.pid)
    assert listening == [f"0100007F:{server.port:04X}"]


def test_nothing_is_held_back_on_a_connection_that_stays(server: Served) -> None:
    asking = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def is_sent_at_once() -> bool:
        began = time.perf_counter()
        asking.request("GET", "/_/foot", headers={"Authorization": f"Bearer {server.token}"})
        asking.getresponse().read()
        return time.perf_counter() - began < 0.035

    is_sent_at_once()  # the first answer on a connection is never held back
    until(is_sent_at_once)  # a server that waits for the client's acknowledgement takes 40 ms each time
    asking.close()


def _listening_of(pid: int) -> list[str]:
    """The addresses at which a process listens, as the kernel writes them."""
    sockets = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    ]
    return [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "8.8.8.8"])
def test_the_network_is_refused_without_the_dangerous_flag(host: str, tmp_path: Path) -> None:
    answer = tracklog("serve", "--port", "0", "--no-open", "--host", host, home=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "--dangerously-listen-on-the-network" in answer.err
    assert not (tmp_path / "own").exists()


def test_with_the_dangerous_flag_it_says_so_and_still_asks_for_token_and_host(tmp_path: Path) -> None:
    words = ("--port", "0", "--no-open", "--host", "0.0.0.0", "--dangerously-listen-on-the-network")
    with served(tmp_path, *words) as one:
        until(lambda: one.get("/api/v1").status == 200)
        assert one.say("GET / HTTP/1.1", f"Host: {one.host}").status == 401
        assert one.get("/", Connection="close").status == 200
        assert one.say("GET / HTTP/1.1", f"Host: 0.0.0.0:{one.port}").status == 403
        assert "DANGER" in (tmp_path / "stderr.txt").read_text()


def test_addresses_that_are_none_are_refused() -> None:
    for host in ("example.org", "", "127.0.0.1:80", "127.0.0.1/8", "*"):
        with pytest.raises(UserError, match="--host takes an address"):
            address_of(host)


@pytest.mark.parametrize(
    ("host", "first"),
    [
        ("127.0.0.1", "127.0.0.1:5"),
        ("localhost", "127.0.0.1:5"),
        ("::1", "[::1]:5"),
        ("127.0.0.2", "127.0.0.2:5"),
    ],
)
def test_the_link_names_the_address_that_is_listened_at(host: str, first: str) -> None:
    hosts = hosts_of(address_of(host), 5)
    assert hosts[0] == first
    assert {"127.0.0.1:5", "localhost:5", "[::1]:5"} <= set(hosts)


def test_an_address_of_the_network_is_one_of_its_names() -> None:
    assert "192.0.2.1:5" in hosts_of(address_of("192.0.2.1", is_for_the_network=True), 5)
    at_80 = hosts_of(address_of("192.0.2.1", is_for_the_network=True), 80)
    assert {"192.0.2.1", "192.0.2.1:80", "localhost"} <= set(at_80)


def test_an_address_that_this_machine_does_not_have_is_said(tmp_path: Path) -> None:
    words = (
        "serve",
        "--port",
        "0",
        "--no-open",
        "--host",
        "192.0.2.1",
        "--dangerously-listen-on-the-network",
    )
    answer = tracklog(*words, home=tmp_path)
    assert (answer.code, answer.out, answer.err.startswith("tracklog: cannot listen at port 0: ")) == (
        1,
        "",
        True,
    )


# --- raw words


def test_two_hosts_or_none_are_refused(server: Served) -> None:
    token = f"Authorization: Bearer {server.token}"
    ours = f"Host: {server.host}"
    answers = [
        server.say("GET / HTTP/1.1", ours, ours, token),
        server.say("GET / HTTP/1.1", ours, "Host: evil.example", token),
        server.say("GET / HTTP/1.1", token),
        server.say("GET / HTTP/1.0", token),
        server.say("GET / HTTP/1.0", ours, ours, token),
        server.say("GET / HTTP/1.1", "Host: evil.example", token),
        server.say("GET / HTTP/1.1", f"Host : {server.host}", token),
    ]
    assert [one.status for one in answers] == [403, 403, 403, 403, 403, 403, 400]
    assert [known_headers(one) for one in answers] == [HEADERS] * 7
    assert [one.all("server") for one in answers] == [[]] * 7


def test_an_absolute_address_is_refused_whatever_it_names(server: Served) -> None:
    token = f"Authorization: Bearer {server.token}"
    for target in (
        f"http://{server.host}/",
        "http://evil.example/",
        "//evil.example/",
        "evil.example:443",
        "*",
    ):
        answer = server.say(f"GET {target} HTTP/1.1", f"Host: {server.host}", token)
        assert answer.status in (400, 404), target
        assert known_headers(answer) == HEADERS


@pytest.mark.parametrize(
    "lines",
    [
        ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
        ["GET / HTTP/9.9"],
        ["GET  / HTTP/1.1"],
        ["GET /\x00 HTTP/1.1"],
        ["GET / HTTP/1.1", "Host: 127.0.0.1", " folded: yes\x00"],
        ["GET / HTTP/1.1", "Transfer-Encoding: gzip", "Host: x"],
        ["POST / HTTP/1.1", "Host: x", "Content-Length: 1", "Content-Length: 2"],
        ["POST / HTTP/1.1", "Host: x", "Content-Length: -1"],
        ["PRI * HTTP/2.0"],
    ],
    ids=repr,
)
def test_what_is_no_http_gets_an_error_with_the_headers_of_every_answer(
    server: Served, lines: list[str]
) -> None:
    answer = server.say(*lines)
    assert answer.status >= 400
    assert known_headers(answer) == HEADERS


def test_heads_that_are_too_large_are_refused(server: Served) -> None:
    answers = [
        server.say("GET / HTTP/1.1", f"Host: {server.host}", "X: " + "x" * 200_000),
        server.say("GET /" + "x" * 200_000 + " HTTP/1.1", f"Host: {server.host}"),
        server.say("GET /" + "x" * 9_000 + " HTTP/1.1", f"Host: {server.host}"),
    ]
    assert [one.status for one in answers] == [431, 431, 414]


def test_bodies_that_are_too_large_are_refused_before_they_are_read(server: Served) -> None:
    head = ("POST /answer HTTP/1.1", f"Host: {server.host}", f"Authorization: Bearer {server.token}")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    answers = [
        server.say(*head, f"Content-Length: {LARGEST_BODY + 1}"),
        server.say(*head, "Content-Length: 99999999999999999999"),
        server.say(*head, "Transfer-Encoding: chunked", body=chunk * 2),
    ]
    assert [(one.status, one.header("connection")) for one in answers] == [(413, "close")] * 3


def test_what_comes_behind_a_refused_body_is_no_request(server: Served) -> None:
    smuggled = f"GET /api/v1 HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    with server.connect() as connection:
        head = f"POST / HTTP/1.1\r\nHost: {server.host}\r\nContent-Length: {len(smuggled) + 100}\r\n\r\n"
        connection.sendall((head + smuggled).encode())
        answer = answer_on(connection)
        rest = connection.recv(65536)
    assert (answer.status, rest) == (401, b"")


def test_an_upgrade_is_not_made(server: Served) -> None:
    lines = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: eA==",
    )
    answer = server.say("GET / HTTP/1.1", f"Host: {server.host}", *lines)
    assert answer.status == 401


def test_paths_that_climb_lead_nowhere(server: Served) -> None:
    climbs = [
        "/static/../../site.py",
        "/static/..%2f..%2fsite.py",
        "/static/%2e%2e/site.py",
        "/static/%2fetc%2fpasswd",
        "/static//etc/passwd",
        "/static/base.css%00.js",
        "/static/..\\..\\site.py",
        "/s/../../etc/passwd",
        "/api/v1/show/..%2f..%2fetc%2fpasswd",
        "/api/v1/show/%2Fetc%2Fpasswd",
        "/_/../static/",
        "/./",
        "//",
    ]
    answers = [server.get(target) for target in climbs]
    assert [one.status in (400, 404) for one in answers] == [True] * len(climbs), [
        one.status for one in answers
    ]
    assert not any("root:" in one.text for one in answers)


# --- slow clients


def test_nobody_is_waited_for_longer_than_some_seconds() -> None:
    assert (serve.HEAD_WITHIN_S, access_control.SLOWEST_BODY_S) == (5.0, 10.0)


def test_fifty_who_say_half_a_request_hold_up_nobody_and_are_sent_away(impatient: Served) -> None:
    before = open_files(impatient.process.pid)
    half = [impatient.connect() for _ in range(50)]
    try:
        for n, connection in enumerate(half):
            with suppress(OSError):  # on a busy machine the first ones may be sent away by now
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n"[: n % 20])
        assert impatient.get("/api/v1").status == 200
        until(lambda: open_files(impatient.process.pid) <= before + 2)
        assert all(_is_closed(connection) for connection in half)
    finally:
        for connection in half:
            connection.close()


def test_who_says_half_a_request_is_not_waited_for_by_others(server: Served) -> None:
    half = [server.connect() for _ in range(50)]
    try:
        for n, connection in enumerate(half):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n"[: n % 20])
        assert server.get("/api/v1").status == 200
    finally:
        for connection in half:
            connection.close()


def test_who_sends_byte_by_byte_is_sent_away_in_time(impatient: Served) -> None:
    with impatient.connect() as connection:
        began = time.monotonic()
        with suppress(OSError):  # it is reset, or its pipe is broken
            while time.monotonic() - began < PATIENCE_S:
                connection.sendall(b"X")
                time.sleep(0.02)
        assert time.monotonic() - began < PATIENCE_S


def test_who_begins_a_second_request_and_stops_is_sent_away_too(impatient: Served) -> None:
    with impatient.connect() as connection:
        asked = f"GET /_/foot HTTP/1.1\r\nHost: {impatient.host}\r\nAuthorization: Bearer {impatient.token}\r\n\r\n"
        connection.sendall(asked.encode())
        assert answer_on(connection).status == 200
        connection.sendall(b"GET / HT")
        assert _is_closed(connection)


def test_a_body_that_never_comes_is_not_waited_for_long(impatient: Served) -> None:
    head = ("POST /answer HTTP/1.1", f"Host: {impatient.host}", f"Authorization: Bearer {impatient.token}")
    answer = impatient.say(*head, "Content-Length: 10", body=b"half")
    assert answer.status == 408


def test_there_is_always_room_for_one_more(server: Served) -> None:
    many = []
    try:
        for _ in range(600):
            many.append(server.connect())
        assert server.get("/api/v1").status == 200
        assert open_files(server.process.pid) < 580
    finally:
        for connection in many:
            connection.close()


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


# --- the end


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 0)])
def test_it_ends_soon_whoever_still_listens(tmp_path: Path, how: int, code: int) -> None:
    with served(tmp_path, "--port", "0", "--no-open") as one:
        until(lambda: one.get("/api/v1/index").status == 200)
        head = f"GET /_/events HTTP/1.1\r\nHost: {one.host}\r\nAuthorization: Bearer {one.token}\r\n\r\n".encode()
        streams = [one.connect() for _ in range(10)]
        for stream in streams:
            stream.sendall(head)
            assert b"event: hello" in _until_hello(stream)
        half = one.connect()
        half.sendall(b"GET / HT")
        assert one.json("/api/v1/index")["status"]["state"] in ("fresh", "reading")
        ended, took_s = one.end(how)
        assert (ended, took_s < 10) == (code, True), (
            took_s
        )  # streams would go on, and idle connections stay for 15 s
        assert (os.listdir(one.own / "serve"), (tmp_path / "stderr.txt").read_text().count("Traceback")) == (
            ["codes"],
            0,
        )
        for stream in [*streams, half]:
            stream.close()


def _until_hello(stream: socket.socket) -> bytes:
    data = b""
    while b"event: hello" not in data and (part := stream.recv(65536)):
        data += part
    return data


def test_a_port_can_be_taken_again_at_once(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--no-open") as one:
        until(lambda: one.get("/api/v1").status == 200)
        with one.connect() as open_still:
            open_still.sendall(b"GET / HT")
            one.end()
        with served(tmp_path, "--port", str(one.port), "--no-open") as two:
            until(lambda: two.get("/api/v1").status == 200)
            assert two.port == one.port


def test_a_killed_server_is_not_taken_for_one_that_runs(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--no-open") as one:
        until(lambda: one.get("/api/v1").status == 200)
        one.process.kill()
        one.process.wait()
        assert (one.own / f"serve/{one.port}.json").exists()
        with served(tmp_path, "--no-open", env={"TRACKLOG_PORT": "0"}) as two:
            until(lambda: two.get("/api/v1").status == 200)
            assert sorted(os.listdir(one.own / "serve")) == [f"{two.port}.json", "codes"]


# --- a browser


def test_the_browser_is_opened_and_the_code_is_not_among_its_words(tmp_path: Path) -> None:
    script = tmp_path / "browser"
    script.write_text(
        f'#!/bin/sh\ncat "${{1#file://}}" > {tmp_path}/page; printf %s "$*" > {tmp_path}/words\n'
    )
    script.chmod(0o755)
    with served(tmp_path, "--port", "0", env={"BROWSER": str(script)}) as one:
        until((tmp_path / "words").exists)
        code = one.link.partition("code=")[2]
        assert (code in (tmp_path / "page").read_text(), code in (tmp_path / "words").read_text()) == (
            True,
            False,
        )
        until(lambda: one.get("/api/v1").status == 200)
        one.say(f"GET {one.link.partition(one.host)[2]} HTTP/1.1", f"Host: {one.host}")
        until(lambda: not list((one.own / "serve").glob("open-*")))


def test_with_no_open_no_browser_is_opened(tmp_path: Path) -> None:
    script = tmp_path / "browser"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/opened\n")
    script.chmod(0o755)
    with served(tmp_path, "--port", "0", "--no-open", env={"BROWSER": str(script)}) as one:
        until(lambda: one.get("/api/v1").status == 200)
        one.end()
    assert not (tmp_path / "opened").exists()


def test_who_reads_only_the_link_does_not_end_the_server(tmp_path: Path) -> None:
    known = environment(tmp_path, {"TRACKLOG_HOME": str(tmp_path / "own")})
    with subprocess.Popen(
        command("serve", "--no-open"), env=known, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as one:
        assert one.stdout is not None
        link = one.stdout.readline().decode().strip()
        one.stdout.close()
        server = Served(one, link, tmp_path / "own")
        assert server.get("/api/v1").status == 200
        assert server.end()[0] == 0
