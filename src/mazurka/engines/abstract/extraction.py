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

from mazurka.engines.abstract import terms as t
from mazurka.engines.abstract.assembly import assemble
from mazurka.engines.abstract.memory import ADDRESS_MASK, Memory, Object, Word, address_of, linear, object_of, signed
from mazurka.engines.abstract.model import Model, Unnoticed, Variable
from mazurka.engines.abstract.paths import (
    Beyond,
    Frame,
    Later,
    Outcome,
    Path,
    Place,
    Shape,
    Slot,
    Split,
    Undefined,
    Value,
)
from mazurka.engines.abstract.reuse import Reuse
from mazurka.engines.abstract.stepping import Runner
from mazurka.engines.abstract.terms import Term
from mazurka.engines.abstract.values import Rule, ValueSets, atoms
from mazurka.errors import InputError
from mazurka.positions import spoken
from mazurka.program import cfg
from mazurka.program import instructions as ins
from mazurka.program.operands import definitions, operands
from mazurka.program.program import THREAD_BLOCK_SIZE, Function, Program
from mazurka.schedule import Transformations
from mazurka.transforms.lowering import Lowered
from mazurka.transforms.registers import live_out

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
        self.positions: dict[int, int] = {}
        for pc in range(len(lowered.origin) - 1, -1, -1):
            self.positions[id(lowered.origin[pc][1])] = pc
        self.liveness: dict[str, dict[str, set[ins.Register]]] = {}
        self.loop_headers: dict[str, dict[str, frozenset[str]]] = {}
        self.tracked: set[ins.Register | str] = set()
        self.demanded: set[ins.Register | str] = set()
        self.reuse = Reuse()
        self.reset()

    def reset(self) -> None:
        """Forget what was learned, except for what is tracked, and whether blocks are used again."""
        self.reuse.forget()
        self.rounds = 0
        self.sets = ValueSets()
        self.memory = Memory(self.program.debug_types)
        self.unnoticed: dict[tuple[tuple[str, int], tuple[tuple[str, int], ...]], set[Unnoticed]] = {}
        self.thread_names = ["main"]
        self.thread_numbers = {"main": 0}
        self.made: dict[tuple[int, tuple[int, ...]], Object] = {}
        self.writers: dict[str, set[int]] = {}
        self.heads: set[Head] = set()
        self._add_globals()
        self._add_thread(0)

    # ------------------------------------------------------------------------------------------- objects

    def _add_globals(self) -> None:
        number = 0
        self.memory.add(Object(0, 0, "null", "null", "null", b"", constant=True))
        self.addresses: dict[str, int] = {}
        self.functions: dict[int, Function] = {}
        for name in self.lowered.functions:
            number += 1
            base = address_of(0, number)
            self.addresses[name] = base
            self.functions[base] = self.program.functions[name]
            self.memory.add(Object(base, 0, "function", name, spoken(name), b"", constant=True))
        for name in self.lowered.globals:
            number += 1
            self.addresses[name] = address_of(0, number)
        for name in self.lowered.globals:
            self.memory.add(self._global(name, self.addresses[name], None))

    def _global(self, name: str, base: int, thread: int | None) -> Object:
        variable = self.program.globals[name]
        data = bytearray(variable.data)
        for relocation in variable.relocations:
            address = (self.addresses[relocation.target] + relocation.addend) & ADDRESS_MASK
            data[relocation.offset : relocation.offset + 8] = address.to_bytes(8, "little")
        library = variable.location is not None and variable.location.file.startswith("<mazurka>")
        full, display = _identifier(name), variable.display or name
        if thread is not None:
            full, display = f"{self.thread_names[thread]}:{full}", f"{self.thread_names[thread]}:{display}"
        return Object(
            base, len(data), "global" if thread is None else "thread-local", full, display, bytes(data), thread,
            variable.private, variable.constant, variable.debug_type, library,
        )  # fmt: skip

    def _add_thread(self, number: int) -> None:
        name = self.thread_names[number]
        block = Object(address_of(number + 1, 0), THREAD_BLOCK_SIZE, "thread", name, name, bytes(THREAD_BLOCK_SIZE))
        block.owner = number
        self.memory.add(block)
        for index, local in enumerate(self.lowered.thread_locals):
            made = self.memory.add(self._global(local, address_of(number + 1, 1 + index), number))
            if not made.private:
                made.alive = _alive(made)

    def child(self, parent: int, count: int) -> int:
        name = f"{self.thread_names[parent]}.{count}"
        number = self.thread_numbers.get(name)
        if number is None:
            if len(self.thread_names) == _MOST_THREADS:
                raise Beyond("the program creates too many threads, or creates them in a loop that may never end")
            number = self.thread_numbers[name] = len(self.thread_names)
            self.thread_names.append(name)
            self._add_thread(number)
        return number

    def object_made(
        self, thread: int, place: tuple[int, ...], size: int, instruction: ins.StackAlloc | ins.HeapAlloc
    ) -> Object:
        """What an instruction makes; the same object at the same `place`."""
        known = self.made.get((thread, (*place, size)))
        if known is not None:
            return known
        used = sum(1 for other, _ in self.made if other == thread)
        base = address_of(thread + 1, 1 + len(self.lowered.thread_locals) + used)
        made = Object(base, size, "heap", "block", "block", None, thread)
        if isinstance(instruction, ins.StackAlloc):
            made.kind, made.name = "stack", instruction.variable or "temporary"
            made.private, made.debug_type = instruction.private, instruction.debug_type
        elif instruction.zeroed:
            made.data = bytes(size)
        made.display = f"{self.thread_names[thread]}:{made.name}"
        made.name = f"{self.thread_names[thread]}:{_identifier(made.name)}"
        if any(other.name == made.name for other in self.made.values()):
            made.name += f"#{used}"
        if not made.private:
            made.alive = _alive(made)
            if self.reuse.active:
                made.alive.initial = 0
                self.reuse.objects.add(object_of(made.base))
        self.made[thread, (*place, size)] = self.memory.add(made)
        return made

    # -------------------------------------------------------------------------------------------- rounds

    def run(self) -> bool:
        """One round. Whether everything that was assumed in it holds."""
        self.places: dict[object, Place] = {}
        self.copies: dict[object, int] = {}
        self.starts: dict[int, Place] = {}
        self.pending: list[Place] = []
        self.locals: dict[tuple[int, ins.Register | Word, Shape | None], Variable] = {}
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
        self.image: dict[Variable, Term] = {}
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

    def own_holders(self) -> list[tuple[int, Variable]]:
        """What only one thread can reach and may hold addresses of blocks that are used again, with that thread. It is
        0 unless it matters."""
        return [
            (thread, variable)
            for (thread, slot, _), variable in self.locals.items()
            if variable.term in self.reuse.holders and not (isinstance(slot, Word) and not slot.object.private)
        ]

    def memory_variables(self) -> list[Variable]:
        """The words of memory, and what there is to know about them."""
        words = self.memory.by_variable.values()
        written = [word.written for word in words if word.written is not None]
        alive = [known.alive for known in self.memory.objects.values() if known.alive is not None]
        return [*self.memory.by_variable, *written, *alive]

    def initial(self, variable: Variable) -> int | tuple[int, ...] | None:
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

    def start(self, number: int, function: Function, arguments: Sequence[Value]) -> tuple[Place, dict[Slot, Value]]:
        """A thread that begins to run a function: where, and with what in its registers."""
        registers = dict(zip(function.parameters, arguments, strict=True))
        frame = Frame(function, function.entry.name, 0, registers, ())
        known = self.starts.get(number)
        place, values = self.arrive(Path(number, [frame], {}, number != 0, 0, 0, 0, False), "start", silent=True)
        if known is not None and known is not place:
            self.starts[number] = known
            raise Beyond("which function a thread runs depends on what happened before; create it at one place")
        return place, values

    def arrive(self, path: Path, kind: str, *, silent: bool) -> tuple[Place, dict[Slot, Value]]:
        """The place that a path ends at, after what is known there was adapted to it."""
        values: dict[Slot, Value] = {}
        for depth, frame in enumerate(path.frames):
            innermost = depth == len(path.frames) - 1
            for register in self.live(frame, innermost):
                values[depth, register] = frame.registers[register]
        for word, value in path.private.items():
            if word.object.private:
                if not isinstance(word.initial, int) or value is not t.constant(word.initial, word.width):
                    values[word] = value
            elif isinstance(value, Term) and self.only_writer(path.thread, word):
                values[word] = value
        shapes: list[object] = []
        for slot, value in values.items():
            name = slot.variable.name if isinstance(slot, Word) else slot
            if isinstance(slot, Word) and slot.object.private and slot.initial is None:
                shapes.append((name, "defined"))
            if isinstance(value, Undefined):
                shapes.append((name, "undefined"))
            elif value.is_constant:
                if (name if isinstance(name, str) else name[1]) in self.tracked and not self.reuse.is_address(value):
                    shapes.append((name, value.value))
            elif (element := self._element(slot, value)) is not None:
                if object_of(element[0][0]) in self.reuse.objects:
                    raise Beyond("a pointer to an element of a block that is used again cannot be followed here")
                shapes.append((name, element[0]))
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
        key = (position, frozenset(shapes))
        place = self.places.get(key)
        if place is None:
            self.copies[position] = self.copies.get(position, 0) + 1
            if self.copies[position] > _MOST_COPIES:
                raise Beyond(
                    "a loop goes round too often for each round to be looked at for itself, which is needed to know "
                    "what its index refers to; make it shorter"
                )
            frames = [frame.copy() for frame in path.frames]
            place = Place(
                len(self.places), path.thread, frames, path.several, path.children, path.blocks, path.ordinal, silent
            )
            place.filled = frozenset(path.filled)
            for frame in place.frames:
                frame.registers = {}
            place.values = dict(values)
            self.places[key] = place
            if kind == "start":
                self.starts[path.thread] = place
            changed = True
            for slot, value in values.items():
                if isinstance(value, Term) and (not value.is_constant or self.reuse.is_address(value)):
                    self._widen(place, slot, value)
        else:
            changed = False
            for slot in {**place.values, **values}:
                old, new = self.value_at(place.values, slot), self.value_at(values, slot)
                if slot not in place.variables and old is not new:
                    assert isinstance(new, Term)
                    self._widen(place, slot, new)
                    changed = True
        if changed and place not in self.pending:
            self.pending.append(place)
        return place, values

    def is_head(self, function: Function, block: str) -> bool:
        """Whether a loop begins at a block."""
        return block in self._headers(function)[block]

    def add_head(self, head: Head) -> None:
        """From now on, threads come to a location at the head of this loop."""
        self.heads.add(head)
        self.news = True

    def is_memory(self, variable: Variable) -> bool:
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
        factors = [signed(factor) for _, factor in parts]
        stride = gcd(*factors)
        index = t.constant(0, 64)
        for (part, _), factor in zip(parts, factors, strict=True):
            index = t.binary("add", index, t.binary("mul", part, t.constant(factor // stride, 64)))
        if index.op in ("sext", "zext"):
            return (offset, stride, index.op, index.args[0].width), index.args[0]
        return (offset, stride, "", 64), index

    def _widen(self, place: Place, slot: Slot, value: Term) -> None:
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

    def _variable(self, place: Place, slot: Slot, shape: Shape | None) -> Variable:
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
            thread = self.thread_names[place.thread]
            name = f"{thread}:{_identifier(spoken(function.name))}.{_identifier(identity.name)}"
            width = identity.type.bits
        if shape is not None:
            name, width = f"{name}.index", shape[3]
        if shape is not None or not isinstance(slot, Word):
            self.names[name] = self.names.get(name, 0) + 1
            if self.names[name] > 1:
                name += f"#{self.names[name]}"
            display = slot.variable.display if isinstance(slot, Word) else slot[1].name
            variable = Variable(t.variable(name, width), None, place.thread, display=display)
        self.by_term[variable.term] = identity
        self.locals[place.thread, identity, shape] = variable
        return variable

    def live(self, frame: Frame, innermost: bool) -> list[ins.Register]:
        """The registers of a call that are still needed."""
        function = frame.function
        if function.name not in self.liveness:
            self.liveness[function.name] = live_out(function, cfg.reverse_postorder(function))
        needed = set(self.liveness[function.name][frame.block])
        instructions = function.blocks[frame.block].instructions
        end = frame.index if innermost else frame.index + 1
        for instruction in reversed(instructions[end:]):
            needed.difference_update(definitions(instruction))
            needed.update(value for value in operands(instruction) if isinstance(value, ins.Register))
        if not innermost:
            needed.difference_update(definitions(instructions[frame.index]))
        return [register for register in frame.registers if register in needed]

    def assigns(self, outcome: Outcome) -> dict[Variable, Term]:
        """The variables that a path changes, and what to."""
        changes = {variable: value for variable, value in outcome.path.memory.items() if value is not variable.term}
        arrivals = list(outcome.started)
        if isinstance(outcome.target, Place):
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

    def _explore(self, place: Place) -> None:
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
            for header in self._headers(frame.function)[frame.block]
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

    def _headers(self, function: Function) -> dict[str, frozenset[str]]:
        """For each block, the headers of the loops that it is in."""
        if function.name not in self.loop_headers:
            loops = cfg.natural_loops(function)
            self.loop_headers[function.name] = {
                block: frozenset(loop.header for loop in loops if block in loop.blocks) for block in function.blocks
            }
        return self.loop_headers[function.name]

    def is_endless(self, frames: Sequence[Frame]) -> bool:
        """Whether one of the calls is in a loop from which it never returns."""
        return any(self._is_endless(frame.function, frame.block) for frame in frames)

    def _is_endless(self, function: Function, block: str) -> bool:
        reached = {block}
        pending = [block]
        while pending:
            current = function.blocks[pending.pop()]
            if isinstance(current.terminator, ins.Return | ins.EndThread):
                return False
            new = set(cfg.successors(current)) - reached
            reached |= new
            pending += new
        return bool(self._headers(function)[block])

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
        source = self.source(frames) or frames[-1].instruction.location
        return InputError(
            f"{source}: what happens here depends on too much for the abstract engine (pointers with many targets, "
            "many elements of an array); simplify it"
        )

    def position(self, frame: Frame) -> int:
        """Where a call stands in the code of the machine. (A jump to what follows it is not there.)"""
        instruction = frame.instruction
        while id(instruction) not in self.positions:
            assert isinstance(instruction, ins.Jump)
            instruction = frame.function.blocks[instruction.target].instructions[0]
        return self.positions[id(instruction)]

    def source(self, frames: Sequence[Frame]) -> ins.Location | None:
        """Where user code is to blame: the innermost of the calls that is not in the library."""
        for frame in reversed(frames):
            if not frame.function.library:
                return frame.instruction.location or frame.function.location
        return None


def _at_start(values: Mapping[Variable, int | tuple[int, ...] | None]) -> Iterator[dict[Variable, Term]]:
    """The values that variables and elements of arrays have at the start, as if they were assigned."""
    for variable, known in values.items():
        for value in {known} if isinstance(known, int) else set(known or ()):
            yield {variable: t.constant(value, variable.term.width)}


def _alive(target: Object) -> Variable:
    """Whether an object still exists. (Before it does, nobody knows its address.)"""
    return Variable(t.variable(f"{target.name}.alive", 1), 1, display=f"whether {target.display} exists")


def _identifier(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_.$:#" else "_" for c in name) or "_"
