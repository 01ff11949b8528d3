from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from tests.conversation.test_thread_page import ID, TALK, write_home
from tests.model.lines import Line, at, reply, result, use, user
from tests.views.web.asking import Answer, app_of, ask
from tests.views.web.read_site import site_over
from tracklog.views.web.pages.session import lines as lines_module
from tracklog.views.web.pages.session import page as session_page
from tracklog.views.web.pages.session import rows as rows_module

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5"
ROUTES = [
    Route("/s/{agent}/{id:path}", session_page.session),
    Route("/raw/{agent}/{id:path}", lines_module.raw),
    Route("/picture/{agent}/{id:path}", lines_module.picture),
    Route("/_/s/{agent}/{id}/rows", rows_module.rows),
    Route("/_/s/{agent}/{id}/call", rows_module.call),
    Route("/_/s/{agent}/{id}/now", session_page.now),
    Route("/_/s/{agent}/{id}/turns", session_page.turns),
    Route("/_/s/{agent}/{id}/where", session_page.where),
    Route("/_/s/{agent}/{id}/raw", lines_module.raw_line),
    Route("/_/s/{agent}/{id}/find", lines_module.find),
    Route("/_/s/{agent}/{id}/text", lines_module.text),
]


def app_over(tmp_path: Path, *lines: Line | bytes, reads: bool = True) -> Starlette:
    write_home(tmp_path / "logs", *lines)
    return app_of(ROUTES, site_over(tmp_path / "logs", tmp_path / "home", reads=reads))


def get(app: Starlette, address: str) -> Answer:
    return ask(app, "GET", address)


def seqs(html: str) -> list[str]:
    return re.findall(r'id="(r[\d.]+)"', html)


def test_a_page_has_its_facts_its_outline_and_its_rows(tmp_path: Path) -> None:
    page = get(app_over(tmp_path, *TALK), f"/s/claude/{ID}")
    assert page.status == 200
    assert "<h1" in page.text
    assert ">do it</h1>" in page.text
    assert seqs(page.text) == ["r1", "r2", "r3", "r6", "r7", "r8"]  # results are part of their calls
    assert 'id="t1"' in page.text
    assert f"/calls?agent=claude&amp;session={ID}&amp;copies=no&amp;verdict=error" in page.text


def test_a_page_is_there_before_there_is_an_index(tmp_path: Path) -> None:
    page = get(app_over(tmp_path, *TALK, reads=False), f"/s/claude/{ID}")
    assert page.status == 200
    assert "The index does not know this session yet" in page.text
    assert len(seqs(page.text)) == 6


def test_without_scripts_a_call_is_unfolded_by_its_address(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    assert "it failed</pre>" not in get(app, f"/s/claude/{ID}").text
    unfolded = get(app, f"/s/claude/{ID}?at=3&open=r3").text
    assert "it failed</pre>" in unfolded
    assert re.search(r'<details [^>]*id="r3"[^>]* open>', unfolded)


def test_a_window_is_asked_for_by_its_first_line(tmp_path: Path) -> None:
    many = [user(f"u{n}", None, f"prompt {n}", timestamp=at(n % 60)) for n in range(250)]
    app = app_over(tmp_path, *many)
    window = get(app, f"/_/s/claude/{ID}/rows?from=101&n=100")
    assert seqs(window.text) == [f"r{n}" for n in range(101, 201)]
    assert (window.header("x-lines"), window.header("x-generation")) == ("250", "0")
    assert seqs(get(app, f"/_/s/claude/{ID}/rows?from=251&n=100").text) == []
    assert seqs(get(app, f"/s/claude/{ID}?at=230").text) == [f"r{n}" for n in range(201, 251)]


def test_a_line_that_is_folded_away_is_shown_when_it_is_wanted(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    assert seqs(get(app, f"/_/s/claude/{ID}/rows?from=4&n=2").text) == []
    assert seqs(get(app, f"/_/s/claude/{ID}/rows?from=4&n=2&want=5").text) == ["r5"]
    assert seqs(get(app, f"/_/s/claude/{ID}/rows?from=4&n=2&all=1").text) == ["r4", "r5"]
    assert "it failed" in get(app, f"/s/claude/{ID}?at=5").text


def test_a_branch_that_was_left_is_its_first_prompt_until_it_is_asked_for(tmp_path: Path) -> None:
    app = app_over(
        tmp_path,
        user("a", None, "begin", timestamp=at(1)),
        reply("b", "a", "m1", "Begun.", timestamp=at(2)),
        user("c", "b", "the wrong way", timestamp=at(3)),
        reply("d", "c", "m2", "Wrong.", timestamp=at(4)),
        user("e", "b", "the right way", timestamp=at(5)),
        reply("f", "e", "m3", "Right.", timestamp=at(6)),
    )
    page = get(app, f"/s/claude/{ID}").text
    assert seqs(page) == ["r1", "r2", "r3", "r5", "r6"]
    assert seqs(get(app, f"/s/claude/{ID}?left=1").text) == ["r1", "r2", "r3", "r4", "r5", "r6"]
    assert f'<a class="way" href="/s/claude/{ID}?branch=c&amp;at=3#r3"' in page
    assert re.search(r'\?branch=c&amp;at=3#r3">[a-z]+: the wrong way</a>', page)


def test_a_branch_that_begins_amid_a_turn_is_followed_like_any_other(tmp_path: Path) -> None:
    """As after a crash: the calls got no result, and the session went on from the words before them."""
    app = app_over(
        tmp_path,
        user("a", None, "begin", timestamp=at(1)),
        reply("b", "a", "m1", "I will look.", timestamp=at(2)),
        reply("c", "b", "m1", use("t1", command="sleep 98"), timestamp=at(3)),
        reply("c2", "c", "m1", use("t2", command="sleep 99"), timestamp=at(3)),
        user("d", "b", "go on", timestamp=at(40)),
        reply("e", "d", "m2", "Gone on.", timestamp=at(41)),
    )
    page = get(app, f"/s/claude/{ID}").text
    assert re.search(r'\?branch=c&amp;at=3#r3">rewind: begins amid a turn</a>', page)
    assert (
        f'<a class="way" href="/s/claude/{ID}?branch=c&amp;at=3#r3" title="Follow it">a branch that was left ›'
        in page
    )
    assert seqs(page) == ["r1", "r2", "r3", "r5", "r6"]
    followed = get(app, f"/s/claude/{ID}?branch=c").text
    assert seqs(followed) == ["r1", "r2", "r3", "r4", "r5"]
    assert "You follow a branch that was left" in followed


def test_two_who_write_at_once_are_two_branches_line_by_line(tmp_path: Path) -> None:
    app = app_over(
        tmp_path,
        user("a", None, "begin", timestamp=at(1)),
        reply("b", "a", "m1", "Begun.", timestamp=at(2)),
        user("c", "b", "the one", timestamp=at(3)),
        user("x", "b", "the other", timestamp=at(4)),
        reply("d", "c", "m2", "One.", timestamp=at(5)),
        reply("y", "x", "m3", "Other.", timestamp=at(6)),
        user("e", "d", "on", timestamp=at(7)),
        user("z", "y", "on as well", timestamp=at(8)),
        reply("f", "e", "m4", "One more.", timestamp=at(9)),
    )
    assert seqs(get(app, f"/s/claude/{ID}").text) == ["r1", "r2", "r3", "r4", "r5", "r7", "r8", "r9"]
    assert seqs(get(app, f"/s/claude/{ID}?branch=x").text) == ["r1", "r2", "r3", "r4", "r6", "r7", "r8"]


REWOUND_TWICE: list[Line | bytes] = [
    user("a", None, "begin", timestamp=at(1)),
    reply("b", "a", "m1", "Begun.", timestamp=at(2)),
    user("c", "b", "the first way", timestamp=at(3)),
    reply("d", "c", "m2", "First.", timestamp=at(4)),
    user("e", "d", "on with the first", timestamp=at(5)),
    reply("f", "e", "m3", "Still first.", timestamp=at(6)),
    user("g", "b", "the second way", timestamp=at(7)),
    reply("h", "g", "m4", "Second.", timestamp=at(8)),
    user("i", "b", "the third way", timestamp=at(9)),
    reply("j", "i", "m5", "Third.", timestamp=at(10)),
]


@pytest.mark.parametrize(
    ("followed", "rows"),
    [
        ("", [1, 2, 3, 7, 9, 10]),
        ("?branch=c", [1, 2, 3, 4, 5, 6, 7, 9]),
        ("?branch=g", [1, 2, 3, 7, 8, 9]),
        ("?branch=nobody", [1, 2, 3, 7, 9, 10]),
    ],
)
def test_a_branch_is_followed_by_its_address(tmp_path: Path, followed: str, rows: list[int]) -> None:
    app = app_over(tmp_path, *REWOUND_TWICE)
    page = get(app, f"/s/claude/{ID}{followed}").text
    assert seqs(page) == [f"r{row}" for row in rows]
    part = get(app, f"/_/s/claude/{ID}/rows?from=1&{followed[1:]}").text
    assert seqs(part) == [f"r{row}" for row in rows]


def test_every_branch_leads_to_the_others(tmp_path: Path) -> None:
    app = app_over(tmp_path, *REWOUND_TWICE)
    ways = r'class="way" href="/s/claude/[^?"]+\?([^"]+)" title="Follow it">([^<]+) ›</a>'
    assert re.findall(ways, get(app, f"/s/claude/{ID}").text) == [
        ("branch=c&amp;at=3#r3", "a branch that was left · 2 turns"),
        ("branch=g&amp;at=7#r7", "a branch that was left · 1 turn"),
    ]
    assert re.findall(ways, get(app, f"/s/claude/{ID}?branch=c").text) == [
        ("branch=g&amp;at=7#r7", "a branch that was left · 1 turn"),
        ("at=9#r9", "the living branch · 1 turn"),
    ]
    assert "Back to the living one" in get(app, f"/s/claude/{ID}?branch=c").text


@pytest.mark.parametrize(
    "odd",
    ["from=0", "from=-1", "from=1e9", "from=99999999999999999999", "n=0", "n=abc", "from=%00", "n=999999"],
)
def test_odd_numbers_in_an_address_are_no_trouble(tmp_path: Path, odd: str) -> None:
    assert get(app_over(tmp_path, *TALK), f"/_/s/claude/{ID}/rows?{odd}").status == 200


def test_a_place_is_found_by_line_turn_and_call(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    for asked, seq in [
        ("line=3", 3),
        (f"line=3&file={ID}.jsonl", 3),
        ("line=99", None),
        ("turn=2", 7),
        ("turn=9", None),
        ("call=t3", 8),
        ("call=nobody", None),
    ]:
        assert get(app, f"/_/s/claude/{ID}/where?{asked}").json() == {"seq": seq, "n": 8, "thread": None}, (
            asked
        )


def test_a_call_is_unfolded_with_its_proof(tmp_path: Path) -> None:
    text = get(app_over(tmp_path, *TALK), f"/_/s/claude/{ID}/call?seq=3").text
    assert "it failed" in text
    assert '<a href="#r5">line 5</a>' in text


def test_an_edit_is_shown_as_the_lines_that_changed(tmp_path: Path) -> None:
    patch = [
        {"oldStart": 7, "oldLines": 1, "newStart": 7, "newLines": 1, "lines": ["-old line", "+new line"]}
    ]
    lines = [
        reply(
            "a",
            None,
            "m",
            use("t1", name="Edit", file_path="/x.py", old_string="old line", new_string="new line"),
        ),
        result("b", "a", "t1", "done", toolUseResult={"filePath": "/x.py", "structuredPatch": patch}),
    ]
    app = app_over(tmp_path, user("u", None, "go"), *lines)
    assert "<ins>+1</ins> <del>−1</del>" in get(app, f"/_/s/claude/{ID}/rows?from=2&n=1").text
    text = get(app, f"/_/s/claude/{ID}/call?seq=2").text
    assert re.search(r'<td class="d-n">7</td><td class="d-n"></td><td class="d-t">-', text)


def test_a_secret_in_a_raw_line_is_masked_until_it_is_asked_for(tmp_path: Path) -> None:
    app = app_over(tmp_path, user("a", None, f"my token is {SECRET}"))
    for address in (f"/raw/claude/{ID}?seq=1", f"/_/s/claude/{ID}/raw?seq=1"):
        assert SECRET not in get(app, address).text
        assert "Secrets are masked" in get(app, address).text
        assert SECRET in get(app, f"{address}&secrets=shown").text


def test_a_raw_line_is_found_by_its_file_and_number(tmp_path: Path) -> None:
    page = get(app_over(tmp_path, *TALK), f"/raw/claude/{ID}?file={ID}.jsonl&line=6")
    assert "<b>Line 6</b> of 8" in page.text
    assert "Done." in page.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("line=99999", "Line 99,999 is not there: this thread has 8 lines."),
        ("line=x", "Line x is not there: this thread has 8 lines."),
        ("file=nope.jsonl&line=3", "No log of this thread is called nope.jsonl."),
        ("seq=999", "Line 999 is not there: this thread has 8 lines."),
        ("seq=0", "Line 0 is not there: this thread has 8 lines."),
        ("seq=-1", "Line -1 is not there: this thread has 8 lines."),
    ],
)
def test_a_raw_line_that_is_not_there_is_a_page_that_names_the_last(
    tmp_path: Path, asked: str, words: str
) -> None:
    app = app_over(tmp_path, *TALK)
    page = get(app, f"/raw/claude/{ID}?{asked}")
    assert page.status == 404
    assert words in page.text
    assert f'href="/raw/claude/{ID}?seq=8"' in page.text
    assert get(app, f"/_/s/claude/{ID}/raw?{asked}").status == 404


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("at=99999", "Line 99,999 is not there: this thread has 8 lines."),
        ("at=abc", "Line abc is not there: this thread has 8 lines."),
        ("line=99", "Line 99 is not there: this thread has 8 lines."),
        ("file=nope.jsonl", "No log of this thread is called nope.jsonl."),
        ("turn=9", "There is no turn 9."),
        ("call=nobody", "There is no call nobody."),
        ("branch=nope", "There is no branch nope: this is the living one."),
    ],
)
def test_a_page_says_which_part_of_its_address_is_not_there(tmp_path: Path, asked: str, words: str) -> None:
    page = get(app_over(tmp_path, *TALK), f"/s/claude/{ID}?{asked}")
    assert page.status == 200
    assert re.findall(r'<p class="notice missing">([^<]*)</p>', page.text) == [words]


def test_a_page_whose_address_leads_somewhere_says_nothing_of_it(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    for asked in ("", "at=8", "line=3", f"file={ID}.jsonl&line=8", "turn=2", "call=t3", "branch=main"):
        assert "notice missing" not in get(app, f"/s/claude/{ID}?{asked}").text, asked


def picture(data: bytes, kind: str = "image/png") -> Line:
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
    return user("a", None, [{"type": "image", "source": source}, {"type": "text", "text": "see"}])


def test_a_picture_is_served_under_a_sandbox_and_as_a_download(tmp_path: Path) -> None:
    app = app_over(tmp_path, picture(PNG))
    answer = get(app, f"/picture/claude/{ID}?seq=1&n=0")
    assert (answer.status, answer.header("content-type"), answer.body) == (200, "image/png", PNG)
    assert answer.header("content-security-policy") == "default-src 'none'; sandbox"
    assert answer.header("content-disposition") == 'attachment; filename="line-1-picture-1.png"'
    assert f'src="/picture/claude/{ID}?seq=1&amp;n=0"' in get(app, f"/s/claude/{ID}").text
    assert get(app, f"/picture/claude/{ID}?seq=1&n=1").status == 404


def test_who_opens_a_picture_by_itself_gets_a_page_with_it(tmp_path: Path) -> None:
    app = app_over(tmp_path, picture(PNG))
    opened = {"Sec-Fetch-Dest": "document"}
    answer = ask(app, "GET", f"/picture/claude/{ID}?seq=1&n=0", headers=opened)
    assert (answer.status, answer.header("content-disposition")) == (200, None)
    assert (
        f'<img class="whole-picture" alt="picture 1 of line 1" src="/picture/claude/{ID}?seq=1&amp;n=0">'
        in answer.text
    )
    assert ask(app, "GET", f"/picture/claude/{ID}?seq=1&n=1", headers=opened).status == 404


@pytest.mark.parametrize("data", [b"<svg xmlns='http://www.w3.org/2000/svg' onload='x'/>", b"<html>", b""])
def test_what_is_no_picture_of_a_known_kind_is_never_served(tmp_path: Path, data: bytes) -> None:
    app = app_over(tmp_path, picture(data))
    assert get(app, f"/picture/claude/{ID}?seq=1&n=0").status == 404


SVG = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def block(data: bytes) -> dict[str, object]:
    source = {"type": "base64", "media_type": "image/any", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


NOT_SHOWN = "not shown: only PNG, JPEG, GIF and WebP that stand in the log are."


def test_only_pictures_that_can_be_shown_are_counted_and_the_others_are_told_of(tmp_path: Path) -> None:
    prompt = user("a", None, [block(SVG), block(PNG), {"type": "text", "text": "see"}])
    call = reply("b", "a", "m", use("t1", name="Read", file_path="/a.svg"))
    app = app_over(tmp_path, prompt, call, result("c", "b", "t1", [block(SVG), block(PNG), block(SVG)]))
    for seq, n_others, address in [
        (1, "1 picture is", f"/s/claude/{ID}"),
        (3, "2 pictures are", f"/_/s/claude/{ID}/call?seq=2"),
    ]:
        html = get(app, address).text
        addresses = re.findall(r'<img [^>]*src="([^"]+)"', html)
        assert addresses == [f"/picture/claude/{ID}?seq={seq}&amp;n=1"]
        assert get(app, addresses[0].replace("&amp;", "&")).status == 200
        assert f"{n_others} {NOT_SHOWN}" in html
    assert "1 picture</span>" in get(app, f"/s/claude/{ID}").text


def test_a_page_without_a_picture_that_can_be_shown_asks_for_none(tmp_path: Path) -> None:
    html = get(app_over(tmp_path, picture(SVG)), f"/s/claude/{ID}").text
    assert "<img" not in html
    assert f"1 picture is {NOT_SHOWN}" in html


def test_a_long_text_can_be_had_whole(tmp_path: Path) -> None:
    app = app_over(tmp_path, user("a", None, "word " * 5000 + "the end"))
    page = get(app, f"/s/claude/{ID}").text
    assert "the end" not in page
    assert "show all 25,007 letters" in page
    assert "the end" in get(app, f"/_/s/claude/{ID}/text?id=r1").text
    assert "no longer" in get(app, f"/_/s/claude/{ID}/text?id=r9").text


@pytest.mark.parametrize("said", [user("a", None, "w0rd " * 60_000), reply("a", None, "m", "w0rd " * 60_000)])
def test_a_very_long_text_comes_in_pieces_of_which_none_is_missing(tmp_path: Path, said: Line) -> None:
    app = app_over(tmp_path, said)
    address: str | None = f"/_/s/claude/{ID}/text?id=r1"
    pieces = []
    while address:
        pieces.append(get(app, address).text)
        onward = re.search(r'href="([^"]+)" data-more', pieces[-1])
        address = onward[1].replace("&amp;", "&") if onward else None
    assert len(pieces) == 3
    assert sum(piece.count("w0rd") for piece in pieces) == 60_000


def test_an_input_that_is_too_long_to_show_says_so(tmp_path: Path) -> None:
    app = app_over(tmp_path, reply("a", None, "m", use("t1", command="echo " + "x" * 20_000)))
    unfolded = get(app, f"/_/s/claude/{ID}/call?seq=1").text
    assert "4,005 letters more" in unfolded


def test_all_lines_of_a_long_change_are_one_link_away_with_and_without_scripts(tmp_path: Path) -> None:
    content = "".join(f"w0rd {n}\n" for n in range(1_000))
    app = app_over(
        tmp_path, reply("a", None, "m", use("t1", name="Write", file_path="/a.txt", content=content))
    )
    unfolded = get(app, f"/_/s/claude/{ID}/call?seq=1").text
    assert unfolded.count("w0rd") == 400
    found = re.search(r'<a href="([^"]+)" data-whole="([^"]+)">show all: 600 lines more', unfolded)
    assert found
    page, part = (
        get(app, address.replace("&amp;", "&").partition("#")[0]).text for address in found.groups()
    )
    assert [text.count('<td class="d-t">+w0rd') for text in (page, part)] == [1_000, 1_000]
    assert "data-whole" not in part


def test_words_are_found_in_the_session(tmp_path: Path) -> None:
    answer = get(app_over(tmp_path, *TALK), f"/_/s/claude/{ID}/find?q=FAILED").json()
    assert answer["hits"] == [5]


def test_a_session_that_is_not_there_names_those_that_may_be_meant(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    page = get(app, f"/s/claude/{ID[:8]}-other")
    assert page.status == 404
    assert "There is no such session" in page.text
    assert f'href="/s/claude/{ID}"' in page.text
    for address in (
        "rows?from=1",
        "call?seq=1",
        "where?line=1",
        "raw?seq=1",
        "find?q=x",
        "text?id=r1",
        "turns",
    ):
        assert get(app, f"/_/s/claude/nobody/{address}").status == 404


def test_a_thread_that_is_not_there_is_a_page_that_says_so(tmp_path: Path) -> None:
    page = get(app_over(tmp_path, *TALK), f"/s/claude/{ID}?thread=nobody")
    assert page.status == 404
    assert "There is no log of this subagent" in page.text
    assert f'href="/s/claude/{ID}"' in page.text


def test_an_empty_log_is_a_page_that_says_so(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    (tmp_path / "logs/projects/-home-dev-project" / f"{ID}.jsonl").write_bytes(b"")
    page = get(app, f"/s/claude/{ID}")
    assert page.status == 200
    assert "Nothing is written to this log yet" in page.text


def test_what_stands_in_a_copy_of_a_log_is_found_in_the_longer_one(tmp_path: Path) -> None:
    whole = write_home(tmp_path / "logs", *TALK)
    copy = tmp_path / "logs/projects/-backup" / whole.name
    copy.parent.mkdir()
    copy.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:6]))
    app = app_of(ROUTES, site_over(tmp_path / "logs", tmp_path / "home"))
    assert re.findall(r'data-go="(\d*)"', get(app, f"/s/claude/{ID}").text) == ["1", "7"]
    for asked, seq in [("turn=1", 1), ("turn=2", 7), ("call=t1", 2), ("call=t3", 8)]:
        answer = get(app, f"/_/s/claude/{ID}/where?{asked}").json()
        assert (answer["seq"], answer["thread"]) == (seq, None), asked
    unfolded = get(app, f"/_/s/claude/{ID}/call?seq=2").text
    assert 'href="#r4"' in unfolded
    assert "of another file" not in unfolded


def test_a_log_that_is_deleted_while_its_page_is_open_is_told_of(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    assert get(app, f"/s/claude/{ID}").status == 200
    next((tmp_path / "logs").rglob("*.jsonl")).unlink()
    for part in (
        "rows?from=1",
        "call?seq=2",
        "turns?at=1",
        "find?q=do",
        "text?id=r1",
        "raw?seq=1",
        "where?call=t1",
    ):
        assert get(app, f"/_/s/claude/{ID}/{part}").status == 200, part
    assert 'class="notice is-bad"' in get(app, f"/_/s/claude/{ID}/rows?from=1").text
    assert get(app, f"/picture/claude/{ID}?seq=1").status == 404


@pytest.mark.parametrize("leaves_link", [False, True])
def test_a_log_that_is_gone_is_read_from_the_archive_before_the_index_has_noticed(
    tmp_path: Path, *, leaves_link: bool
) -> None:
    app = app_over(tmp_path, *TALK)
    before = seqs(get(app, f"/s/claude/{ID}").text)
    log = next((tmp_path / "logs").rglob("*.jsonl"))
    away = log.rename(tmp_path / "away")
    if leaves_link:  # which is never followed
        log.symlink_to(away)
    page = get(app, f"/s/claude/{ID}").text
    assert seqs(page) == before
    assert "only here" in page
    assert "does not exist" not in page
    assert "symbolic link" not in page


def test_header_and_what_stands_beside_are_asked_for_by_themselves(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    page, now = get(app, f"/s/claude/{ID}"), get(app, f"/_/s/claude/{ID}/now?at=1")
    parts = re.search(
        r'(<header class="head".*?</header>).*(<dl class="facts">.*?</dl>)', page.text, re.DOTALL
    )
    assert parts is not None
    assert [part in now.text for part in parts.groups()] == [True, True]
    assert get(app, "/_/s/claude/nobody/now").status == 404
