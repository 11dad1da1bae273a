"""Foreign text on a terminal, masked values, and masked diffs that `patch` takes when nothing is masked."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import subprocess
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from hostconf.display import (
    MASK,
    display,
    is_reference,
    mask_command,
    mask_diff,
    mask_text,
    mask_url,
    mask_value,
    scan,
    scan_lines,
)

# ------------------------------------------------------------------ what a terminal gets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb", "a␛[31mb"),
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("\x00\x7f", "␀␡"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u200bb\ufeff", "a<U+200B>b<U+FEFF>"),
        ("\u2028\u2029", "<U+2028><U+2029>"),
        ("\ud800", "<U+D800>"),
        ("\ue000\U000e0041", "<U+E000><U+E0041>"),
        ("\u0378", "<U+0378>"),
        ("עברית العربية 漢字 é\u0301 \u00a0", "עברית العربية 漢字 é\u0301 \u00a0"),
        ("[red]x[/]", "[red]x[/]"),
    ],
)
def test_display(text: str, shown: str) -> None:
    assert display(text) == shown


def test_display_clips_and_never_in_the_middle_of_a_code() -> None:
    assert display("x" * 10, 5) == "xxxx…"
    assert display("x" * 5, 5) == "xxxxx"
    assert display("abc\u202edef", 6) == "abc…"
    assert display("\u202e", 4) == "…"
    assert display("abc", 0) == ""
    assert len(display("y" * 100_000)) == 4096


@given(st.text(), st.integers(0, 40))
def test_display_gives_nothing_that_steers_a_terminal(text: str, limit: int) -> None:
    shown = display(text, limit)
    assert len(shown) <= limit
    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for char in shown)


# ------------------------------------------------------------------ values, addresses, commands


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("", ""),
        ("hush", MASK),
        ("${KEY}", "${KEY}"),
        ("${env:KEY}", "${env:KEY}"),
        ("${input:some-id}", "${input:some-id}"),
        ("{env:KEY}", "{env:KEY}"),
        ("{file:~/key}", "{file:~/key}"),
        ("$KEY_NAME", "$KEY_NAME"),
        ("${{ secrets.KEY }}", "${{ secrets.KEY }}"),
        ("Bearer ${KEY}", "Bearer ${KEY}"),
        ("Bearer hush", f"Bearer {MASK}"),
        ("${KEY:-hush}", f"${{KEY:-{MASK}}}"),
        ("${KEY:-}", "${KEY:-}"),
        ("hush${KEY}hush", f"{MASK}${{KEY}}{MASK}"),
        ("$ecret", MASK),
        ("pa$$WORD", MASK),
        ("${ghp_abcdefghij0123456789abcdefghij012345}", MASK),
        ("/etc/key", MASK),
        ("$(pass show key)", MASK),
    ],
)
def test_mask_value(value: str, masked: str) -> None:
    assert mask_value(value) == masked
    assert is_reference(value) == (value == masked and value != "")


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://example.org/mcp", "https://example.org/mcp"),
        ("https://me:hush@example.org/mcp", f"https://{MASK}@example.org/mcp"),
        ("https://hush@example.org", f"https://{MASK}@example.org"),
        ("git+ssh://git@example.org/x/y", "git+ssh://git@example.org/x/y"),
        ("https://example.org/?key=hush&b=${KEY}", f"https://example.org/?key={MASK}&b=${{KEY}}"),
        ("https://example.org/?hush", f"https://example.org/?{MASK}"),
        ("https://example.org/a#hush", f"https://example.org/a#{MASK}"),
        ("https://example.org/a1b2c3d4e5f6a7b8/mcp", f"https://example.org/{MASK}/mcp"),
        ("https://example.org:8080/@scope/name", "https://example.org:8080/@scope/name"),
        ("postgres://me:hu/s#h@db:1/x", f"postgres://{MASK}@db:1/x"),
        ("${SOME_URL}", "${SOME_URL}"),
        ("", ""),
    ],
)
def test_mask_url(url: str, masked: str) -> None:
    assert mask_url(url) == masked


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        ("npx -y some-mcp@1.2.3", "npx -y some-mcp@1.2.3"),
        ("x --api-key hush", f"x --api-key {MASK}"),
        ("x --api-key=hush", f"x --api-key={MASK}"),
        ("x --Access-Token hush --verbose", f"x --Access-Token {MASK} --verbose"),
        ("x -token hush", f"x -token {MASK}"),
        ("x --auth hush --author me", f"x --auth {MASK} --author me"),
        ("x --secret --flag", "x --secret --flag"),
        ("x --password ${PASS_WORD}", "x --password ${PASS_WORD}"),
        ("x --max-tokens 4096", "x --max-tokens 4096"),
        ("docker run -e NAME -e KEY=hush --env B=hush image", f"docker run -e NAME -e KEY={MASK} --env B={MASK} image"),
        ("env API=hush x", f"env API={MASK} x"),
        ("x https://u:hush@h/p?k=hush", f"x https://{MASK}@h/p?k={MASK}"),
        ("mysql -pHush1 -p8080:80", f"mysql -p{MASK} -p8080:80"),
        ("curl -u me:hush", f"curl -u {MASK}"),
        ("x ghp_abcdefghij0123456789abcdefghij012345", f"x {MASK}"),
        ("x a8f5f167f44f4964e6c998dee827110c", f"x {MASK}"),
        ("npx @scope/server-sequential-thinking-2", "npx @scope/server-sequential-thinking-2"),
        ("x --model claude-sonnet-4-20250514", "x --model claude-sonnet-4-20250514"),
    ],
)  # fmt: skip
def test_mask_command(words: str, masked: str) -> None:
    assert " ".join(mask_command(words.split(" "))) == masked


def test_words_with_blanks_are_looked_into() -> None:
    assert mask_command(["bash", "-c", 'K=hush x --token "hu sh" | y']) == [
        "bash",
        "-c",
        f'K={MASK} x --token "{MASK}" | y',
    ]
    assert mask_command(["-H", "Authorization: Bearer hush"]) == ["-H", f"Authorization: Bearer {MASK}"]
    assert mask_command(["--header", "X-Key: ${KEY}"]) == ["--header", "X-Key: ${KEY}"]


# ------------------------------------------------------------------ lone lines


@pytest.mark.parametrize(
    ("line", "format", "masked"),
    [
        ('    "API_KEY": "hush",', "json", f'    "API_KEY": "{MASK}",'),
        ('    "SOME_FLAG": "1",', "json", f'    "SOME_FLAG": "{MASK}",'),
        ('"env": {"A": "hush", "B": "${B}"},', "jsonc", f'"env": {{"A": "{MASK}", "B": "${{B}}"}},'),
        ('"command": "npx", "model": "fast",', "json", '"command": "npx", "model": "fast",'),
        ('"args": ["--token", "hush", "x"]', "json", f'"args": ["--token", "{MASK}", "x"]'),
        ('"n": 12345678, "b": true, "z": null', "json", '"n": 12345678, "b": true, "z": null'),
        ('// "apiKey": "hush"', "jsonc", f'// "apiKey": "{MASK}"'),
        ('"x": "Bash(KEY=\\"hush\\" run)"', "json", f'"x": "Bash(KEY=\\"{MASK}\\" run)"'),
        ('"\\u0065nv": {"A": "hush"}', "json", f'"\\u0065nv": {{"A": "{MASK}"}}'),
        ('api_key = "hush" # x', "toml", f'api_key = "{MASK}" # x'),
        ("env = { A = 'hush', B = \"hush\" }", "toml", f"env = {{ A = '{MASK}', B = \"{MASK}\" }}"),
        ('mcp.x.env.A = "hush"', "toml", f'mcp.x.env.A = "{MASK}"'),
        ('bearer_token_env_var = "SOME_KEY"', "toml", 'bearer_token_env_var = "SOME_KEY"'),
        ('bearer_token_env_var = "hush-hush"', "toml", f'bearer_token_env_var = "{MASK}"'),
        ('# KEY = "hush"', "toml", f'# KEY = "{MASK}"'),
        ("max_output_tokens = 4096", "toml", "max_output_tokens = 4096"),
        ("  apiKey: hush # x", "yaml", f"  apiKey: {MASK} # x"),
        ("envs: {A: hush, B: 'hush'}", "yaml", f"envs: {{A: {MASK}, B: '{MASK}'}}"),
        ("- --api-key\n- hush", "yaml", f"- --api-key\n- {MASK}"),
        ("env_keys:\n- SOME_KEY", "yaml", "env_keys:\n- SOME_KEY"),
        ("Use the API key of your account.", "markdown", "Use the API key of your account."),
        ("password: hush", "markdown", f"password: {MASK}"),
        ("see https://u:hush@h/x?y=hush#part", "markdown", f"see https://{MASK}@h/x?y={MASK}#part"),
        ("- the token: must be set", "markdown", "- the token: must be set"),
        ("export API_KEY=hush", "markdown", f"export API_KEY={MASK}"),
        ("DEBUG=verbose npm test", "markdown", "DEBUG=verbose npm test"),
        ("curl -H 'Authorization: Bearer hush'", "markdown", f"curl -H 'Authorization: Bearer {MASK}'"),
        ('```json\n{"env": {"A": "hush"}}\n```', "markdown", f'```json\n{{"env": {{"A": "{MASK}"}}}}\n```'),
    ],
)
def test_lone_lines(line: str, format: str, masked: str) -> None:
    assert mask_text(line, format) == masked


# ------------------------------------------------------------------ diffs

JSON = """\
{
  "mcpServers": {
    "token-counter": {"command": "npx", "note": "stays"},
    "a": {
      "command": "npx",
      "args": [
        "-y",
        "--api-key",
        "hush-1",
        "https://h/p?k=hush-2"
      ],
      "env": {
        "PLAIN": "hush-3",
        "REF": "${REF}",
        "PORT": 8931
      },
      "headers": {"X": "hush-4"} // "env": {"OLD": "hush-5"}
    }
  },
  "theme": "dark"
}
"""
TOML = """\
theme = "dark"
[mcp_servers.a]
command = "npx"
args = [
  "--token", # why
  "hush-1",
]
env_vars = ["SOME_KEY"]
[mcp_servers.a.env]
PLAIN = "hush-2"
LONG = '''
hush-3
hush-4'''
# OLD_ONE = "hush-5"
[mcp_servers.b]
env_http_headers = { "X" = "SOME_KEY" }
http_headers = { "X" = "hush-6" }
bearer_token = "hush-7"
[shell_environment_policy.set]
A = "hush-8"
"""
YAML_TEXT = """\
theme: dark
common: &common
  A: hush-1
extensions:
  a:
    cmd: npx
    args:
    - --token
    - hush-2
    envs:
      PLAIN: hush-3 # stays
      LONG: |
        hush-4
        # hush-5
      QUOTED: "hush-6
        hush-7"
      FLOW: {X: hush-8, Y: [hush-9, 'hush-10']}
      REF: ${REF}
    more: [one, {env: {X: hush-11}}]
  b:
    env: *common
    headers:
      - Authorization: hush-12
"""


@pytest.mark.parametrize(
    ("text", "format", "kept"),
    [
        (JSON, "jsonc", ["npx", "stays", "-y", "--api-key", "PLAIN", "${REF}", "dark", "https://h/p?k="]),
        (TOML, "toml", ["npx", "dark", "SOME_KEY", "# why", "PLAIN", "--token"]),
        (YAML_TEXT, "yaml", ["npx", "dark", "--token", "# stays", "${REF}", "one", "PLAIN"]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("careful", [scan.CAREFUL, 0])
def test_secrets_are_masked_in_changed_and_unchanged_lines(
    text: str, format: str, kept: list[str], end: str, careful: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "CAREFUL", careful)
    monkeypatch.setattr(scan_lines, "CAREFUL", careful)
    lines = text.split("\n")
    whole = ""
    for at in range(len(lines)):
        changed = [*lines[:at], *([] if format == "toml" and at else [""]), *lines[at:]]
        changed[at] += " "
        diff = mask_diff(end.join(lines).encode(), end.join(changed).encode(), format, "x")
        assert "hush" not in diff.text, at
        whole += diff.text
    gone = mask_diff(end.join(lines).encode(), b"", format, "x")
    assert gone.masked and not re.search(r"hush-\d", gone.text)
    for word in kept:
        assert word in gone.text


def test_context_lines_are_masked_and_it_is_said() -> None:
    new = JSON.replace('"${REF}"', '"${OTHER}"')
    diff = mask_diff(JSON.encode(), new.encode(), "jsonc", "conf.json")
    assert diff.masked
    assert diff.text.splitlines()[:3] == ["--- a/conf.json", "+++ b/conf.json", "@@ -11,7 +11,7 @@"]
    assert f'         "PLAIN": "{MASK}",' in diff.text
    assert '-        "REF": "${REF}",' in diff.text and '+        "REF": "${OTHER}",' in diff.text


def test_a_changed_secret_is_a_changed_line() -> None:
    diff = mask_diff(b'{"env": {"A": "hush-1"}}\n', b'{"env": {"A": "hush-2"}}\n', "json", "x")
    assert diff.text.count(f'"A": "{MASK}"') == 2 and diff.masked


def test_what_holds_no_secret_is_not_masked() -> None:
    old = b'{\n  "theme": "dark",\n  "model": "claude-sonnet-4-20250514",\n  "maxTokens": 4096\n}\n'
    diff = mask_diff(old, old.replace(b"dark", b"light"), "json", "/home/me/.x/settings file.json")
    assert not diff.masked
    assert diff.text == (
        "--- a/home/me/.x/settings file.json\t\n+++ b/home/me/.x/settings file.json\t\n@@ -1,5 +1,5 @@\n {\n"
        '-  "theme": "dark",\n+  "theme": "light",\n   "model": "claude-sonnet-4-20250514",\n   "maxTokens": 4096\n }\n'
    )
    assert mask_diff(old, old, "json", "x") == ("", False)


def test_files_that_come_and_go() -> None:
    assert mask_diff(None, b"a\n", "", "x").text == "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    assert mask_diff(b"a", None, "", "x").text == (
        "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"
    )
    assert mask_diff(None, b"", "", "x").text == "--- /dev/null\n+++ b/x\n"
    assert mask_diff(b"a", b"a\n", "", "x").text.endswith("-a\n\\ No newline at end of file\n+a\n")


def test_a_name_cannot_break_the_header() -> None:
    assert mask_diff(b"a\n", b"b\n", "", "x\ny\x1b").text.startswith("--- a/x␊y␛\n+++ b/x␊y␛\n@@ ")


WORDS = [
    "alpha",
    "beta",
    "",
    "{",
    "}",
    '"x": 1,',
    "naïve",
    "\ttab",
    "end\r",
    "lone\rcr",
    "\x0bvt",
    "\x1besc",
    "-- a",
    "++ b",
]
WORDS += ["@@ c", "\\ No newline at end of file", "\ufeffbom"]


def changed(rand: random.Random, lines: list[str]) -> list[str]:
    """Some lines added, some gone, some others."""
    new = list(lines)
    for _ in range(rand.choice([1, 1, 2, 6, 30])):
        at = rand.randint(0, len(new))
        if rand.random() < 0.5:
            new[at:at] = rand.choices(WORDS, k=rand.randint(1, 3))
        else:
            del new[at : at + rand.randint(1, 4)]
    return new


@pytest.mark.skipif(not shutil.which("patch"), reason="the program `patch` is not here")
@pytest.mark.parametrize("seed", range(60))
def test_patch_yields_the_very_bytes(seed: int, tmp_path: Path) -> None:
    rand = random.Random(seed)
    lines = rand.choices(WORDS, k=rand.choice([0, 1, 3, 20, 300]))
    old = "\n".join(lines).encode()
    new = "\n".join(changed(rand, lines)).encode()
    if rand.random() < 0.3:
        old, new = old.replace(b"a", b"\xff"), new.replace(b"a", b"\xff")
    diff = mask_diff(old, new, rand.choice(["json", "toml", "yaml", "markdown", ""]), "file")
    assert not diff.masked
    if old == new:
        assert diff.text == ""
        return
    (tmp_path / "file").write_bytes(old)
    (tmp_path / "diff").write_bytes(diff.text.encode("utf-8", "surrogateescape"))
    done = subprocess.run(
        ["patch", "--binary", "-p1", "-s", "-i", "diff"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert ((tmp_path / "file").read_bytes() if (tmp_path / "file").exists() else b"") == new


# ------------------------------------------------------------------ made documents

SHAPES = ["hush%d", "p ä!%d", "a b c%d", "{x%d}", "it's%d", 'q"%d"', "b\\%d", "#h%d", "c: d%d", "- x%d", "0%d", "t\t%d"]
SHAPES += ["[l%d]", "&a%d", "*b%d", "!t%d", "%%p%d", "`g%d", ", c%d", "| %d", "//s%d", "/* %d"]


class Maker:
    """Makes configurations whose secrets all hold a number of their own."""

    def __init__(self, seed: int) -> None:
        self.rand = random.Random(seed)
        self.numbers: list[str] = []

    def secret(self, shape: str = "") -> str:
        self.numbers.append(str(10_000_019 * (len(self.numbers) + 1)))
        return (shape or self.rand.choice(SHAPES)) % int(self.numbers[-1])

    def server(self) -> dict[str, Any]:
        rand = self.rand
        made: dict[str, Any] = {
            "command": "npx",
            "args": [
                "-y",
                "pkg",
                rand.choice(["--api-key", "--token", "-H"]),
                self.secret(),
                "--x-key=" + self.secret("p%d"),
            ],
            "env": {name: self.secret() for name in rand.sample(["KEY", "B", "debug"], 2)},
            "url": "https://h.example/p?k=" + self.secret("p%d"),
            "headers": {"Authorization": self.secret()},
            "enabled": True,
            "apiKey": self.secret(),
            "note": "plain words",
            "auth": {"type": "oauth", "clientSecret": self.secret()},
        }
        return {key: made[key] for key in rand.sample(sorted(made), rand.randint(1, len(made)))}

    def document(self) -> dict[str, Any]:
        names = ["a", "env2", "token-x", "s p", "é"]
        made = {
            "mcpServers": {name: self.server() for name in names[: self.rand.randint(0, 5)]},
            "theme": "dark",
            "list": ["one", {"env": {"K": self.secret()}}],
            "deep": {"x": [{"y": self.server()}]},
        }
        return {key: made[key] for key in self.rand.sample(sorted(made), self.rand.randint(1, 4))}

    def text(self, document: dict[str, Any], format: str) -> str:
        rand = self.rand
        if format == "json":
            return json.dumps(document, indent=rand.choice([None, 1, 2, "\t"]), ensure_ascii=rand.random() < 0.5)
        if format == "toml":
            return tomlkit.dumps(document)
        yaml, out = YAML(), io.StringIO()
        yaml.default_flow_style = rand.choice([None, False, False, True])
        yaml.width = rand.choice([40, 80, 4096])
        if rand.random() < 0.5:
            yaml.indent(mapping=2, sequence=4, offset=2)
        yaml.dump(document, out)
        return out.getvalue()


@pytest.mark.parametrize("format", ["json", "toml", "yaml"])
@pytest.mark.parametrize("careful", [scan.CAREFUL, 0])
@pytest.mark.parametrize("seed", range(25))
def test_no_secret_of_a_made_document_is_shown(
    format: str, careful: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "CAREFUL", careful)
    monkeypatch.setattr(scan_lines, "CAREFUL", careful)
    maker = Maker(seed)
    old = maker.document()
    new = json.loads(json.dumps(old)) | {"added": maker.server(), "theme": "light"}
    state = maker.rand.getstate()
    before = maker.text(old, format)
    maker.rand.setstate(state)
    after = maker.text(new, format)
    for pair in ((before, after), (after, before), ("", after)):
        shown = mask_diff(pair[0].encode(), pair[1].encode(), format, "x").text
        assert not [number for number in maker.numbers if number in shown]


# ------------------------------------------------------------------ large files


def test_ten_megabytes() -> None:
    servers = {f"s{n}": {"command": "npx", "args": ["-y", f"pkg-{n}"], "env": {"K": f"hush{n}"}} for n in range(65_000)}
    old = json.dumps({"mcpServers": servers}, indent=2).encode()
    assert len(old) > 9_000_000
    at = len(old) - 200
    new = old[:at] + old[at:].replace(b"npx", b"bunx")
    new = new.replace(b"pkg-1", b"pkg-one", 1)
    start = time.process_time()
    diff = mask_diff(old, new, "json", "x")
    assert time.process_time() - start < 4  # about 0.7 on an idle machine
    assert diff.text.count("@@ -") == 2 and "hush" not in diff.text


def test_of_a_very_long_line_the_changed_part_is_shown() -> None:
    old = json.dumps({"a": [{"env": {"K": f"hush{n}"}} for n in range(20_000)], "theme": "dark"}).encode()
    diff = mask_diff(old, old.replace(b"dark", b"light"), "json", "x")
    assert diff.masked and len(diff.text) < 2000
    assert '"theme": "light"' in diff.text and "hush" not in diff.text


def test_many_changes_in_a_long_file_come_to_an_end() -> None:
    old = [f"line {n}\n" for n in range(20_000)]
    new = [line.replace("line", "row") if n % 2 else line for n, line in enumerate(old)]
    diff = mask_diff("".join(old).encode(), "".join(new).encode(), "", "x")
    assert diff.text.count("\n-line") == diff.text.count("\n+row") == 10_000
