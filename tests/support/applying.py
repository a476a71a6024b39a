"""Proposals of `mazurka fences`, made in the text of a program as its author would."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mazurka.fencing import Change

ORDER = re.compile(r"(memory_order_|__ATOMIC_)(\w+)")


def applied_to_text(text: str, changes: Sequence[Change], cpp: bool = False) -> str:
    """The program after all changes."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    std = "std::" if cpp else ""
    edits: list[tuple[int, int, str]] = []  # from where to where, and what comes there
    for change in changes:
        begin, end = starts[change.line - 1], starts[change.line]
        if change.before is None:
            fence = f"{std}atomic_thread_fence({std}memory_order_{change.after});"
            opening, closing = ("{", "}") if change.braces else ("", "")
            if change.where == "before":
                edits += [(begin, begin, f"{opening}{fence}\n"), (end, end, f"{closing}\n")]
            else:
                edits += [(begin, begin, f"{opening}\n"), (end, end, f"{fence}{closing}\n")]
            continue
        orders = ORDER.finditer(text, begin + change.column - 1)
        order = next(orders)
        if change.operation == "failing compare-exchange":
            order = next(orders)
        assert order[2].lower().replace("consume", "acquire") == change.before, change
        new = change.after.upper() if order[2].isupper() else change.after
        edits.append((order.start(2), order.end(2), new))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text
