"""Runs Python where the system gives few inotify watches or watchers: in a user namespace, which has limits of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal

import pytest

_LIMITED = 'echo "$1" > "/proc/sys/user/max_inotify_$0" && shift && exec "$@"'


def run_with(what: Literal["watches", "instances"], n: int, *words: str) -> str:
    """What Python prints under such a limit; the test is skipped where namespaces may not be made."""
    limited = ["unshare", "--user", "--map-root-user", "sh", "-c", _LIMITED, what, str(n)]
    try:
        subprocess.run([*limited, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no namespace of our own: {error}")
    done = subprocess.run([*limited, sys.executable, *words], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
