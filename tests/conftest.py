"""One environment for all tests, whatever the developer's is; Hypothesis without chance.

Rules
  1. Only the variables in KEPT pass; home, time zone, locale and the agents' and tracklog's own variables are ours.
  2. Signals that our parent ignores (`nohup`, a background job) are not ignored by what the tests start.
  3. A test marked `soak` runs only in `make soak`. In `make quick`, a test that starts a process is skipped.
  4. Hypothesis draws the same examples in every run and has no time limits; `make soak` draws new ones.
  5. The workers of xdist share the work of compiling the tests, where there is no bytecode yet.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.opened_files import opened_files as opened_files

TESTS = Path(__file__).parent
LONGEST_ID = 60
KEPT = (
    "PATH",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "CI",
    "CHROMIUM",
    "COVERAGE_",
    "PYTEST_",
    "TRACKLOG_LAB_",
    "TRACKLOG_SDK_CACHE",
    "TRACKLOG_STEPS",
    "TRACKLOG_KILLS",
    "TRACKLOG_TEST_",
)  # a name that ends in an underscore keeps all that start so


def _make_environment() -> None:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or name.startswith(tuple(one for one in KEPT if one.endswith("_")))
    }
    if "TRACKLOG_TEST_HOME" not in kept:  # workers of xdist share that of their parent
        kept["TRACKLOG_TEST_HOME"] = tempfile.mkdtemp(prefix="tracklog-test-home-")
        atexit.register(shutil.rmtree, kept["TRACKLOG_TEST_HOME"], ignore_errors=True)
    ours = {"HOME": kept["TRACKLOG_TEST_HOME"], "LANG": "C.UTF-8", "TZ": "UTC"}
    os.environ.clear()
    os.environ.update({**kept, **ours})
    time.tzset()


_make_environment()

for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:  # children inherit that; they do not inherit a handler
        signal.signal(_number, lambda *_: None)

settings.register_profile(
    "same",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("new", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("new" if os.environ.get("TRACKLOG_TEST_EXAMPLES") == "new" else "same")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector off the many objects that live as long as the tests."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


def pytest_collectstart(collector: pytest.Collector) -> None:
    """In a worker of a whole run, import all test modules, each worker from another one on.

    On a fresh clone, a worker then finds the bytecode of the others when it comes to their part.
    """
    config = collector.config
    worker = getattr(config, "workerinput", None)
    if worker and isinstance(collector, pytest.Session) and config.args_source is config.ArgsSource.TESTPATHS:
        paths = sorted(path.relative_to(TESTS.parent) for path in TESTS.rglob("test_*.py"))
        first = len(paths) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        for path in (*paths[first:], *paths[:first]):
            with suppress(Exception, pytest.skip.Exception):  # reported when pytest imports it
                importlib.import_module(".".join(path.with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip soak tests, unless this is a soak run."""
    if os.environ.get("TRACKLOG_TEST_SOAK") != "1":
        for item in items:
            if item.get_closest_marker("soak"):
                item.add_marker(pytest.mark.skip(reason="a soak test: make soak"))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Shorten the id of a long value: its beginning and a checksum."""
    if isinstance(val, bytes):
        val = val.decode("latin-1")
    if not isinstance(val, str | int):
        return None
    text = str(val).encode("unicode_escape").decode()
    if len(text) <= LONGEST_ID:
        return None
    return f"{text[: LONGEST_ID - 9]}-{zlib.crc32(text.encode()):08x}"


STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system"})


def _skip_what_starts_a_process(event: str, _: tuple[object, ...]) -> None:
    if event in STARTS:
        pytest.skip(f"starts a process ({event})")


def pytest_sessionstart(session: pytest.Session) -> None:
    """In `make quick`, let every start of a process skip its test."""
    starts_workers = getattr(session.config.option, "numprocesses", None)
    if os.environ.get("TRACKLOG_TEST_QUICK") == "1" and not starts_workers:
        sys.addaudithook(_skip_what_starts_a_process)
