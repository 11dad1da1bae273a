"""Marker blocks: what counts as one, where a new one goes, and that taking it out gives the bytes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostconf.errors import EditRefused, FormatError
from hostconf.formats.base import MISSING, Edit, apply_hunks
from hostconf.formats.markdown import MarkdownDocument, parse
from hostconf.formats.second import read_second

AT = ("web",)
BEGIN, END = "<!-- hostconf:begin web -->", "<!-- hostconf:end web -->"

BARE = [
    "",
    "\n",
    "# T\n",
    "# T\n\n",
    "# T\n\n\n",
    "# T",
    "  ",
    "\r\n",
    "# T\r\ntext\r\n",
    "# T\r\ntext",
    "\ufeff# T\n",
    "\ufeff",
    "---\na: b\n---\n",
    "---\na: b\n---\n\n# T\n",
    "---\nglobs: **/*.ts\n---",
    "---\nnot closed\n",
    "~~~\nopen fence\n",
    "- ```sh\n  x\n  ```\ntext\n",
    "1. do\n\n    ```bash\n    ls\n    ```\n",
    "> ```\n> x\n> ```\n",
    "a\rb\r",
    "日本 😀\u2028x\n",
    f"```\n{BEGIN}\nexample\n{END}\n```\n",
]


def text(raw: str) -> MarkdownDocument:
    return parse(raw.encode(), name="AGENTS.md")


@pytest.mark.parametrize("raw", BARE)
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("body", ["one", "one\n\ntwo", "", "\n", "x\n", "```\ncode\n```", "- a\n  - b"])
def test_a_block_put_in_and_taken_out_leaves_the_bytes(raw: str, first: bool, body: str) -> None:
    document = text(raw)
    assert document.to_bytes() == raw.encode()
    edit = document.set(AT, body, first=first)
    after = edit.after
    assert after.get(AT) == body and after.get(()) == {"web": body}
    assert read_second("markdown", after.to_bytes()) == {"web": body}
    assert apply_hunks(after.text, edit.inverse().hunks) == document.text
    assert not after.set(AT, body).changed
    again = parse(after.to_bytes(), name="AGENTS.md")
    assert again.delete(AT).after.to_bytes() == raw.encode()
    assert not again.delete(AT).after.delete(AT).changed


def test_where_a_new_block_goes() -> None:
    assert text("# T\n").set(AT, "b").after.text == f"# T\n\n{BEGIN}\nb\n{END}\n"
    assert text("").set(AT, "b").after.text == f"{BEGIN}\nb\n{END}\n"
    assert text("# T\n").set(AT, "b", first=True).after.text == f"{BEGIN}\nb\n{END}\n\n# T\n"
    front = "---\na: b\n---\n# T\n"
    assert text(front).set(AT, "b", first=True).after.text == f"---\na: b\n---\n{BEGIN}\nb\n{END}\n\n# T\n"
    assert text("# T").set(AT, "b").after.text == f"# T\n\n<!-- hostconf:begin web nl=0 -->\nb\n{END}\n"
    assert text("# T\r\n").set(AT, "b\nc").after.text == f"# T\r\n\r\n{BEGIN}\r\nb\r\nc\r\n{END}\r\n"


def test_a_new_body_touches_the_body_alone() -> None:
    raw = f"a\n{BEGIN}\nold\n{END}  \nb\n"
    edit = text(raw).set(AT, "new\nmore")
    assert edit.after.text == raw.replace("old", "new\nmore")
    span = text(raw).where(AT)
    assert span and (span.line, raw[span.start : span.end]) == (2, f"{BEGIN}\nold\n{END}  \n")


def test_text_that_came_behind_the_block_stays_on_its_own_line() -> None:
    with_block = text("# T").set(AT, "b").after.text + "more\n"
    assert text(with_block).delete(AT).after.text == "# T\nmore\n"
    between = text("# T\n").set(AT, "b").after.text + "\nmore\n"
    assert text(between).delete(AT).after.text == "# T\n\nmore\n"


def test_two_blocks_live_side_by_side() -> None:
    both = text("# T\n").set(AT, "one").after.set(("other/1.0",), "two").after
    assert isinstance(both, MarkdownDocument)
    assert both.get(()) == {"web": "one", "other/1.0": "two"}
    assert both.delete(AT).after.delete(("other/1.0",)).after.to_bytes() == b"# T\n"
    assert both.delete(("other/1.0",)).after.delete(AT).after.to_bytes() == b"# T\n"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (f"x\n{BEGIN}\nno end\n", 2),
        (f"x\n\n{END}\n", 3),
        (f"{BEGIN}\na\n{BEGIN}\nb\n{END}\n", 1),
        (f"{BEGIN}\na\n{END}\n{BEGIN}\nb\n{END}\n", 4),
        (f"{BEGIN}\na\n<!-- hostconf:end other -->\n", 3),
        (f"{BEGIN}\n<!-- hostconf:begin other -->\na\n<!-- hostconf:end other -->\n{END}\n", 1),
    ],
)
def test_damaged_markers_are_told_and_not_touched(raw: str, line: int) -> None:
    document = text(raw)
    assert document.issues[0].line == line and document.issues[0].code == "marker-damaged"
    attempts: list[Callable[[], Edit]] = [lambda: document.set(AT, "new"), lambda: document.delete(AT)]
    for attempt in attempts:
        with pytest.raises(EditRefused) as refused:
            attempt()
        assert (refused.value.code, refused.value.line) == ("marker-damaged", line)
        assert refused.value.path == "AGENTS.md"


def test_damage_elsewhere_is_edited_around() -> None:
    raw = "<!-- hostconf:end other -->\n# T\n"
    edit = text(raw).set(AT, "b")
    assert edit.after.get(AT) == "b" and len(edit.after.issues) == 1
    assert edit.after.delete(AT).after.text == raw
    with pytest.raises(EditRefused, match="no end marker"):
        text("<!-- hostconf:begin other -->\nopen\n").set(AT, "b")


@pytest.mark.parametrize(
    "raw",
    [
        f"    {BEGIN}\n    x\n    {END}\n",
        f"text {BEGIN}\n",
        f"~~~\n{BEGIN}\n~~~\n",
        f"````\n```\n{BEGIN}\n```\n````\n",
        f"- a\n  ```\n  {BEGIN}\n  ```\n",
        "<!-- hostconf:begin -->\n<!--hostconf:begin web-->\n<!-- hostconf:begin web x -->\n",
    ],
)
def test_what_is_no_marker(raw: str) -> None:
    document = text(raw)
    assert document.issues == () and document.get(()) == {} and document.get(AT) is MISSING
    assert read_second("markdown", raw.encode()) == {}
    assert document.set(AT, "b").after.delete(AT).after.text == raw


@pytest.mark.parametrize("body", [1, None, ["x"], "a\r\nb", BEGIN, f"x\n{END}\ny", "```\nopen"])
def test_bodies_that_could_not_be_read_back(body: Any) -> None:
    with pytest.raises(EditRefused) as refused:
        text("# T\n").set(AT, body)
    assert refused.value.code == "wrong-type"


@pytest.mark.parametrize("at", [(), ("a", "b"), (1,), ("",), ("a b",), ("-->",)])
def test_names_that_are_none(at: tuple[str | int, ...]) -> None:
    with pytest.raises(EditRefused) as refused:
        text("# T\n").set(at, "b")
    assert refused.value.code == "wrong-type"


def test_there_are_no_arrays() -> None:
    for attempt in (text("").append, text("").remove):
        with pytest.raises(EditRefused):
            attempt(AT, ["x"])


def test_a_fence_that_the_body_would_close_is_refused() -> None:
    with pytest.raises(EditRefused) as refused:
        text("```\nnever closed\n").set(AT, "```\ncode\n```")
    assert (refused.value.code, refused.value.line) == ("would-change-other", 3)


def test_not_utf8_is_refused_with_its_place() -> None:
    with pytest.raises(FormatError) as refused:
        parse(b"# T\nab\xff\n", name="x")
    assert (refused.value.code, refused.value.line, refused.value.column) == ("not-utf8", 2, 3)


LINES = ["", "# T", "text", "```", "~~~", "````", "- ```sh", "    x", "  ```", "---", "> q", BEGIN, END, "a\u2028b"]


@given(
    st.lists(st.sampled_from(LINES), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
    st.lists(st.sampled_from(["", "a", "- b", "`c`"]), min_size=1, max_size=4),
)
def test_any_text_is_left_as_it_was(lines: list[str], eol: str, final: bool, first: bool, body: list[str]) -> None:
    raw = eol.join(lines) + (eol if final and lines else "")
    document = text(raw)
    assert document.to_bytes() == raw.encode()
    assert read_second("markdown", raw.encode()) == document.get(())
    try:
        edit = document.set(("new",), "\n".join(body), first=first)
    except EditRefused as refused:
        assert refused.code == "marker-damaged" and refused.line
        return
    assert edit.after.get(("new",)) == "\n".join(body)
    assert read_second("markdown", edit.after.to_bytes()) == edit.after.get(())
    assert edit.after.delete(("new",)).after.to_bytes() == raw.encode()
