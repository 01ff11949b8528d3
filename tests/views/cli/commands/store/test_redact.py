"""`tracklog redact` gives out cleaned bytes, all of them or none."""

from __future__ import annotations

import base64
import json
import os
import resource
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import zstandard

from tests import fork_server
from tests.views.cli.command import command, environment, out_of_reach, tracklog, write
from tracklog.secrets.rules import shipped_rules

EXAMPLES = {rule.kind: rule.true[0].decode() for rule in shipped_rules().rules}
TOKEN, KEY = EXAMPLES["github-pat"], EXAMPLES["aws-access-key-id"]
WORDS = b"some words that nobody minds; "


class Cleaned(NamedTuple):
    """How it ended."""

    code: int
    out: bytes
    err: str


def redact(home: Path, *words: str | Path, given: bytes = b"", is_bounded: bool = False) -> Cleaned:
    """Runs it with something on stdin; bounded, it may use no more memory than a small machine has."""
    ours = {"TRACKLOG_HOME": str(home / "ours")}
    if not is_bounded:
        known, told = environment(home, ours), ["redact", *map(str, words)]
        answer = fork_server.run(told, env=known, cwd=home, timeout_s=60, stdin=given)
        return Cleaned(answer.returncode, answer.stdout, answer.stderr.decode())

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))

    done = subprocess.run(
        command("redact", *words),
        env=environment(home, ours),
        cwd=home,
        input=given,
        capture_output=True,
        timeout=60,
        preexec_fn=bound,
    )
    return Cleaned(done.returncode, done.stdout, done.stderr.decode())


def hash8(home: Path, value: str) -> str:
    """As it stands in a placeholder of this home."""
    told = write(home / "told/value.txt", value.encode())
    return redact(home, told).out.decode().rpartition(":")[2][:8]


def test_stdin_comes_out_clean_and_what_was_done_is_said_beside(tmp_path: Path) -> None:
    answer = redact(tmp_path, given=f"one {TOKEN}\ntwo {KEY} {TOKEN}\n".encode())
    token, key = hash8(tmp_path, TOKEN), hash8(tmp_path, KEY)
    first, second = f"«secret:github-pat:{token}»", f"«secret:aws-access-key-id:{key}»"
    assert answer == (
        0,
        f"one {first}\ntwo {second} {first}\n".encode(),
        "tracklog: 2 secrets of 2 kinds replaced\n",
    )


def test_what_holds_nothing_comes_out_byte_by_byte(tmp_path: Path) -> None:
    data = bytes(range(256)) * 10_000
    assert redact(tmp_path, "-", given=data) == (0, data, "tracklog: nothing replaced\n")
    assert redact(tmp_path, given=b"") == (0, b"", "tracklog: nothing replaced\n")


def test_a_value_that_one_file_tells_is_replaced_in_all(tmp_path: Path) -> None:
    encoded = TOKEN.encode().hex().encode()  # which no shape tells
    one = write(tmp_path / "one.txt", b"before " + encoded + b"\n")
    two = write(tmp_path / "two.txt", TOKEN.encode() + b"\n")
    answer = redact(tmp_path, one, two, "-", given=b"and " + TOKEN.encode())
    placeholder = f"«secret:github-pat:{hash8(tmp_path, TOKEN)}»".encode()
    assert answer.out == b"before %s\n%s\nand %s" % (placeholder, placeholder, placeholder)
    assert (one.read_bytes(), two.read_bytes()) == (b"before " + encoded + b"\n", TOKEN.encode() + b"\n")


def test_a_compressed_file_comes_out_as_text(tmp_path: Path) -> None:
    packed = write(tmp_path / "log.jsonl.zst", zstandard.compress(b"fine\n"))
    assert redact(tmp_path, packed).out == b"fine\n"


@pytest.mark.parametrize("n_parts", [10, pytest.param(40, marks=pytest.mark.soak)])
@pytest.mark.parametrize("by", ["file", "pipe"])
def test_much_takes_little_memory_and_no_border_hides_anything(tmp_path: Path, by: str, n_parts: int) -> None:
    parts = [
        WORDS * 34_953 + TOKEN.encode() for _ in range(n_parts)
    ]  # each a little longer than a million bytes
    data = b" ".join(parts)
    words = [write(tmp_path / "big.txt", data)] if by == "file" else []
    answer = redact(tmp_path, *words, given=b"" if by == "file" else data, is_bounded=True)
    placeholder = f"«secret:github-pat:{hash8(tmp_path, TOKEN)}»".encode()
    assert (answer.code, answer.out == data.replace(TOKEN.encode(), placeholder)) == (0, True)
    assert [name for name in os.listdir(tmp_path / "ours") if name.startswith(".redact")] == []


@pytest.mark.parametrize("shift", range(4))
def test_what_is_encoded_far_behind_the_beginning_of_a_long_run_is_replaced(
    tmp_path: Path, shift: int
) -> None:
    text = WORDS * 36_000 + TOKEN.encode() + b" " + WORDS * 2_000
    data = b" " * shift + base64.b64encode(text)
    answer = redact(tmp_path, given=data)
    assert answer.code == 0
    assert "«secret:github-pat:".encode() in answer.out
    assert TOKEN.encode() not in base64.b64decode(answer.out.partition("«".encode())[0].strip() + b"====")


def test_what_cannot_be_read_gives_nothing(tmp_path: Path) -> None:
    good = write(tmp_path / "good.txt", b"fine\n")
    torn = write(tmp_path / "torn.jsonl.zst", zstandard.compress(b"fine\n" * 1000)[:-4])
    os.mkfifo(tmp_path / "pipe")
    for bad in ("absent", "torn.jsonl.zst", ".", "pipe"):
        answer = redact(tmp_path, good, bad)
        assert (answer.code, answer.out) == (1, b"")
        assert answer.err.startswith(f"tracklog: cannot read {bad}: ")
    assert torn.exists()


def test_a_file_that_may_not_be_read_gives_nothing(tmp_path: Path) -> None:
    with out_of_reach() as top:
        answer = tracklog("redact", top / "secret.jsonl", home=top, is_mighty=False)
    assert answer == (1, "", f"tracklog: cannot read {top}/secret.jsonl: permission denied\n")


def test_the_review_says_what_was_replaced_and_what_nearly_was(tmp_path: Path) -> None:
    log = write(tmp_path / "log.txt", f"{TOKEN} {TOKEN} ghp_{'x' * 36}\n".encode())
    answer = redact(tmp_path, log, "--review", tmp_path / "review.json")
    assert (answer.code, answer.err) == (0, "tracklog: 1 secret of 1 kind replaced\n")
    review = json.loads((tmp_path / "review.json").read_bytes())
    (replaced,) = review["replaced"]
    assert replaced.pop("hash").startswith(hash8(tmp_path, TOKEN))
    (place,) = replaced.pop("places")
    assert (place.startswith("«private:home:"), place.endswith("»/log.txt")) == (True, True)
    assert replaced == {"class": "secret", "kind": "github-pat", "count": 2}
    (missed,) = review["near_misses"]
    assert missed.keys() == {"kind", "why", "count", "places"}
    assert (missed["kind"], missed["why"], missed["places"]) == ("github-pat", "a placeholder", [place])
    assert review["schema_version"] == 1
    assert TOKEN not in (tmp_path / "review.json").read_text()
    assert stat.S_IMODE((tmp_path / "review.json").stat().st_mode) == 0o600


def test_as_json_the_same_is_said_on_stderr(tmp_path: Path) -> None:
    answer = redact(tmp_path, "--json", given=TOKEN.encode())
    (replaced,) = json.loads(answer.err)["replaced"]
    assert (replaced["class"], replaced["kind"], replaced["count"]) == ("secret", "github-pat", 1)
    assert answer.out.startswith("«secret:".encode())


def test_the_home_of_this_machine_is_replaced(tmp_path: Path) -> None:
    answer = redact(tmp_path, given=f"in {tmp_path}/project\n".encode())
    assert str(tmp_path).encode() not in answer.out
    assert answer.err == "tracklog: 1 private value of 1 kind replaced\n"


def test_what_is_allowed_stays(tmp_path: Path) -> None:
    log = write(tmp_path / "log.txt", TOKEN.encode())
    env = {"TRACKLOG_HOME": str(tmp_path / "ours")}
    tracklog("scan", "--allow", hash8(tmp_path, TOKEN), home=tmp_path, env=env)
    assert redact(tmp_path, log).out == TOKEN.encode()
    assert redact(tmp_path, given=KEY.encode()).out != KEY.encode()


def test_a_broken_list_gives_nothing(tmp_path: Path) -> None:
    write(tmp_path / "ours/allowed.toml", b"[[allow]\n").parent.chmod(0o700)
    answer = redact(tmp_path, given=b"fine")
    assert (answer.code, answer.out) == (2, b"")
    assert "allowed.toml is not TOML: " in answer.err


def test_the_review_names_no_file_by_a_secret(tmp_path: Path) -> None:
    named = tmp_path / f"{TOKEN}.txt"
    named.write_text(f"it is {TOKEN}\n")
    done = redact(tmp_path, "--json", named)
    assert TOKEN not in done.out.decode() + done.err
    assert json.loads(done.err)["replaced"][0]["places"][0].endswith("».txt")


def test_more_different_names_than_can_be_looked_for_give_nothing(tmp_path: Path) -> None:
    data = b"".join(b'{"cwd":"/home/usr%dx/work"}\n' % n for n in range(1100))
    done = redact(tmp_path, given=data)
    assert (done.code, done.out) == (1, b"")
    assert "nothing is given out: more than 1000 different names" in done.err
