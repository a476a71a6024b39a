"""Partial loop purity elimination: stopping threads where a loop would only iterate once more for nothing.

An iteration of a loop is *pure* if it returns to the loop's header with the same local variables, has changed no
memory, and has taken no back edge of an inner loop. Whatever an execution with pure iterations can reach can be reached
without them, so it is enough to explore executions without: where an iteration is bound to be pure, an assume stops the
thread. In another execution the same thread reads the same memory later. (Partial Loop Purity Elimination is from
"Awaiting for Godot", Jonsson, Lång and Sagonas, FMCAD 2022.)

Calls of the library are looked into as well. A trylock is one atomic section, which writes only if it succeeds, so that
a loop that tries until it has the lock is pure where the lock is held; the assume then stands in that section, which
waits. What a sleep or a yield does nobody can notice: every order of the threads is explored anyway.

Under which conditions an iteration is pure is the business of `iterations`. All registers of a disjunct are defined on
all of its paths. So right after the last of these definitions it is known whether the iteration follows one of the
paths, and the negation of the disjunct goes there, unless something on the rest of the path must not be skipped: what
may be an error (an address that may be bad, a division) and what may be part of a data race. Then it goes after the
last of those. Control may come there on other paths, too, that have not defined all of the registers; any value will do
for them there. If back edges of inner loops may have been taken before, a flag that says so joins the disjunct.

**Weak memory models.** There, an execution is a graph: events in program order (po), for each read the write that it
reads from (rf), and for each place the order of its writes (mo). Leaving out a pure round removes events from the
middle of a thread. What is left is a graph of the same program, in which the thread has gone round less often: it is in
the same place with the same variables, and whatever it reads later it reads from the same writes, or from others of the
same value. It remains to see that the model allows it. All axioms of tso, pso, ra and c11 say that some relations have
no circle (that an update comes right after what it reads from, too: nothing is both from-read and mo before it). These
relations become smaller:

- If the round only reads, then po, rf, mo, and what is made of them (from-read, synchronisation, happens-before, the
  order of what is seq_cst) are what they were on the events that are left, or less. For a fence, or an access that acts
  as one, does nothing but put what is around it in order. An order that an axiom takes from program order is there
  between any two events that are so ordered, not only between neighbours, so that it does not matter what was between.
- If an update in it writes what it has read, from w, then those who read from the update read from w instead. They come
  before the same writes as they did, for the update came right after w in mo. What w or a fence before it synchronises
  with because of that it did synchronise with, for updates, of whichever thread and order, continue the release
  sequence that they read from. In ra, w came before the update, and that before them. In tso and pso, w came before the
  update in mo, and the update before whoever reads from it: others by rf, its own thread because it is a full fence.

So less is ordered at most, and every race of the events that are left is still one. A race of an event that is left
out is the business of `iterations`. A failure is that of an event that is not in a complete round. And a thread goes
round for ever if it does so when it sees, of each place, the newest write. In an infinite execution, every write
becomes visible to all after finite time (C and C++ ask for that, and buffers are emptied), so that from some round on
it reads nothing else; and in every model it may read the newest writes any number of times, since nothing comes after
such reads. That is what the search tries: it runs those on who stay at the guard of a loop, in a memory that holds the
newest writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from mazurka.program.cfg import natural_loops, predecessors, reverse_postorder, successors
from mazurka.program.instructions import (
    Assume,
    AtomicBegin,
    AtomicEnd,
    Binary,
    Constant,
    Instruction,
    Location,
    Phi,
    Register,
    Value,
)
from mazurka.program.program import Block, Function, Program
from mazurka.program.types import I1
from mazurka.transforms.atomic_sections import is_in_section
from mazurka.transforms.inline import callees_first, can_inline, inlined
from mazurka.transforms.loops.conditions import (
    FALSE,
    OPPOSITE,
    TRUE,
    Conjunction,
    Operation,
    Term,
    ValueSet,
    both,
    holds,
    instruction_for,
    is_case_of,
    registers,
)
from mazurka.transforms.loops.facts import ProgramFacts
from mazurka.transforms.loops.idle import skip_idle_code
from mazurka.transforms.loops.iterations import Disjunct, LoopIteration, edges, first_location
from mazurka.transforms.loops.nets import Attempt, Nets, find_nets
from mazurka.transforms.loops.waiting import redirect, wait_at_once
from mazurka.transforms.simplify import remove_dead_instructions, remove_unreachable_blocks

MAX_INLINED = 2000  # instructions


@dataclass(frozen=True, slots=True)
class PureCondition:
    """A condition under which an iteration is pure, in words; `assume` is what stops the thread there, and `location`
    where in the source it stands. `awaited`: the thread waits there until that changes, since it stands in an atomic
    section: that of a trylock, or one that was made for it (`waiting`)."""

    text: str
    location: Location | None
    assume: Assume
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class LoopReport:
    """What became of a loop. `obstacle` says why no iteration is pure, or not all that might be."""

    function: str
    location: Location | None
    conditions: tuple[PureCondition, ...]
    obstacle: str | None


def eliminate_pure_iterations(program: Program, *, awaits: bool = False, weak: bool = False) -> list[LoopReport]:
    """Insert assumes that stop pure iterations of the loops of the program's own functions, which must be in SSA form
    (`promote`). With `awaits`, loops that only wait for several variables become events, and so do updates that are
    taken back where they fail. `weak`: only what is right under weak memory models, too. Reports on each loop, in the
    order of the program."""
    facts = ProgramFacts(program, weak=weak)
    for function in program.functions.values():
        if not function.library and _cycles(function):
            remove_unreachable_blocks(function)
            remove_dead_instructions(function)
            skip_idle_code(facts, function)
    nets = find_nets(facts) if awaits else Nets()
    waiting = dict(_wait_to_succeed(attempt) for attempt in nets.attempts)
    reports = {
        function.name: _eliminate(facts, function, awaits, waiting, nets.obstacles)
        for function in callees_first(program)
        if not function.library
    }
    return [report for name in program.functions for report in reports.get(name, ())]


_Place = tuple[str, str]  # of a loop: the names of its function and its header


def _wait_to_succeed(attempt: Attempt) -> tuple[_Place, list[LoopReport]]:
    """Make an attempt wait until it succeeds. Reports on its loop, and those of the waits that are not needed."""
    iteration, update = attempt.iteration, attempt.update
    function, location = iteration.function, update.location
    assert update.result is not None
    found = function.name, iteration.header.name
    text = iteration.words.literal(update.result, ~attempt.until)
    code = _Code(lambda register: register)
    guard = Assume(code.outside(update.result, ~attempt.until))
    guard.origin = "loop"
    (block,) = (block for block in iteration.blocks if update in block.instructions)
    index = block.instructions.index(update)
    section = [AtomicBegin(guarded=True), update, *code.instructions, guard, AtomicEnd()]
    for instruction in section:
        instruction.location = location
    block.instructions[index : index + 1] = section
    reports = [LoopReport(*found[:1], iteration.location, (PureCondition(text, location, guard, awaited=True),), None)]
    for wait in attempt.after:
        for source in predecessors(function)[wait.iteration.header.name]:
            if source not in wait.iteration.loop.blocks:
                redirect(function.blocks[source].terminator, {wait.iteration.header.name: wait.exit})
        place = wait.iteration.location
        text = wait.iteration.words.conjunction({wait.load.result: ~wait.until} if wait.load.result else {})
        reports.append(LoopReport(function.name, place, (PureCondition(text, place, guard, awaited=True),), None))
    remove_unreachable_blocks(function)
    return found, reports


def _eliminate(
    facts: ProgramFacts,
    function: Function,
    awaits: bool,
    waiting: dict[_Place, list[LoopReport]],
    obstacles: dict[_Place, str],
) -> list[LoopReport]:
    """Treat the loops of one function, inner ones first. Those of the functions that it calls are done, and those that
    are `waiting`; of others, something is known that stands in the way."""
    cycles = _cycles(function)
    if not cycles:
        return []
    reports: list[LoopReport] = []
    for header in reversed(cycles):
        if (function.name, header) in waiting:
            reports += reversed(waiting[function.name, header])
            continue
        loop = next((loop for loop in natural_loops(function) if loop.header == header), None)
        if loop is None:
            location = first_location([function.blocks[header]])
            reports.append(LoopReport(function.name, location, (), "control can enter it at several places"))
            continue
        iteration = LoopIteration(facts, function, loop)
        if (function.name, header) in facts.in_atomic_sections:
            reports.append(LoopReport(function.name, iteration.location, (), "it runs inside of an atomic section"))
            continue
        iteration = _with_calls_inlined(iteration)
        guard = wait_at_once(iteration) if awaits and not facts.weak else None
        if guard is not None:
            conditions = [
                PureCondition(iteration.describe(disjunct), iteration.location, guard, awaited=True)
                for disjunct in iteration.purity
            ]
        else:
            # In reverse order, since each goes directly after the last instruction that it needs.
            insertion = _Insertion(iteration)
            conditions = [insertion.stop(disjunct) for disjunct in reversed(iteration.purity)][::-1]
        function.blocks = iteration.function.blocks
        obstacle = iteration.obstacle
        if not conditions and obstacle is not None and (function.name, header) in obstacles:
            obstacle += f"; that it is put back does not help: {obstacles[function.name, header]}"
        report = LoopReport(function.name, iteration.location, tuple(conditions), obstacle)
        reports.append(report)
    remove_dead_instructions(function)  # results that were needed for no condition
    reports.reverse()
    return reports


def _cycles(function: Function) -> list[str]:
    """The blocks that control can go back to, outer ones before inner ones."""
    order = reverse_postorder(function)
    number = {name: index for index, name in enumerate(order)}
    targets = {
        target for name in order for target in successors(function.blocks[name]) if number[target] <= number[name]
    }
    return [name for name in order if name in targets]


def _with_calls_inlined(iteration: LoopIteration) -> LoopIteration:
    """The iteration with those calls replaced by what they do that stand in the way of purity, if that helps."""
    facts = iteration.facts
    original = iteration
    while calls := [call for call in iteration.calls if can_inline(facts.program, call, sections=True)]:
        function = inlined(facts.program, iteration.function, calls)
        if function.size > original.function.size + MAX_INLINED:
            break
        loop = next(loop for loop in natural_loops(function) if loop.header == original.loop.header)
        iteration = LoopIteration(facts, function, loop)
    helps = any(not any(is_case_of(new.literals, old.literals) for old in original.purity) for new in iteration.purity)
    return iteration if helps else original


class _Insertion:
    """Assumes that stop pure iterations of a loop."""

    def __init__(self, iteration: LoopIteration) -> None:
        self._iteration = iteration
        self._arrivals: dict[Register | None, dict[str, Value]] = {}  # registers (None: a flag) at the starts of blocks
        self._again: Register | None = None  # whether this is not the first iteration, once that is needed
        self._spent: Phi | None = None  # whether there was an iteration that was spared

    def stop(self, disjunct: Disjunct) -> PureCondition:
        """Insert the assume that stops the thread where a disjunct holds."""
        literals = self._iteration.in_order(disjunct.literals)
        after, block = self._place(disjunct)
        code = _Code(lambda register: self._read(register, block.name))
        implied = self._implied_in(block)
        parts = [code.outside(term, values) for term, values in literals.items() if not _follows(implied, term, values)]
        inner = self._inner_repeated(block.name)
        if inner != _NO:
            parts.append(inner)
        if disjunct.first and self._iterates:
            parts.append(self._not_first())
        if disjunct.repeated:
            parts.append(code.value(Operation("xor", (self._not_first(), _YES), I1)))
        goes_on = code.any(parts)
        if disjunct.spared:
            goes_on = code.any([goes_on, code.value(Operation("xor", (self._spare(goes_on, block), _YES), I1))])
        assume = Assume(goes_on, "loop", location=self._iteration.location)
        code.instructions.append(assume)
        for instruction in code.instructions:
            instruction.location = self._iteration.location
        index = 0 if after is None else block.instructions.index(after) + 1
        block.instructions[index:index] = code.instructions
        location = after.location if after is not None and after.location is not None else self._iteration.location
        waits = is_in_section(self._iteration.facts.program, self._iteration.function, block, assume)
        return PureCondition(self._iteration.describe(disjunct), location, assume, awaited=waits)

    def _place(self, disjunct: Disjunct) -> tuple[Instruction | None, Block]:
        """The last instruction that must come before the assume for a disjunct, if any, and the block for it."""
        needed = [
            self._iteration.origin[register]
            for term in disjunct.literals
            for register in registers(term)
            if register in self._iteration.origin
        ]
        if disjunct.pin is not None:
            needed.append(disjunct.pin)
        after = max(needed, key=self._iteration.place.__getitem__, default=None)
        return after, self._iteration.header if after is None else self._iteration.blocks[
            self._iteration.place[after][0]
        ]

    @cached_property
    def _iterates(self) -> bool:
        """Whether there may be a second iteration. There is none if every way back is stopped in the first."""
        return any(
            not any(
                self._iteration.tree.dominates(self._place(disjunct)[1].name, source)
                and self._inner_repeated(self._place(disjunct)[1].name) == _NO
                and all(
                    _follows(self._implied_on(source, self._iteration.header.name), term, values)
                    for term, values in disjunct.literals.items()
                )
                for disjunct in self._iteration.purity
                if not disjunct.repeated and not disjunct.spared
            )
            for source in self._iteration.sources[self._iteration.header.name]
            if source in self._iteration.loop.blocks
        )

    def _implied_on(self, source: str, target: str) -> Conjunction:
        """What holds where control goes from one block to another because of the branches that lead there."""
        block = self._iteration.function.blocks[source]
        return self._with_edge(self._implied_in(block), block, target)

    def _implied_in(self, block: Block) -> Conjunction:
        """What holds in a block because of the branches that lead there."""
        implied: Conjunction = {}
        while block is not self._iteration.header:
            source = self._iteration.function.blocks[self._iteration.tree.parent[block.name]]
            if self._iteration.sources[block.name] == [source.name]:
                implied = self._with_edge(implied, source, block.name)
            block = source
        return implied

    def _with_edge(self, implied: Conjunction, source: Block, target: str) -> Conjunction:
        """What was implied, and what follows from control going from one block to another."""
        for successor, tested, values in edges(source):
            if successor == target and tested is not None:
                condition = holds(self._iteration.term(tested), values)
                if len(condition) == 1:
                    implied = both(implied, condition[0]) or {}
        return implied

    def _read(self, register: Register, block: str) -> Value:
        """The value of a register in a block, in this iteration; undefined where control has not come past its
        definition."""
        home = self._iteration.home.get(register)
        if home is None or self._iteration.tree.dominates(home, block):
            return register
        start = Constant(register.type, undefined=True)
        return self._arriving(register, start, block, lambda source, _: register if source == home else None)

    def _inner_repeated(self, block: str) -> Value:
        """Whether a back edge of an inner loop was taken in this iteration, at the start of a block."""

        def brought(source: str, target: str) -> Value | None:
            if not self._iteration.is_back_edge(source, target):
                return None
            return _NO if self._is_stopped(source, target) else _YES

        return self._arriving(None, _NO, block, brought)

    def _is_stopped(self, source: str, header: str) -> bool:
        """Whether an assume stops every thread that would go from a block back to the header of an inner loop. (If it
        passes because its condition is undefined, so is what a branch on the way depends on, which is an error.)"""
        block = self._iteration.function.blocks[source]
        implied = self._implied_on(source, header)
        while True:
            for instruction in block.instructions:
                if isinstance(instruction, Assume) and instruction.origin == "loop":
                    condition = holds(self._iteration.term(instruction.condition), TRUE)
                    if all(both(implied, conjunction) is None for conjunction in condition):
                        return True
            if block.name == header:
                return False
            block = self._iteration.function.blocks[self._iteration.tree.parent[block.name]]

    def _not_first(self) -> Register:
        """Whether this is not the first iteration."""
        if self._again is None:
            self._again = Register("again", I1)
            sources = self._iteration.sources[self._iteration.header.name]
            incoming: list[tuple[str, Value]] = [
                (name, _YES if name in self._iteration.loop.blocks else _NO) for name in sources
            ]
            self._iteration.header.phis.append(Phi(self._again, incoming))
        return self._again

    def _spare(self, impure: Value, block: Block) -> Register:
        """Whether an iteration was spared already. One is in which control comes past a value in a block that says that
        it is not impure."""
        iteration, header = self._iteration, self._iteration.header
        if self._spent is None:
            self._spent = Phi(Register("spared", I1), [])
            self._spent.incoming = [
                (name, self._spent.result if name in iteration.loop.blocks else _NO)
                for name in iteration.sources[header.name]
            ]
            header.phis.append(self._spent)
        passed = Register("impure", I1)
        for index, (name, before) in enumerate(self._spent.incoming):
            if name in iteration.loop.blocks:
                last = impure
                if not iteration.tree.dominates(block.name, name):
                    last = self._arriving(
                        passed, _YES, name, lambda source, _: impure if source == block.name else None
                    )
                pure, spent = Register("", I1), Register("", I1)
                instructions = iteration.blocks[iteration.number[name]].instructions
                instructions[-1:-1] = [
                    Binary("xor", last, _YES, result=pure, location=iteration.location),
                    Binary("or", before, pure, result=spent, location=iteration.location),
                ]
                self._spent.incoming[index] = name, spent
        return self._spent.result

    def _arriving(
        self, key: Register | None, start: Value, block: str, brought: Callable[[str, str], Value | None]
    ) -> Value:
        """What a variable is at the start of a block, made of phis where that depends on the path: `start` at the
        header, and then what an edge brings, if it brings anything new."""
        known = self._arrivals.setdefault(key, {self._iteration.header.name: start})
        missing: set[str] = set()
        pending = [block]
        while pending:
            target = pending.pop()
            if target not in known and target not in missing:
                missing.add(target)
                pending += (source for source in self._iteration.sources[target] if brought(source, target) is None)
        phis: list[tuple[str, Phi]] = []
        for target in sorted(missing, key=self._iteration.number.__getitem__):
            values = {brought(source, target) or known.get(source) for source in self._iteration.sources[target]}
            only = values.pop() if len(values) == 1 else None
            if only is None:  # several, or one that is not known yet: it comes on a back edge
                phi = Phi(Register(key.name if key else "went_round", start.type), [])
                phis.append((target, phi))
                only = phi.result
            known[target] = only
        for target, phi in phis:
            phi.incoming = [
                (source, brought(source, target) or known[source]) for source in self._iteration.sources[target]
            ]
            self._iteration.function.blocks[target].phis.append(phi)
        return known[block]


def _follows(implied: Conjunction, term: Term, values: ValueSet) -> bool:
    return term in implied and implied[term] <= values and implied[term].strict >= values.strict


_NO, _YES = Constant(I1, 0), Constant(I1, 1)


class _Code:
    """Instructions that compute terms and conditions."""

    def __init__(self, read: Callable[[Register], Value]) -> None:
        self.instructions: list[Instruction] = []
        self._read = read
        self._values: dict[Term, Value] = {}

    def value(self, term: Term) -> Value:
        if not isinstance(term, Operation):
            return self._read(term) if isinstance(term, Register) else term
        if term not in self._values:
            operands = [self.value(operand) for operand in term.operands]
            result = Register("", term.type)
            self.instructions.append(instruction_for(term, operands, result))
            self._values[term] = result
        return self._values[term]

    def outside(self, term: Term, values: ValueSet) -> Value:
        """Whether a term has none of some values (undefined if the term is)."""
        if values.full:
            return self._operation("ne", term, term)
        if term.type == I1:
            if values == FALSE:
                return self.value(term)
            if isinstance(term, Operation) and term.op in OPPOSITE:
                return self._operation(OPPOSITE[term.op], *term.operands)
            return self._operation("xor", term, _YES)
        result: Value = _YES
        for first, last in values.arcs():
            absent = self._within(term, last + 1, first - 1, values.strict)
            result = absent if result == _YES else self._operation("and", result, absent)
        return result

    def _within(self, term: Term, first: int, last: int, strict: bool) -> Value:
        """Whether a term is one of the numbers from `first` up to `last`, modulo the size of its type."""
        size = 1 << term.type.bits
        half = size >> 1
        first, last = first % size, last % size

        def compare(predicate: str, number: int) -> Value:
            return self._operation(predicate, term, Constant(term.type, number % size))

        if first == last and not strict:
            return compare("eq", first)
        if (last + 2 - first) % size == 0 and not strict:
            return compare("ne", last + 1)
        if last == half - 1:
            return compare("sge", first)
        if first == half:
            return compare("sle", last)
        if first == 0:
            return compare("ule", last)
        if last == size - 1:
            return compare("uge", first)
        distance = Operation("sub", (term, Constant(term.type, first)), term.type)
        return self._operation("ule", distance, Constant(term.type, (last - first) % size))

    def any(self, conditions: list[Value]) -> Value:
        result: Value = _NO
        for condition in conditions:
            result = condition if result == _NO else self._operation("or", result, condition)
        return result

    def _operation(self, op: str, left: Term, right: Term) -> Value:
        return self.value(Operation(op, (left, right), I1))
