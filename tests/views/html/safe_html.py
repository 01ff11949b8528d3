"""What a piece of HTML holds, for tests that let nothing else through."""

from __future__ import annotations

from html.parser import HTMLParser


class Held(HTMLParser):
    """The tags, attributes and texts of a fragment, as a parser of others sees them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.strange: list[str] = []  # comments, declarations, instructions
        self._open: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """All that is read."""
        return "".join(self.texts)

    @property
    def is_balanced(self) -> bool:
        """Whether every tag was closed, in order."""
        return not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("br", "hr"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self._open.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.strange.append(data)

    def handle_decl(self, decl: str) -> None:
        self.strange.append(decl)

    def handle_pi(self, data: str) -> None:
        self.strange.append(data)

    def unknown_decl(self, data: str) -> None:
        self.strange.append(data)


def held(html: str) -> Held:
    """What a fragment holds; it can be sent, is balanced, and has neither comments nor the like."""
    html.encode("utf-8")
    found = Held(html)
    assert found.is_balanced, html
    assert found.strange == []
    return found
