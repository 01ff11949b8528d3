"""A worktree for a child, with the real git: kept if something was done in it, gone without a trace if not."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.run import worktree as run_worktree
from tracklog.run.worktree import Worktree, add, leave

AUTHOR = ["-c", "user.name=dev", "-c", "user.email=dev@example.com"]
RUN = "0123456789abcdef"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this machine reach git."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "tracklog")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    (folder / "sub/deep").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "a.txt").write_text("a\n")
    (folder / "sub/deep/b.txt").write_text("b\n")
    (folder / ".gitignore").write_text("*.tmp\n")
    commit(folder)
    return folder


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Work")
    return git(folder, "rev-parse", "HEAD")


def branches(folder: Path) -> list[str]:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()


def kept(worktree: Worktree, why: str | None, problem: str | None = None) -> dict[str, object]:
    path, branch = str(worktree.path), worktree.branch
    return {"path": path, "branch": branch, "kept": True, "why": why, "problem": problem}


def gone(worktree: Worktree) -> dict[str, object]:
    return kept(worktree, None) | {"kept": False}


def test_a_worktree_is_the_last_commit_on_a_branch_of_its_own(project: Path, home: Home) -> None:
    worktree = add(project, home, RUN)
    base = git(project, "rev-parse", "HEAD")
    path = home.runs / "worktrees" / RUN
    assert worktree == Worktree(
        path=path,
        branch=f"tracklog/{RUN}",
        base=base,
        repository=project,
        cwd=path,
        common=project / ".git",
        private=project / ".git/worktrees" / RUN,
        note=None,
    )
    assert git(path, "rev-parse", "--abbrev-ref", "HEAD") == f"tracklog/{RUN}"
    assert (path / "sub/deep/b.txt").read_text() == "b\n"
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_nothing_done_leaves_no_trace(project: Path, home: Home) -> None:
    before = (project / ".git/config").read_bytes()
    worktree = add(project, home, RUN)
    assert leave(worktree) == gone(worktree)
    assert not worktree.path.exists()
    assert branches(project) == ["main"]
    assert git(project, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert (project / ".git/config").read_bytes() == before


def test_a_file_that_git_ignores_is_work_too(project: Path, home: Home) -> None:
    worktree = add(project, home, RUN)
    (worktree.path / "left.tmp").write_text("ignored")
    left = leave(worktree)
    assert (left["kept"], left["why"]) == (True, "ignored")
    assert (worktree.path / "left.tmp").read_text() == "ignored"


def test_the_folder_stays_the_same_below_the_root(project: Path, home: Home) -> None:
    (project / "new").mkdir()
    assert add(project / "sub/deep", home, "1").cwd == home.runs / "worktrees/1/sub/deep"
    worktree = add(project / "new", home, "2")
    assert worktree.cwd == worktree.path / "new"
    assert worktree.cwd.is_dir()
    assert leave(worktree) == gone(worktree)


def test_what_is_not_committed_is_said_not_to_be_there(project: Path, home: Home) -> None:
    (project / "a.txt").write_text("changed\n")
    assert (
        add(project, home, "1").note == f"1 change is not committed in {project}, and so not in the worktree"
    )
    (project / "c.txt").write_text("new\n")
    worktree = add(project / "sub", home, "2")
    assert worktree.note == f"2 changes are not committed in {project}, and so not in the worktree"
    assert (worktree.path / "a.txt").read_text() == "a\n"


def test_work_is_kept_with_its_reason(project: Path, home: Home) -> None:
    changed, new, done, staged = (add(project, home, str(n)) for n in range(4))
    (changed.path / "a.txt").write_text("changed\n")
    (changed.path / "c.txt").write_text("new\n")
    (new.path / "c.txt").write_text("new\n")
    commit(done.path)
    (staged.path / "a.txt").unlink()
    git(staged.path, "add", "--all")
    assert leave(changed) == kept(changed, "changes")
    assert leave(new) == kept(new, "untracked")
    assert leave(done) == kept(done, "commits")
    assert leave(staged) == kept(staged, "changes")
    assert (new.path / "c.txt").read_text() == "new\n"


def test_work_is_kept_though_the_settings_hide_it(project: Path, home: Home) -> None:
    worktree = add(project, home, RUN)
    git(project, "config", "status.showUntrackedFiles", "no")
    (worktree.path / "c.txt").write_text("new\n")
    assert leave(worktree) == kept(worktree, "untracked")


def test_commits_are_kept_wherever_the_child_has_gone(project: Path, home: Home) -> None:
    back, away, orphan = (add(project, home, str(n)) for n in range(3))
    commit(back.path)
    git(back.path, "checkout", "--quiet", "--detach", back.base)
    git(away.path, "checkout", "--quiet", "-b", "other")
    commit(away.path)
    git(orphan.path, "checkout", "--quiet", "--orphan", "empty")
    git(orphan.path, "rm", "-rfq", ".")
    assert leave(back) == kept(back, "commits")
    assert leave(away) == kept(away, "commits")
    assert leave(orphan) == kept(orphan, None, "fatal: Needed a single revision")


def test_a_folder_that_is_gone_is_put_away_and_its_commits_are_kept(project: Path, home: Home) -> None:
    idle, busy, pruned = (add(project, home, str(n)) for n in range(3))
    commit(busy.path)
    for worktree in (idle, busy):
        shutil.rmtree(worktree.path)
    git(project, "worktree", "remove", str(pruned.path))
    assert leave(idle) == gone(idle)
    assert leave(pruned) == gone(pruned)
    assert leave(busy) == kept(busy, "commits")
    assert branches(project) == ["main", busy.branch]


def test_a_repository_that_is_gone_keeps_the_folder(project: Path, home: Home) -> None:
    worktree, other = add(project, home, "1"), add(project, home, "2")
    shutil.rmtree(project)
    left = leave(worktree)
    assert (left["kept"], left["why"]) == (True, None)
    assert "not a git repository" in str(left["problem"])
    assert (worktree.path / "a.txt").exists()
    shutil.rmtree(other.path)
    assert leave(other) == gone(other)


def test_a_folder_that_became_a_link_is_not_followed(project: Path, home: Home, tmp_path: Path) -> None:
    worktree = add(project, home, RUN)
    precious = tmp_path / "precious"
    shutil.move(worktree.path, precious)
    worktree.path.symlink_to(precious)
    assert leave(worktree) == kept(worktree, None, f"{worktree.path} is a link now, and no checkout")
    assert (precious / "a.txt").exists()


def test_a_removal_that_fails_keeps_it_and_says_why(project: Path, home: Home) -> None:
    worktree = add(project, home, RUN)
    git(project, "worktree", "lock", "--reason", "mine", str(worktree.path))
    left = leave(worktree)
    assert (left["kept"], left["why"]) == (True, None)
    assert "locked" in str(left["problem"])
    assert (worktree.path / "a.txt").exists()
    assert worktree.branch in branches(project)


def test_a_worktree_can_begin_in_another_that_goes_first(project: Path, home: Home) -> None:
    first = add(project, home, "1")
    head = commit(first.path)
    second = add(first.path / "sub", home, "2")
    assert (second.base, second.repository, second.common) == (head, first.path, project / ".git")
    git(project, "worktree", "remove", "--force", str(first.path))
    assert leave(second) == gone(second)


def test_what_cannot_be_done_is_said_with_what_to_do(project: Path, home: Home, tmp_path: Path) -> None:
    plain, empty = tmp_path / "plain", tmp_path / "empty"
    for folder in (plain, empty):
        folder.mkdir()
    git(empty, "init", "--quiet")
    for folder, says in (
        (plain, f"{plain.resolve()} is in no git repository: --worktree needs one (git init), or go without"),
        (empty, f"{empty.resolve()} has no commit yet, and a worktree begins at one: commit first"),
        (
            project / ".git",
            f"no worktree of {project}/.git: fatal: this operation must be run in a work tree",
        ),
    ):
        with pytest.raises(UserError) as refused:
            add(folder, home, RUN)
        assert str(refused.value) == says
    with pytest.raises(UserError, match="needs git, and there is none on PATH"):
        add(project, home, RUN, env={"PATH": str(plain)})


def test_a_run_that_has_one_already_gets_no_second(project: Path, home: Home) -> None:
    worktree = add(project, home, RUN)
    with pytest.raises(UserError, match="is there already"):
        add(project, home, RUN)
    assert (worktree.path / "a.txt").exists()
    git(project, "branch", "tracklog/other")
    with pytest.raises(UserError, match="there is a branch tracklog/other already"):
        add(project, home, "other")
    assert "tracklog/other" in branches(project)


def test_variables_of_the_caller_do_not_lead_git_elsewhere(
    project: Path, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    for name, value in (
        ("GIT_DIR", other / ".git"),
        ("GIT_WORK_TREE", other),
        ("GIT_INDEX_FILE", other / "index"),
    ):
        monkeypatch.setenv(name, str(value))
    worktree = add(project, home, RUN)
    assert worktree.repository == project
    assert leave(worktree) == gone(worktree)


def test_the_settings_of_a_repository_run_nothing(project: Path, home: Home, tmp_path: Path) -> None:
    """Each of them does when git is called plainly: the last lines show it."""
    (project / ".gitattributes").write_text("*.txt filter=evil\nsub/** filter=a=b\n")
    commit(project)
    marks = tmp_path / "marks"
    marks.mkdir()
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marks}/{name}\n")
        (hooks / name).chmod(0o755)
    included = tmp_path / "included"
    for name in ("evil", "a=b"):
        for part in ("smudge", "clean"):
            git(
                project,
                "config",
                "--file",
                str(included),
                f"filter.{name}.{part}",
                f"touch {marks}/{part}-{name}; cat",
            )
        git(project, "config", "--file", str(included), f"filter.{name}.required", "true")
    git(project, "config", "include.path", str(included))
    git(project, "config", "core.hooksPath", str(hooks))
    git(project, "config", "core.fsmonitor", f"touch {marks}/fsmonitor; false")
    for mark in marks.iterdir():
        mark.unlink()

    idle, busy = add(project, home, "1"), add(project, home, "2")
    (busy.path / "a.txt").write_text("changed\n")
    os.utime(idle.path / "a.txt", (1, 1))  # so that git has to read it again
    assert leave(idle) == gone(idle)
    assert leave(busy) == kept(busy, "changes")
    assert list(marks.iterdir()) == []

    git(project, "worktree", "add", "-q", str(tmp_path / "plain"))
    (tmp_path / "plain/a.txt").write_text("changed\n")
    (tmp_path / "plain/sub/deep/b.txt").write_text("changed\n")
    git(tmp_path / "plain", "add", "--all")
    assert {mark.name for mark in marks.iterdir()} >= {
        "post-checkout",
        "reference-transaction",
        "smudge-evil",
        "smudge-a=b",
        "clean-evil",
        "clean-a=b",
        "fsmonitor",
    }


def test_files_that_the_settings_put_elsewhere_are_not_checked_out(
    project: Path, home: Home, tmp_path: Path
) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    git(project, "config", "core.worktree", str(other))
    with pytest.raises(UserError, match=f"belongs to a repository whose files stand in {other}"):
        add(project, home, RUN)


def test_a_folder_that_was_a_link_in_the_last_commit_does_not_lead_out(
    project: Path, home: Home, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "way").symlink_to(outside)
    commit(project)
    (project / "way").unlink()
    (project / "way").mkdir()
    with pytest.raises(UserError, match="way is a link out of the repository in its last commit"):
        add(project / "way", home, RUN)
    assert branches(project) == ["main"]
    assert list((home.runs / "worktrees").iterdir()) == []


def test_a_child_that_puts_another_repository_in_its_place_is_looked_at_by_the_true_one(
    project: Path, home: Home, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    worktree = add(project, home, RUN)
    (worktree.path / ".git").write_text(f"gitdir: {other}/.git\n")
    (worktree.path / "c.txt").write_text("new\n")
    assert leave(worktree) == kept(worktree, "untracked")


def test_eight_at_once_come_and_go_in_one_repository(project: Path, home: Home) -> None:
    with ThreadPoolExecutor(8) as threads:
        worktrees = list(threads.map(lambda n: add(project, home, f"run-{n}"), range(12)))
        assert len({worktree.path for worktree in worktrees}) == 12
        assert all((worktree.path / "a.txt").exists() for worktree in worktrees)
        assert list(threads.map(leave, worktrees)) == [gone(worktree) for worktree in worktrees]
    assert branches(project) == ["main"]
    assert not (project / ".git/worktrees").exists()


def test_a_lock_that_is_let_go_is_waited_for(project: Path, home: Home) -> None:
    lock = project / f".git/refs/heads/tracklog/{RUN}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with ThreadPoolExecutor(1) as threads:
        coming = threads.submit(add, project, home, RUN)
        with pytest.raises(TimeoutError):
            coming.result(timeout=0.2)
        lock.unlink()
        worktree = coming.result(timeout=60)
    assert (worktree.path / "a.txt").exists()


def test_a_lock_that_stays_is_not_waited_for_without_end(
    project: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_worktree, "_PATIENCE_S", 0.2)
    lock = project / f".git/refs/heads/tracklog/{RUN}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(UserError, match=r"no worktree of .*\.lock': File exists"):
        add(project, home, RUN)
    assert branches(project) == ["main"]
    assert list((home.runs / "worktrees").iterdir()) == []


def test_names_with_newlines_and_strange_bytes_work(tmp_path: Path, home: Home) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path.resolve()) + b"/a\nb \xff"))
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "sub/x\ny").write_text("x")
    commit(folder)
    worktree = add(folder / "sub", home, RUN)
    assert (worktree.cwd / "x\ny").read_text() == "x"
    (worktree.cwd / "?? z").write_text("z")
    assert leave(worktree) == kept(worktree, "untracked")
