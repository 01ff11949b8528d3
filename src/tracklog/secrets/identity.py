"""Find identities in bytes: home directories, user and host names, e-mail addresses, accounts.

The bytes are raw lines of a log or plain text, so the escapes of JSON are read where they occur.

Rules
  1. A name counts where a machine wrote it: as the working directory, in an environment, at a shell's prompt. A
     path in a text only proves that there is such a home: `/home/about` is the page of some site.
  2. A common word is nobody's name: of `/home/runner` the path counts, and `runner` stays in the text.
  3. E-mail addresses of machines, documents, packages, repositories and tests are nobody's: they are known by
     their domain, or by a name that is a role (`noreply`, `test`).
  4. Each pattern begins with a literal and is bounded, so time is linear in the text. An address is found by the
     sign between name and domain; the name is read backwards from it, 64 letters at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

_DOMAIN = rb"((?:[A-Za-z0-9][A-Za-z0-9-]{0,62}+\.){1,5}[A-Za-z]{2,24})(?![A-Za-z0-9_(-]|\.[A-Za-z0-9])"
_ADDRESSED = (re.compile(rb"@" + _DOMAIN), re.compile(rb"%40" + _DOMAIN), re.compile(rb"\\u0040" + _DOMAIN))
_LOCAL = re.compile(rb"[A-Za-z0-9._+-]{1,64}")
_USERINFO = re.compile(rb"[^\s\"'<>/]{0,80}//:")  # read backwards: `//user:` of an address of the web
_TO_A_PATH = re.compile(rb":(?:[~/]|[\w./-]{1,80}\.git\b)")
_ENDINGS = frozenset(
    b"""
    com org net edu gov mil int info biz name pro dev app page tech cloud online site store xyz email mail academy agency
    company digital email global group io ai co live media network news software solutions studio systems team tools work
    works world zone local localdomain lan internal corp home intranet
    """.split()
)
_FILES = frozenset(b"py js ts md rs go rb cs vb pl sh so gz db cc hs ml ps kt ex mm nd wl".split())
_NOBODYS_DOMAIN = re.compile(
    rb"(?:.*\.)?(?:example\.\w+|example\.co\.\w+|\w*noreply\.\w+|users\.noreply\.github\.com|test\.\w+|tests?\.local|"
    rb"domain\.\w+|(?:your|my|some)-?_?(?:domain|company|site|org|email|host|server)\.\w+|email\.com|company\.com|"
    rb"foo\.\w+|bar\.\w+|acme\.\w+|localhost\.\w+|xxx+\.\w+|sentry\.io|anthropic\.com)",
    re.IGNORECASE,
)
_NOBODYS = re.compile(
    rb"(?:no-?_?reply|do-?not-?reply|(?:.*[.=])?git|hg|svn|ssh|test\w*|tests?[.+_-].*|.*[.+_-]test|user\d*|username|you|your[._-]?\w*|"
    rb"me|name|email|mail|foo|bar|baz|someone|somebody|example|sample|dummy|fake|root|postmaster|mailer-daemon|.*\[bot\]|bot)",
    re.IGNORECASE,
)


class EmailMatch(NamedTuple):
    """An address and where it stands; `%40` and `\\u0040` are read as the sign that they mean."""

    value: bytes
    start: int
    end: int


def addresses_in(data: bytes) -> Iterator[EmailMatch]:
    """All that has the shape of an address."""
    for pattern in _ADDRESSED:
        for match in pattern.finditer(data):
            if local := word_before(data, match.start(), _LOCAL):
                yield EmailMatch(local + b"@" + match[1], match.start() - len(local), match.end())


def emails_in(data: bytes) -> Iterator[bytes]:
    """The addresses of people: not of machines, documents, packages or repositories."""
    for address in addresses_in(data):
        if _is_somebodys(*address.value.split(b"@")) and not _is_of_another(data, address):
            yield address.value


def _is_somebodys(local: bytes, domain: bytes) -> bool:
    ending = domain.rpartition(b".")[2].lower()
    if not (ending in _ENDINGS or (len(ending) == 2 and ending not in _FILES)):
        return False
    if domain.split(b".")[0].isdigit():  # the version of a package: left-pad@1.2.dev
        return False
    return not (_NOBODYS_DOMAIN.fullmatch(domain) or _NOBODYS.fullmatch(local))


def _is_of_another(data: bytes, address: EmailMatch) -> bool:
    """Whether it is a part of `https://user:word@host/` or `host:path`."""
    before = data[max(0, address.start - 96) : address.start]
    return bool(_USERINFO.match(before[::-1]) or _TO_A_PATH.match(data, address.end))


def word_before(data: bytes, end: int, pattern: re.Pattern[bytes]) -> bytes:
    """The word that ends at a place, without the letters of an escape that stands before it."""
    before = data[max(0, end - 80) : end]
    match = pattern.match(before[::-1])
    if match is None:
        return b""
    word = match[0][::-1]
    if before[: len(before) - len(word)].endswith(b"\\"):
        escape = re.match(rb"u[0-9a-fA-F]{4}|[nrtbf]", word)
        word = word[escape.end() :] if escape else word
    return word.lstrip(b".-+")


Kind = Literal["home", "user", "host", "email", "account"]


class Private(NamedTuple):
    """One identity, in its plain form."""

    kind: Kind
    value: bytes


def private_in(data: bytes) -> set[Private]:
    """The identities that a text gives away."""
    found: set[Private] = set(_homes(data))
    found.update(_users(data))
    found.update(_hosts(data))
    found.update(_prompts(data))
    found.update(Private("email", value) for value in emails_in(data))
    found.update(_accounts(data))
    return found


def known(
    *,
    home: str = "",
    user: str = "",
    host: str = "",
    emails: Iterable[str] = (),
    accounts: Iterable[str] = (),
) -> set[Private]:
    """The identities of a machine that the caller knows; words that everybody uses are left out."""
    found = {Private("email", email.encode()) for email in emails if email}
    found.update(Private("account", account.encode()) for account in accounts if account)
    if _is_a_home(home.encode()):
        found.add(Private("home", home.rstrip("/\\").encode()))
    for kind, name in (("user", user), ("host", host)):
        found.update(_named(kind, name.encode()))  # type: ignore[arg-type]  # the pairs above
    return found


_NAME = rb"((?:[A-Za-z0-9_]|[\x80-\xff]|\\{1,4}u(?!00[0-9])[0-9a-fA-F]{4})(?>(?:[A-Za-z0-9._-]|[\x80-\xff]|\\{1,4}u(?!00[0-9])[0-9a-fA-F]{4}){0,63}))"
_SLASH = rb"(?:\\{0,8}/|%2[fF])"
# Before `/home` nothing that makes it a part of another path: a letter, unless it is of an escape (`\n`) or a flag (`-I`).
_HOME = re.compile(
    rb"home(?<=[/fF]home)(?:(?<![A-Za-z0-9_.~)}-][/fF]home)|(?<=\\[nrt]/home)|(?<=-[A-Z]/home)|(?<=%2[fF]home))"
    + _SLASH
    + _NAME
    + rb"(\\{0,8}/\.)?"
)
_MAC = re.compile(
    rb"Users(?<=/Users)(?:(?<![A-Za-z0-9_.~)}:-]/Users)|(?<=\\[nrt]/Users)|(?<=-[A-Z]/Users))"
    + _SLASH
    + _NAME
    + rb"(\\{0,8}/)?"
)
_WINDOWS = re.compile(
    rb"sers(?<=[Uu]sers)(?<=[\\/].sers)(?:\\{1,16}|/)((?>(?:[A-Za-z0-9_.'-]|[\x80-\xff]){1,64})"
    rb"(?:(?: (?>(?:[A-Za-z0-9_.'()-]|[\x80-\xff]){1,24})){1,3}(?=\\))?)(\\)?"
)
_DRIVE = re.compile(rb"(?:\\{1,16}|/)?:([A-Za-z])(?![A-Za-z0-9])")  # read backwards from `Users`
_SLUG = re.compile(rb"projects(?:\\{1,16}|/)(?:[A-Za-z]-)?-(home|Users)-([A-Za-z0-9]{1,64}+)(?=[-/\\\"'\s])")
_DIRECTORIES = [
    re.compile(
        variable
        + rb"\\{0,8}[\"']?(?::|=) ?\\{0,8}[\"']?(?:[A-Za-z]:)?(?:\\{1,16}|/)(?:home|Users)(?:\\{1,16}|/)"
        + _NAME
    )
    for variable in (rb"cwd", rb"orkingDirectory", rb"orking_directory", rb"HOME(?<=[^A-Z_]HOME)")
]


def _homes(data: bytes) -> Iterator[Private]:
    for raw, dotted in set(_HOME.findall(data)):
        yield from _home(b"/home/", name_in(raw), sure=bool(dotted))
    for raw, further in set(_MAC.findall(data)):
        yield from _home(b"/Users/", name_in(raw), sure=bool(further))
    for match in _WINDOWS.finditer(data):
        if drive := _DRIVE.match(data[max(0, match.start() - 20) : match.start() - 1][::-1]):
            prefix = drive[1].upper() + b":\\Users\\"
            yield from _home(prefix, name_in(match[1]), sure=bool(match[2]))
    for folder, name in set(_SLUG.findall(data)):
        yield from _home(b"/" + folder + b"/", name, sure=True)


def _home(prefix: bytes, name: bytes, *, sure: bool) -> Iterator[Private]:
    if not name or name.lower() == b"root":
        return
    yield Private("home", prefix + name)
    if sure:
        yield from _named("user", name)


def _is_a_home(path: bytes) -> bool:
    parts = [part for part in re.split(rb"[\\/]+", path) if part]
    return len(parts) >= 2 and (path[:1] == b"/" or path[1:2] == b":")


def _users(data: bytes) -> Iterator[Private]:
    """Names that a machine gave: of the folder it worked in, of its environment."""
    for pattern in _DIRECTORIES:
        for raw in set(pattern.findall(data)):
            yield from _named("user", name_in(raw))
    for name in _assigned(data, b"USER", b"LOGNAME", b"USERNAME"):
        yield from _named("user", name)


_ESCAPED = re.compile(rb"\\{1,4}u([0-9a-fA-F]{4})")
_FIRST_OF_CJK = "\u2e80"


def name_in(raw: bytes) -> bytes:
    """The name at the start of what follows a home's folder: letters and digits, without the text that follows."""
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)).encode("utf-8", "replace"), raw).decode(
        "utf-8", "replace"
    )
    of_latin = text[:1] < _FIRST_OF_CJK
    kept = 0
    for letter in text:
        if not (letter.isalnum() or letter in "._-' ()") or (of_latin and letter >= _FIRST_OF_CJK):
            break
        kept += 1
    return text[:kept].rstrip("._-' ").encode()


_COMMON = frozenset(
    b"""
    about account actions browser entity admin administrator adm all alpine amazon android anonymous app apps apple appuser art arch auth
    azureuser backup bar base baz beta bin bitnami blog bot build builder bug cache cdn centos chase chrome circleci
    claude client cloud cloudshell code codespace codespaces coder codex common compose computer conda config container
    core current daemon dart data database deb debian dbs debug default demo deno deploy deployer desktop dev developer
    developers devcontainer dir dist docker docs doe domain download downloads drew ec2-user elastic email engineer env
    example examples fedora file files foo folder ftp gateway git github gitlab gitpod golang grant group guest guy hadoop
    help home host hostname hope index info internal java jenkins jobs job jovyan kali kube laptop lab lib linux
    linuxbrew list local localhost login mac macbook macbook-pro machine mail main manager mark master max may media
    member min mini mint mnt model my mysql myuser myapp name new next nginx nix nixos nobody node none null
    office ohmyzsh oracle org own owner package page pages path person pat php pip play plugins pod posix postgres prod
    production profile project projects proxy public python ray redhat redis regular remote repo repos rich rob rocky root
    router ruby run runner runneradmin rust sandbox sample scratch server service services session settings share shared
    shell sites site snap solr some somebody someone source spark src ssh staff staging stage start static steam store
    student sudo superuser support sys system team temp template test tester testing tests testuser thing tmp tool tools
    ubuntu uname unknown usr user user1 username users util vagrant var vercel version video view virtual vm vscode
    web welcome wheel who will win windows winuser wiki work worker workers workspace world www www-data wsl x xxx yarn you
    your yourname your-name your_name your-username zero zsh
    """.split()
)
_WORDLIKE = re.compile(rb"[A-Za-z0-9._'() -]+|.*[\x80-\xff].*", re.DOTALL)


def _named(kind: Literal["user", "host"], name: bytes) -> Iterator[Private]:
    """A name that is looked for as a word: three letters at least, and not everybody's."""
    n_letters = sum(letter.isalpha() for letter in name.decode("utf-8", "replace"))
    if n_letters >= 3 and name.lower() not in _COMMON and _WORDLIKE.fullmatch(name):
        yield Private(kind, name)


def _assigned(data: bytes, *variables: bytes) -> Iterator[bytes]:
    """The values of variables in an environment that was printed, `USER=ada`."""
    for variable in variables:
        if variable + b"=" in data:
            pattern = (
                re.escape(variable)
                + rb"=(?:(?<=[^A-Za-z0-9_]"
                + variable
                + rb"=)|(?<=\\n"
                + variable
                + rb"=))"
            )
            yield from set(re.findall(pattern + rb"([A-Za-z][A-Za-z0-9._-]{1,62}+)(?=[\s\"'\\]|$)", data))


_LINUX = re.compile(rb"Linux ([A-Za-z0-9][A-Za-z0-9.-]{1,62}+) \d{1,3}\.\d{1,3}[A-Za-z0-9.+_~-]{0,60}+ #\d")
_DARWIN = re.compile(rb"Darwin ([A-Za-z0-9][A-Za-z0-9.-]{1,62}+) \d{1,3}\.\d{1,3}\.\d{1,3} Darwin Kernel")
_PROMPT = re.compile(
    rb"@([A-Za-z0-9][A-Za-z0-9.-]{1,62}+)(?::| )[~/][^\s$#%\"'<>\\]{0,80}+[\])]?[$#%](?=[ \\\"]|$)"
)
_LOGIN = re.compile(rb"[A-Za-z0-9._-]{1,32}")


def _hosts(data: bytes) -> Iterator[Private]:
    """What `uname -a` and the environment say."""
    for pattern in (_LINUX, _DARWIN):
        for name in set(pattern.findall(data)):
            yield from _named("host", name)
    for name in _assigned(data, b"HOSTNAME", b"COMPUTERNAME"):
        yield from _named("host", name)


def _prompts(data: bytes) -> Iterator[Private]:
    """`ada@engine:~/src$`, as a terminal shows it."""
    for match in _PROMPT.finditer(data):
        yield from _named("host", match[1])
        yield from _named("user", word_before(data, match.start(), _LOGIN))


_UUID = rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_ACCOUNT_KEYS = (
    b"ccountUuid",
    b"rganizationUuid",
    b"ccount_uuid",
    b"rganization_uuid",
    b"ccount_id",
    b"rganization_id",
)
_ACCOUNT = {
    key: re.compile(key + rb"\\{0,8}\" ?: ?\\{0,8}\"((?:user-|org-)?" + _UUID + rb")")
    for key in _ACCOUNT_KEYS
}


def _accounts(data: bytes) -> Iterator[Private]:
    """Whose session it is, as clients write it: `ownerAccountUuid` and its like."""
    for key, pattern in _ACCOUNT.items():
        if key in data:
            for value in set(pattern.findall(data)):
                yield Private("account", value)
