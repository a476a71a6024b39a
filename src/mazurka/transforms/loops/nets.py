"""Rounds of no net effect: a thread takes something from a counter, sees that there was not enough, and puts it back.

    while (fetch_sub(&left, 1) <= 0) {          an attempt, which fails if it finds what it should not
        fetch_add(&left, 1);                    taken back
        while (load(&left) <= 0);               a wait for what the attempt needs
    }

Such a round leaves the counter as it was, but others run in between, and find less than there is. The claim is that in
some programs nobody can tell whether threads fail: the attempt can as well be an event that *waits* until it succeeds.
That adds no behaviour: a thread may always come to its attempt no sooner than when it succeeds. Why none is lost:

Take any execution E, and leave out all rounds that failed, also those that are not complete yet (and all rounds of
waits that go round). The counter then holds what it did less T, the sum of what those had taken that were under way. If
everybody who looked at the counter, and is still there, *decides as before*, what is left is an execution, with the
same failures, the same memory but for the counter while somebody has taken from it, and less synchronisation at most,
so that the same accesses race. Whoever looked is known, since of the counter nothing is allowed but

- adding constants, without looking at what was found,
- attempts that succeeded, after which nobody uses the old value any more,
- waits that were left: loops that do nothing but load the counter, after which nobody uses what was loaded.

Each leaves a loop if what it finds is in some set S. Let all that is ever taken in failed rounds be negative (or all of
it positive, which is the same upside down), so that T <= 0. What was found is v, and now it is v - T >= v. So it is
enough that S contains, of the values that the counter can have, all that are above any value in S. `v > 0` does, unless
the counter overflows; `v == ALL` does if the counter never holds more than ALL. So one has to know what it can hold.

**Balances.** What the counter holds is what it held at the start and the balance of each thread: what the thread has
added so far. Which balances a thread can have at each point of the program is found by following calls from where
threads begin; they must be few. Threads that end must have put back all, for there may be any number of them; of others
there are `MAX_THREADS`. So the counter lies between the start plus as many times the least balance and the start plus
as many times the greatest, and if no thread ever has a positive balance, it is never above the start. If these are
fewer values than it has bits for, it does not overflow.

**Threads that go on for ever** are not lost, either. Where E stays in a wait for good, the counter is not in the set of
the wait; this must be the set of the attempt, which then waits, too. (The round must have put back by then what it
took: a thread that waits for what it has taken itself does so for ever, which is a livelock.) The other possibility is
that from some point on threads do nothing but fail, because of what others have taken that fail themselves. That is why
each round must have a wait, with the set of the attempt. Of the threads that fail again and again, take one whose set
is smallest; they are ordered, since each contains all above some value. When it leaves its wait, the counter is in its
set. Until the next attempt of anybody, the counter can only grow, and then this attempt succeeds. So from some point
on, nobody fails. In loops without a wait, threads may indeed fail because of each other for ever, a livelock; so those
stay as they are.

**Weak memory models.** Let E be a graph. All that counts happens in one place, of which every model keeps the order:
all writes there are updates, each of which reads from the one before it, and the accesses of each thread are in that
order. So T and the balances can be taken at each write, up to there, and what was said of what is found holds for
loads, too, whichever write they read from. When updates are left out, those who have read from one read from the last
one before it that is left. That they come before the same writes, and that they synchronise with no more, is seen as in
`purity`: updates continue release sequences. Numbers are others, but axioms do not look at numbers. And for the last
argument: the waits of the thread whose set is smallest read, between its failures, from later and later writes, each of
a number in its set. The next attempt in that order, anybody's, succeeds. So if failures go on for ever, so do
successes.

A round must not do anything else that could be noticed: it changes no variable, and decides only by what it has found.
Where somebody could tell the difference, because he tries once and does something else if that fails, or prints the
counter, all loops on that counter stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mazurka.machine.layout import MAX_THREADS
from mazurka.program import instructions as ins
from mazurka.program.cfg import innermost_loop, natural_loops, successors
from mazurka.program.instructions import Constant, FunctionAddress, GlobalAddress, Instruction, Register
from mazurka.program.operands import operands, pointed_to
from mazurka.program.program import Block, Function, Program
from mazurka.program.types import Int, Type, signed
from mazurka.transforms.loops.conditions import ValueSet, computed, registers
from mazurka.transforms.loops.facts import ProgramFacts
from mazurka.transforms.loops.iterations import Disjunct, LoopIteration
from mazurka.transforms.simplify import may_fail

MOST_BALANCES = 16  # of a thread at one point of the program


@dataclass(frozen=True, slots=True)
class Wait:
    """A loop that does nothing but `load` a counter until it has one of the values `until`."""

    iteration: LoopIteration
    load: ins.Load
    until: ValueSet
    exit: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A loop that goes round, without any net effect, until its `update` finds one of the values `until`. `waits` are
    the loops inside of it, `after` those that only follow a failure. `taken` are the sums of what was added so far, at
    each point of a round."""

    iteration: LoopIteration
    update: ins.Update
    until: ValueSet
    waits: list[Wait]
    after: list[Wait]
    taken: frozenset[int]


@dataclass(frozen=True, slots=True)
class Nets:
    """The attempts of a program that can wait, and for loops that look alike but must not, the reason why: by the names
    of their functions and headers."""

    attempts: list[Attempt] = field(default_factory=list)
    obstacles: dict[tuple[str, str], str] = field(default_factory=dict)


def find_nets(facts: ProgramFacts) -> Nets:
    """Find the loops of a program, in SSA form, all of whose rounds can be left out."""
    nets = Nets()
    for counter in _counters(facts.program):
        looks = _Looks(facts, counter)
        if looks.alike:
            reason = looks.obstacle or _told_apart(facts.program, counter, looks)
            if reason is None:
                nets.attempts.extend(looks.attempts)
            else:
                nets.obstacles.update(dict.fromkeys(looks.alike, reason))
    return nets


class _Unclear(Exception):
    """Something is not as it should be, for this reason."""


# ---------------------------------------------------------------------------------------------------------- counters


@dataclass(slots=True)
class _Counter:
    """A global variable that is only ever loaded and added to, atomically and as a whole, after it was set to what it
    holds at the `start`."""

    name: str
    offset: int
    type: Type
    start: int | None = None
    accesses: list[tuple[Function, Block, ins.Load | ins.Update]] = field(default_factory=list)


def _counters(program: Program) -> Iterator[_Counter]:
    found: dict[str, _Counter] = {}
    others = {relocation.target for variable in program.globals.values() for relocation in variable.relocations}
    for function in program.functions.values():
        for block in function.blocks.values():
            values = [value for phi in block.phis for _, value in phi.incoming]
            for instruction in block.instructions:
                used = operands(instruction)
                match instruction:
                    case (
                        ins.Load(GlobalAddress(name, offset), result=Register(type=type))
                        | ins.Update("add" | "sub", GlobalAddress(name, offset), Constant(type, int(), False))
                    ) as access if access.ordering != "plain" and isinstance(type, Int):
                        counter = found.setdefault(name, _Counter(name, offset, type))
                        counter.accesses.append((function, block, access))
                        if (counter.offset, counter.type) == (offset, type):
                            used.remove(access.address)
                    case ins.Store(Constant(type, int(number), False), GlobalAddress(name, offset) as address) if (
                        isinstance(type, Int) and _comes_first(program, function, instruction)
                    ):
                        counter = found.setdefault(name, _Counter(name, offset, type))
                        if (counter.offset, counter.type, counter.start) == (offset, type, None):
                            counter.start = number
                            used.remove(address)
                values += used
            others.update(value.name for value in values if isinstance(value, GlobalAddress))
    for counter in found.values():
        variable = program.globals[counter.name]
        whole = 0 <= counter.offset <= len(variable.data) - counter.type.size
        aligned = all(counter.offset % access.align == 0 for _, _, access in counter.accesses)
        own = not (variable.constant or variable.thread_local or variable.relocations)
        if counter.name not in others and whole and aligned and own:
            if counter.start is None:
                data = variable.data[counter.offset : counter.offset + counter.type.size]
                counter.start = int.from_bytes(data, "little")
            yield counter


def _comes_first(program: Program, function: Function, store: ins.Store) -> bool:
    """Whether a store is done once, by the first thread, before it starts others or does anything to the variable."""
    entry = program.functions[program.entry]
    call = next((each for each in entry.entry.instructions if _calls(each, function)), None)
    if store not in function.entry.instructions or (function is not entry and call is None):
        return False
    before = function.entry.instructions[: function.entry.instructions.index(store)]
    if call is not None:
        before += entry.entry.instructions[: entry.entry.instructions.index(call)]
    if not all(isinstance(each, ins.StackAlloc | ins.Store | ins.Binary | ins.Convert) for each in before):
        return False
    if any(
        isinstance(value, GlobalAddress) and value.name == _name(store) for each in before for value in operands(each)
    ):
        return False
    others = (each for other in program.functions.values() for each in other.instructions if each is not call)
    once = not any(_calls(each, called) for each in others for called in (entry, function))
    return once and {entry.name, function.name}.isdisjoint(pointed_to(program))


def _calls(instruction: Instruction, function: Function) -> bool:
    return isinstance(instruction, ins.Call) and instruction.callee == function.name


def _name(store: ins.Store) -> str | None:
    return store.address.name if isinstance(store.address, GlobalAddress) else None


def _added(update: ins.Update) -> int:
    assert isinstance(update.value, Constant) and isinstance(update.value.value, int)
    number = signed(update.value.value, update.value.type.bits)
    return number if update.op == "add" else -number


# ----------------------------------------------------------------------------------------------------- who looks at it


class _Looks:
    """Who looks at a counter: attempts and waits, and the first who does something else, or in another way."""

    def __init__(self, facts: ProgramFacts, counter: _Counter) -> None:
        self._facts = facts
        self._counter = counter
        self.attempts: list[Attempt] = []
        self.waits: list[Wait] = []
        self.alike: set[tuple[str, str]] = set()  # loops that add to the counter twice, and look at it
        self.obstacle: str | None = None
        self._used = {
            function.name: {value for each in function.instructions for value in operands(each)}
            | {value for block in function.blocks.values() for phi in block.phis for _, value in phi.incoming}
            for function, _, _ in counter.accesses
        }
        # A wait may be a part of an attempt, so waits come first.
        for kind in ins.Load, ins.Update:
            for function, block, access in counter.accesses:
                if isinstance(access, kind) and access.result in self._used[function.name]:
                    try:
                        self._explain(function, block, access)
                    except _Unclear as reason:
                        place = f" ({access.location})" if access.location else ""
                        self.obstacle = self.obstacle or f"{reason}{place}"

    def _explain(self, function: Function, block: Block, access: ins.Load | ins.Update) -> None:
        loop = innermost_loop(natural_loops(function), block.name)
        if loop is None or function.library:
            raise _Unclear("somebody looks at the counter without waiting, and could tell what is taken for a while")
        iteration = LoopIteration(self._facts, function, loop)
        if (function.name, loop.header) in self._facts.in_atomic_sections:
            raise _Unclear("a loop on the counter runs inside of an atomic section")
        if isinstance(access, ins.Load):
            self.waits.append(self._wait(iteration, block, access))
        else:
            added = [each for _, each_block, each in self._counter.accesses if each_block in iteration.blocks]
            if sum(isinstance(each, ins.Update) for each in added) > 1:
                self.alike.add((function.name, loop.header))
            self.attempts.append(self._attempt(iteration, block, access))

    def _wait(self, iteration: LoopIteration, block: Block, load: ins.Load) -> Wait:
        self._check(iteration, [load], [])
        if any(isinstance(each, ins.Update) for block in iteration.blocks for each in block.instructions):
            raise _Unclear("a loop that waits for the counter changes it, too")
        exits = {to for each in iteration.blocks for to in iteration.targets(each) if to not in iteration.loop.blocks}
        if len(exits) != 1:
            raise _Unclear("a loop that waits for the counter is left to several places")
        return Wait(iteration, load, self._until(iteration, block, load), exits.pop())

    def _attempt(self, iteration: LoopIteration, block: Block, update: ins.Update) -> Attempt:
        inside = [
            wait
            for wait in self.waits
            if wait.iteration.function is iteration.function and wait.iteration.loop.blocks < iteration.loop.blocks
        ]
        self._check(iteration, [update, *(wait.load for wait in inside)], inside)
        until = self._until(iteration, block, update)
        waiting = {name for wait in inside for name in wait.iteration.loop.blocks}
        if _comes_round(iteration, waiting):
            raise _Unclear("threads could make each other fail for ever, since no round waits for what it needs")
        after = [wait for wait in inside if iteration.tree.dominates(block.name, wait.iteration.header.name)]
        if any(iteration.function.blocks[wait.exit].phis for wait in after):
            raise _Unclear("what a round does after it has waited depends on how it came there")
        return Attempt(iteration, update, until, inside, after, self._taken(iteration, inside))

    def _check(self, iteration: LoopIteration, looks: list[ins.Load | ins.Update], inside: list[Wait]) -> None:
        """A round does nothing that can be noticed, but to these accesses, changes no variable, and decides by what it
        has found only."""
        found = {look.result for look in looks}
        headers = {iteration.header.name, *(wait.iteration.header.name for wait in inside)}
        for block in iteration.blocks:
            for instruction in block.instructions:
                match instruction:
                    case ins.Load() | ins.Update() if instruction in looks:
                        continue
                    case ins.Update(address=GlobalAddress(name)) if name == self._counter.name:
                        if instruction.result not in self._used[iteration.function.name]:
                            continue
                    case ins.Jump() | ins.Fence() | ins.Self():
                        continue
                    case ins.Branch(tested, _, _) | ins.Switch(tested, _, _):
                        if found.issuperset(registers(iteration.term(tested))):
                            continue
                    case ins.Call(str(name)) if self._facts.does_nothing(name):
                        continue
                    case _ if computed(instruction, iteration.term) is not None and not may_fail(instruction):
                        continue
                raise _Unclear("a loop on the counter does something else, too")
            for target in iteration.targets(block):
                known = target in headers and iteration.tree.dominates(target, block.name)
                if target in iteration.loop.blocks and iteration.is_back_edge(block.name, target) and not known:
                    raise _Unclear("a loop on the counter goes round in another loop")
        for phi in iteration.header.phis:
            for name, value in phi.incoming:
                if name in iteration.loop.blocks and iteration.term(value) != iteration.term(phi.result):
                    raise _Unclear("a loop on the counter changes a variable")
        kept = {phi.result for phi in iteration.header.phis}
        for name, outside in iteration.function.blocks.items():
            if name not in iteration.loop.blocks:
                values = [value for phi in outside.phis for _, value in phi.incoming]
                values += (value for each in outside.instructions for value in operands(each))
                if any(
                    value in iteration.home and value not in kept for value in values if isinstance(value, Register)
                ):
                    raise _Unclear("what a loop on the counter has found is used after it")

    @staticmethod
    def _until(iteration: LoopIteration, home: Block, access: ins.Load | ins.Update) -> ValueSet:
        """The values that an access must find if the loop is to be left, which depends on nothing else."""
        assert access.result is not None
        ways_out: list[Disjunct] = []

        def at_end(block: Block, target: str) -> list[Disjunct]:
            if target in iteration.loop.blocks:
                return []
            if not iteration.tree.dominates(home.name, block.name):
                raise _Unclear("a loop on the counter can be left without looking at it")
            return [Disjunct({})]

        def before(instruction: Instruction, disjuncts: list[Disjunct]) -> list[Disjunct]:
            if instruction is access:
                ways_out.extend(disjuncts)
            return disjuncts

        limit, iteration.limit = iteration.limit, None
        iteration.propagate(at_end, before)
        limited, iteration.limit = iteration.limit, limit
        until = ValueSet.of(access.result.type.bits)
        for way_out in ways_out:
            if [*way_out.literals] != [access.result]:
                raise _Unclear("whether a loop on the counter is left depends on something else, too")
            until = until | way_out.literals[access.result]
        if limited:
            raise _Unclear(limited)
        return until

    @staticmethod
    def _taken(iteration: LoopIteration, inside: list[Wait]) -> frozenset[int]:
        """The sums of what a round has added, at all of its points. It must have added nothing when it goes round, and
        when it waits."""
        sums: dict[str, set[int]] = {iteration.header.name: {0}}
        pending = [iteration.header.name]
        everything = {0}
        while pending:
            block = iteration.function.blocks[pending.pop()]
            now = set(sums[block.name])
            for instruction in block.instructions:
                if isinstance(instruction, ins.Update):
                    now = {number + _added(instruction) for number in now}
                    everything |= now
            if len(everything) > MOST_BALANCES:
                raise _Unclear("a round of a loop on the counter adds too many different numbers")
            for target in iteration.targets(block):
                if target == iteration.header.name and now != {0}:
                    raise _Unclear("a loop on the counter goes round without putting back what it took")
                if target in iteration.loop.blocks and not now <= sums.setdefault(target, set()):
                    sums[target] |= now
                    pending.append(target)
        if any(sums.get(wait.iteration.header.name, set()) - {0} for wait in inside):
            raise _Unclear("a round waits for the counter before it has put back what it took")
        return frozenset(everything)


def _comes_round(iteration: LoopIteration, waiting: set[str]) -> bool:
    """Whether control can come back to the header of a loop without passing one of some blocks."""
    pending, seen = [iteration.header.name], set(waiting)
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for target in iteration.targets(iteration.function.blocks[name]):
            if target == iteration.header.name and target not in waiting:
                return True
            if target in iteration.loop.blocks:
                pending.append(target)
    return False


def _told_apart(program: Program, counter: _Counter, looks: _Looks) -> str | None:
    """Why somebody could tell whether rounds fail, if so."""
    taken = frozenset().union(*(attempt.taken for attempt in looks.attempts))
    if min(taken) < 0 < max(taken):
        return "some take from the counter for a while and others add to it, so that both could succeed by mistake"
    try:
        least, greatest = _Balances(program, counter).bounds()
    except _Unclear as reason:
        return str(reason)
    assert counter.start is not None
    bits, start = counter.type.bits, counter.start
    least, greatest = start + MAX_THREADS * least, start + MAX_THREADS * greatest
    width = greatest - least
    if width >= 1 << bits:
        return "the counter may overflow"

    def possible(values: ValueSet) -> tuple[tuple[int, int], ...]:
        """Those that the counter can have, counted from the least."""
        return (values.plus(-least) & ValueSet.of(bits, (0, width))).ranges

    all_looks: list[Attempt | Wait] = [*looks.attempts, *looks.waits]
    for look in all_looks:
        ranges = possible(look.until)
        whole = ranges[0][0] == 0 if max(taken) > 0 and ranges else not ranges or ranges[-1][1] == width
        if len(ranges) > 1 or not whole:
            place = f" ({look.iteration.location})" if look.iteration.location else ""
            return f"somebody who waits for the counter could go on because of what is taken for a while{place}"
    for attempt in looks.attempts:
        if any(possible(wait.until) != possible(attempt.until) for wait in attempt.waits):
            return "it waits for something else than what it needs"
    return None


# ---------------------------------------------------------------------------------------------------------- balances


class _Balances:
    """What threads can have added to a counter. Calls are followed, whoever makes them: first, what each function adds
    from its beginning to its end, then what the thread has added before it."""

    def __init__(self, program: Program, counter: _Counter) -> None:
        self._program = program
        self._counter = counter
        self._ends: dict[str, set[int]] = {}  # of functions that matter
        self._starts: dict[str, set[int]] = {}
        self._seen = {0}

    def bounds(self) -> tuple[int, int]:
        """The least and the greatest of all balances of a thread, not above and not below 0."""
        matter = self._matter()
        self._ends = {name: set() for name in matter}
        size = -1
        while size != (size := sum(map(len, self._ends.values()))):
            for name in matter:
                self._follow(name, {0}, absolute=False)
        self._seen = {0}
        roots = {self._program.entry, *self._spawned}
        self._starts = {name: {0} for name in roots}
        size = -1
        while size != (size := sum(map(len, self._starts.values()))):
            for name in [name for name in self._starts if name in matter]:
                returned = self._follow(name, set(self._starts[name]), absolute=True)
                if name in roots and returned - {0}:
                    raise _Unclear("a thread may end without having put back what it took")
        return min(self._seen), max(self._seen)

    def _follow(self, name: str, start: set[int], *, absolute: bool) -> set[int]:
        """Follow a function from its start to its end."""
        function = self._program.functions[name]
        sums: dict[str, set[int]] = {function.entry.name: start}
        pending = [function.entry.name]
        returned: set[int] = set()
        while pending:
            block = function.blocks[pending.pop()]
            now = set(sums[block.name])
            for instruction in block.instructions:
                now = self._after(instruction, now, absolute)
                if not now:
                    break
            else:
                if isinstance(block.terminator, ins.Return):
                    returned |= now
                for target in successors(block):
                    if target not in sums or not now <= sums[target]:
                        sums[target] = sums.get(target, set()) | now
                        pending.append(target)
        if not absolute:
            self._ends[name] |= returned
        return returned

    def _after(self, instruction: Instruction, now: set[int], absolute: bool) -> set[int]:
        """What the balance can be after an instruction; nothing if control does not come there."""
        match instruction:
            case ins.Update(address=GlobalAddress(name)) if name == self._counter.name:
                now = {balance + _added(instruction) for balance in now}
            case ins.Call(callee):
                callees = [callee] if isinstance(callee, str) else self._pointed_to
                if absolute:
                    for each in callees:
                        self._starts.setdefault(each, set()).update(now)
                now = {balance + end for each in callees for end in self._ends.get(each, {0}) for balance in now}
            case ins.EndThread() if absolute and now - {0}:
                raise _Unclear("a thread may end without having put back what it took")
        self._seen |= now
        if len(now) > MOST_BALANCES or len(self._seen) > 4 * MOST_BALANCES:
            raise _Unclear("it is not clear how much a thread can take from the counter")
        return now

    def _matter(self) -> set[str]:
        """The functions that add to the counter or end a thread, and those that call such a function."""
        callers: dict[str, set[str]] = {}
        pending: list[str] = []
        for function in self._program.functions.values():
            for instruction in function.instructions:
                match instruction:
                    case ins.Update(address=GlobalAddress(name)) if name == self._counter.name:
                        pending.append(function.name)
                    case ins.EndThread():
                        pending.append(function.name)
                    case ins.LongJump():
                        raise _Unclear("a thread may jump out of a function before it has put back what it took")
                    case ins.Call(callee):
                        for each in [callee] if isinstance(callee, str) else self._pointed_to:
                            callers.setdefault(each, set()).add(function.name)
        found: set[str] = set()
        while pending:
            if (name := pending.pop()) not in found:
                found.add(name)
                pending += callers.get(name, ())
        return found

    @cached_property
    def _pointed_to(self) -> list[str]:
        return pointed_to(self._program)

    @cached_property
    def _spawned(self) -> set[str]:
        """The functions with which threads begin."""
        found: set[str] = set()
        for function in self._program.functions.values():
            for instruction in function.instructions:
                match instruction:
                    case ins.Spawn(FunctionAddress(name)):
                        found.add(name)
                    case ins.Spawn():
                        found.update(self._pointed_to)
        return found
