"""Where things lie in the machine's memory: the face in Python of `native/core/layout.hpp`, which says what each means.

The models of the C library are compiled with the same numbers, as `MACROS`.
"""

from __future__ import annotations

from mazurka import _native

_LAYOUT = _native.LAYOUT

OFFSET_BITS = _LAYOUT["offset_bits"]
ADDRESS_BITS = _LAYOUT["address_bits"]
MAX_OBJECT_SIZE = _LAYOUT["max_object_size"]
OBJECT_LIMIT = f"{(MAX_OBJECT_SIZE + 1) >> 20} MiB"  # as people say it
MAX_SPACE = _LAYOUT["max_space"]
MAX_THREADS = _LAYOUT["max_threads"]
MAX_FRAMES = _LAYOUT["max_frames"]
MAX_INSTRUCTIONS = _LAYOUT["max_instructions"]
MAX_CHOICES = _LAYOUT["max_choices"]
THREAD_BLOCK_SIZE = _LAYOUT["thread_block_size"]
THREAD_DONE = _LAYOUT["thread_done"]
THREAD_SIGNALLED = _LAYOUT["thread_signalled"]

MACROS = tuple(f"MAZURKA_{name.upper()}={value}" for name, value in _LAYOUT.items())


def address_of(owner: int, number: int) -> int:
    """Where an object begins: the `number`th of the thread in a slot (0: the program itself)."""
    return _native.address_of(owner, number)


def object_of(address: int) -> int:
    """The object that an address belongs to, even if it is a little before its begin."""
    return _native.object_of(address % 2**64)


def base_of(address: int) -> int:
    """Where the object begins that an address belongs to."""
    return object_of(address) << OFFSET_BITS
