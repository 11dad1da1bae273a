"""Taking things out of a TOML draft: keys, tables, items."""

from __future__ import annotations

from hostconf.formats.base import KeyPath
from hostconf.formats.toml_draft import REST_OF_LINE_RE, Draft
from hostconf.formats.toml_scan import Found, Node, Section, find_inside


def cut(draft: Draft, at: KeyPath) -> None:
    """Take all out that makes up the value at `at`, with the comments on the lines of the entries.

    A comment block above stays. Parents that stand in no line of their own go with their last child.
    """
    found = draft.layout.find(at)
    if found.owner is not None and found.rest:
        _cut_inside(draft, found)
    elif found.owner is not None:
        statement = draft.layout.statements[found.owner]
        draft.cut_lines([(draft.line_start(statement.start), statement.next)])
    elif found:
        statements = [draft.layout.statements[index] for index in found.entries]
        runs = [(draft.line_start(s.start), s.next) for s in statements]
        runs += [_section_run(draft, section) for section in found.sections if section.header >= 0]
        draft.cut_lines(runs)


def _section_run(draft: Draft, section: Section) -> tuple[int, int]:
    """From the blank lines above the header to the end of the last statement."""
    statements = draft.layout.statements
    _, start = draft.blanks_before(draft.line_start(statements[section.header].start))
    end = statements[section.last - 1].next
    # Nothing stands above: then the blank lines below would open the file.
    return start, end if start else draft.blanks_after(end)


def _cut_inside(draft: Draft, found: Found) -> None:
    assert found.owner is not None
    while inside := find_inside(draft.layout.value(found.owner), found.rest):
        if not inside.items:
            return
        cut_item(draft, inside.container, inside.items[-1])
        if inside.exact:
            return


def cut_item(draft: Draft, container: Node, index: int) -> None:
    """Take one item or entry out of an array or inline table, with the comma that becomes too many."""
    text, items = draft.text, container.items
    item = items[index]
    before = items[index - 1] if index else None
    behind = items[index + 1] if index + 1 < len(items) else None
    end = item.comma + 1 if item.comma >= 0 else item.node.end
    no_comma_before = [(before.comma, before.comma + 1, "")] if before and item.comma < 0 else []

    rest = REST_OF_LINE_RE.match(text, end)
    if draft.indent(item.start) is not None and rest:
        draft.splice(*no_comma_before, (draft.line_start(item.start), rest.end(), ""))
    elif behind and "\n" not in text[item.node.end : behind.start]:
        draft.splice((item.start, behind.start, ""))
    elif before and not text[before.comma + 1 : item.start].strip():
        # From behind the comma before it; where no comma may stay, with that comma and the blanks around it.
        start = before.comma + 1
        if item.comma < 0:
            start = before.comma if text[before.node.end : before.comma].strip() else before.node.end
        draft.splice((start, end, ""))
    elif len(items) == 1 and not (text[container.start + 1 : item.start] + text[end : container.end - 1]).strip():
        draft.splice((container.start + 1, container.end - 1, ""))
    else:
        draft.splice(*no_comma_before, (item.start, end, ""))
