"""From a `Program` to a `Model`: every thread is run with unknown values, from each of its locations to the next ones.

A location is where the virtual machine would stop between two steps, with the calls that led there. What is known
there is kept: a register (or a word of memory that only this thread can reach) that has the same constant value
whenever a thread arrives is that constant; otherwise it is a variable. Words of shared memory are variables unless they
never change.

Which object an access touches has to be known. Where it depends on a register that has several values (the index of a
loop that creates threads, say), locations are told apart by that register: `tracked`. Where it depends on what is in
memory, and that has few values, each is a case of its own.

Everything that is assumed on the way (which words never change, what values they can have, how objects are cut into
words) is checked at the end of a round, and if it does not hold, another round follows with what was learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd
from typing import Any

from mazurka.constrained.extract.analysis import CodeAnalysis
from mazurka.constrained.extract.assembly import assemble
from mazurka.constrained.extract.memory import Word, linear
from mazurka.constrained.extract.objects import Objects, identifier
from mazurka.constrained.extract.paths import (
    Beyond,
    Frame,
    Later,
    Path,
    PathEnd,
    Shape,
    Slot,
    Split,
    SymbolicLocation,
    UndefinedValue,
    Value,
    source_of,
)
from mazurka.constrained.extract.reuse import Reuse
from mazurka.constrained.extract.stepping import Runner
from mazurka.constrained.extract.values import Rule, ValueSets, atoms
from mazurka.constrained.model import Model, StateVariable, Unnoticed
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import Term
from mazurka.errors import InputError
from mazurka.executions.schedule import Transformations
from mazurka.machine.layout import object_of
from mazurka.machine.lowering import Lowered
from mazurka.program import instructions as ins
from mazurka.program.names import demangle
from mazurka.program.program import Function, Program
from mazurka.program.types import signed

Head = tuple[int, tuple[int, ...], str, str]  # of a loop: a thread, the calls under way, the function and its block

_MOST_ROUNDS = 90
_MANY_ROUNDS, _MANY_BLOCKS = 20, 16  # after so many rounds, if a thread makes so many blocks, they are used again
_MOST_THREADS = 62
_MOST_PATHS = 4000  # from one location
_MOST_COPIES = 300  # of a location, for different values of tracked registers


def extract(program: Program, lowered: Lowered, transforms: Transformations | None = None) -> Model:
    """The model of a program that was prepared and lowered."""
    extraction = Extraction(program, lowered)
    try:
        for _ in range(_MOST_ROUNDS):
            if extraction.run():
                return assemble(extraction, transforms or Transformations())
    except RecursionError:
        raise InputError("the program computes too much for the abstract engine; simplify it") from None
    raise InputError(
        "the program uses memory in too many ways for the abstract engine: use global variables of simple types, and "
        "let threads print less"
    )


class Extraction:
    """All rounds. What is learned: `tracked` registers, the `sets` of values of variables, how `memory` is cut,
    the `heads` of loops in which threads compute on their own."""

    def __init__(self, program: Program, lowered: Lowered) -> None:
        self.program = program
        self.lowered = lowered
        self.code = CodeAnalysis(lowered)
        self.tracked: set[ins.Register | str] = set()
        self.demanded: set[ins.Register | str] = set()
        self.reuse = Reuse()
        self.reset()

    def reset(self) -> None:
        """Forget what was learned, except for what is tracked, and whether blocks are used again."""
        self.reuse.forget()
        self.rounds = 0
        self.sets = ValueSets()
        self.memory = Objects(self.program, self.lowered, self.reuse)
        self.unnoticed: dict[tuple[tuple[str, int], tuple[tuple[str, int], ...]], set[Unnoticed]] = {}
        self.writers: dict[str, set[int]] = {}
        self.heads: set[Head] = set()

    # -------------------------------------------------------------------------------------------- rounds

    def run(self) -> bool:
        """One round. Whether everything that was assumed in it holds."""
        self.places: dict[object, SymbolicLocation] = {}
        self.copies: dict[object, int] = {}
        self.starts: dict[int, SymbolicLocation] = {}
        self.pending: list[SymbolicLocation] = []
        self.locals: dict[tuple[int, ins.Register | Word, Shape | None], StateVariable] = {}
        self.names: dict[str, int] = {}
        self.by_term: dict[Term, ins.Register | Word] = {}
        self.input_counts: dict[Term, Term] = {}
        self.targets: dict[tuple[str, int], set[str]] = {}
        self.telling: list[ins.Location | None] = []  # where something depends on where objects lie
        self.demanded = set()
        self.news = False
        was_reusing = self.reuse.active
        self.rounds += 1
        self.memory.forget_words()
        self.image: dict[StateVariable, Term] = {}
        self.start(0, self.program.functions[self.program.entry], [])
        while self.pending and self.reuse.active == was_reusing:
            place = self.pending.pop()
            self._explore(place)
        if self.rounds > _MANY_ROUNDS and any(place.blocks > _MANY_BLOCKS for place in self.places.values()):
            self.reuse.active = True
        if self.demanded or self.reuse.active != was_reusing:
            self.tracked |= self.demanded
            self.reset()
            return False
        return not self._learn() and not self.memory.changes and not self.news

    def _learn(self) -> bool:
        """What values the variables have, given all transitions. Whether that is news."""
        rules = []
        for place in self.places.values():
            for outcome in place.outcomes:
                counts = {one.term: one.count for one in outcome.path.inputs}
                rules.append(Rule(outcome.path.conditions, self.assigns(outcome), counts))
        words = self.memory.by_variable
        local = {variable for variable in words if words[variable].object.private and not variable.is_array}
        initial = {variable: self.initial(variable) for variable in self.memory_variables() if variable not in local}
        more = self.reuse.learn([*(rule.changes for rule in rules), *_at_start(initial)])
        shared = [(None, v) for v, word in words.items() if not word.object.private or v.is_array]
        more |= self.reuse.watch([*self.own_holders(), *shared])
        initial |= {variable: 0 for _, variable in self.own_holders()}
        return self.sets.grow(initial, rules) or more

    def own_holders(self) -> list[tuple[int, StateVariable]]:
        """What only one thread can reach and may hold addresses of blocks that are used again, with that thread. It is
        0 unless it matters."""
        return [
            (thread, variable)
            for (thread, slot, _), variable in self.locals.items()
            if variable.term in self.reuse.holders and not (isinstance(slot, Word) and not slot.object.private)
        ]

    def memory_variables(self) -> list[StateVariable]:
        """The words of memory, and what there is to know about them."""
        words = self.memory.by_variable.values()
        written = [word.written for word in words if word.written is not None]
        alive = [known.alive for known in self.memory.objects.values() if known.alive is not None]
        return [*self.memory.by_variable, *written, *alive]

    def initial(self, variable: StateVariable) -> int | tuple[int, ...] | None:
        """The value at the start, after what the first thread does before its first event."""
        changed = self.image.get(variable)
        if changed is None:
            return variable.initial
        if not variable.is_array:
            return changed.value
        assert isinstance(variable.initial, tuple) or variable.initial is None
        elements = list(variable.initial or (0,) * (variable.term.length or 0))
        stores = []
        while changed.op == "store":
            stores.append((changed.args[1].value, changed.args[2].value))
            changed = changed.args[0]
        if changed.op == "array":
            elements = [changed.args[0].value] * len(elements)
        for index, value in reversed(stores):
            elements[index] = value
        return tuple(elements)

    # ---------------------------------------------------------------------------------- starts and arrivals

    def start(
        self, number: int, function: Function, arguments: Sequence[Value]
    ) -> tuple[SymbolicLocation, dict[Slot, Value]]:
        """A thread that begins to run a function: where, and with what in its registers."""
        registers = dict(zip(function.parameters, arguments, strict=True))
        frame = Frame(function, function.entry.name, 0, registers, ())
        known = self.starts.get(number)
        place, values = self.arrive(Path(number, [frame], {}, number != 0, 0, 0, 0, False), "start", silent=True)
        if known is not None and known is not place:
            self.starts[number] = known
            raise Beyond("which function a thread runs depends on what happened before; create it at one place")
        return place, values

    def arrive(self, path: Path, kind: str, *, silent: bool) -> tuple[SymbolicLocation, dict[Slot, Value]]:
        """The place that a path ends at, after what is known there was adapted to it."""
        values = dict(self._kept(path))
        position = (
            path.thread,
            kind,
            tuple((id(frame.function), frame.block, frame.index) for frame in path.frames),
            path.several,
            path.children,
            path.blocks,
            tuple(made.base for frame in path.frames for made in frame.objects),
            frozenset(word.variable.name for word in path.filled),
        )
        key = (position, frozenset(self._told_apart(values)))
        place = self.places.get(key)
        if place is None:
            self.copies[position] = self.copies.get(position, 0) + 1
            if self.copies[position] > _MOST_COPIES:
                raise Beyond(
                    "a loop goes round too often for each round to be looked at for itself, which is needed to know "
                    "what its index refers to; make it shorter"
                )
            place = self.places[key] = self._new_place(path, values, silent)
            if kind == "start":
                self.starts[path.thread] = place
            changed = True
        else:
            changed = self._meet(place, values)
        if changed and place not in self.pending:
            self.pending.append(place)
        return place, values

    def _kept(self, path: Path) -> Iterator[tuple[Slot, Value]]:
        """What a thread still knows at the end of a path."""
        for depth, frame in enumerate(path.frames):
            for register in self.code.live(frame, depth == len(path.frames) - 1):
                yield (depth, register), frame.registers[register]
        for word, value in path.private.items():
            if word.object.private:
                if not isinstance(word.initial, int) or value is not t.constant(word.initial, word.width):
                    yield word, value
            elif isinstance(value, Term) and self.only_writer(path.thread, word):
                yield word, value

    def _told_apart(self, values: Mapping[Slot, Value]) -> Iterator[object]:
        """What makes a place another one than others at the same position."""
        for slot, value in values.items():
            name = slot.variable.name if isinstance(slot, Word) else slot
            if isinstance(slot, Word) and slot.object.private and slot.initial is None:
                yield name, "defined"
            if isinstance(value, UndefinedValue):
                yield name, "undefined"
            elif value.is_constant:
                if (name if isinstance(name, str) else name[1]) in self.tracked and not self.reuse.is_address(value):
                    yield name, value.value
            elif (element := self._element(slot, value)) is not None:
                if object_of(element[0][0]) in self.reuse.objects:
                    raise Beyond("a pointer to an element of a block that is used again cannot be followed here")
                yield name, element[0]

    def _new_place(self, path: Path, values: Mapping[Slot, Value], silent: bool) -> SymbolicLocation:
        frames = [frame.copy() for frame in path.frames]
        for frame in frames:
            frame.registers = {}
        place = SymbolicLocation(
            len(self.places), path.thread, frames, path.several, path.children, path.blocks, path.ordinal, silent
        )
        place.filled = frozenset(path.filled)
        place.values = dict(values)
        for slot, value in values.items():
            if isinstance(value, Term) and (not value.is_constant or self.reuse.is_address(value)):
                self._widen(place, slot, value)
        return place

    def _meet(self, place: SymbolicLocation, values: Mapping[Slot, Value]) -> bool:
        """Let a place stand for these values, too. Whether it did not."""
        changed = False
        for slot in {**place.values, **values}:
            old, new = self.value_at(place.values, slot), self.value_at(values, slot)
            if slot not in place.variables and old is not new:
                assert isinstance(new, Term)
                self._widen(place, slot, new)
                changed = True
        return changed

    def add_head(self, head: Head) -> None:
        """From now on, threads come to a location at the head of this loop."""
        self.heads.add(head)
        self.news = True

    def is_memory(self, variable: StateVariable) -> bool:
        return variable in self.memory.by_variable or variable not in self.locals.values()

    def add_writer(self, thread: int, word: Word) -> None:
        writers = self.writers.setdefault(word.variable.name, set())
        if thread not in writers:
            writers.add(thread)
            self.news = True

    def only_writer(self, thread: int, word: Word) -> bool:
        """Whether nobody else writes a word of shared memory, so that the thread knows what it has written."""
        return self.writers.get(word.variable.name, set()) <= {thread}

    def value_at(self, values: Mapping[Any, Value], slot: Slot) -> Value:
        """A word of memory that was not touched is as it was at the start."""
        value = values.get(slot)
        if value is None:
            assert isinstance(slot, Word)
            initial = self.initial(slot.variable)
            return t.constant(initial, slot.width) if isinstance(initial, int) else slot.variable.term
        return value

    def _element(self, slot: Slot, value: Term) -> tuple[Shape, Term] | None:
        """An address in an array: where the array is, how far apart its elements are, how the index is widened to 64
        bits from how many; and the index. So that which object it points to is known wherever the address goes."""
        if value.width != 64 or (isinstance(slot, Word) and not slot.object.private):
            return None
        offset, parts = linear(value)
        target = self.memory.objects.get(object_of(offset))
        if not parts or target is None or target.size == 0:
            return None
        factors = [signed(factor, 64) for _, factor in parts]
        stride = gcd(*factors)
        index = t.constant(0, 64)
        for (part, _), factor in zip(parts, factors, strict=True):
            index = t.binary("add", index, t.binary("mul", part, t.constant(factor // stride, 64)))
        if index.op in ("sext", "zext"):
            return (offset, stride, index.op, index.args[0].width), index.args[0]
        return (offset, stride, "", 64), index

    def _widen(self, place: SymbolicLocation, slot: Slot, value: Term) -> None:
        """From now on, a variable stands for what arrives there: for the index if it is the address of an element."""
        shape = self._element(slot, value)
        variable = self._variable(place, slot, shape[0] if shape else None)
        value = variable.term
        if shape is not None:
            offset, stride, op, _ = shape[0]
            index = t.convert(op, value, 64) if op else value
            scaled = t.binary("mul", index, t.constant(stride, 64))
            value = t.binary("add", scaled, t.constant(offset, 64))
        place.variables[slot] = variable
        place.values[slot] = value

    def _variable(self, place: SymbolicLocation, slot: Slot, shape: Shape | None) -> StateVariable:
        known = self.locals.get((place.thread, slot if isinstance(slot, Word) else slot[1], shape))
        if known is not None:
            return known
        if isinstance(slot, Word):
            identity: ins.Register | Word = slot
            variable = slot.variable
            name, width = variable.name, variable.term.width
        else:
            identity = slot[1]
            function = place.frames[slot[0]].function
            thread = self.memory.thread_names[place.thread]
            name = f"{thread}:{identifier(demangle(function.name))}.{identifier(identity.name)}"
            width = identity.type.bits
        if shape is not None:
            name, width = f"{name}.index", shape[3]
        if shape is not None or not isinstance(slot, Word):
            self.names[name] = self.names.get(name, 0) + 1
            if self.names[name] > 1:
                name += f"#{self.names[name]}"
            display = slot.variable.display if isinstance(slot, Word) else slot[1].name
            variable = StateVariable(t.variable(name, width), None, place.thread, display=display)
        self.by_term[variable.term] = identity
        self.locals[place.thread, identity, shape] = variable
        return variable

    def assigns(self, outcome: PathEnd) -> dict[StateVariable, Term]:
        """The variables that a path changes, and what to."""
        changes = {variable: value for variable, value in outcome.path.memory.items() if value is not variable.term}
        arrivals = list(outcome.started)
        if isinstance(outcome.target, SymbolicLocation):
            arrivals.append((outcome.target, outcome.arriving))
        for place, values in arrivals:
            for slot, variable in place.variables.items():
                if isinstance(slot, Word) and not slot.object.private:
                    continue
                value = self.value_at(values, slot)
                assert isinstance(value, Term)
                shape = self._element(slot, value)
                value = value if shape is None else shape[1]
                if value is not variable.term:
                    changes[variable] = value
        matter = {variable for place, _ in arrivals for variable in place.variables.values()}
        for thread, variable in self.own_holders() if self.reuse.holders else ():
            if thread == outcome.path.thread and variable not in matter:
                changes[variable] = t.constant(0, variable.term.width)
        return changes

    # ------------------------------------------------------------------------------------------- exploring

    def _explore(self, place: SymbolicLocation) -> None:
        """All paths from a place to the next ones."""
        place.outcomes.clear()
        place.guards.clear()
        frames = [frame.copy() for frame in place.frames]
        private: dict[Word, Value] = {}
        for slot, value in place.values.items():
            if isinstance(slot, Word):
                private[slot] = value
            else:
                frames[slot[0]].registers[slot[1]] = value
        start = Path(
            place.thread, frames, private, place.several, place.children, place.blocks, place.ordinal, not place.silent
        )
        start.filled = set(place.filled)
        start.loops = frozenset(
            (depth, header)
            for depth, frame in enumerate(frames)
            for header in self.code.headers(frame.function)[frame.block]
        )
        if place.silent:
            start.visits[len(frames) - 1, f"{frames[-1].path}:{frames[-1].block}"] = (1, 0)
        paths = [start]
        prefix = place.thread == 0 and self.starts[0] is place
        count = 0
        while paths:
            path = paths.pop()
            count += 1
            runner = Runner(self, place, path, prefix)
            if count > _MOST_PATHS:
                runner.fail("beyond", "there are too many ways through what happens here in one step; simplify it")
                continue
            try:
                paths += runner.run()
            except RecursionError:
                raise self.too_much(path.frames) from None

    def values_of(self, atom: Term) -> Iterable[int] | None:
        """The values that a variable can have, or an element of an array that is read, if they are few."""
        if atom.op == "select":
            return self.sets.element(atom, self.values_of)
        if atom.length is not None:
            return None
        if atom in self.input_counts:
            count = self.input_counts[atom]
            return range(count.value) if count.is_constant and count.value <= 512 else None
        return self.sets.of(atom)

    def demand(self, term: Term, *, exactly: bool = False) -> None:
        """It has to be known what a term is, to go on. exactly: not even one case for each of its values will do."""
        if term.is_constant:
            return
        needed = atoms(term)
        variables = term.variables if exactly else needed
        local = {self.by_term[variable] for variable in variables if variable in self.by_term}
        names = {slot.variable.name if isinstance(slot, Word) else slot for slot in local}
        if names - self.tracked:
            self.demanded |= names - self.tracked
            raise Later
        if any(self.values_of(atom) is None for atom in needed):
            raise Beyond(
                "which object is accessed, or which function is called, depends on values that are not known here; use "
                "indices into global arrays instead of pointers that are computed"
            )
        raise Split(needed)

    # ------------------------------------------------------------------------------------------- the model

    def too_much(self, frames: Sequence[Frame]) -> InputError:
        """That terms have become too deep: they grow with each element and target that is told apart."""
        source = source_of(frames) or frames[-1].instruction.location
        return InputError(
            f"{source}: what happens here depends on too much for the abstract engine (pointers with many targets, "
            "many elements of an array); simplify it"
        )


def _at_start(values: Mapping[StateVariable, int | tuple[int, ...] | None]) -> Iterator[dict[StateVariable, Term]]:
    """The values that variables and elements of arrays have at the start, as if they were assigned."""
    for variable, known in values.items():
        for value in {known} if isinstance(known, int) else set(known or ()):
            yield {variable: t.constant(value, variable.term.width)}
