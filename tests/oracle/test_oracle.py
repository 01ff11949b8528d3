"""tracklog against the truth of every case, and so the brute force that stands in for the truth elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.answers import tracklog_says
from tests.oracle.cases import CASES
from tests.oracle.ccusage_rules import walk
from tests.oracle.reference import reference
from tests.oracle.truth import Case, said_by, total_of

each_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])


@each_case
def test_tracklog_tells_the_truth(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    assert tracklog_says(tmp_path, zones=tuple(case.truth.days)) == said_by(case.truth)


@each_case
def test_the_reference_tells_the_truth(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    found = reference(tmp_path)
    assert sorted(found.spent, key=str) == sorted(case.truth.spent, key=str)
    assert sorted(found.hidden) == sorted(case.truth.hidden)


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c.name) for c in CASES if len(c.files) > 1 and c.agent == "claude"]
)
def test_the_order_of_paths_changes_nothing(case: Case, tmp_path: Path) -> None:
    turned = {
        path.replace("-home-dev-project", f"-project-{n}").replace("-backup-project", f"-project-{n}"): data
        for n, (path, data) in enumerate(sorted(case.files.items(), reverse=True))
    }
    case._replace(files=turned).write(tmp_path)
    assert tracklog_says(tmp_path) == said_by(case.truth)
    assert said_by(reference(tmp_path)) == said_by(case.truth)._replace(stated_micro_usd=None)


@each_case
def test_the_way_to_ccusage_begins_with_the_truth(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    own = [one for one in case.truth.spent if one.kind == "request" and case.agent == "claude"]
    assert next(walk(tmp_path)).four == total_of(own).tokens.four
