"""Our hooks in settings: in and out again, to the byte, whatever the file looks like and whoever else writes it."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.live.odd_json import odd_settings, plain
from tracklog.agents.hooks.command import Recorder, handler, is_our_command
from tracklog.agents.hooks.places import HookFile
from tracklog.agents.hooks.settings import (
    InstalledHooks,
    holds_just,
    hooks_in,
    our_hooks,
    with_hooks,
    without_hooks,
)
from tracklog.errors import UserError
from tracklog.hooks.install import InstallOutcome, Receipts, install, uninstall
from tracklog.sources.settings_text import Malformed

RECORDER = Recorder("/usr/bin/python3", "/opt/tracklog/hook.py", "/home/dev/.local/share/tracklog")
EVENTS = ("Stop", "PreToolUse", "SessionStart")
HANDLERS = {event: handler(RECORDER, "claude") for event in EVENTS}
THEIRS = {"type": "command", "command": "notify-send done"}

DEEP = '{"a": ' + "[" * 300 + "]" * 300 + "}"
PRETTY = json.dumps(
    {"model": "opus", "permissions": {"allow": ["Bash(npm test)"], "deny": []}, "hooks": {}}, indent=2
)
OTHERS = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [THEIRS]}], "Notification": []}}, indent=4)
HUGE = json.dumps(
    {"env": {f"NAME_{n}": "x" * 50 for n in range(40_000)}, "hooks": {"Stop": [{"hooks": [THEIRS]}] * 500}},
    indent=2,
)

TEXTS = {
    "empty": "",
    "blank": "  \n\n",
    "a BOM alone": "\ufeff",
    "a blank with CRLF": "\r\n",
    "an empty object": "{}",
    "an empty object and newline": "{}\n",
    "an object with a blank in it": "{ }",
    "an object on two lines": "{\n}\n",
    "an object on two lines, moved in": "{\n    }",
    "an object full of lines": "{\n\n\n}\n\n",
    "two blanks": PRETTY,
    "two blanks and a newline": PRETTY + "\n",
    "several newlines at the end": PRETTY + "\n\n\n",
    "blanks before it": "\n  " + PRETTY,
    "four blanks": json.dumps(json.loads(PRETTY), indent=4) + "\n",
    "one blank": json.dumps(json.loads(PRETTY), indent=1),
    "tabs": json.dumps(json.loads(PRETTY), indent="\t") + "\n",
    "no indentation": json.dumps(json.loads(PRETTY), indent=0),
    "one line": json.dumps(json.loads(PRETTY)),
    "one tight line": json.dumps(json.loads(PRETTY), separators=(",", ":")),
    "CRLF": PRETTY.replace("\n", "\r\n") + "\r\n",
    "CRLF and LF mixed": PRETTY.replace("\n", "\r\n", 2),
    "LF, then CRLF": PRETTY.replace("\n", "\r\n").replace("\r\n", "\n", 1),
    "a BOM": "\ufeff" + PRETTY,
    "a BOM and CRLF": "\ufeff" + PRETTY.replace("\n", "\r\n"),
    "hooks of others": OTHERS,
    "hooks of others, on one line": json.dumps(json.loads(OTHERS)),
    "hooks of others, half on one line": '{\n  "hooks": {"Stop": [{"hooks": []}],\n    "X": []}\n}',
    "an empty list of the event": '{"hooks": {"Stop": [ ], "PreToolUse": [\n]}}',
    "an empty hooks object on lines": '{\n  "hooks": {\n  }\n}\n',
    "hooks twice": '{"hooks": {"Stop": []}, "model": "x", "hooks": {}}',
    "an event twice": '{"hooks": {"Stop": [], "Stop": [{"hooks": []}]}}',
    "other keys twice": '{"a": 1, "a": 2, "a": {"b": 1, "b": 2}}',
    "unknown keys": '{"$schema": "https://example.com/s.json", "x-own": null, "hooks": {"Whatever": [1, "2"]}}',
    "numbers spelled oddly": '{"a": 1.0, "b": 1E+2, "c": -0, "d": 10000000000000000000000, "e": 0.10}',
    "escapes": '{"\\u0061": "\\/\\u00e9\\ud83d\\ude00\\ud800", "b": "é😀"}',
    "a key that is spelled out": '{"\\u0068ooks": {"Stop": []}}',
    "control letters in text": '{"a": "\\u0000\\u001b[31m\u202e"}',
    "blanks before colons and commas": '{ "a" : 1 ,\n "b"\n:\n2 , "hooks" : { "Stop" : [ ] , "X" : [ ] } }',
    "commas at the beginning of lines": '{\n  "a": 1\n, "b": 2\n, "hooks": {}\n}',
    "hooks in other places": '{"a": {"hooks": {"Stop": []}}, "env": {"hooks": "1"}}',
    "events that are no lists": '{"hooks": {"Notification": "soon", "Other": {"a": 1}}}',
    "groups that are no objects": '{"hooks": {"Stop": [null, 1, "x", [], {"hooks": {}}, {"hooks": [1, {}]}]}}',
    "a word of ours that is not ours": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "tracklog sync"}]}]}}',
    "quotes that do not match": '{"hooks": {"Stop": [{"hooks": [{"command": "tracklog \'"}]}]}}',
    "deeply nested": DEEP,
    "huge": HUGE,
    "huge on one line": json.dumps(json.loads(HUGE)),
    "very long lines": '{"a": "' + "x" * 1_000_000 + '"}',
    "a wide gap": "{" + " " * 10_000 + '"a": 1' + "\n" * 5_000 + "}",
}
RAW = {
    "bytes that are no UTF-8": b'{"a": "\xff\xfe\x80", "hooks": {}}\n',
    "half a letter": b'{"a": "\xed\xa0\x80"}',
}
FILES = {**{name: text.encode("utf-8", "surrogatepass") for name, text in TEXTS.items()}, **RAW}


def place_of(path: Path) -> HookFile:
    return HookFile("claude", "user", path)


def put(path: Path, home: Path, events: tuple[str, ...] = EVENTS) -> InstallOutcome:
    return install(place_of(path), events, recorder=RECORDER, receipts=Receipts(home))


def take(path: Path, home: Path) -> InstallOutcome:
    return uninstall(place_of(path), receipts=Receipts(home))


def ours_in(data: bytes) -> list[str]:
    return sorted(event for event, _ in our_hooks(data.decode("utf-8", "surrogateescape")))


def test_there_are_enough_odd_files() -> None:
    assert len(FILES) >= 40


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_what_was_put_in_is_taken_out_to_the_byte(data: bytes, tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_bytes(data)
    assert put(path, home).outcome == "installed"
    installed = path.read_bytes()
    assert ours_in(installed) == sorted(EVENTS)
    assert put(path, home).outcome == "already there"
    assert path.read_bytes() == installed
    assert take(path, home).outcome == "taken out"
    assert path.read_bytes() == data
    assert take(path, home).outcome == "was not there"
    assert [one.name for one in tmp_path.iterdir() if one.name != "home"] == ["settings.json"]


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_a_client_reads_the_same_settings_and_our_hooks(data: bytes, tmp_path: Path) -> None:
    text = data.decode("utf-8", "surrogateescape")
    new, _ = with_hooks(text, HANDLERS)
    before = plain(text) if text.strip("\ufeff \r\n") else {}
    after = plain(new)
    groups = {
        event: [*before.get("hooks", {}).get(event, []), {"hooks": [HANDLERS[event]]}] for event in EVENTS
    }
    assert after == {**before, "hooks": {**before.get("hooks", {}), **groups}}


@settings(deadline=None, max_examples=60)
@given(odd_settings())
@example("{}")
@example('{"hooks":{"hooks":[]}}')
def test_in_and_out_gives_the_same_text_for_any_settings(text: str) -> None:
    try:
        new, before = with_hooks(text, HANDLERS)
    except Malformed as error:
        assume("is not" in str(error))
        raise
    assert holds_just(new, HANDLERS)
    assert without_hooks(new, before) == text
    theirs = without_hooks(new, InstalledHooks())
    assert theirs is not None
    assert our_hooks(theirs) == []


@settings(deadline=None, max_examples=30)
@given(odd_settings(), st.sampled_from([None, 0, 1, 2, 4, "\t"]))
def test_what_others_write_into_it_later_stays(text: str, indent: int | str | None) -> None:
    new, before = with_hooks(text, HANDLERS)
    edited = plain(new)
    edited["hooks"]["Stop"].append({"hooks": [THEIRS]})
    edited["hooks"]["PreToolUse"][-1]["hooks"].insert(0, THEIRS)
    edited["hooks"]["Another"] = [{"matcher": "*", "hooks": [THEIRS]}]
    bare = without_hooks(json.dumps(edited, indent=indent), before)
    assert bare is not None
    assert our_hooks(bare) == []
    edited["hooks"]["Stop"].pop(-2)
    edited["hooks"]["PreToolUse"][-1]["hooks"].pop()
    edited["hooks"]["SessionStart"].pop()
    if not edited["hooks"]["SessionStart"] and "hooks.SessionStart" not in before.empty:
        del edited["hooks"]["SessionStart"]
    assert plain(bare) == edited


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1,\n}', "line 3, column 1: expected a key in double quotes"),
        ('{\n  "hooks": []\n}', "line 2, column 12: hooks is not an object"),
        ('{"hooks": {"Stop": {}}}', "line 1, column 20: hooks.Stop is not a list"),
        ("[]", "line 1, column 1: the whole is not an object"),
        ("// mine\n{}", "line 1, column 1: there is no JSON value here"),
    ],
)
def test_a_malformed_file_is_refused_with_its_place_and_left_alone(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        put(path, tmp_path / "home")
    assert str(caught.value) == f"cannot change {path}: {said}; correct it and try again"
    assert path.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == ["settings.json"]


def test_a_file_and_folders_that_we_made_go_again(tmp_path: Path) -> None:
    path = tmp_path / "project" / ".claude" / "settings.json"
    path.parent.parent.mkdir()
    assert put(path, tmp_path / "home").outcome == "installed"
    assert plain(path.read_text()) == {"hooks": {event: [{"hooks": [HANDLERS[event]]}] for event in EVENTS}}
    take(path, tmp_path / "home")
    assert list((tmp_path / "project").iterdir()) == []


def test_a_file_that_we_made_stays_when_somebody_wrote_in_it(tmp_path: Path) -> None:
    path, home = tmp_path / ".claude" / "settings.json", tmp_path / "home"
    put(path, home)
    path.write_text(path.read_text().replace("{\n", '{\n  "model": "opus",\n', 1))
    take(path, home)
    assert path.read_text() == '{\n  "model": "opus"\n}\n'


def test_later_edits_stay(tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_text(OTHERS)
    put(path, home)
    edited = json.loads(path.read_text())
    edited["hooks"]["Stop"].append({"hooks": [THEIRS]})
    edited["hooks"]["Stop"][1]["hooks"].append(THEIRS)
    edited["model"] = "opus"
    path.write_text(json.dumps(edited, indent=3))
    take(path, home)
    assert json.loads(path.read_text()) == {
        "hooks": {
            "Stop": [
                {"matcher": "", "hooks": [THEIRS]},
                {"hooks": [THEIRS]},
                {"hooks": [THEIRS]},
            ],
            "Notification": [],
        },
        "model": "opus",
    }


def test_other_events_replace_what_was_ours(tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_text(OTHERS)
    put(path, home)
    assert put(path, home, ("Stop", "SessionEnd")).outcome == "changed"
    assert ours_in(path.read_bytes()) == ["SessionEnd", "Stop"]
    take(path, home)
    assert path.read_text() == OTHERS


def test_without_receipts_ours_are_found_and_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(PRETTY)
    put(path, tmp_path / "home")
    assert take(path, tmp_path / "another home").outcome == "taken out"
    assert json.loads(path.read_text()) == {k: v for k, v in json.loads(PRETTY).items() if k != "hooks"}


def test_a_spoiled_receipt_is_as_none(tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_text('{"a": 1}')
    put(path, home)
    (home / "hooks" / "installed.json").write_text('{"torn')
    take(path, home)
    assert path.read_text() == '{"a": 1}'


def test_a_copy_of_the_file_is_kept_for_us_alone(tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_text(PRETTY)
    put(path, home)
    (copy,) = (home / "hooks" / "backups").iterdir()
    assert copy.read_text() == PRETTY
    ours = (copy, home / "hooks" / "installed.json", copy.parent, home / "hooks", home)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in ours]
    assert modes == [0o600, 0o600, 0o700, 0o700, 0o700]


def test_copies_do_not_pile_up(tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_text("{}")
    for n in range(25):
        put(path, home, (EVENTS[n % 2],))
    assert len(list((home / "hooks" / "backups").iterdir())) == 20


def test_a_link_stays_a_link_and_its_target_is_changed(tmp_path: Path) -> None:
    target, home = tmp_path / "dotfiles" / "claude.json", tmp_path / "home"
    target.parent.mkdir()
    target.write_text(PRETTY)
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to("../dotfiles/claude.json")
    put(path, home)
    assert os.readlink(path) == "../dotfiles/claude.json"
    assert ours_in(target.read_bytes()) == sorted(EVENTS)
    take(path, home)
    assert (os.readlink(path), target.read_text()) == ("../dotfiles/claude.json", PRETTY)


def test_a_link_to_nothing_gets_a_target_that_goes_again(tmp_path: Path) -> None:
    path, target = tmp_path / "settings.json", tmp_path / "not-yet.json"
    path.symlink_to(target)
    put(path, tmp_path / "home")
    assert ours_in(target.read_bytes()) == sorted(EVENTS)
    take(path, tmp_path / "home")
    assert path.is_symlink()
    assert not target.exists()


def test_a_ring_of_links_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to("settings.json")
    with pytest.raises(UserError, match="too many levels of symbolic links"):
        put(path, tmp_path / "home")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o666, 0o755])
def test_permissions_stay(mode: int, tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_text(PRETTY)
    path.chmod(mode)
    put(path, home)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    take(path, home)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_is_as_open_as_other_new_files(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    put(tmp_path / "settings.json", tmp_path / "home")
    assert (tmp_path / "settings.json").stat().st_mode == other.stat().st_mode


def test_a_read_only_file_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(PRETTY)
    path.chmod(0o444)
    with pytest.raises(UserError) as caught:
        put(path, tmp_path / "home")
    assert str(caught.value) == f"{path} is read-only: make it writable (chmod u+w) and try again"
    assert path.read_text() == PRETTY


def test_a_file_with_another_name_is_not_torn_from_it(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(PRETTY)
    os.link(path, tmp_path / "other.json")
    with pytest.raises(UserError, match="has other names"):
        put(path, tmp_path / "home")
    assert path.stat().st_nlink == 2


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["a folder", "a pipe"])
def test_what_is_no_file_is_refused_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    make(path)
    started = time.monotonic()
    with pytest.raises(UserError, match=r"not a regular file|is a directory"):
        put(path, tmp_path / "home")
    assert time.monotonic() - started < 30


def edit_by_rename(path: Path, key: str) -> None:
    """Reads, adds a key, and puts a new file in place, as most programs do."""
    document = json.loads(path.read_text() or "{}")
    document[key] = True
    aside = path.with_name(f"editor-{key}")
    aside.write_text(json.dumps(document, indent=2))
    os.replace(aside, path)


def edit_in_place(path: Path, key: str) -> None:
    """Reads, adds a key, truncates and writes, as plain editors do."""
    document = json.loads(path.read_text() or "{}")
    document[key] = True
    path.write_text(json.dumps(document, indent=2))


def edits(edit: Callable[[Path, str], None], path: Path, n: int, seed: int) -> None:
    """An editor at work: some edits, some milliseconds apart."""
    moments = random.Random(seed)
    for k in range(n):
        edit(path, f"edit-{k}")
        time.sleep(moments.uniform(0.005, 0.02))


@pytest.mark.parametrize("edit", [edit_by_rename, edit_in_place])
def test_a_racing_edit_is_never_lost(edit: Callable[[Path, str], None], tmp_path: Path) -> None:
    path, home, n = tmp_path / "settings.json", tmp_path / "home", 40
    path.write_text(PRETTY)
    editor = multiprocessing.get_context("spawn").Process(target=edits, args=(edit, path, n, 7))
    editor.start()
    rounds = 0
    while editor.is_alive():
        put(path, home)
        take(path, home)
        rounds += 1
    editor.join()
    assert editor.exitcode == 0
    put(path, home)
    document = json.loads(path.read_text())
    assert [key for key in document if key.startswith("edit-")] == [f"edit-{k}" for k in range(n)]
    assert ours_in(path.read_bytes()) == sorted(EVENTS)
    assert rounds > 3
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "settings.json"]


def test_an_edit_between_our_look_and_our_change_is_built_upon(tmp_path: Path) -> None:
    """The editor strikes while our new text is being made: as late as can be told from outside."""
    from tracklog.sources.settings_files import change_file

    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    seen: list[bytes | None] = []

    def change(old: bytes | None) -> bytes | None:
        seen.append(old)
        if len(seen) == 1:
            path.write_bytes(b"edited")
        return (old or b"") + b"+ours"

    change_file(path, change)
    assert (seen, path.read_bytes()) == ([b"old", b"edited"], b"edited+ours")


def test_a_late_writer_that_had_the_file_open_is_not_lost(tmp_path: Path) -> None:
    from tracklog.sources.settings_files import change_file

    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    seen: list[bytes | None] = []
    there = path.stat().st_ino
    with open(path, "r+b", buffering=0) as late:

        def writes_late() -> None:
            while os.stat(path).st_ino == there:  # until our text stands in its place
                time.sleep(0.0001)
            late.write(b"new")

        def change(old: bytes | None) -> bytes | None:
            seen.append(old)
            if len(seen) == 1:
                threading.Thread(target=writes_late).start()
            return (old or b"") + b"+ours"

        change_file(path, change)
    assert (seen, path.read_bytes()) == ([b"old", b"new"], b"new+ours")


def test_many_of_us_at_once_leave_one_set_of_hooks(tmp_path: Path) -> None:
    path, home = tmp_path / "settings.json", tmp_path / "home"
    path.write_text(PRETTY)
    threads = [threading.Thread(target=put, args=(path, home)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ours_in(path.read_bytes()) == sorted(EVENTS)
    take(path, home)
    assert path.read_text() == PRETTY


def run_hook(command: str, tmp_path: Path, *, shell: str = "sh") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [shell, "-c", command], input=b'{"hook_event_name":"Stop"}', capture_output=True, cwd=tmp_path, env={}
    )


def listening(tmp_path: Path, name: str) -> tuple[Recorder, Path]:
    """A program in the interpreter's place that notes its words and what it is told."""
    folder = tmp_path / name
    folder.mkdir()
    python, hook, noted = folder / "python", folder / "hook.py", folder / "noted"
    python.write_text(
        '#!/bin/sh\n{ printf "%s\\n" "$@"; cat; } > "${0%/*}/noted"; echo loud; echo loud >&2; exit 2\n'
    )
    python.chmod(0o755)
    hook.write_text("")
    return Recorder(str(python), str(hook), str(folder / "home")), noted


@pytest.mark.parametrize(
    "name", ["plain", "with blanks", 'it\'s "quoted"', "$HOME `id` \\ ;&|*", "línea", "new\nline"]
)
@pytest.mark.parametrize("shell", [one for one in ("sh", "bash", "zsh", "fish") if shutil.which(one)])
def test_the_command_runs_whatever_the_paths_and_never_says_or_blocks_anything(
    name: str, shell: str, tmp_path: Path
) -> None:
    recorder, noted = listening(tmp_path, name)
    command = handler(recorder, "claude")["command"]
    done = run_hook(command, tmp_path, shell=shell)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    words = ["-I", "-S", recorder.hook, "--home", recorder.home, "--agent", "claude"]
    assert noted.read_text() == "\n".join([*words, '{"hook_event_name":"Stop"}'])


@pytest.mark.parametrize("gone", ["python", "hook.py", ""])
def test_the_command_is_silent_when_what_it_runs_is_gone(gone: str, tmp_path: Path) -> None:
    recorder, noted = listening(tmp_path, "here")
    if gone:
        (tmp_path / "here" / gone).unlink()
    else:
        shutil.rmtree(tmp_path / "here")
    done = run_hook(handler(recorder, "codex")["command"], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not noted.exists()


def test_the_command_is_silent_when_the_interpreter_is_no_program(tmp_path: Path) -> None:
    recorder, _ = listening(tmp_path, "here")
    Path(recorder.python).write_bytes(b"\x7fELF is broken")
    done = run_hook(handler(recorder, "claude")["command"], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        (HANDLERS["Stop"]["command"], True),
        ("exec /bin/sh -c 'a later guard' tracklog /a/python -X hook.py", True),
        ("/bin/sh -c 'a guard' tracklog /a/python", True),
        ("/bin/sh -c 'a guard' other /a/python tracklog", False),
        ("tracklog watch", False),
        ("/bin/sh -c 'tracklog index'", False),
        ("exec tracklog 'half", False),
        (None, False),
        (["/bin/sh", "-c", "x", "tracklog"], False),
    ],
)
def test_ours_is_known_by_the_word_behind_the_guard(command: object, ours: bool) -> None:
    assert is_our_command(command) is ours


def test_our_hook_is_found_by_any_reader_of_settings() -> None:
    document: dict[str, Any] = plain(with_hooks(OTHERS, HANDLERS)[0])
    assert [(hook.event, hook.group, hook.position) for hook in hooks_in(document)] == [
        ("Stop", 0, 0),
        ("Stop", 1, 0),
        ("PreToolUse", 0, 0),
        ("SessionStart", 0, 0),
    ]
