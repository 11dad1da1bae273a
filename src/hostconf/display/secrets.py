"""Where a text holds secrets, told by position first: words after an option, values of an address, of a name.

Pure. A span is a pair of offsets. What only refers to a secret (`${KEY}`,
`{env:KEY}`, `$KEY`) is none and stays visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

MASK = "••••••"
"""Stands for a secret: always the same, so that neither length nor beginning shows."""

Span = tuple[int, int]


def _many(words: str) -> frozenset[str]:
    return frozenset(words.split())


# ------------------------------------------------------------------ what refers to a secret

_REFERENCE = re.compile(
    r"\$\{\{\s*[\w.\-]+\s*\}\}"
    r"|\$\{(?:env:|input:|secret:)?[A-Za-z_][\w.\-]*\}"
    r"|\$\{[A-Za-z_]\w*:?[-=?+](?P<default>[^{}]*)\}"
    r"|\{(?:env|file|input):[^{}\s]+\}"
    r"|(?<![^\s=:/@,'\"])\$[A-Z_][A-Z0-9_]+(?![^\s=:/@,;&'\"\\])"
)
_SCHEME = re.compile(r"[ \t'\"]*(?:(?:Bearer|Basic|Token|ApiKey|Api-Key|Digest)(?:[ \t:]+|\Z))?", re.IGNORECASE)
_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")

# ------------------------------------------------------------------ what a secret looks like

_VENDOR = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?=[\w\-]*\d)[A-Za-z0-9_\-]{12,}|sk_(?:live|test)_\w{8,}|rk_(?:live|test)_\w{8,}|whsec_\w{8,}|"
    r"gh[opusr]_\w{16,}|github_pat_\w{16,}|gl(?:pat|ptt|dt|rt)-[\w\-]{12,}|"
    r"xox[abeoprs]-[\w\-]{8,}|xapp-[\w\-]{8,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}|AIza[\w\-]{20,}|ya29\.[\w\-]{16,}|"
    r"tvly-[\w\-]{8,}|pplx-[A-Za-z0-9]{16,}|BSA[\w\-]{20,}|fc-[0-9a-f]{16,}|jina_[A-Za-z0-9]{16,}|ctx7sk-[\w\-]{8,}|exa_[A-Za-z0-9]{16,}|"
    r"sbp_\w{16,}|sb_(?:secret|publishable)_\w{8,}|hf_[A-Za-z0-9]{16,}|r8_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{16,}|pypi-[\w\-]{16,}|dop_v1_\w{16,}|"
    r"lin_api_\w{8,}|ntn_[A-Za-z0-9]{16,}|secret_[A-Za-z0-9]{16,}|figd_[\w\-]{8,}|gsk_\w{16,}|xai-\w{16,}|nvapi-[\w\-]{16,}|"
    r"SG\.[\w\-]{8,}\.[\w\-]{8,}|key-[0-9a-f]{24,}|shp(?:at|ss|ca|pa)_\w{16,}|glsa_\w{16,}|dckr_pat_[\w\-]{8,}|"
    r"eyJ[\w\-]{8,}\.[\w\-]{8,}(?:\.[\w\-]*)?|AGE-SECRET-KEY-1\w{16,}"
    r")"
)
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z])")
_LONG = re.compile(r"(?<![A-Za-z0-9_+=\-])(?=[A-Za-z_+=\-]*\d[A-Za-z_+=\-]*\d)[A-Za-z0-9_+=\-]{20,}")
_SEGMENT = re.compile(r"[A-Za-z0-9_+=.~\-]{16,}")
_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----")

# ------------------------------------------------------------------ what a name says

_SECRET_WORDS = _many("""
    token tokens secret secrets password passwords passwd passphrase passcode pwd pass apikey apikeys credential
    credentials authorization cookie cookies bearer jwt pat private authtoken accesstoken refreshtoken idtoken
    bearertoken dsn otp privatekey secretkey accesskey clientsecret sessiontoken authkey passkey privkey
""")
_KEY_OF = _many("""
    api access private secret auth encryption signing license account subscription service session shared master ssh
    app application deploy host storage rsa
""")
_HOLDERS = _many("access refresh auth api bearer id oauth session user bot app secret personal device push my the")
_PAIRS = frozenset(
    [("connection", "string"), ("connection", "uri"), ("auth", "code"), ("session", "id"), ("client", "id")]
)
_COUNTERS = _many("max min limit budget output input context total used per count")
_HARMLESS_ENDS = _many("""
    limit count budget store type helper command path file dir url uri endpoint expiry expires at ttl date usage
    window size mode enabled threshold scope scopes header provider method audience issuer required algorithm
    timeout refresh day hour minute month
""")
_NAME_ENDS = _many("env var vars variable variables name names key")
_ENUM = _many("""
    allow deny ask true false on off yes no none null auto file keyring keychain oauth bearer basic required
    optional enabled disabled default ephemeral never always user project local system
""")
_ENVIRONMENTS = _many("env envs environment environmentvariables environmentvars envvars environ")
_NAMES_INSIDE = _many("""
    mcp servers extensions agent agents subagents command commands modes provider providers plugins skills lsp
    formatter projects profiles marketplaces models tools
""")

# What the values below a key are: ordinary, all masked, masked unless a known word, names of variables,
# or things whose own keys are names that people gave.
ORDINARY, POSITION, SECRET, NAMES, GIVEN = "", "position", "secret", "names", "given"


def words_of_key(key: str) -> list[str]:
    """The words of a key: `apiKey`, `API_KEY` and `api-key` are `api key`."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", key)
    return [word for word in re.split(r"[^a-z0-9]+", parted.lower()) if word]


def secret_name(key: str) -> bool:
    """Whether a key of that name usually holds a secret."""
    if len(key) > 80 or re.search(r"[*/\\(){}\s]", key):
        return False
    words = words_of_key(key)
    if not words or words[-1] in _HARMLESS_ENDS:
        return False
    said = _SECRET_WORDS & set(words)
    if said == {"tokens"} and len(words) > 1 and words[words.index("tokens") - 1] not in _HOLDERS:
        return False
    if said and not (said <= {"token", "tokens"} and _COUNTERS & set(words)):
        return True
    pairs = set(pairwise(words))
    return bool(pairs & _PAIRS) or any(a in _KEY_OF and b in ("key", "keys") for a, b in pairs)


def names_secret(key: str, value: str) -> bool:
    """Whether `value` stands where the name says that a secret does, and not the name of a variable."""
    return secret_name(key) and not (_NAME.fullmatch(value) and below("", key) == NAMES)


@lru_cache(maxsize=4096)
def below(state: str, key: str, loose: bool = False) -> str:
    """What the values below `key` are, when those beside it are `state`.

    `loose`: the keys above are not known, so a name like a variable's counts as one.
    """
    if state in (POSITION, SECRET, NAMES):
        return state
    plain = re.sub(r"[_\- ]", "", key.lower())
    if re.fullmatch(r"\w[\w.]*", plain) and any(p in _ENVIRONMENTS or p.endswith("headers") for p in plain.split(".")):
        return NAMES if plain == "envhttpheaders" else POSITION
    words = words_of_key(key)
    if words[:1] == ["bearer"] or (state != GIVEN and secret_name(key)):
        return NAMES if len(words) > 1 and words[-1] in _NAME_ENDS and words[-1] != "key" else SECRET
    if plain in _NAMES_INSIDE or plain.endswith(("mcpservers", "contextservers")):
        return GIVEN
    if loose and re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", key):
        return POSITION
    return POSITION if plain == "set" and state == "policy" else ("policy" if plain == "shellenvironmentpolicy" else "")


# ------------------------------------------------------------------ spans


def value_spans(text: str, at: int = 0) -> list[Span]:
    """What of a value in a secret's place is to be masked: all but references and the word before them."""
    spans: list[Span] = []
    last = 0
    for match in _REFERENCE.finditer(text):
        if looks_secret(match.group()):
            continue
        _rest(text, last, match.start(), at, spans)
        if match["default"]:
            spans.append((at + match.start("default"), at + match.end("default")))
        last = match.end()
    _rest(text, last, len(text), at, spans)
    return spans


def _rest(text: str, start: int, end: int, at: int, spans: list[Span]) -> None:
    piece = text[start:end]
    if not piece.strip(" \t\r\n:;,&/@'\"" if start or end < len(text) else " \t\r\n'\""):
        return
    head = _SCHEME.match(piece) if not start else None
    skip = head.end() if head else len(piece) - len(piece.lstrip())
    body = piece[skip:].rstrip()
    if skip and body[-1:] == piece.lstrip()[:1] and body[-1:] in ("'", '"'):
        body = body[:-1]
    if body:
        spans.append((at + start + skip, at + start + skip + len(body)))


def is_reference(text: str) -> bool:
    """Whether a value names where the secret is, and holds none itself."""
    return bool(_REFERENCE.search(text)) and not value_spans(text)


def looks_secret(text: str) -> bool:
    """Whether a vendor's key, or a long word without sense, stands in the text."""
    return bool(_VENDOR.search(text)) or any(_senseless(word) for word in _LONG.findall(text))


def _senseless(word: str) -> bool:
    """Whether letters and digits change so often that nobody made the word up."""
    word = word[:200]
    digits = sum(map(str.isdigit, word))
    letters = sum(map(str.isalpha, word))
    if digits < 2 or letters < 2:
        return False
    changes = 0
    for a, b in pairwise(word):
        if a.isalnum() and b.isalnum():
            changes += a.isdigit() != b.isdigit() or (a.islower() and b.isupper())
    return changes >= 0.2 * len(word)


def shape_spans(text: str, at: int = 0) -> list[Span]:
    """Vendors' keys, UUIDs and long words without sense, wherever they stand."""
    if len(text) < 12:
        return []
    spans = [(at + m.start(), at + m.end()) for m in _VENDOR.finditer(text)]
    spans += [(at + m.start(), at + m.end()) for m in _UUID.finditer(text)]
    spans += [(at + m.start(), at + m.end()) for m in _LONG.finditer(text) if _senseless(m.group())]
    return spans


def key_block_spans(text: str) -> list[Span]:
    """The bodies of private keys in PEM form."""
    spans = []
    for match in _KEY_BLOCK.finditer(text):
        end = text.find("-----END", match.end())
        spans.append((match.end(), len(text) if end < 0 else end))
    return spans


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,20}://(?:\$\{[^{}\s]*\}|\{\w+:[^{}\s]*\}|[^\s\"'<>`{}()\[\]|\\])+")
_URL_PARTS = re.compile(r"([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)


def url_spans(url: str, at: int = 0, strict: bool = False) -> list[Span]:
    """User, values of the query, and segments that look like tokens; with `strict` the fragment in any case."""
    scheme = url.find("://")
    start = scheme + 3 if scheme >= 0 else 0
    match = _URL_PARTS.match(url, start)
    if match is None:
        return []
    authority_end = match.end(1)
    port = match[1].rpartition("@")[2].rpartition(":")[2]
    if ":" in match[1] and "@" not in match[1] and "@" in url[start:] and not re.fullmatch(r"\d*|[${].*", port):
        authority_end = url.rindex("@") + 1  # a password with `/`, `?` or `#` in it
        match = _URL_PARTS.match(url, authority_end) or match
    spans: list[Span] = []
    user = url[start:authority_end].rpartition("@")[0]
    if user and user != "git":
        spans += value_spans(user, at + start)
    for segment in _SEGMENT.finditer(url, match.start(2), match.end(2)):
        if _senseless(segment.group()) or shape_spans(segment.group()):
            spans.append((at + segment.start(), at + segment.end()))
    if match[3]:
        for part in re.finditer(r"(?<=[?&;])([^&;=]*)(=?)([^&;]*)", url[match.start(3) : match.end(3)]):
            group = 3 if part[2] else 1
            spans += value_spans(part[group], at + match.start(3) + part.start(group))
    if match[4] and (strict or "=" in match[4] or shape_spans(match[4])):
        spans += value_spans(match[4][1:], at + match.start(4) + 1)
    return spans


_OPTION_NAME = re.compile(
    r"--?[\w\-.]*(?:key|token|secret|pass|credential|cookie|bearer)[\w\-.]*|--?auth(?!or)[\w\-.]*", re.I
)
_HEADER_OPTIONS = ("-H", "--header", "--headers", "--http-header", "--proxy-header")
_ENV_OPTIONS = ("-e", "--env", "--build-arg", "--set-env")
_QUOTED = r"\\\"(?:(?!\\\")[^\n])*(?:\\\")?|\"[^\"\n]*\"|'[^'\n]*'|"
_OPTION = re.compile(rf"(?<![\w\-/.])(--?[A-Za-z][\w\-.]*)(=|[ \t]+)({_QUOTED}[^\s\"'\\]+)")
_HEADER = re.compile(
    r"\b((?:Proxy-)?Authorization|Cookie|Set-Cookie|[\w\-]{0,40}(?:api[\-_]?key|token|secret))[ \t]*:[ \t]*"
    rf"((?:Bearer|Basic|Token)[ \t]+[^\s\"'\\]+|\$\{{\{{[^}}]*\}}\}}|{_QUOTED}[^\s\"',\\]+)",
    re.I,
)
_BEARER = re.compile(r"\b(?:Bearer|Basic)[ \t]+((?:\$\{[^}\s]*\}|\{\w+:[^}\s]*\}|[^\s\"'`,;])+)")
_ASSIGNED = re.compile(rf"(?<![\w.$\-?&/])([A-Za-z_][\w\-]*)(=)({_QUOTED}(?:\$\{{[^}}]*\}}|[^\s\"'&;,|)`\\])+)")
_STATED = re.compile(
    r"^[ \t>*+\-|#/]*[`\"']?([A-Za-z_][\w \-]{0,40}?)[`\"']?[ \t]*[:=][ \t]*([`\"']?)(\S+?)\2[,;|]?[ \t\r]*$",
    re.MULTILINE,
)


def _quoted(match: re.Match[str], group: int) -> tuple[str, int]:
    text, start = match[group], match.start(group)
    for quote in ('\\"', '"', "'"):
        if text.startswith(quote):
            inner = text[len(quote) :].removesuffix(quote)
            return inner, start + len(quote)
    return text, start


def secret_option(word: str) -> bool:
    """Whether the word after this option is a secret."""
    return (len(word) < 100 and bool(_OPTION_NAME.fullmatch(word))) or word in _HEADER_OPTIONS


def _counted(option: str, value: str) -> bool:
    """`--max-tokens 4096`: a number of them, and none of them."""
    return value.isdigit() and bool(_COUNTERS & set(words_of_key(option)))


def after_option(option: str, word: str, at: int = 0) -> list[Span] | None:
    """What of the word after an option is to be masked; None where the option says nothing."""
    if option in _ENV_OPTIONS:
        name, equals, value = word.partition("=")
        return value_spans(value, at + len(name) + 1) if equals else []
    if option in _HEADER_OPTIONS:
        head = re.match(r"[\w\-]+[:=][ \t]*", word)
        return value_spans(word[head.end() :], at + head.end()) if head else value_spans(word, at)
    if option in ("-u", "--user", "--proxy-user"):
        return value_spans(word, at) if ":" in word else None
    if secret_option(option) and not word.startswith("--") and not _counted(option, word):
        return value_spans(word, at)
    return None


def text_spans(text: str, at: int = 0, *, prose: bool = False, strict: bool = False) -> list[Span]:
    """Secrets in a text, of one line or many, that may be a command, an address, an assignment or prose."""
    if len(text) < 12 and not any(mark in text for mark in "=: @") and not text.startswith("-p"):
        return []
    spans = shape_spans(text, at)
    for match in _URL.finditer(text):
        spans += url_spans(match.group().rstrip(".,;:"), at + match.start(), strict)
    if "-" in text:
        for match in _OPTION.finditer(text):
            value, start = _quoted(match, 3)
            spans += after_option(match[1], value, at + start) or []
        for match in re.finditer(r"(?<!\S)-p(?=[^\s=]*[A-Za-z])(?=[^\s=]*[\d\W])(?!\S*[/:])([^\s=\-]\S{3,})", text):
            spans.append((at + match.start(1), at + match.end(1)))
    for match in _ASSIGNED.finditer(text):
        value, start = _quoted(match, 3)
        if _idle(value, prose):
            continue
        if names_secret(match[1], value) or (not prose and re.fullmatch(r"[A-Z_][A-Z0-9_]*", match[1])):
            spans += value_spans(value, at + start)
    if ":" in text or prose:
        for match in _HEADER.finditer(text):
            value, start = _quoted(match, 2)
            if not prose or looks_like_value(value):
                spans += value_spans(value, at + start)
        for match in _STATED.finditer(text):
            told = match[2] or not prose or looks_like_value(match[3]) or re.fullmatch(r"[\w\-]+", match[3])
            if told and match[3].lower() not in _ENUM and names_secret(match[1].strip().replace(" ", "_"), match[3]):
                spans += value_spans(match[3], at + match.start(3))
    for match in _BEARER.finditer(text):
        if looks_like_value(match[1]):
            spans += value_spans(match[1], at + match.start(1))
    return spans


def _idle(value: str, prose: bool) -> bool:
    """Whether an assigned value says nothing: a switch, or in prose a gap to be filled."""
    if value.lower() in ("0", "1", "true", "false", ""):
        return True
    return prose and bool(re.fullmatch(r"[.…*x]+|<[^<>]*>?|[{\[(].*", value))


def looks_like_value(text: str) -> bool:
    """Whether a word of prose is a value and no word of a language."""
    body = text.rpartition(" ")[2]
    if len(body) >= 8 and any(map(str.isdigit, body)):
        return True
    return not re.fullmatch(r"[A-Za-z.,;:!?<>\[\]{}()*_\-`'\"]*", body)


def scalar_spans(
    text: str, state: str, at: int = 0, *, bare: bool = False, before: str = "", item: bool = False
) -> list[Span]:
    """Secrets in one value: by what its place says, by the item `before` it, by how it looks.

    `bare`: it stands without quotes (a number, a word). `item`: it is one of a list.
    """
    if bare and text.lower() in ("true", "false", "null", "none", "~", "yes", "no", "on", "off", ""):
        return []
    if state in (POSITION, SECRET):
        if state == SECRET and (text.strip().lower() in _ENUM or (bare and re.fullmatch(r"[\d._]{1,5}", text))):
            return []
        if item and (assigned := re.match(r"[A-Za-z_]\w*=", text)):
            return value_spans(text[assigned.end() :], at + assigned.end())
        if item and _NAME.fullmatch(text) and not looks_secret(text):
            return []
        return value_spans(text, at)
    if state == NAMES and not (_NAME.fullmatch(text) and not looks_secret(text)):
        return value_spans(text, at)
    if bare and re.fullmatch(r"[+\-]?[\d._]+(?:[eE][+\-]?\d+)?", text):
        return []
    if before and (spans := after_option(before, text, at)) is not None:
        return spans
    return text_spans(text, at)


# ------------------------------------------------------------------ masking


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in rising order, not touching, none of them empty."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        elif end > start:
            out.append((start, end))
    return out


def cover(text: str, spans: Iterable[Span]) -> str:
    """The text with every span as dots."""
    parts: list[str] = []
    last = 0
    for start, end in merged(spans):
        parts += (text[last:start], MASK)
        last = end
    return "".join(parts) + text[last:]


def mask_value(value: str) -> str:
    """A value in a secret's place: dots, but for references to where the secret is."""
    return cover(value, value_spans(value))


def mask_url(url: str) -> str:
    """An address without user, values of the query, fragment, and segments that look like tokens."""
    if is_reference(url):
        return url
    return cover(url, [*url_spans(url, strict=True), *shape_spans(url)])


def mask_command(words: Sequence[str]) -> list[str]:
    """The words of a command, with secrets masked: after options, in assignments, in addresses, by their looks."""
    masked: list[str] = []
    before = ""
    for word in words:
        spans = after_option(before, word)
        masked.append(cover(word, text_spans(word, strict=True) if spans is None else spans))
        before = word
    return masked
