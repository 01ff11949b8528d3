"""The results of a list: what is kept, what counts as answered, and what happens to torn and strange files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tracklog.errors import UserError
from tracklog.model.run_request import RunRequest
from tracklog.run.batch.results_file import Earlier, Known, ResultsFile, as_line, key_of
from tracklog.run.batch.tasks import BatchTask


def row(id: str = "a", *, digest: str = "d", ended_by: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": id, "n": 1, "digest": digest, "ended_by": ended_by, **more}


def task(id: str = "a", digest: str = "d") -> BatchTask:
    return BatchTask(id, 1, RunRequest(agent="claude", prompt="p", cwd=Path("/")), digest)


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_bytes(b"".join(map(as_line, rows)))
    return path


def earlier_in(path: Path) -> Earlier:
    with ResultsFile(path) as file:
        return file.earlier


def test_a_result_stands_on_one_line_of_ascii_in_a_file_for_us_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path) as file:
        file.append(row(result="zwei\nZeilen \u2028 \x1b[31m \udcff ü"))
        assert path.read_bytes().isascii()
        assert path.read_bytes().count(b"\n") == 1
    assert json.loads(path.read_text())["result"] == "zwei\nZeilen \u2028 \x1b[31m \udcff ü"
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_last_line_of_an_id_counts_and_all_costs_are_summed(tmp_path: Path) -> None:
    path = written(
        tmp_path / "r.jsonl",
        row(ended_by="killed", cost_micro_usd_all_attempts=5, attempts=[{"run": "r1"}, {"run": None}]),
        row(cost_micro_usd_all_attempts=7, attempts=[{"run": "r2"}], batch="b"),
    )
    assert earlier_in(path) == Earlier({"a": Known("d", "completed")}, {"r1", "r2"}, 12, "b")


@pytest.mark.parametrize(
    ("ended_by", "is_answered"),
    [
        ("completed", True),
        ("error", True),
        ("timeout", True),
        ("budget", True),
        ("cancelled", False),
        ("killed", False),
        ("crashed", False),
    ],
)
def test_whatever_the_agent_ended_by_itself_or_at_a_limit_is_answered(
    ended_by: str, is_answered: bool
) -> None:
    known = Earlier({"a": Known("d", ended_by)})
    assert known.is_answered(task()) is is_answered
    assert known.is_answered(task(), again=[ended_by]) is False


def test_another_question_under_the_same_id_is_not_answered() -> None:
    known = Earlier({"a": Known("d", "completed")})
    assert [known.is_answered(one) for one in (task(), task(digest="e"), task("b"))] == [True, False, False]


def test_a_torn_last_line_is_taken_away_and_the_rest_stays(tmp_path: Path) -> None:
    whole = as_line(row("a")) + as_line(row("b"))
    second = as_line(row("c", result="x" * 100))
    for n in range(1, len(second) - 1):
        path = tmp_path / f"{n}.jsonl"
        path.write_bytes(whole + second[:n])
        assert (set(earlier_in(path).by_id), path.read_bytes() == whole) == ({"a", "b"}, True)


def test_a_last_line_without_its_newline_is_kept_and_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(as_line(row("a")) + as_line(row("b"))[:-1])
    assert set(earlier_in(path).by_id) == {"a", "b"}
    assert path.read_bytes() == as_line(row("a")) + as_line(row("b"))


def test_nul_bytes_that_a_crashed_machine_left_are_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(as_line(row()) + b"\0" * 4096)
    assert set(earlier_in(path).by_id) == {"a"}
    assert path.read_bytes() == as_line(row())


def test_a_torn_line_of_many_megabytes_is_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(as_line(row()) + b'{"id":"b","result":"' + b"x" * (3 << 20))
    assert set(earlier_in(path).by_id) == {"a"}
    assert path.read_bytes() == as_line(row())


@pytest.mark.parametrize(
    "text", [b"my notes\n", b"my notes", b'{"prompt": "p"}\n', b'{"id": 7}\n', b"[1]\nx"]
)
def test_a_file_that_holds_something_else_is_refused_and_left_as_it_is(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "notes"
    path.write_bytes(text)
    with pytest.raises(UserError, match="something else than results"):
        ResultsFile(path)
    assert path.read_bytes() == text


def test_a_broken_line_among_good_ones_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(as_line(row("a")) + b"garbage\n" + as_line(row("b")))
    found = earlier_in(path)
    assert (set(found.by_id), found.n_broken) == ({"a", "b"}, 1)


def test_a_fifo_or_a_folder_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "."):
        with pytest.raises(UserError, match="--results"):
            ResultsFile(tmp_path / name)


def test_the_second_process_on_a_file_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    code = (
        "import sys; from pathlib import Path; from tracklog.run.batch.results_file import ResultsFile; "
        "file = ResultsFile(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    source = str(Path(__file__).parents[3] / "src")
    with subprocess.Popen(
        [sys.executable, "-c", code, path],
        env={"PYTHONPATH": source},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(UserError, match="another process writes"):
            ResultsFile(path)
        other.kill()
        other.wait()
    with ResultsFile(path) as file:
        assert file.earlier == Earlier()


def test_what_cannot_be_written_whole_is_not_written_at_all(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys; from pathlib import Path; from tracklog.run.batch.results_file import ResultsFile\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "file = ResultsFile(Path(sys.argv[1]))\n"
        "file.append({'id': 'a', 'digest': 'd', 'ended_by': 'completed'})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: file.append({'id': 'b', 'digest': 'd', 'ended_by': 'completed', 'result': 'x' * 5000})\n"
        "except OSError as error: print(error.errno)\n"
    )
    path = tmp_path / "r.jsonl"
    source = str(Path(__file__).parents[3] / "src")
    done = subprocess.run([sys.executable, "-c", code, path], env={"PYTHONPATH": source}, capture_output=True)
    assert (done.stdout.strip().isdigit(), done.stderr) == (True, b"")
    assert path.read_bytes() == as_line({"id": "a", "digest": "d", "ended_by": "completed"})


def test_a_list_keeps_its_name_until_its_file_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path) as file:
        first = file.batch
    with ResultsFile(path) as file:
        assert file.batch == first  # killed before the first result
        file.append(row(batch=file.batch))
    path = path.rename(tmp_path / "moved.jsonl")
    with ResultsFile(path) as file:
        assert file.batch == first
    path.write_bytes(b"")
    with ResultsFile(path) as file:
        assert file.batch != first


def test_a_task_has_another_key_in_another_list_under_another_id_or_for_another_question() -> None:
    keys = {key_of("b", task()), key_of("c", task()), key_of("b", task("x")), key_of("b", task(digest="x"))}
    assert len(keys) == 4
    assert key_of("b", task()) == key_of("b", task())
