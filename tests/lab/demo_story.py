"""The story that the demo home tells: a small project called tally, worked on by several clients."""

from __future__ import annotations

from typing import Any

from tests.lab.words import Call, Freeform, Say, Scenario, Step, Think, call, reply

TALLY = '''"""Counts words in text files."""

import sys


class Counter:
    def __init__(self):
        self.words = {}

    def feed(self, text):
        for word in text.split():
            self.words[word] = self.words.get(word, 0) + 1

    def top(self, n):
        return sorted(self.words.items(), key=lambda pair: pair[1])[:n]


def main(paths):
    counter = Counter()
    for path in paths:
        with open(path) as file:
            counter.feed(file.read())
    for word, n in counter.top(10):
        print(n, word)


if __name__ == "__main__":
    main(sys.argv[1:])
'''
TESTS = """import unittest

from tally import Counter


class TestCounter(unittest.TestCase):
    def test_the_commonest_word_comes_first(self):
        counter = Counter()
        counter.feed("a b b c c c")
        self.assertEqual(counter.top(1), [("c", 3)])


if __name__ == "__main__":
    unittest.main()
"""
README = "# tally\n\nCounts words in text files.\n\n    python3 tally.py FILE...\n"
FIXED = TALLY.replace("key=lambda pair: pair[1])[:n]", "key=lambda pair: (-pair[1], pair[0]))[:n]")
FILES = {"tally.py": TALLY, "test_tally.py": TESTS, "README.md": README}
GOOD = {**FILES, "tally.py": FIXED}
P = "{{cwd}}"


def bash(command: str, description: str) -> Call:
    return call("Bash", command=command, description=description)


def edit(path: str, old: str, new: str) -> Call:
    return call("Edit", file_path=f"{P}/{path}", old_string=old, new_string=new)


def agent(thread: str, description: str, prompt: str, **more: Any) -> Call:
    asked = {"description": description, "prompt": f"[{thread}] {prompt}", "subagent_type": "general-purpose"}
    return Call(("Agent", "Task"), asked | more)


FIX = Scenario(
    name="fix",
    git=True,
    files=FILES,
    steps=(
        Step("The test in test_tally.py fails. Find out why and fix it."),
        Step("Good. Now add a --json flag, and say so in the README.", args=("--resume", "{{session}}")),
    ),
    threads={
        "main": [
            reply(
                Think("I should see the failure before I touch anything: run the test and read both files."),
                Say("I'll run the test and read the code."),
                bash("python3 -m unittest -q 2>&1 | tail -12; exit ${PIPESTATUS[0]}", "Run the tests"),
                call("Read", file_path=f"{P}/tally.py"),
                call("Read", file_path=f"{P}/test_tally.py"),
            ),
            reply(
                Think(
                    "sorted() is ascending, so top() returns the rarest words. Sort by count downwards, ties by the word."
                ),
                Say("`top` sorts ascending: it returns the rarest words."),
                edit(
                    "tally.py", "key=lambda pair: pair[1])[:n]", "key=lambda pair: (-pair[1], pair[0]))[:n]"
                ),
            ),
            reply(bash("python3 -m unittest -q", "Run the tests again")),
            reply(
                Say(
                    "Fixed: `Counter.top` sorted by count in ascending order, so it returned the rarest words. It now sorts downwards, with ties in the order of the words. The test passes."
                )
            ),
            reply(
                edit("tally.py", "import sys\n", "import json\nimport sys\n"),
                edit("README.md", "python3 tally.py FILE...", "python3 tally.py [--json] FILE..."),
            ),
            reply(call("Read", file_path=f"{P}/README.md")),
            reply(edit("README.md", "python3 tally.py FILE...", "python3 tally.py [--json] FILE...")),
            reply(
                call(
                    "Write",
                    file_path=f"{P}/tally.py",
                    content=FIXED.replace("import sys\n", "import json\nimport sys\n")
                    .replace(
                        """def main(paths):
""",
                        """def main(arguments):
    as_json = "--json" in arguments
    paths = [one for one in arguments if one != "--json"]
""",
                    )
                    .replace(
                        """    for word, n in counter.top(10):
        print(n, word)""",
                        """    if as_json:
        print(json.dumps(dict(counter.top(10))))
        return
    for word, n in counter.top(10):
        print(n, word)""",
                    ),
                )
            ),
            reply(
                bash(
                    "python3 tally.py --json README.md && python3 -m unittest -q",
                    "Try the flag, run the tests",
                )
            ),
            reply(
                Say(
                    "`tally.py --json FILE...` prints the ten commonest words as one JSON object. The README says so, and the test still passes."
                )
            ),
        ]
    },
)

SLOW = Scenario(
    name="slow",
    git=True,
    files=GOOD,
    steps=(Step("Is tally slow on large files? Let somebody measure it, and somebody look at the code."),),
    threads={
        "main": [
            reply(
                Say("I'll have it measured and read at the same time."),
                agent(
                    "measure",
                    "Measure tally",
                    "Time tally.py on a file of a million words. Report seconds and words per second.",
                    run_in_background=False,
                ),
                agent(
                    "review",
                    "Review tally's loop",
                    "Read tally.py and say what would be slow on a large file.",
                    run_in_background=False,
                ),
            ),
            reply(
                bash(
                    "python3 - <<'EOF'\nfor n in range(1, 1101):\n    print(f'run {n:4d}: counted in {0.2 + n % 7 / 100:.2f} s')\nEOF",
                    "Repeat the measurement",
                )
            ),
            reply(
                Say(
                    "No. A million words take well under a second, and the time is the same over 1,100 runs. What will hurt first is memory: `feed(file.read())` holds the whole file. Reading line by line would fix that; I changed nothing."
                )
            ),
        ],
        "measure": [
            reply(
                Think("A million words: a thousand lines of a thousand words."),
                bash(
                    "python3 -c \"print('a b c d e ' * 200000)\" > words.txt && wc -w words.txt",
                    "Make a large file",
                ),
                bash("python3 tally.py nowhere.txt", "Try it on a file that is not there"),
            ),
            reply(bash("python3 tally.py words.txt && rm words.txt", "Count the words")),
            reply(Say("About a fifth of a second for a million words: five million words per second.")),
        ],
        "review": [
            reply(
                call("Read", file_path=f"{P}/tally.py"), bash("grep -n 'read(' *.py", "Where files are read")
            ),
            reply(
                Say(
                    "`feed` is one pass over a dict, which is fine. `file.read()` holds the whole file in memory; that is what breaks first."
                )
            ),
        ],
    },
)

OLD = Scenario(
    name="old",
    git=True,
    files=FILES,
    steps=(Step("Write a CHANGELOG and check the spelling of the README, both at once."),),
    threads={
        "main": [
            reply(
                call(
                    "TodoWrite",
                    todos=[
                        {
                            "content": "Write CHANGELOG.md",
                            "status": "in_progress",
                            "activeForm": "Writing CHANGELOG.md",
                        },
                        {
                            "content": "Check the README",
                            "status": "pending",
                            "activeForm": "Checking the README",
                        },
                    ],
                )
            ),
            reply(
                agent(
                    "log", "Write the changelog", "Write CHANGELOG.md with one entry: 0.1.0, counts words."
                ),
                agent("spell", "Check the README", "Read README.md and list spelling mistakes."),
            ),
            reply(
                call(
                    "TodoWrite",
                    todos=[
                        {
                            "content": "Write CHANGELOG.md",
                            "status": "completed",
                            "activeForm": "Writing CHANGELOG.md",
                        },
                        {
                            "content": "Check the README",
                            "status": "completed",
                            "activeForm": "Checking the README",
                        },
                    ],
                )
            ),
            reply(Say("CHANGELOG.md is written, and the README has no spelling mistakes.")),
        ],
        "log": [
            reply(
                call(
                    "Write",
                    file_path=f"{P}/CHANGELOG.md",
                    content="# Changes\n\n## 0.1.0\n- Counts words in text files.\n",
                )
            ),
            reply(Say("Written: CHANGELOG.md with the entry 0.1.0.")),
        ],
        "spell": [reply(call("Read", file_path=f"{P}/README.md")), reply(Say("No mistakes."))],
    },
)

DENIED = Scenario(
    name="denied",
    git=True,
    files=GOOD,
    skip_permissions=False,
    steps=(Step("Delete everything that is not needed.", args=("--allowedTools", "Bash(ls:*)")),),
    threads={
        "main": [
            reply(Say("Let me see what is here."), bash("ls", "List the files")),
            reply(bash("rm -rf __pycache__ README.md", "Delete what is not needed")),
            reply(
                Say(
                    "I may not delete files here: the call was refused. Nothing was changed. `__pycache__` would be safe to delete; the README I would keep."
                )
            ),
        ]
    },
)

PATCH = """*** Begin Patch
*** Update File: tally.py
@@ def feed(self, text):
-        for word in text.split():
+        for word in text.lower().split():
*** Add File: words.txt
+The the THE
*** End Patch
"""
BAD = PATCH.replace("for word in text.split():", "for word in words(text):", 1)
LOWER = Scenario(
    name="lower",
    git=True,
    files=GOOD,
    model="gpt-5.5",
    steps=(Step("Count words without regard to case."),),
    threads={
        "main": [
            reply(
                Think("Look at the counting loop first, and at whether the tests pass now."),
                Say("I'll read the code and run the tests."),
                call("exec_command", cmd="cat tally.py"),
                call("exec_command", cmd="python3 -m unittest -q"),
                call("exec_command", cmd="grep -n lower *.py"),
            ),
            reply(Freeform(("apply_patch",), BAD)),
            reply(Freeform(("apply_patch",), PATCH)),
            reply(call("exec_command", cmd="python3 tally.py words.txt")),
            reply(
                Say(
                    "Words are counted in lower case now: `The the THE` counts as `3 the`. The first patch did not fit and was refused; the second did."
                )
            ),
        ]
    },
)
EXPLAIN = Scenario(
    name="explain",
    git=True,
    files=FILES,
    steps=(Step("What does this project do?"),),
    threads={
        "main": [
            reply(
                Think("The README and the code will tell."),
                call("exec_command", cmd="cat README.md"),
                call("exec_command", cmd="wc -l tally.py test_tally.py"),
                call("exec_command", cmd="cat LICENSE"),
            ),
            reply(
                Say(
                    "It counts words in text files and prints the ten commonest. One module, `tally.py`, and one test, which fails: `top` returns the rarest words. There is no LICENSE file."
                )
            ),
        ]
    },
)

STORY = [
    ("claude", "2.0.30", OLD),
    ("claude", "2.1.100", FIX),
    ("claude", "2.1.197", SLOW),
    ("claude", "2.1.197", DENIED),
    ("codex", "0.98.0", EXPLAIN),
    ("codex", "0.166.0", LOWER),
]
