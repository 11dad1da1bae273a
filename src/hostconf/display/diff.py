"""A change as a unified diff, with secrets masked in changed lines and in those around them.

Pure. Where nothing is masked the text is one that `patch` applies to the byte:
carriage returns stand in their lines, a missing last newline is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hostconf.display.scan import piece_spans, secret_spans
from hostconf.display.secrets import MASK, Span, cover, merged

CONTEXT = 3
"""Lines shown around a change."""
CLOSE = 1_000_000
"""Up to this many pairs of lines a change is looked for closely; above it only by lines that stand once."""

SHORT = 120
"""Changes of up to this many lines are found in any text, however long."""

Block = tuple[bool, int, int, int, int]
"""Whether the lines are equal, from and to in the old lines, from and to in the new ones."""


LONG = 1 << 16
"""Of a longer line only the part around the change is shown."""
SHOWN = 2000


class Diff(NamedTuple):
    """A unified diff, and whether a secret was masked or a line cut in it (then `patch` cannot use it)."""

    text: str
    masked: bool


def mask_text(text: str, format: str = "") -> str:
    """A piece of configuration text with its secrets masked; what stands around it is not known."""
    if format in ("json", "jsonc", "json5", "toml", "yaml"):
        spans = secret_spans(text, format, [(0, len(text))], loose=True)
        at = 0
        for line in _lines(text):
            spans += piece_spans(line.rstrip("\r\n"), "", at)
            at += len(line)
    else:
        spans = secret_spans(text, "", [(0, len(text))])
    return cover(text, _cut(text, spans))


def mask_lines(text: str, format: str, first: int, last: int) -> list[tuple[int, str]]:
    """The lines from `first` to `last` (1 is the first) of a whole file's text, numbered, secrets masked."""
    lines = _lines(text)
    span = (max(0, first - 1), min(len(lines), last))
    if span[0] >= span[1]:
        return []
    parts: dict[int, Span] = {n: (0, SHOWN) for n in range(*span) if len(lines[n]) > LONG}
    spans = _line_spans(text, 0, lines, format, [span], parts)
    found: list[tuple[int, str]] = []
    for number in range(*span):
        line = lines[number][:SHOWN] if number in parts else lines[number]
        inside = [(a, min(b, len(line))) for a, b in spans.get(number, []) if a < len(line)]
        found.append((number + 1, cover(line, inside).rstrip("\r\n") + ("…" if number in parts else "")))
    return found


def mask_diff(before: bytes | None, after: bytes | None, format: str, path: str) -> Diff:
    """The unified diff from one text to the other; None stands for a file that is not there."""
    old, new = _text(before), _text(after)
    if old == new and (before is None) == (after is None):
        return Diff("", False)
    start, old_end, new_end = _window(old, new)
    old_lines, new_lines = _lines(old[start:old_end]), _lines(new[start:new_end])
    first = old.count("\n", 0, start)
    hunks = list(_hunks(_blocks(old_lines, new_lines)))
    old_parts, new_parts = _parts(old_lines, new_lines, hunks)
    old_spans = _line_spans(old, start, old_lines, format, [(h[0][1], h[-1][2]) for h in hunks], old_parts)
    new_spans = _line_spans(new, start, new_lines, format, [(h[0][3], h[-1][4]) for h in hunks], new_parts)
    name = _name(path)
    out = [
        f"--- {'/dev/null' if before is None else 'a/' + name}\n",
        f"+++ {'/dev/null' if after is None else 'b/' + name}\n",
    ]
    masked = False
    for hunk in hunks:
        top, end = hunk[0], hunk[-1]
        out.append(f"@@ -{_range(first + top[1], first + end[2])} +{_range(first + top[3], first + end[4])} @@\n")
        for equal, a, b, c, d in hunk:
            if equal:
                masked |= _put(out, " ", old_lines, old_spans, old_parts, a, b)
            else:
                masked |= _put(out, "-", old_lines, old_spans, old_parts, a, b)
                masked |= _put(out, "+", new_lines, new_spans, new_parts, c, d)
    return Diff("".join(out), masked)


def _window(old: str, new: str) -> tuple[int, int, int]:
    """Where the texts differ, with the lines around: from, to in the old one, to in the new one."""
    most = min(len(old), len(new))
    head = _same(old, new, most, 1)
    start = old.rfind("\n", 0, head) + 1
    tail = _same(old, new, most - start, -1)
    cut = old.find("\n", len(old) - tail)  # of the common end, whole lines count
    if tail and _begins_line(old, len(old) - tail) and _begins_line(new, len(new) - tail):
        end = len(old) - tail
    else:
        end = cut + 1 if tail and cut >= 0 else len(old)
    shift = len(new) - len(old)
    for _ in range(CONTEXT):
        start = old.rfind("\n", 0, max(0, start - 1)) + 1
        stop = old.find("\n", end)
        end = len(old) if stop < 0 else stop + 1
    return start, end, end + shift


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _same(old: str, new: str, most: int, way: int) -> int:
    """How many characters are the same from the beginning, or with `way` -1 from the end; at most `most`."""
    done, step = 0, 1 << 16
    while done < most and step:
        size = min(step, most - done)
        if way > 0:
            equal = old[done : done + size] == new[done : done + size]
        else:
            a, b = len(old) - done, len(new) - done
            equal = old[a - size : a] == new[b - size : b]
        if equal:
            done += size
        else:
            step = size // 2
    return done


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _lines(text: str) -> list[str]:
    """Lines with their newline; nothing but a newline ends one."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _name(path: str) -> str:
    from hostconf.display import display

    name = display(path).lstrip("/")
    return name + "\t" if " " in name else name


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _parts(
    old: Sequence[str], new: Sequence[str], hunks: Sequence[Sequence[Block]]
) -> tuple[dict[int, Span], dict[int, Span]]:
    """Of lines that are too long: the part to be shown, by line."""
    parts: tuple[dict[int, Span], dict[int, Span]] = ({}, {})
    for _, a, b, c, d in (block for hunk in hunks for block in hunk):
        for nth in range(max(b - a, d - c)):
            pair = (old[a + nth] if a + nth < b else "", new[c + nth] if c + nth < d else "")
            if max(map(len, pair)) > LONG:
                first = max(0, _same(*pair, min(map(len, pair)), 1) - 200)
                for side, at in enumerate((a + nth, c + nth)):
                    if len(pair[side]) > LONG:
                        parts[side][at] = (first, min(first + SHOWN, len(pair[side].rstrip("\n"))))
    return parts


def _put(
    out: list[str],
    sign: str,
    lines: Sequence[str],
    spans: dict[int, list[Span]],
    parts: dict[int, Span],
    start: int,
    end: int,
) -> bool:
    masked = False
    for at in range(start, end):
        line = lines[at]
        ended = line.endswith("\n")
        if at in parts:
            first, last = parts[at]
            inside = [
                (max(a, first) - first, min(b, last) - first) for a, b in spans.get(at, []) if a < last and b > first
            ]
            line = f"… {cover(line[first:last], inside)} … ({len(line)} characters)" + "\n" * ended
            masked = True
        elif at in spans:
            line = cover(line, spans[at])
            masked = True
        out += (sign, line)
        if not ended:
            out.append("\n\\ No newline at end of file\n")
    return masked


# ------------------------------------------------------------------ what is masked


def _line_spans(
    text: str, start: int, lines: Sequence[str], format: str, wanted: Sequence[Span], parts: dict[int, Span]
) -> dict[int, list[Span]]:
    """Masked spans by line, for the wanted ranges of the lines that begin at `start`."""
    regions: list[Span] = []
    numbers: list[tuple[int, int]] = []
    at, line = start, 0
    for first, end in wanted:
        at += sum(map(len, lines[line:first]))
        for number in range(first, end):
            numbers.append((number, at))
            begin, stop = parts.get(number, (0, len(lines[number])))
            if regions and regions[-1][1] == at + begin:
                regions[-1] = (regions[-1][0], at + stop)
            else:
                regions.append((at + begin, at + stop))
            at += len(lines[number])
        line = end
    spans = _cut(text, secret_spans(text, format, regions)) if regions else []
    found: dict[int, list[Span]] = {}
    nth = 0
    for number, offset in numbers:
        end = offset + len(lines[number])
        while nth < len(spans) and spans[nth][1] <= offset:
            nth += 1
        here = nth
        while here < len(spans) and spans[here][0] < end:
            found.setdefault(number, []).append((spans[here][0] - offset, spans[here][1] - offset))
            here += 1
    return found


def _cut(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans that stay within their lines: indentation and line ends are never masked, nor what is masked already."""
    out: list[Span] = []
    for start, end in merged(spans):
        while start < end:
            stop = text.find("\n", start, end)
            stop = end if stop < 0 else stop
            piece = text[start:stop]
            body = piece.strip(" \t\r")
            if body and body != MASK:
                first = start + len(piece) - len(piece.lstrip(" \t\r"))
                out.append((first, first + len(body)))
            start = stop + 1
    return out


# ------------------------------------------------------------------ what changed


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Equal and changed runs of lines, in order."""
    return _joined(_between(old, new, 0, len(old), 0, len(new)))


def _between(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int, effort: int = SHORT
) -> list[Block]:
    head = _alike(old, new, a, c, min(b - a, d - c))
    start: list[Block] = [(True, a, a + head, c, c + head)]
    a, c = a + head, c + head
    tail = 0
    while tail < min(b - a, d - c) and old[b - 1 - tail] == new[d - 1 - tail]:
        tail += 1
    end: list[Block] = [(True, b - tail, b, d - tail, d)]
    b, d = b - tail, d - tail
    if a == b or c == d:
        middle: list[Block] | None = [(False, a, b, c, d)]
    else:
        middle = _shortest(old, new, a, b, c, d, effort)
    if middle is None:
        if (b - a) * (d - c) > CLOSE * effort // SHORT:
            middle = _by_single_lines(old, new, a, b, c, d)
        else:
            from difflib import SequenceMatcher

            codes = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_opcodes()
            middle = [(tag == "equal", a + i, a + j, c + k, c + m) for tag, i, j, k, m in codes]
    return start + middle + end


def _alike(old: Sequence[str], new: Sequence[str], a: int, c: int, most: int) -> int:
    """How many lines are the same from `a` and `c` on: in ever larger steps, then in ever smaller ones."""
    done, step = 0, 1
    while done < most:
        size = min(step, most - done)
        if old[a + done : a + done + size] == new[c + done : c + done + size]:
            done += size
            step *= 4
        elif size == 1:
            break
        else:
            most = done + size - 1
            step = max(1, size // 4)
    return done


def _shortest(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int, effort: int
) -> list[Block] | None:
    """The shortest edit by Myers' search, while it stays short; None when it does not."""
    rows, columns = b - a, d - c
    reach = {1: 0}
    steps: list[dict[int, int]] = []
    for cost in range(min(rows + columns, effort) + 1):
        steps.append(dict(reach))
        for diagonal in range(-cost, cost + 1, 2):
            down = diagonal == -cost or (diagonal != cost and reach.get(diagonal - 1, -1) < reach.get(diagonal + 1, -1))
            x = reach.get(diagonal + 1, -1) if down else reach.get(diagonal - 1, -1) + 1
            y = x - diagonal
            if x < 0 or y < 0 or x > rows or y > columns:
                reach[diagonal] = -2
                continue
            x += _alike(old, new, a + x, c + y, min(rows - x, columns - y))
            reach[diagonal] = x
            if x >= rows and x - diagonal >= columns:
                return _walked(steps, a, b, c, d)
    return None


def _walked(steps: Sequence[dict[int, int]], a: int, b: int, c: int, d: int) -> list[Block]:
    """The way that Myers' search took, from its end to its beginning, as blocks."""
    blocks: list[Block] = []
    x, y = b - a, d - c
    for cost in range(len(steps) - 1, -1, -1):
        reach, diagonal = steps[cost], x - y
        down = diagonal == -cost or (diagonal != cost and reach.get(diagonal - 1, -1) < reach.get(diagonal + 1, -1))
        from_x = reach.get(diagonal + 1, -1) if down else reach.get(diagonal - 1, -1)
        from_y = from_x - (diagonal + 1 if down else diagonal - 1)
        step_x, step_y = (from_x, from_y + 1) if down else (from_x + 1, from_y)
        blocks.append((True, a + step_x, a + x, c + step_y, c + y))
        if cost:
            blocks.append((False, a + from_x, a + step_x, c + from_y, c + step_y))
        x, y = from_x, from_y
    return blocks[::-1]


def _by_single_lines(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> list[Block]:
    """Lines that stand once in both texts, in the longest common order, part the rest."""
    from bisect import bisect_left

    places: dict[str, int] = {}
    for at in range(a, b):
        places[old[at]] = -1 if old[at] in places else at
    seen: dict[str, int] = {}
    for at in range(c, d):
        seen[new[at]] = -1 if new[at] in seen else at
    pairs = [(places[line], at) for line, at in seen.items() if at >= 0 and places.get(line, -1) >= 0]
    tops: list[int] = []
    chain: list[int] = []
    back: list[int] = [-1] * len(pairs)
    for nth, (place, _) in enumerate(pairs):
        spot = bisect_left(tops, place)
        back[nth] = chain[spot - 1] if spot else -1
        tops[spot : spot + 1] = [place]
        chain[spot : spot + 1] = [nth]
    kept: list[tuple[int, int]] = []
    nth = chain[-1] if chain else -1
    while nth >= 0:
        kept.append(pairs[nth])
        nth = back[nth]
    blocks: list[Block] = []
    for place, at in [*reversed(kept), (b, d)]:
        if kept:
            blocks += _between(old, new, a, place, c, at, SHORT // 10)
        else:
            blocks.append((False, a, place, c, at))
        if place < b:
            blocks.append((True, place, place + 1, at, at + 1))
        a, c = place + 1, at + 1
    return blocks


def _joined(blocks: Sequence[Block]) -> list[Block]:
    out: list[Block] = []
    for block in blocks:
        if block[1] == block[2] and block[3] == block[4]:
            continue
        if out and out[-1][0] == block[0]:
            out[-1] = (block[0], out[-1][1], block[2], out[-1][3], block[4])
        else:
            out.append(block)
    return out


def _hunks(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Groups of blocks with a few equal lines around the changed ones."""
    hunk: list[Block] = []
    for nth, (equal, a, b, c, d) in enumerate(blocks):
        if not equal:
            hunk.append((equal, a, b, c, d))
            continue
        last = nth == len(blocks) - 1
        if hunk and (last or b - a > 2 * CONTEXT):
            keep = min(CONTEXT, b - a)
            yield [*hunk, (True, a, a + keep, c, c + keep)]
            hunk = []
        if hunk:
            hunk.append((equal, a, b, c, d))
        elif not last:
            skip = max(0, b - a - CONTEXT)
            hunk = [(True, a + skip, b, c + skip, d)]
    if hunk and any(not block[0] for block in hunk):
        yield hunk
