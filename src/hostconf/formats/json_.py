"""JSON and JSONC documents: edits are spans cut from the old text, and each is checked before it is given out.

`json` is strict, as `~/.claude.json` and `.mcp.json` are read: a comment is an error.
`jsonc` allows comments and a comma behind the last entry. An empty file counts as `{}`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from hostconf.errors import EditRefused, FormatError
from hostconf.formats import json_edit
from hostconf.formats.base import MISSING, Edit, Hunk, KeyPath, Span, apply_hunks, same_value
from hostconf.formats.json_clean import Broken, Clean, clean
from hostconf.formats.json_scan import (
    MAX_DEPTH,
    Box,
    Duplicate,
    depth_of,
    examine,
    jump,
    skip_space,
    unexpected,
    value_at,
    walk,
)
from hostconf.formats.json_write import Raw, Style, on_lines, plain
from hostconf.formats.text import Source, compose_hunks, decode, eol_near, same_run, spliced


class DuplicateKey(FormatError):
    """A key that stands more than once in its object; the place is that of the later one."""

    code = "duplicate-key"
    at: KeyPath = ()
    """The way to it."""


_WALKED_AT_ONCE = 32
"""So many containers of a way down are walked in one pass, by recursion; the rest one by one."""


class _New(tuple[str | None, Any]):
    """In the list of what a container should hold: an entry that was not there, with its key and value."""


_Should = list[int | _New]
"""What a container should hold after an edit: entries of the old one by index, and new ones."""


def parse_json(data: bytes, *, name: str = "<config>") -> JsonDocument:
    """The document in strict JSON that the bytes hold.

    Raises:
        FormatError: `syntax`, `not-utf8`, `too-deep`, `too-large`, or `wrong-type` where the root is a scalar.
    """
    return _parsed("json", decode(data, name=name), data)


def parse_jsonc(data: bytes, *, name: str = "<config>") -> JsonDocument:
    """The document in JSON with comments and commas behind the last entry that the bytes hold.

    Raises:
        FormatError: `syntax`, `not-utf8`, `too-deep`, `too-large`, or `wrong-type` where the root is a scalar.
    """
    return _parsed("jsonc", decode(data, name=name), data)


def _parsed(format_: str, source: Source, data: bytes) -> JsonDocument:
    try:
        cleaned = clean(source.text, format_ == "jsonc")
        return _read(format_, source, cleaned, data if cleaned.text is source.text else cleaned.text.encode())
    except Broken as problem:
        raise source.error(problem.message, problem.offset, code=problem.code, hint=problem.hint) from None


def _read(format_: str, source: Source, cleaned: Clean, data: bytes) -> JsonDocument:
    text = cleaned.text
    root = skip_space(text, 0)
    if root == len(text):
        return JsonDocument(format_, source, cleaned, -1, [])
    duplicates: list[Duplicate] = []
    boxes: dict[int, Box] = {}
    try:  # an object root is walked at once, for every edit needs it
        end = walk(cleaned, root, jump, boxes=boxes).end if text[root] == "{" else jump(text, root)
    except (ValueError, RecursionError, Broken) as problem:
        if isinstance(problem, Broken) and problem.code == "too-large":
            raise
        boxes = {}
        end, duplicates = examine(text, root)
    _check_end(text, root, end)
    # Until 3.11 the C decoder counts its levels against the recursion limit: what it has read is no deeper.
    proved = bool(boxes) and sys.version_info < (3, 12) and sys.getrecursionlimit() <= MAX_DEPTH
    if not proved and depth_of(data) > MAX_DEPTH:
        raise Broken(f"nested deeper than {MAX_DEPTH:,}", root, "too-deep")
    return JsonDocument(format_, source, cleaned, root, duplicates, boxes)


def _check_end(text: str, root: int, end: int) -> None:
    rest = skip_space(text, end)
    if rest < len(text):
        raise unexpected(text, rest, "the end of the document")
    if text[root] not in "{[":
        raise Broken("the document is no object and no array", root, "wrong-type")


class JsonDocument:
    """A JSON or JSONC text, parsed. See `Document`."""

    __slots__ = ("_boxes", "_clean", "_duplicates", "_root", "_source", "bom", "format", "issues", "name", "text")

    def __init__(
        self,
        format_: str,
        source: Source,
        cleaned: Clean,
        root: int,
        duplicates: Sequence[Duplicate],
        boxes: dict[int, Box] | None = None,
    ) -> None:
        self.format = format_
        self.name = source.name
        self.text = source.text
        self.bom = source.bom
        self._source = source
        self._clean = cleaned
        self._root = root
        """Where the root value starts; -1 in a file that holds none."""
        self._duplicates = {found.at for found in duplicates}
        self._boxes = {} if boxes is None else boxes
        """Containers walked so far, by where they start: a memo, it changes no answer."""
        self.issues: tuple[FormatError, ...] = tuple(self._issue(found) for found in duplicates)

    def _issue(self, found: Duplicate) -> DuplicateKey:
        line, _ = self._source.position(found.first)
        error = self._source.error(f"the key `{found.at[-1]}` stands on line {line} already", found.offset)
        issue = DuplicateKey(
            error.message, path=error.path, line=error.line, column=error.column, excerpt=error.excerpt
        )
        issue.at = found.at
        return issue

    # -------------------------------------------------------------- reading

    def to_bytes(self) -> bytes:
        """The bytes of the document."""
        return self._source.encode()

    def get(self, at: KeyPath, default: Any = MISSING) -> Any:
        """The plain value at `at`, else `default`. Of a key that stands twice the last."""
        if self._root < 0:
            return default if at else {}
        if not at:
            return value_at(self._clean.text, self._root)
        boxes, index = self._way(at)
        if len(boxes) < len(at) or index < 0:
            return default
        return value_at(self._clean.text, boxes[-1].entries[index].value)

    def where(self, at: KeyPath) -> Span | None:
        """The span of the entry at `at`, its key included; None where nothing stands."""
        if self._root < 0:
            return None
        if not at:
            return self._source.span(self._root, self._box(self._root).end)
        boxes, index = self._way(at)
        if len(boxes) < len(at) or index < 0:
            return None
        entry = boxes[-1].entries[index]
        return self._source.span(entry.start, entry.end)

    def _box(self, start: int, way: KeyPath = ()) -> Box:
        """The container that starts there; those along `way` below it are walked on the same pass."""
        if start not in self._boxes:
            try:
                walk(self._clean, start, way=way[:_WALKED_AT_ONCE], boxes=self._boxes)
            except Broken as problem:
                raise self._source.refusal(problem.message, problem.offset, code=problem.code) from None
        return self._boxes[start]

    def _way(self, at: KeyPath) -> tuple[list[Box], int]:
        """The containers on the way to `at`, as far as there are any, and the index of the last key, or -1."""
        boxes = [self._box(self._root, at)]
        index = boxes[0].find(at[0])
        for depth, key in enumerate(at[1:], 1):
            if index < 0:
                break
            start = boxes[-1].entries[index].value
            if self._clean.text[start] not in "{[":
                break
            boxes.append(self._box(start, at[depth:]))
            index = boxes[-1].find(key)
        return boxes, index

    # -------------------------------------------------------------- editing

    def set(self, at: KeyPath, value: Any, *, last: bool = False) -> Edit:
        """Replace the value at `at`, or add it with its missing parents; `last` puts it behind its siblings.

        Raises:
            EditRefused: `wrong-type`, `duplicate-key`, `not-found`, `too-deep` or `would-change-other`.
        """
        value = plain(value, len(at))
        if not at or self._root < 0:
            return self._set_root(at, value)
        self._refuse_duplicates(at)
        boxes, index = self._way(at)
        if index < 0:
            return self._add(at, boxes, value)
        if len(boxes) < len(at):
            raise self._no_container(at, boxes, index)
        box = boxes[-1]
        entry = box.entries[index]
        same = same_value(value_at(self._clean.text, entry.value), value)
        others: _Should = [i for i in range(len(box.entries)) if i != index]
        if last and box.kind == "{" and index < len(box.entries) - 1:
            item = _New((None, Raw(self.text[entry.start : entry.end])) if same else (entry.key, value))
            hunks = json_edit.move_last(self.text, boxes, index, item)
            return self._edit(hunks, at[: len(boxes) - 1], [*others, _New((entry.key, value))])
        if same:
            return Edit(self, self, ())
        hunks = json_edit.replacement(self.text, boxes, index, value)
        others.insert(index, _New((entry.key, value)))
        return self._edit(hunks, at[: len(boxes) - 1], others)

    def delete(self, at: KeyPath) -> Edit:
        """Take the entry or item at `at` out, with the comment on its own line. Parents stay.

        Raises:
            EditRefused: `duplicate-key`, `wrong-type` for the root, or `would-change-other`.
        """
        if not at:
            raise EditRefused("the root cannot be taken out", code="wrong-type", path=self.name)
        if self._root < 0:
            return Edit(self, self, ())
        self._refuse_duplicates(at)
        boxes, index = self._way(at)
        if len(boxes) < len(at) or index < 0:
            return Edit(self, self, ())
        hunks = json_edit.removal(self.text, boxes[-1], index)
        return self._edit(hunks, at[:-1], [i for i in range(len(boxes[-1].entries)) if i != index])

    def append(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Put `items` behind the array at `at`; a missing array is made.

        Raises:
            EditRefused: as `set`, and `wrong-type` where no array stands at `at`.
        """
        values = [plain(item, len(at) + 1) for item in items]
        if self.where(at) is None and at:
            return self.set(at, values) if values else Edit(self, self, ())
        boxes = self._array(at)
        if not values:
            return Edit(self, self, ())
        hunks = json_edit.insertion(self.text, boxes, [(None, value) for value in values])
        return self._edit(hunks, at, [*range(len(boxes[-1].entries)), *(_New((None, value)) for value in values)])

    def remove(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Take out of the array at `at` the last item equal to each of `items`; what is not there is passed over.

        Raises:
            EditRefused: `wrong-type` where something else than an array stands at `at`, `duplicate-key`.
        """
        if self._root < 0 or self.where(at) is None:
            return Edit(self, self, ())
        box = self._array(at)[-1]
        kept = list(range(len(box.entries)))
        values = [value_at(self._clean.text, entry.value) for entry in box.entries]
        local = self.text[box.start : box.end]  # an array is a text by itself: no need to cut the whole file each time
        hunks: tuple[Hunk, ...] = ()
        for item in items:
            found = next((i for i in reversed(kept) if same_value(values[i], item)), None)
            if found is None:
                continue
            inner = walk(clean(local, self.format == "jsonc"), 0)
            more = json_edit.removal(local, inner, kept.index(found))
            hunks = compose_hunks(self.text[box.start : box.end], hunks, more)
            local = apply_hunks(local, more)
            kept.remove(found)
        moved = [hunk._replace(start=hunk.start + box.start) for hunk in hunks]
        return self._edit(moved, at, list(kept)) if moved else Edit(self, self, ())

    def _array(self, at: KeyPath) -> list[Box]:
        """The containers down to the array at `at`, itself the last."""
        self._refuse_duplicates(at)
        if self._root < 0:
            raise EditRefused("the document is no array", code="wrong-type", path=self.name)
        boxes, index = self._way(at) if at else ([self._box(self._root)], 0)
        if at:
            start = boxes[-1].entries[index].value
            if self._clean.text[start] != "[":
                raise self._source.refusal(f"{_words(at)} is no array", start, code="wrong-type")
            boxes.append(self._box(start))
        elif boxes[0].kind != "[":
            raise self._source.refusal("the document is no array", self._root, code="wrong-type")
        return boxes

    def _add(self, at: KeyPath, boxes: list[Box], value: Any) -> Edit:
        """Insert what is missing of the way to `at` behind the entries of the last of `boxes`."""
        box, key = boxes[-1], at[len(boxes) - 1]
        if isinstance(key, str) != (box.kind == "{"):
            wanted = "object" if isinstance(key, str) else "array"
            raise self._source.refusal(f"{_words(at[: len(boxes) - 1])} is no {wanted}", box.start, code="wrong-type")
        if isinstance(key, int) and key != len(box.entries):
            raise self._source.refusal(f"{_words(at[: len(boxes) - 1])} has no item {key}", box.start, code="not-found")
        name = key if isinstance(key, str) else None
        value = _wrapped(at[len(boxes) :], value)
        hunks = json_edit.insertion(self.text, boxes, [(name, value)])
        return self._edit(hunks, at[: len(boxes) - 1], [*range(len(box.entries)), _New((name, value))])

    def _set_root(self, at: KeyPath, value: Any) -> Edit:
        """Replace the root, or write the first one into a file that holds none."""
        value = _wrapped(at, value)
        if not isinstance(value, dict if at else (dict, list)):
            raise EditRefused("the root has to be an object", code="wrong-type", path=self.name)
        eol = eol_near(self.text, len(self.text))
        new = on_lines(value, "", Style(eol, "  ", ": ", ", ", " ", True))
        if self._root >= 0:
            if same_value(self.get(()), value):
                return Edit(self, self, ())
            end = self._box(self._root).end
            hunk = Hunk(self._root, self.text[self._root : end], new)
        elif not self.text.strip(" \t\r\n"):
            hunk = Hunk(0, self.text, new + eol)
        else:  # only comments: they stay above
            ends_line = self.text.endswith(("\n", "\r"))
            hunk = Hunk(len(self.text), "", new + eol if ends_line else eol + new)
        after = self._reread((hunk,), ())
        if not same_value(after.get(()), value):
            raise _changes_other(self.name)
        return Edit(self, after, (hunk,))

    # -------------------------------------------------------------- refusing

    def _refuse_duplicates(self, at: KeyPath) -> None:
        if not self._duplicates:
            return
        for size in range(1, len(at) + 1):
            if at[:size] in self._duplicates:
                issue = next(i for i in self.issues if isinstance(i, DuplicateKey) and i.at == at[:size])
                raise EditRefused(
                    issue.message,
                    hint="Keep one of the two, then try again",
                    path=issue.path,
                    line=issue.line,
                    column=issue.column,
                    excerpt=issue.excerpt,
                    code="duplicate-key",
                )

    def _no_container(self, at: KeyPath, boxes: list[Box], index: int) -> EditRefused:
        offset = boxes[-1].entries[index].value
        return self._source.refusal(f"{_words(at[: len(boxes)])} is no object", offset, code="wrong-type")

    # -------------------------------------------------------------- checking

    def _edit(self, hunks: Sequence[Hunk], at: KeyPath, should: _Should) -> Edit:
        """The edit, once the new text has been read and means the old value with this one change.

        `should` is what the container at `at` has to hold afterwards; all else has to be as it was.
        """
        after = self._reread(hunks, at)
        boxes = [self._box(self._root)]
        news = [after._box(after._root)]
        for depth, key in enumerate(at, 1):
            index = boxes[-1].find(key)
            others = [i for i in range(len(boxes[-1].entries)) if i != index]
            if not self._holds(boxes[-1], after, news[-1], [*others[:index], _PASS, *others[index:]]):
                raise _changes_other(self.name)
            start = news[-1].entries[index].value
            if after._clean.text[start] not in "{[":
                raise _changes_other(self.name)
            boxes.append(self._box(boxes[-1].entries[index].value))
            news.append(after._box(start, at[depth:]))
        if not self._holds(boxes[-1], after, news[-1], should):
            raise _changes_other(self.name)
        return Edit(self, after, tuple(hunks))

    def _holds(self, old: Box, after: JsonDocument, new: Box, should: _Should) -> bool:
        """Whether a container of the new text holds what it should: old entries to the letter, new ones by value."""
        if old.kind != new.kind or len(should) != len(new.entries):
            return False
        for what, entry in zip(should, new.entries, strict=True):
            if what is _PASS:
                continue
            if isinstance(what, _New):
                key, value = what
                if entry.key != key or not same_value(value_at(after._clean.text, entry.value), value):
                    return False
                continue
            was = old.entries[what]
            if entry.key != was.key or not same_run(self.text, was.value, was.end, after.text, entry.value, entry.end):
                return False
        return True

    def _reread(self, hunks: Sequence[Hunk], at: KeyPath) -> JsonDocument:
        """The document after the hunks, read again from its text, the containers on the way to `at` walked."""
        source = Source(spliced(self.text, hunks), self.bom, self.name)
        try:
            if self._duplicates:
                return _parsed(self.format, source, source.text.encode())
            # No key can stand twice now: what is compared to the letter has none, else the keys are compared.
            cleaned = clean(source.text, self.format == "jsonc")
            root = skip_space(cleaned.text, 0)
            boxes: dict[int, Box] = {}
            if not cleaned.text.startswith(("{", "["), root):
                raise _changes_other(self.name)
            _check_end(cleaned.text, root, walk(cleaned, root, way=at[:_WALKED_AT_ONCE], boxes=boxes).end)
            return JsonDocument(self.format, source, cleaned, root, [], boxes)
        except (FormatError, Broken) as problem:
            if problem.code in ("too-deep", "too-large"):
                raise EditRefused(problem.message, code=problem.code, path=self.name) from None
            raise _changes_other(self.name) from None


_PASS = _New((None, None))
"""Stands for the entry on the way down, looked at by itself."""


def _changes_other(name: str) -> EditRefused:
    return EditRefused(
        "the edit would change more than itself",
        hint="This is a fault of hostconf",
        path=name,
        code="would-change-other",
    )


def _wrapped(at: KeyPath, value: Any) -> Any:
    """The value inside the containers that `at` names."""
    for key in reversed(at):
        if isinstance(key, int) and key != 0:
            raise EditRefused(f"there is no item {key} in an array to be made", code="not-found")
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _words(at: KeyPath) -> str:
    return f"`{'.'.join(map(str, at))}`" if at else "the document"
