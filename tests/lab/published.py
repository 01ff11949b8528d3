"""Newest published releases on npm and PyPI. Only `make drift` and `make update-pins` ask for them."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.lab.clients import Unobtainable, Version, npm

ASK_S = 60
_STABLE = re.compile(r"\d+(?:\.\d+)+")


def newest_on_npm(package: str) -> str:
    """Highest stable version on npm (its tag `latest` can lag behind)."""
    answer = npm(["view", package, "versions", "--json"], timeout_s=ASK_S)
    try:
        listed = json.loads(answer)
    except ValueError as error:
        raise Unobtainable(f"npm's list of {package} versions is not JSON: {error}") from error
    return _highest(package, [listed] if isinstance(listed, str) else listed)


def newest_on_pypi(package: str) -> str:
    """Highest stable version on PyPI."""
    pip = [sys.executable, "-m", "pip", "--quiet", "index", "versions", "--json", package]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=ASK_S)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise Unobtainable(f"pip index versions {package}: {lines[-1]}")
    return _highest(package, json.loads(done.stdout)["versions"])


def _highest(package: str, versions: list[str]) -> str:
    stable = [version for version in versions if _STABLE.fullmatch(version)]
    if not stable:
        raise Unobtainable(f"no stable version of {package} is published")
    return max(stable, key=Version)
