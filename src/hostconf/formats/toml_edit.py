"""Putting things into a TOML draft: where a new key, table or item goes, and how it is spelled.

Works on the text and its layout alone. The caller has made sure that the way to the
place leads through tables and arrays, and checks the outcome.
"""

from __future__ import annotations

import re
from typing import Any

from hostconf.errors import EditRefused
from hostconf.formats.base import KeyPath, same_value
from hostconf.formats.toml_cut import cut
from hostconf.formats.toml_draft import REST_OF_LINE_RE, Draft
from hostconf.formats.toml_scan import Layout, Node, Section, find_inside, key_parts
from hostconf.formats.toml_write import write_key, write_value


def replace(draft: Draft, at: KeyPath, old: Any, new: Any) -> None:
    """Make the value at `at`, which is `old`, into `new`; what is the same in both stays as it is spelled."""
    if same_value(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        _merge(draft, at, old, new)
        return
    node = node_at(draft, at)
    if isinstance(old, list) and isinstance(new, list) and old:
        shared = min(len(old), len(new))
        if node is None and new and all(isinstance(item, dict) for item in new):
            for index in range(shared):
                replace(draft, (*at, index), old[index], new[index])
            for index in reversed(range(shared, len(old))):
                cut(draft, (*at, index))
            append(draft, at, new[shared:])
            return
        if node is not None and same_value(old, new[:shared]):
            append(draft, at, new[shared:])
            return
    if node is not None:
        draft.splice((node.start, node.end, write_value(new)))
    elif isinstance(at[-1], int):
        raise EditRefused("an array of tables holds nothing but tables", code="wrong-type")
    else:
        cut(draft, at)
        insert(draft, at, new)


def _merge(draft: Draft, at: KeyPath, old: dict[str, Any], new: dict[str, Any]) -> None:
    # New keys first: the table must not vanish with its last old key.
    for key, value in new.items():
        if key in old:
            replace(draft, (*at, key), old[key], value)
        else:
            insert(draft, (*at, key), value)
    for key in old:
        if key not in new:
            cut(draft, (*at, key))
    if at and not _stands(draft, at):
        insert(draft, at, {})


def move_last(draft: Draft, at: KeyPath, value: Any) -> None:
    """Move the entry at `at`, whose value is `value`, behind its siblings, unless it is there."""
    if _is_last(draft.layout, at):
        return
    found = draft.layout.find(at)
    if found.owner is None or found.rest:
        cut(draft, at)
        insert(draft, at, value)
        found = draft.layout.find(at)
        if found.owner is None or found.rest or _is_last(draft.layout, at):
            return
    statement = draft.layout.statements[found.owner]
    number = next(n for n, s in enumerate(draft.layout.sections) if s.first <= found.owner < s.last)
    line = draft.text[draft.line_start(statement.start) : statement.next].rstrip("\r\n")
    cut(draft, at)
    last = draft.layout.statements[draft.layout.sections[number].last - 1]
    draft.add_lines(last.next, [line])


def _is_last(layout: Layout, at: KeyPath) -> bool:
    """Whether there is nothing that `at` would have to move behind."""
    found = layout.find(at)
    if found.owner is not None and found.rest:
        inside = find_inside(layout.value(found.owner), found.rest)
        return inside is None or not inside.items or inside.items[-1] == len(inside.container.items) - 1
    if found.owner is not None or found.entries:
        index = found.owner if found.owner is not None else found.entries[-1]
        return any(section.last == index + 1 for section in layout.sections)
    akin = [s.path for s in layout.sections if len(s.path) >= len(at) and s.path[: len(at) - 1] == at[:-1]]
    return not akin or akin[-1][: len(at)] == at


def _stands(draft: Draft, at: KeyPath) -> bool:
    found = draft.layout.find(at)
    if found.owner is None or not found.rest:
        return bool(found)
    inside = find_inside(draft.layout.value(found.owner), found.rest)
    return inside is not None and bool(inside.items)


def node_at(draft: Draft, at: KeyPath) -> Node | None:
    """The value at `at` where it is written in one piece, as the value of a key or inside of one."""
    found = draft.layout.find(at)
    if found.owner is None:
        return None
    node = draft.layout.value(found.owner)
    if not found.rest:
        return node
    inside = find_inside(node, found.rest)
    return inside.container.items[inside.items[0]].node if inside and inside.exact else None


def insert(draft: Draft, at: KeyPath, value: Any) -> None:
    """Add `value` at `at`, where nothing stands, with the parents that are missing."""
    size = len(at) - 1
    while not (found := draft.layout.find(at[:size])) and size:
        size -= 1
    if found.owner is not None:
        _insert_inside(draft, found.owner, found.rest + at[size:], value)
        return
    rest = at[size:]
    home = next((section for section in found.sections if section.path == at[:size]), None)
    if home is None and found.entries:
        _insert_dotted(draft, found.entries[-1], at[:size], rest, value)
    elif isinstance(value, dict):
        _insert_table(draft, at, value)
    elif len(rest) > 1:
        _insert_table(draft, at[:-1], {str(at[-1]): value})
    elif home is not None:
        _insert_key(draft, home, rest[0], value)
    else:
        first = draft.layout.statements[found.sections[0].header]
        _add_section(draft, draft.block_start(first), _section_lines(_header(at[:-1]), {at[-1]: value}))


def append(draft: Draft, at: KeyPath, items: list[Any]) -> None:
    """Put `items` behind the array at `at`, which is there."""
    if not items:
        return
    node = node_at(draft, at)
    if node is not None:
        _add_items(draft, node, [write_value(item) for item in items])
        return
    for item in items:
        sections = draft.layout.find(at).sections
        size = len(at) + 1
        last = next(section for section in reversed(sections) if len(section.path) == size)
        header = draft.layout.statements[last.header]
        lines = _section_lines(draft.text[header.start : header.end], item, *_indents(draft, last))
        _add_section(draft, _behind(draft, sections[-1]), lines)


# ---------------------------------------------------------------- keys


def _insert_key(draft: Draft, home: Section, key: str | int, value: Any) -> None:
    """A key in a section of its own: behind the last key there, with its indent."""
    statements = draft.layout.statements
    if home.last > home.first:
        last = statements[home.last - 1]
        equals = _equals(draft.text[last.start : last.value])
        draft.add_lines(last.next, [f"{draft.indent(last.start)}{write_key(str(key))}{equals}{write_value(value)}"])
        return
    line = f"{write_key(str(key))} = {write_value(value)}"
    if home.header >= 0:
        header = statements[home.header]
        draft.add_lines(header.next, [f"{draft.indent(header.start)}{line}"])
    elif statements:
        _add_section(draft, draft.block_start(statements[0]), [line], least=1)
    else:
        _add_section(draft, len(draft.text), [line])


def _insert_dotted(draft: Draft, entry: int, parent: KeyPath, rest: KeyPath, value: Any) -> None:
    """A key below a parent that is made of dotted keys: behind the last of them, spelled as they are."""
    statement = draft.layout.statements[entry]
    raw = draft.text[statement.start : statement.key_end]
    section = next(s for s in draft.layout.sections if s.first <= entry < s.last)
    keys = len(parent) - len(section.path)
    prefix = raw[: _part_end(raw, keys)] + "." + _dotted(rest)
    indent, equals = draft.indent(statement.start), _equals(draft.text[statement.start : statement.value])
    if isinstance(value, dict) and value and len(key_parts(raw)) > keys + len(rest):
        lines = [f"{prefix}.{write_key(key)}{equals}{write_value(item)}" for key, item in value.items()]
    else:
        lines = [f"{prefix}{equals}{write_value(value)}"]
    draft.add_lines(statement.next, [f"{indent}{line}" for line in lines])


def _dotted(keys: KeyPath) -> str:
    return ".".join(write_key(key) for key in keys if isinstance(key, str))


def _part_end(raw: str, count: int) -> int:
    """Where the first `count` parts of a dotted key end."""
    end = 0
    for part in key_parts(raw)[:count]:
        end = raw.index(part, end) + len(part)
    return end


def _equals(raw: str) -> str:
    """The sign between key and value as the neighbour has it, without its alignment."""
    return "=" if raw[-1] == "=" and not raw[-2].isspace() else " = "


# ---------------------------------------------------------------- tables


def _insert_table(draft: Draft, at: KeyPath, table: dict[str, Any]) -> None:
    """A new section: behind the last one that shares most of its first keys, else at the end."""
    sections = draft.layout.sections[1:]
    for size in range(len(at) - 1, 0, -1):
        akin = [section for section in sections if section.path[:size] == at[:size]]
        if akin:
            like = next((s for s in reversed(akin) if len(s.path) == len(at)), akin[-1])
            _add_section(draft, _behind(draft, akin[-1]), _section_lines(_header(at), table, *_indents(draft, like)))
            return
    _add_section(draft, len(draft.text), _section_lines(_header(at), table))


def _header(at: KeyPath) -> str:
    # Indexes are passed over: a header means the last item by itself.
    return f"[{_dotted(at)}]"


def _section_lines(header: str, table: dict[Any, Any], outer: str = "", inner: str = "") -> list[str]:
    entries = (f"{inner}{write_key(key)} = {write_value(value)}" for key, value in table.items())
    return [outer + header, *entries]


def _indents(draft: Draft, like: Section) -> tuple[str, str]:
    """The indents of a section's header and of its keys."""
    statements = draft.layout.statements
    outer = draft.indent(statements[like.header].start) or ""
    return outer, (draft.indent(statements[like.first].start) or "") if like.last > like.first else outer


def _behind(draft: Draft, section: Section) -> int:
    """Where something new goes behind `section`: above the comment block of the next header, or at the end."""
    statements = draft.layout.statements
    return draft.block_start(statements[section.last]) if section.last < len(statements) else len(draft.text)


def _add_section(draft: Draft, at: int, lines: list[str], least: int = 0) -> None:
    """New lines at `at`, apart from what is above and below by as many blank lines as tables are here."""
    wanted = max(draft.blanks_between_tables(at), least)
    if draft.comment_above(at):
        wanted = max(wanted, 1)  # or the comment would become the heading of the new lines
    above, first = draft.blanks_before(at)
    lead = [""] * (wanted - above if first else 0)
    trail = [""] * ((above or wanted) if at < len(draft.text) else 0)
    draft.add_lines(at, lead + lines + trail)


# ---------------------------------------------------------------- inside values


def _insert_inside(draft: Draft, owner: int, rest: KeyPath, value: Any) -> None:
    """An entry in an inline table, or, below its parent there, with a dotted key."""
    inside = find_inside(draft.layout.value(owner), rest)
    assert inside is not None
    table, way = inside.container, rest[inside.used :]
    # The longest part of the way that dotted keys of this table already go.
    size, like = len(way) - 1, None
    while size and (like := next((i for i in reversed(table.items) if i.keys[:size] == way[:size]), None)) is None:
        size -= 1
    for key in reversed(way[size + 1 :]):
        value = {key: value}
    prefix = ""
    if like is not None:
        raw = draft.text[like.start : like.node.start]
        prefix = raw[: _part_end(raw, size)] + "."
    last = table.items[-1] if table.items else None
    equals = _equals(draft.text[last.start : last.node.start]) if last else " = "
    _add_items(draft, table, [f"{prefix}{write_key(str(way[size]))}{equals}{write_value(value)}"])


def _add_items(draft: Draft, container: Node, new: list[str]) -> None:
    """New items behind the last one, laid out as the others are."""
    if not container.items:
        _add_first_items(draft, container, new)
        return
    text = draft.text
    last = container.items[-1]
    comma = last.comma >= 0
    end = last.comma + 1 if comma else last.node.end
    indent = draft.indent(last.start)
    if indent is None:
        lead = text[container.items[-2].comma + 1 : last.start] if len(container.items) > 1 else " "
        lead = lead if lead.strip(" ") == "" else " "
    else:
        lead = draft.eol(last.start) + indent
        if rest := REST_OF_LINE_RE.match(text, end):
            # The comment of the last item stays on its line, the comma goes before it.
            eol = draft.eol(rest.end())
            between = "," + eol + indent
            lines = indent + between.join(new) + ("," if comma else "") + eol
            draft.splice(*([] if comma else [(end, end, ",")]), (rest.end(), rest.end(), lines))
            return
    between = "," + lead
    draft.splice((end, end, lead + between.join(new) + "," if comma else between + between.join(new)))


def _add_first_items(draft: Draft, container: Node, new: list[str]) -> None:
    start = container.start + 1
    inner = draft.text[start : container.end - 1]
    if "\n" not in inner:
        pad = " " if inner or container.kind == "table" else ""
        draft.splice((start, start, pad + ", ".join(new) + (pad if not inner else "")))
        return
    comment = re.search(r"\n([ \t]*)#", inner)
    at = draft.line_start(container.end)
    indent = comment[1] if comment else draft.text[at : container.end - 1] + "  "
    draft.splice((at, at, "".join(f"{indent}{item},{draft.eol(at)}" for item in new)))
