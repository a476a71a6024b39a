"""Which calls may end with an exception: a fixpoint over the calls of a program, found while it is translated.

A function may *throw* if it raises an exception itself, or if it makes a call that may throw and has no landing pad. A
call by name may throw if the function may. A call through a pointer may if some function may whose address is taken
anywhere, and which takes no more arguments than there are: these are the functions that the machine lets such a call
arrive at. What compilers say about calls that never throw is not relied upon, since it does not bind whoever is called:
where a call is said not to throw, but may arrive at a function that does, it is checked when the program runs.

Only what is found to throw has its landing pads translated. These may make further calls, and so on: both grow until
nothing is added. So a program in which nothing throws has none of this.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.program.instructions import Call
from mazurka.program.program import Function

if TYPE_CHECKING:
    from mazurka.frontends.c.translate.translator import Translator


@dataclass(eq=False, slots=True)
class Site:
    """A call, in the block of the text that begins at `label`. If it `throws`, control goes to the landing pad `pad`,
    or leaves the function; not if it is `silent`, that is, if the compiler says that it never throws."""

    call: Call
    caller: Translator
    label: str
    pad: str | None
    silent: bool
    throws: bool = False


class Unwinding:
    def __init__(self) -> None:
        self._throwing: dict[str, Function] = {}
        self._taken: set[str] = set()  # functions whose addresses are known to someone
        self._by_name: dict[str, list[Site]] = {}
        self._through_pointers: list[Site] = []
        self._first: set[str] = set()  # functions that threads begin with
        self._pending: deque[tuple[Translator, str]] = deque()  # landing pads to be translated

    def add(self, site: Site) -> None:
        """A call was translated."""
        callee = site.call.callee
        if isinstance(callee, str):
            self._by_name.setdefault(callee, []).append(site)
            may_throw = callee in self._throwing
        else:
            self._through_pointers.append(site)
            may_throw = any(self._fits(site, function) for function in self._throwing.values())
        if may_throw:
            self._throw(site)

    def take(self, name: str) -> None:
        """The address of a function is taken."""
        if name not in self._taken:
            self._taken.add(name)
            if name in self._throwing:
                self._throw_through_pointers(self._throwing[name])

    def leaves(self, function: Function) -> None:
        """An exception may leave a function."""
        if function.name not in self._throwing:
            self._throwing[function.name] = function
            for site in self._by_name.get(function.name, ()):
                self._throw(site)
            self._throw_through_pointers(function)

    def begin_thread(self, name: str) -> None:
        """A thread begins with a function: none of its calls throws, because there is no handler."""
        self._first.add(name)

    def begins_thread(self, name: str) -> bool:
        return name in self._first

    def throws(self, name: str) -> bool:
        """Whether an exception may leave a function."""
        return name in self._throwing

    def landing(self) -> tuple[Translator, str] | None:
        """A landing pad that is to be translated now, and its function."""
        return self._pending.popleft() if self._pending else None

    def _throw_through_pointers(self, function: Function) -> None:
        for site in self._through_pointers:
            if self._fits(site, function):
                self._throw(site)

    def _fits(self, site: Site, function: Function) -> bool:
        return function.name in self._taken and len(function.parameters) <= len(site.call.arguments)

    def _throw(self, site: Site) -> None:
        if not site.throws:
            site.throws = True
            if site.pad is not None:
                self._pending.append((site.caller, site.pad))
            elif not site.silent:
                self.leaves(site.caller.function)
