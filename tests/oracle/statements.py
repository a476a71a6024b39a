"""What threads of random C programs do to what they share: `int x, y, z, array[4]` and `atomic_int counter`, with the
functions `get`, `put`, `add` and `guarded`, and with locals `u` and `v`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random


def scalar(source: Random) -> str:
    return source.choice("xyz")


def place(source: Random, indices: Sequence[str]) -> str:
    """Any variable; `indices` are the counters of loops around it."""
    index = source.choice(("0", "1", "2", "3", *(f"{index} & 3" for index in indices)))
    return source.choice(("x", "y", "z", f"array[{index}]"))


def simple(source: Random, indices: Sequence[str], note: Callable[[str], str], by_local: bool = False) -> str:
    """A statement; `note` is what is done with a value that it has read. `by_local`: also with indices of its own."""
    at, local, variable = place(source, indices), source.choice("uv"), scalar(source)
    noted = note(local)
    statements = [
        f"{at} = {local} + {source.randrange(9)};",
        f"{local} = {at}; {noted}",
        f"{variable} = {variable} * 3 + {local};",
        f"{local} = get(&{at}); {noted}",
        f"{local} = get(&{local});",
        f"add(&{variable}, {local});",
        f"guarded(&{variable}, {local});",
        f"put(&{at}, {local});",
        f"{at} = {variable} ^ {local};",
        f"{local} = atomic_fetch_add(&counter, 1); {noted}",
        f"{{ int e = 2; atomic_compare_exchange_strong(&counter, &e, 5); {local} += e; {noted} }}",
    ]
    if by_local:
        statements += [f"array[v & 3] = {local};", f"{variable} = array[u & 3]; {noted}"]
    return source.choice(statements)
