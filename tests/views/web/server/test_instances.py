from __future__ import annotations

import os
from pathlib import Path

from tracklog.home import Home
from tracklog.views.web.server.listen import Instance, instance_of, instances, registered, running


def test_a_server_is_known_while_it_runs_and_forgotten_after(tmp_path: Path) -> None:
    home, root = Home(tmp_path / "own"), tmp_path / "logs"
    here = instance_of("127.0.0.1:1", 1, [root])
    with registered(home, here):
        assert list(instances(home)) == [Instance("127.0.0.1:1", 1, os.getpid(), [str(root)])]
        assert (tmp_path / "own/serve/1.json").stat().st_mode & 0o777 == 0o600
    assert (list(instances(home)), os.listdir(tmp_path / "own/serve")) == ([], [])


def test_the_server_of_the_same_folders_is_found_at_any_port_or_at_the_one_asked_for(tmp_path: Path) -> None:
    home, root, other = Home(tmp_path), tmp_path / "a", tmp_path / "b"
    with registered(home, instance_of("h:1", 1, [root, other])), registered(home, instance_of("h:2", 2, [])):
        found = [
            running(home, [other, root], port=None),
            running(home, [], port=None),
            running(home, [], port=2),
            running(home, [], port=1),
            running(home, [root], port=None),
        ]
    assert [one and one.port for one in found] == [1, 2, 2, None, None]


def test_what_a_killed_server_left_behind_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "serve/7.json"
    left.parent.mkdir()
    left.write_text('{"host": "127.0.0.1:7", "port": 7, "pid": 1, "roots": []}')
    assert (list(instances(Home(tmp_path))), left.exists()) == ([], False)


def test_a_server_that_has_not_said_who_it_is_yet_is_not_listed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with registered(home, instance_of("h:1", 1, [])):
        for half in ("", "{", '{"port": 1}', "[]"):
            (tmp_path / "serve/1.json").write_text(half)
            assert list(instances(home)) == []


def test_where_nothing_ever_ran_nothing_is_made(tmp_path: Path) -> None:
    assert (list(instances(Home(tmp_path / "own"))), os.listdir(tmp_path)) == ([], [])
