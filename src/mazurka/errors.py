"""What goes wrong outside of the checked program: always a message for a person, never a traceback."""

from __future__ import annotations


class MazurkaError(Exception):
    """Any error that this package raises on purpose. Its text is all that a user needs to see."""


class InputError(MazurkaError):
    """The input or the usage is at fault. The message names the file, the line and the remedy."""
