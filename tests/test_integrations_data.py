"""Every file of `integrations/` is read, and what the schema does not know is refused with a word that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostconf.errors import DataFileError
from hostconf.integrations.load import (
    integration_named,
    integrations_folder,
    load_integrations,
    nearest_integration,
)
from hostconf.integrations.schema import CAPABILITIES, parse

FOLDER = Path(integrations_folder())
FILES = sorted(FOLDER.glob("*.toml"))
ALL = load_integrations()

SMALL = """\
id = "small"
name = "Small"
installable = true
server = "small"
doc = "A small one"

[capabilities]
web_search = ["find"]

[recognise]
packages = ["small-mcp"]

[paths.mcp]
transport = "stdio"
command = "npx"
args = ["-y", "{package}"]
package = "small-mcp"

[[environment]]
name = "SMALL_KEY"
doc = "Key"
secret = true

[[knobs]]
name = "count"
type = "int"
variable = "SMALL_COUNT"
doc = "How many"
default = 5
min = 1
max = 9
"""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_is_read(file: Path) -> None:
    one = parse(file.read_text(encoding="utf-8"), file.name)
    assert one.id == file.stem
    assert set(one.capabilities) <= set(CAPABILITIES)
    assert one.checked and one.source
    if one.installable:
        assert {variable.name for variable in one.environment if variable.secret}
        assert set(one.off) == set(one.capabilities)


def test_no_two_files_claim_the_same() -> None:
    for field in ("packages", "commands", "images", "urls", "builtins"):
        claims = [name.lower() for one in ALL for name in getattr(one.recognise, field)]
        assert sorted(claims) == sorted(set(claims)), field


def test_the_first_integration_is_whole() -> None:
    one = integration_named(ALL, "deepseek-web-retrieval")
    assert one is not None
    assert one.installable and one.server == "deepseek"
    assert one.paths["mcp"].words() == ("npx", "-y", "deepseek-web-retrieval")
    assert one.paths["mcp"].words("deepseek-web-retrieval@1.2.3")[-1] == "deepseek-web-retrieval@1.2.3"
    assert one.paths["extension"].reference_to() == "npm:deepseek-web-retrieval"
    assert one.tools("web_search") == ("deepseek_web_search",)
    assert one.tools("web_search", "plugin") == ("websearch",)
    assert one.capability_of("deepseek_fetch") == "web_fetch"
    assert one.capability_of("webfetch") == ""
    assert one.off == {
        "web_search": {"DEEPSEEK_ENABLE_SEARCH": "false"},
        "web_fetch": {"DEEPSEEK_ENABLE_FETCH": "false"},
    }
    knob = one.knob("searchTimeoutMs")
    assert knob is not None and knob.variable == "DEEPSEEK_SEARCH_TIMEOUT_MS" and knob.default == 30000
    assert [knob.problem(text) for text in ("1", "x", "1.5", "-1")] == [
        "",
        "has to be a whole number",
        "has to be a whole number",
        "may not be below 1",
    ]
    assert one.knob("nothing") is None
    assert one.paths["plugin"].slots["web_fetch"].option == "fetchOverrideWebfetch"


def test_the_small_one_is_read() -> None:
    assert parse(SMALL, "small.toml").knobs[0].max == 9


@pytest.mark.parametrize(
    ("old", "new", "message", "hint", "line"),
    [
        ("server =", "sever =", "unknown key `sever`", "did you mean `server`?", 4),
        ("packages =", "package =", "unknown key `recognise.package`", "did you mean `packages`?", 11),
        ("transport =", "transprot =", "unknown key `paths.mcp.transprot`", "did you mean `transport`?", 14),
        ('variable = "SMALL', 'varible = "SMALL', "unknown key `knobs.varible`", "did you mean `variable`?", 27),
        ('doc = "Key"', 'doc = "Key"\nsecrt = 1', "unknown key `environment.secrt`", "did you mean `secret`?", 22),
        ('type = "int"\n', "", "`knobs.type` is missing", "", 24),
        ('id = "small"', 'id = "other"', "`id` is `other`, but the file is `small.toml`", "", 1),
        ("web_search =", "web_serch =", "unknown key `capabilities.web_serch`", "did you mean `web_search`?", 8),
        ('["find"]', "[]", "`capabilities.web_search` is empty", "", 8),
        ('["find"]', '"find"', "`capabilities.web_search` has to be a list", "", 8),
        ('type = "int"', 'type = "integer"', "`knobs.type` is `integer`", "one of int", 26),
        ("default = 5", "default = 50", "may not be above 9", "", 29),
        ("default = 5", "default = true", "has to be a whole number", "", 29),
        ("secret = true", "secret = 1", "`environment.secret` has to be true or false", "", 22),
        ('"SMALL_KEY"', '"SMALL-KEY"', "no name of an environment variable", "", 20),
        ('packages = ["small-mcp"]', 'urls = ["https://x/y"]', "holds `https://x/y`", "`host`", 11),
        ('packages = ["small-mcp"]', "", "names nothing to be known by", "", 10),
        ('command = "npx"\n', "", "`paths.mcp` has no command", "", 14),
        ("[recognise]", "[recognise", "is not valid TOML", "", None),
    ],
)
def test_what_is_not_known_is_refused(old: str, new: str, message: str, hint: str, line: int | None) -> None:
    assert old in SMALL
    with pytest.raises(DataFileError) as caught:
        parse(SMALL.replace(old, new, 1), "small.toml")
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.line == line
    assert caught.value.path == "small.toml"


def test_files_of_the_user_come_behind_and_may_not_take_a_name(tmp_path: Path) -> None:
    own = tmp_path / "small.toml"
    own.write_text(SMALL, encoding="utf-8")
    assert load_integrations(also=[str(own)])[-1].id == "small"
    taken = tmp_path / "tavily.toml"
    taken.write_text(SMALL.replace('"small"', '"tavily"'), encoding="utf-8")
    with pytest.raises(DataFileError, match="two files describe"):
        load_integrations(also=[str(taken)])
    own.write_bytes(b"\xff")
    with pytest.raises(DataFileError, match="not UTF-8 at byte 0"):
        load_integrations(also=[str(own)])


def test_bytes_may_come_from_elsewhere() -> None:
    read: list[str] = []

    def take(path: str) -> bytes:
        read.append(path)
        return Path(path).read_bytes()

    assert load_integrations(read=take) == ALL
    assert len(read) == len(FILES)


def test_names_are_found_and_near_ones_offered() -> None:
    assert integration_named(ALL, "TAVILY") is not None
    assert integration_named(ALL, "tavilly") is None
    assert nearest_integration(ALL, "tavilly") == "tavily"
