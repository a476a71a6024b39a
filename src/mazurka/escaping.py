"""Text from programs, such as their output, in a form that can be shown."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Characters that a terminal would act on are written as in C: \n, \x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def quoted(text: str) -> str:
    """A string literal."""
    return '"' + visible(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'
