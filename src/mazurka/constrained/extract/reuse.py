"""Blocks of memory that are used again.

The virtual machine gives every block an address of its own, for ever. A thread that makes blocks in an endless loop has
endlessly many of them, but only few at a time. So each place at which a thread makes them has a *pool*: a new block is
the first one of the pool that does not exist and that no address refers to, which is as if it had never existed before.

That is right as long as nobody can tell. A state of the model stands for states of the machine in which the blocks that
the model's state refers to have other addresses, each one its own. All that is done with such addresses gives the same
there: moving them, going to another byte of the same block, comparing two of them for equality, accessing what they
point to. Whatever else is done with one is beyond this engine. Freed blocks that are still referred to are not used
again: they are told apart from others as before, and accessing one is a failure.

To know what refers to a block, all that may hold an address of one is a variable of the model (never a constant that is
known at a location), and holds 0 as soon as it does not matter any more: a register that is not live, a word of an
object that has ceased to exist. Nothing of that is left to chance: what holders there are is assumed in a round of the
extraction and checked at its end.

A transition that makes a block looks at holders of other threads and at whether blocks exist. That is no access, since
the machine does not, but the model's state depends on the order. So these are *ghosts* of the transition
(`Transition.ghosts`), as they are of those that change them: in the model, such transitions depend on each other, and
all that is proved of the model, section by section, is right whatever blocks stand for. Below the model, nobody has to
keep to the order of ghosts. Two events that are ordered only by ghosts do the same in either order in the machine, and
so natively, but for the addresses of new blocks, which nobody can tell: a native run in which they happen the other way
round is equal to the one in the order of the schedule. (In the other order, the model might even lack a block where the
machine has plenty.) What must not happen is that a value of one block is taken for one of the next block that the same
word of the model stands for: natively, no access to such a word (`StateVariable.reused`) may be redirected to a cell.
None is, since only accesses to global variables are; and the validator looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mazurka.constrained.extract.memory import Object
from mazurka.constrained.extract.values import ValuesOf
from mazurka.constrained.model import StateVariable
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import Term
from mazurka.machine.layout import object_of

POOL = 4  # blocks at one place, of one thread, at a time
_MOST_ELEMENTS = 64  # of an array that may refer to blocks


class Reuse:
    """`active`: blocks are used again. `objects` are the numbers of those that may be, `holders` what may hold an
    address of one. `watched` are those of the holders that were there at the end of the round before, with the thread
    that alone can reach each (None: it is memory)."""

    def __init__(self) -> None:
        self.active = False
        self.forget()

    def forget(self) -> None:
        self.objects: set[int] = set()
        self.holders: set[Term] = set()
        self.watched: list[tuple[int | None, Term]] = []

    def carries(self, term: Term) -> bool:
        """Whether a term may be the address of a block that is used again, or an array that has some."""
        if not self.objects:
            return False
        seen: set[Term] = set()
        pending = [term]
        while pending:
            current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            match current.op:
                case "constant":
                    if self.is_address(current):
                        return True
                case "variable":
                    if current in self.holders:
                        return True
                case "ite":
                    pending += current.args[1:]
                case "select":
                    pending.append(current.args[0])
                case "store":
                    pending += (current.args[0], current.args[2])
                case "eq" | "ult" | "ule" | "slt" | "sle":
                    pass
                case _:
                    pending += current.args
        return False

    def is_address(self, term: Term) -> bool:
        return term.is_constant and term.width == 64 and object_of(term.value) in self.objects

    def learn(self, changes: Iterable[Mapping[StateVariable, Term]]) -> bool:
        """Find what may hold addresses, given all that is ever assigned. Whether that is news."""
        before = len(self.holders)
        pending = [(variable, value) for one in changes for variable, value in one.items()] if self.active else []
        size = -1
        while size != len(self.holders):
            size = len(self.holders)
            rest = []
            for variable, value in pending:
                if self.carries(value):
                    self.holders.add(variable.term)
                elif variable.term not in self.holders:
                    rest.append((variable, value))
            pending = rest
        return len(self.holders) != before

    def watch(self, variables: Iterable[tuple[int | None, StateVariable]]) -> bool:
        """Say what there is in a round. Whether it is not what was looked at in that round."""
        before = self.watched
        holders = [(thread, each.term) for thread, each in variables if each.term in self.holders]
        self.watched = sorted(holders, key=lambda holder: holder[1].name)
        return self.watched != before

    def apart(self, target: Object, holders: Iterable[Term], values_of: ValuesOf) -> Iterator[Term]:
        """Conditions under which what may hold addresses has none of an object."""
        number = object_of(target.base)
        for holder in holders:
            if holder.length is not None and holder.length > _MOST_ELEMENTS:
                yield t.FALSE
                continue
            indices = range(holder.length) if holder.length is not None else ()
            places = [t.select(holder, t.constant(index, 64)) for index in indices] or [holder]
            for place in places:
                for value in self._values(place, values_of):
                    if value is None:
                        yield t.negation(target.is_at(place))
                    elif object_of(value) == number:
                        yield t.negation(t.compare("eq", place, t.constant(value, 64)))

    def _values(self, place: Term, values_of: ValuesOf) -> Iterable[int | None]:
        if place.is_constant:
            return [place.value]
        values = values_of(place) if place.op in ("variable", "select") else None
        return [None] if values is None else sorted(values)
