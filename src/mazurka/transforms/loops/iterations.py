"""One iteration of a loop: under which conditions does it do nothing?

A *forward purity condition* of a point in a loop is a condition on registers under which everything from there on,
until control is back at the loop's header, is pure: no memory is changed, no local variable, and no back edge of an
inner loop is taken. It is propagated backwards through one iteration: a back edge gives "each phi of the header gets
the value that it has"; an edge adds the condition of its branch and replaces the phis of its target by what they get;
an instruction adds the condition under which it changes nothing (a compare-exchange: that it fails); edges that leave
the loop or go back to an inner header contribute nothing. Each disjunct of the condition at the header stands for some
*paths* through the loop: whatever values the registers have that a path does not define, the disjunct holds only if one
of its own paths is taken, for any other takes a branch that contradicts it.

**Locks that are given back.** A round that takes a mutex, reads, and gives the mutex back leaves memory as it was, but
others run in between. Of a whole round they notice nothing, if nobody ever tries to take such a lock without waiting:
while the lock was held, others could take no step that depends on it. (They might fail by destroying a lock that is
held, but then the round does not have to come to its end.) So whatever others do around a round that is complete they
can do without it. It must be complete: the thread is stopped only after it has given back all locks. If somebody does
try without waiting, the round can be told apart, and stays. (Under a weak memory model, both ends of such a round write
the lock, one right after the other, and leave it as it was: who takes it next reads from who gave it back before. The
argument is that for an update which writes what it has read.)

**Reading again.** In `v = load x; while (!compare_exchange(x, &v, f(v)));` a failed iteration changes `v`. But it ends
as the iteration would have begun if the load before the loop had come when the compare-exchange did, as long as that
load is the last thing done before the loop, and nothing else depends on it. So the first iteration is as good as pure
if it ends like this. (And all that follow such iterations, for they follow none if those are cut short.)

**Carrying on.** The same without the load: `while (!compare_exchange(x, &v, f(v)));`, where a round does nothing but
that, and the loop goes round only if it fails. Let two rounds fail one after the other, the first expecting e and
finding v, the second expecting v and finding w. If w is not e, the first one could have come when the second did: it
would have found w, failed, and ended as the second has. If w is e, the two together have changed nothing. Either way
there is an execution with fewer rounds, so no round needs to fail right after another one. For this, all rounds must
take the same way, and whether they do must not depend on a combination of what was expected and what was found: of the
first round, it is known that it takes this way if it expects e, and of the second, that it does if it finds w.

Under a weak memory model, too, the earlier read is left out, and the later one, with what it reads from, takes its
place: no event that is left was between them. Its order may become that of the earlier one, so that one must not be
stronger.

**Races in vain.** What a thread accesses in a round that is left out may be in a race. If the other event of the race
does not depend on what the thread does afterwards (by program order and reads-from), it is found where the thread is
stopped, behind the access. It may depend on that, where not all that atomic accesses pass on is synchronised:

    while (!load(&stop, relaxed)) v = x;  store(&y, 1, relaxed);        if (load(&y, relaxed)) x = 1;

If the next round makes the same access before anything that others can depend on, and before the loop is left, then
that access is in the same race: whatever comes after it in the thread, and the other event, is not before it. If not,
one such round of a loop is *spared*, which is enough: a race has two events. (This is looked at only where executions
need not be interleavings; and if all accesses synchronise, there is another race on the way.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from mazurka.program import instructions as ins
from mazurka.program.cfg import Loop, dominators, predecessors
from mazurka.program.instructions import Constant, Instruction, Location, Phi, Register, Value
from mazurka.program.names import demangle
from mazurka.program.operands import definitions, operands
from mazurka.program.program import Block, Function
from mazurka.program.types import I1, I32, Float
from mazurka.transforms.loops.conditions import (
    FALSE,
    TRUE,
    Condition,
    Conjunction,
    Operation,
    Term,
    ValueSet,
    computed,
    conjoin,
    equal,
    holds,
    is_case_of,
    merged,
    operation,
    parts,
    registers,
    substitute,
)
from mazurka.transforms.loops.facts import ProgramFacts
from mazurka.transforms.loops.own import OwnMemory
from mazurka.transforms.loops.wording import Words
from mazurka.transforms.simplify import may_fail

# Beyond these, conditions are given up, which leaves some pure iterations where they are.
MAX_DISJUNCTS = 32
MAX_LITERALS = 24
MAX_TERM_PARTS = 32
ACQUIRING: frozenset[ins.Ordering] = frozenset({"acquire", "acq_rel", "seq_cst"})
TOO_LONG = "there is a way round whose condition is too long to be followed"
TOO_MANY = "there are too many ways round; only the simplest are considered"


@dataclass(frozen=True, slots=True)
class Disjunct:
    """Some paths on which the rest of an iteration is pure: those on which `literals` hold. `pin` is the last
    instruction on them that must not be skipped. `first`: this is only so in the first iteration, which ends with
    variables that it could have begun with as well. `locks` are given back on them, the first one first, and must have
    been taken before. `repeated`: this is only so in an iteration that follows another one. `spared`: one such
    iteration must be left in a loop, since nothing else shows what it is in a race with."""

    literals: Conjunction
    pin: Instruction | None = None
    first: bool = False
    repeated: bool = False
    locks: tuple[Term, ...] = ()
    spared: bool = False

    def where(self, condition: Condition) -> list[Disjunct]:
        """The same under a further condition."""
        return [replace(self, literals=literals) for literals in conjoin([self.literals], condition)]

    def can_merge(self, other: Disjunct) -> bool:
        return (self.pin, self.first, self.repeated, self.locks, self.spared) == (
            other.pin,
            other.first,
            other.repeated,
            other.locks,
            other.spared,
        )


class LoopIteration:
    """One iteration of a loop, from its header until it returns there."""

    def __init__(self, facts: ProgramFacts, function: Function, loop: Loop) -> None:
        self.facts = facts
        self.function = function
        self.loop = loop
        self.tree = tree = dominators(function)
        self.sources = predecessors(function)
        self.header = function.blocks[loop.header]
        self.blocks = [function.blocks[name] for name in tree.order if name in loop.blocks]
        self.number = {block.name: number for number, block in enumerate(self.blocks)}
        self.obstacle: str | None = None  # why nothing is pure
        self.limit: str | None = None  # why something that might be pure is not treated as such
        self.home: dict[Register, str] = {}  # the block that defines a register of the loop
        self.origin: dict[Register, Instruction] = {}  # and the instruction, if it is no phi
        self.place: dict[Instruction, tuple[int, int]] = {}  # block and index
        self.terms: dict[Register, Term] = {}  # what those are equal to that are computed from others
        self.calls: list[ins.Call] = []  # those that stand in the way of purity
        self.phis = {phi.result for block in self.blocks[1:] for phi in block.phis}  # but for those of the header
        self._read_blocks()
        self.late_read = self._find_late_read()
        self.words = Words(facts.program, function)
        self._own = OwnMemory(self)
        self.purity = self._purity_condition()

    def _read_blocks(self) -> None:
        for block in self.blocks:
            for phi in block.phis:
                self.home[phi.result] = block.name
                only = {value for _, value in phi.incoming if value is not phi.result}
                if len(only) == 1:
                    self.terms[phi.result] = self.term(only.pop())
            for index, instruction in enumerate(block.instructions):
                self.place[instruction] = self.number[block.name], index
                _make_result(instruction, self.facts)
                for register in definitions(instruction):
                    self.home[register] = block.name
                    self.origin[register] = instruction
                term = computed(instruction, self.term)
                if isinstance(instruction, ins.CompareExchange) and instruction.success is not None:
                    assert instruction.result is not None
                    old, expected = instruction.result, self.term(instruction.expected)
                    self._define(instruction.success, operation("eq", (old, expected), I1))
                elif term is not None and instruction.result is not None:
                    self._define(instruction.result, term)

    def _define(self, register: Register, term: Term) -> None:
        if not _is_large(term):
            self.terms[register] = term

    def term(self, value: Value) -> Term:
        return self.terms.get(value, value) if isinstance(value, Register) else value

    @property
    def location(self) -> Location | None:
        """Where the loop is in the source."""
        return first_location(self.blocks)

    def in_order(self, literals: Conjunction) -> Conjunction:
        """The literals in the order in which they become known."""

        def known_from(literal: tuple[Term, ValueSet]) -> tuple[int, int]:
            origins = (self.origin.get(register) for register in registers(literal[0]))
            return max((self.place[origin] for origin in origins if origin is not None), default=(-1, -1))

        return dict(sorted(literals.items(), key=known_from))

    def describe(self, disjunct: Disjunct) -> str:
        """In words; that locks could be taken and given back goes without saying."""
        said = {term: values for term, values in disjunct.literals.items() if not self._is_lock(term)}
        text = self.words.conjunction(self.in_order(said))
        if disjunct.spared:
            return f"{text} in a round after another one like it"
        return f"{text} in a round after another one" if disjunct.repeated else text

    def _is_lock(self, term: Term) -> bool:
        """Whether this is the result of taking a lock or giving it back."""
        origin = self.origin.get(term) if isinstance(term, Register) else None
        return isinstance(origin, ins.Call) and origin.callee in self.facts.locks

    def _find_late_read(self) -> tuple[ins.Load, Register, dict[Register, Term]] | None:
        """The last thing done before the loop, if it is a read that may as well be done later: nobody uses it but the
        loop, as what its variables begin with. Those are the terms."""
        outside = [name for name in self.sources[self.header.name] if name not in self.loop.blocks]
        entry = self.function.blocks[outside[0]]
        if len(outside) > 1 or not isinstance(entry.terminator, ins.Jump):
            return None
        terms: dict[Register, Term] = {}
        following: list[Instruction] = [entry.terminator]
        for instruction in reversed(entry.instructions[:-1]):
            if computed(instruction, lambda value: value) is None:
                break
            following.append(instruction)
        else:
            return None
        read = instruction.result
        if not isinstance(instruction, ins.Load) or read is None or instruction.ordering == "plain":
            return None

        def term(value: Value) -> Term:
            return terms.get(value, value) if isinstance(value, Register) else value

        for computation in reversed(following[1:]):
            assert computation.result is not None
            value = computed(computation, term)
            if value is None or _is_large(value):
                return None
            terms[computation.result] = value
        begins = {phi.result: term(value_from(phi, entry)) for phi in self.header.phis}
        later = {read, *(register for register, value in terms.items() if read in registers(value))}
        for block in self.function.blocks.values():
            for phi in block.phis:
                if any(value in later and (block, name) != (self.header, entry.name) for name, value in phi.incoming):
                    return None
            for user in block.instructions:
                if user not in following and any(value in later for value in operands(user)):
                    return None
        return instruction, read, begins

    # --------------------------------------------------------------------------------- purity conditions

    def _purity_condition(self) -> list[Disjunct]:
        """The purity condition of the loop: the forward purity condition at its start."""

        def at_end(block: Block, target: str) -> list[Disjunct]:
            if target != self.header.name:
                return []
            again = [Disjunct(literals, first=True) for literals in self._read_again(block)]
            if not again:
                again += (Disjunct(literals, repeated=True) for literals in self._carries_on(block))
            return [*(Disjunct(literals) for literals in self._unchanged(block)), *again]

        disjuncts = [each for each in self.propagate(at_end, self._before) if not each.locks]
        if not self._is_every_way_round([each for each in disjuncts if each.repeated]):
            disjuncts = [each for each in disjuncts if not each.repeated]
        if disjuncts:
            self.obstacle = self.limit
        else:
            self.obstacle = self.obstacle or self.limit or "no round leaves everything as it was"
            self.calls += (call for call in self._calls_for_variables() if call not in self.calls)
        return disjuncts

    def _calls_for_variables(self) -> Iterable[ins.Call]:
        """The calls whose results become variables of the next round. What they return says little."""
        pending = [value for phi in self.header.phis for name, value in phi.incoming if name in self.loop.blocks]
        incoming = {phi.result: phi.incoming for block in self.blocks[1:] for phi in block.phis}
        seen: set[Register] = set()
        while pending:
            for register in registers(self.term(pending.pop())):
                if register not in seen:
                    seen.add(register)
                    pending += (value for _, value in incoming.get(register, ()))
                    if isinstance(call := self.origin.get(register), ins.Call):
                        yield call

    def propagate(
        self,
        at_end: Callable[[Block, str], list[Disjunct]],
        before: Callable[[Instruction, list[Disjunct]], list[Disjunct]],
    ) -> list[Disjunct]:
        """Take conditions backwards through the iteration, to its start: from those `at_end`, on an edge that leaves
        the loop or goes back, through instructions, `before` which they are different."""
        at_start: dict[str, list[Disjunct]] = {}
        for block in reversed(self.blocks):
            disjuncts: list[Disjunct] = []
            for target, tested, values in edges(block):
                if target in at_start:
                    following = self._through_phis(block, self.function.blocks[target], at_start[target])
                else:
                    following = at_end(block, target)
                if following and tested is not None:
                    condition = holds(self.term(tested), values)
                    following = [case for disjunct in following for case in disjunct.where(condition)]
                disjuncts += following
            disjuncts = self._simplified(disjuncts)
            for instruction in reversed(block.instructions[:-1]):
                if disjuncts:
                    disjuncts = before(instruction, disjuncts)
            at_start[block.name] = disjuncts
        return at_start[self.header.name]

    def comes_back_after(self, writes: list[Instruction]) -> bool:
        """Whether there may be a way round on which one of some instructions is executed, or if it is a
        compare-exchange, succeeds."""

        def at_end(_: Block, target: str) -> list[Disjunct]:
            return [Disjunct({})] if target in self.loop.blocks else []

        def before(instruction: Instruction, disjuncts: list[Disjunct]) -> list[Disjunct]:
            if instruction not in writes:
                return disjuncts
            succeeds: Condition = [{}]
            if isinstance(instruction, ins.CompareExchange) and instruction.result is not None:
                succeeds = equal(instruction.result, self.term(instruction.expected))
            done = [replace(case, pin=instruction) for disjunct in disjuncts for case in disjunct.where(succeeds)]
            return self._simplified([*disjuncts, *done])

        limit, self.limit = self.limit, None
        ways = self.propagate(at_end, before) if writes else []
        limited, self.limit = self.limit is not None, limit
        return limited or any(way.pin is not None for way in ways)

    def targets(self, block: Block) -> list[str]:
        return [target for target, _, _ in edges(block)]

    def is_back_edge(self, source: str, target: str) -> bool:
        return self.number[target] <= self.number[source]

    def _unchanged(self, block: Block) -> Condition:
        """The condition that a block returns to the header with the variables that the iteration began with."""
        condition: Condition = [{}]
        for phi in self.header.phis:
            condition = conjoin(condition, self._same(self.term(value_from(phi, block)), self.term(phi.result)))
            if not condition:
                self._give_up(f"changes {self.words.term(phi.result)} from one round to the next", block.terminator)
                break
        return condition

    def _same(self, new: Term, old: Term) -> Condition:
        """The condition that a variable gets a value that it has, which may be decided only when the phis in it are
        replaced."""
        if new == old:
            return [{}]
        if any(register in self.phis for term in (new, old) for register in registers(term)):
            return [{Operation("same", (new, old), I1): TRUE}]
        # (What sets or clears bits does nothing the second time.)
        sets_bits = isinstance(new, Operation) and new.op in ("or", "and") and old in new.operands
        return [] if isinstance(new.type, Float) or (self._is_step(new) and not sets_bits) else equal(new, old)

    def _is_step(self, term: Term) -> bool:
        """Whether a variable that becomes this goes its own way: it is computed from old values of variables, and from
        nothing that was read. There is no point in looking for the numbers for which that makes no difference."""
        stepping = False
        pending = [term] if isinstance(term, Operation) else self._operands(term)
        while pending:
            for register in registers(pending.pop()):
                if inputs := self._operands(register):
                    pending += inputs
                elif register in self.origin:
                    return False
                else:
                    stepping = stepping or register in self.home
        return stepping

    def _operands(self, term: Term) -> list[Term]:
        """The terms that a register was computed from by an instruction that is no term itself, such as a division."""
        origin = self.origin.get(term) if isinstance(term, Register) else None
        if isinstance(origin, ins.Binary) or (origin is not None and computed(origin, self.term) is not None):
            return [self.term(value) for value in operands(origin)]
        return []

    def _read_again(self, block: Block) -> Condition:
        """The condition that a block returns to the header with the variables with which the loop would have begun if
        the last read before it had come when the memory was read again."""
        if self.late_read is None:
            return []
        before, read, begins = self.late_read
        condition: Condition = []
        for register, access in self.origin.items():
            if not _reads_again(register, access, before, weak=self.facts.weak) or not self.tree.dominates(
                self.home[register], block.name
            ):
                continue
            same: Condition = [{}]
            for phi in self.header.phis:
                begin, new = begins[phi.result], self.term(value_from(phi, block))
                if read in registers(begin):
                    same = conjoin(same, self._same(new, substitute(begin, {read: register})))
                elif new != phi.result:  # in the first iteration, the variable is what the loop began with
                    same = conjoin(same, self._same(new, begin))
            condition += same
        return condition

    def _carries_on(self, block: Block) -> Condition:
        """The condition that a block returns to the header after nothing but a compare-exchange that failed, with its
        variables as they were, except that the next one expects what this one has found."""
        exchange = self._only_exchange
        if exchange is None or exchange.result is None:
            return []
        condition: Condition = [{}]
        for phi in self.header.phis:
            carried = phi.result is exchange.expected
            old = exchange.result if carried else self.term(phi.result)
            condition = conjoin(condition, self._same(self.term(value_from(phi, block)), old))
        return condition

    def _is_every_way_round(self, repeated: list[Disjunct]) -> bool:
        """Whether there is only one way round, that which carries on, and whether it is taken depends on what was found
        and on what was expected separately, but for that they are not the same."""
        exchange = self._only_exchange
        if len(repeated) != 1 or exchange is None or exchange.result is None:
            return False

        def at_end(_: Block, target: str) -> list[Disjunct]:
            return [Disjunct({})] if target in self.loop.blocks else []

        ways = self.propagate(at_end, lambda _, disjuncts: disjuncts)
        (fails,) = equal(exchange.result, exchange.expected)
        return [way.literals for way in ways] == [repeated[0].literals] and not any(
            {exchange.result, exchange.expected} <= {*registers(term)} and term not in fails
            for term in repeated[0].literals
        )

    @cached_property
    def _only_exchange(self) -> ins.CompareExchange | None:
        """The compare-exchange that is all that every round does, and that fails on every way round, if there is one
        and it expects a variable of the loop."""
        found: list[ins.CompareExchange] = []
        for instruction in (each for block in self.blocks for each in block.instructions):
            match instruction:
                case ins.CompareExchange():
                    found.append(instruction)
                case ins.Jump() | ins.Branch() | ins.Switch():
                    pass
                case ins.Call(str(name)) if self.facts.is_idle(name):
                    pass
                case _ if computed(instruction, self.term) is None:
                    return None
        back = [
            block.name
            for block in self.blocks
            for target in self.targets(block)
            if target in self.loop.blocks and self.is_back_edge(block.name, target)
        ]
        if len(found) != 1 or len(back) != 1 or found[0].result is None:
            return None
        carried = any(phi.result is found[0].expected for phi in self.header.phis)
        always = self.tree.dominates(self.home[found[0].result], back[0])
        return found[0] if carried and always and not self.comes_back_after([*found]) else None

    def _through_phis(self, source: Block, target: Block, disjuncts: list[Disjunct]) -> list[Disjunct]:
        """What holds at the end of a block if this holds at the start of the next."""
        if not target.phis or not disjuncts:
            return disjuncts
        chosen = {phi.result: self.term(value_from(phi, source)) for phi in target.phis}
        result: list[Disjunct] = []
        for disjunct in disjuncts:
            condition: Condition = [{}]
            for term, values in disjunct.literals.items():
                match replaced := substitute(term, chosen):
                    case _ if _is_large(replaced):
                        self.limit = TOO_LONG
                        condition = []
                    case Operation("same", (left, right)):
                        condition = conjoin(condition, self._same(left, right))
                    case _:
                        condition = conjoin(condition, holds(replaced, values))
            result += (replace(disjunct, literals=literals) for literals in condition)
        return result

    def _before(self, instruction: Instruction, disjuncts: list[Disjunct]) -> list[Disjunct]:
        """The forward purity condition before an instruction, given the one after it."""
        facts = self.facts
        pinned = False  # whether it must not be skipped
        unchanged: Condition = [{}]  # the condition that it has no effect
        match instruction:
            case ins.Load(result=Register(type=type)):
                pinned = not facts.is_skippable(instruction, type)
            case ins.Update(_, _, value):
                pinned = not facts.is_skippable(instruction, value.type)
                unchanged = _update_unchanged(instruction, self.term(value))
            case ins.CompareExchange(_, expected, desired, result=Register() as old):
                pinned = not facts.is_skippable(instruction, expected.type)
                unchanged = holds(operation("eq", (old, self.term(expected)), I1), FALSE)
                if not (pinned and facts.weak):  # (a race with a write need not be one with a read)
                    unchanged = [*unchanged, *equal(self.term(desired), old)]
            case ins.Assume(condition, origin):
                # An assume of an inner loop holds wherever control leaves that loop.
                unchanged = [{}] if origin == "loop" else holds(self.term(condition), TRUE)
            case ins.Choose(count):
                pinned = not isinstance(count, Constant)
            case ins.Store(_, Register() as address) if facts.is_never_read(self.origin.get(address)):
                pass
            case ins.Store(value, Register() as address) if facts.is_about_handlers(value, self.origin.get(address)):
                pass
            case ins.Store(ordering=ordering) if (
                not facts.weak or ordering == "plain" or facts.synchronises
            ) and self._own.is_rewritten(instruction):
                pinned = True
            case ins.Call(str(name)) if facts.is_idle(name):
                pass
            case ins.Call(str(name), [lock]) if name in facts.locks and facts.unseen_locks and self._is_fixed(lock):
                disjuncts = self._balanced(instruction, facts.locks[name], self.term(lock), disjuncts)
                if not disjuncts:
                    self._give_up(self._effect(instruction), instruction)
            case _ if may_fail(instruction):
                pinned = True
            case (
                ins.AtomicBegin()
                | ins.AtomicEnd()
                | ins.Fence()
                | ins.Claim()
                | ins.Relax()
                | ins.Self()
                | ins.ThreadLocalAddress()
            ):
                pass
            case _ if computed(instruction, self.term) is None:
                unchanged = []
        if unchanged != [{}]:
            disjuncts = self._simplified([case for disjunct in disjuncts for case in disjunct.where(unchanged)])
            if not disjuncts:
                self._give_up(self._effect(instruction), instruction)
                if isinstance(instruction, ins.Call):
                    self.calls.append(instruction)
        if pinned:
            disjuncts = [replace(disjunct, pin=disjunct.pin or instruction) for disjunct in disjuncts]
        noticed = (pinned and isinstance(instruction, ins.ReadingAccess)) or self._is_of_lock(instruction)
        if noticed and facts.weak and not facts.synchronises:
            disjuncts = [
                replace(each, spared=each.spared or not self._comes_again(instruction, each)) for each in disjuncts
            ]
        return disjuncts

    def _is_of_lock(self, instruction: Instruction) -> bool:
        return isinstance(instruction, ins.Call) and instruction.callee in self.facts.locks

    def _comes_again(self, instruction: Instruction, disjunct: Disjunct) -> bool:
        """Whether the round after one that is left out does the same again, before anything that others could depend
        on: whatever it is in a race with in the one it is in the other."""
        block, index = self.place[instruction]
        name = self.blocks[block].name
        kept = set() if disjunct.first or disjunct.repeated else {phi.result for phi in self.header.phis}
        address = instruction.address if isinstance(instruction, ins.ReadingAccess) else None
        for register in registers(self.term(address)) if address is not None else ():
            if register in self.home and register not in kept:
                return False
        return all(
            self.tree.dominates(name, self.blocks[other].name) and (other != block or index <= place)
            for other, place in self._effects
        )

    @cached_property
    def _effects(self) -> list[tuple[int, int]]:
        """Where a round does something that others can depend on, or leaves the loop."""
        found: list[tuple[int, int]] = []
        for block in self.blocks:
            if any(target not in self.loop.blocks for target in self.targets(block)):
                found.append(self.place[block.terminator])
            found += (self.place[each] for each in block.instructions if not self._is_quiet(each))
        return found

    def _is_quiet(self, instruction: Instruction) -> bool:
        """Whether what others do cannot depend on it that this is done, but for those who take a lock after it."""
        match instruction:
            case ins.Call(str(name)):
                return self.facts.is_idle(name) or self._is_of_lock(instruction)
            case ins.Store(value, Register() as address):
                origin = self.origin.get(address)
                return self.facts.is_never_read(origin) or self.facts.is_about_handlers(value, origin)
            case ins.Load() | ins.Fence() | ins.Assume() | ins.Choose() | ins.Jump() | ins.Branch() | ins.Switch():
                return True
            case (
                ins.AtomicBegin() | ins.AtomicEnd() | ins.Claim() | ins.Relax() | ins.Self() | ins.ThreadLocalAddress()
            ):
                return True
            case _:
                return computed(instruction, self.term) is not None

    def _is_fixed(self, address: Value) -> bool:
        return all(register not in self.home for register in registers(self.term(address)))

    def _balanced(self, call: ins.Call, kind: str, lock: Term, disjuncts: list[Disjunct]) -> list[Disjunct]:
        """The condition before a call that takes a lock or gives it back."""
        if kind == "lock":
            disjuncts = [replace(each, locks=each.locks[:-1]) for each in disjuncts if each.locks[-1:] == (lock,)]
        else:
            disjuncts = [replace(each, locks=(*each.locks, lock), pin=each.pin or call) for each in disjuncts]
        assert call.result is not None
        succeeds = holds(call.result, ValueSet.of(call.result.type.bits, (0, 0)))
        return [case for disjunct in disjuncts for case in disjunct.where(succeeds)]

    def _simplified(self, disjuncts: list[Disjunct]) -> list[Disjunct]:
        """The same condition in fewer disjuncts, or a stronger one where it is too long."""
        short = [disjunct for disjunct in disjuncts if len(disjunct.literals) <= MAX_LITERALS]
        if len(short) < len(disjuncts):
            self.limit = TOO_LONG
        result: list[Disjunct] = []
        pending = list(reversed(short))
        while pending:
            new = pending.pop()
            if any(new.can_merge(old) and is_case_of(new.literals, old.literals) for old in result):
                continue
            for old in result:
                union = merged(new.literals, old.literals) if new.can_merge(old) else None
                if union is not None:
                    result.remove(old)
                    pending.append(replace(new, literals=union))
                    break
            else:
                result = [old for old in result if not (new.can_merge(old) and is_case_of(old.literals, new.literals))]
                result.append(new)
        if len(result) > MAX_DISJUNCTS:
            self.limit = TOO_MANY
            result.sort(key=lambda disjunct: len(disjunct.literals))
            del result[MAX_DISJUNCTS:]
        return result

    def _give_up(self, reason: str, at: Instruction) -> None:
        if self.obstacle is None:
            self.obstacle = f"{reason} ({at.location})" if at.location else reason

    def _effect(self, instruction: Instruction) -> str:
        match instruction:
            case ins.Store() | ins.Update() | ins.CompareExchange():
                return f"writes {self.words.place(instruction.address)}"
            case ins.Call(str(name)) if name in self.facts.locks and not self.facts.unseen_locks:
                return (
                    f"calls {demangle(name)}, and somebody who tries without waiting could tell that the lock is held"
                )
            case ins.Call(str(name)):
                return f"calls {demangle(name)}"
            case ins.Call():
                return "calls a function through a pointer"
            case ins.Spawn():
                return "starts a thread"
            case ins.HeapAlloc() | ins.StackAlloc():
                return "makes a new object"
            case ins.Free():
                return "frees memory"
            case ins.Output():
                return "prints"
            case ins.Assume():
                return "goes on only under an assumption"
            case _:
                return "has an effect"


def value_from(phi: Phi, source: Block) -> Value:
    return next(value for name, value in phi.incoming if name == source.name)


def _reads_again(register: Register, access: Instruction, before: ins.Load, *, weak: bool) -> bool:
    """Whether an access reads the same, into this register, as one before it, and synchronises no less; if executions
    need not be interleavings, also that it is among all that is seq_cst if the other is."""
    enough = ACQUIRING if not weak or before.ordering != "seq_cst" else {"seq_cst"}
    return (
        isinstance(access, ins.ReadingAccess)
        and access.result is register
        and access.address == before.address
        and before.result is not None
        and before.result.type == register.type
        and (before.ordering == "relaxed" or all(order in enough for order in _orders(access)))
    )


def _orders(access: ins.ReadingAccess) -> list[ins.Ordering]:
    return [access.ordering, *([access.failure_ordering] if isinstance(access, ins.CompareExchange) else [])]


def edges(block: Block) -> Iterable[tuple[str, Value | None, ValueSet]]:
    """Where control can go from a block: the value that decides it, and those for which it goes there."""
    match block.terminator:
        case ins.Jump(target):
            yield target, None, TRUE
        case ins.Branch(condition, if_true, if_false):
            if if_true == if_false:
                yield if_true, condition, TRUE | FALSE
            else:
                yield if_true, condition, TRUE
                yield if_false, condition, FALSE
        case ins.Switch(value, cases, default):
            targets: dict[str, ValueSet] = {}
            rest = ~ValueSet.of(value.type.bits, strict=True)
            for number, target in cases:
                one = ValueSet.of(value.type.bits, (number, number), strict=True)
                targets[target] = targets[target] | one if target in targets else one
                rest = rest & ~one
            targets[default] = targets[default] | rest if default in targets else rest
            for target, values in targets.items():
                yield target, value, values


def first_location(blocks: list[Block]) -> Location | None:
    located = (i.location for block in blocks for i in block.instructions if i.location is not None)
    return next(located, None)


def _make_result(instruction: Instruction, facts: ProgramFacts) -> None:
    """Give an instruction a result if it needs one in order to tell whether it changed anything. (Not if it commutes
    with others of its kind because it has none.)"""
    if instruction.result is None:
        if isinstance(instruction, ins.CompareExchange):
            instruction.result = Register("old", instruction.expected.type)
        elif isinstance(instruction, ins.Update) and instruction.op == "exchange":
            instruction.result = Register("old", instruction.value.type)
        elif isinstance(instruction, ins.Call) and instruction.callee in facts.locks:
            instruction.result = Register("taken", I32)


def _update_unchanged(update: ins.Update, value: Term) -> Condition:
    """The condition that an update writes what was there before."""
    bits = value.type.bits
    ones = (1 << bits) - 1
    old = update.result
    if update.op in ("add", "sub", "xor"):
        return holds(value, ValueSet.of(bits, (0, 0)))
    if old is None:
        neutral = {"or": 0, "and": ones, "max": 1 << (bits - 1), "min": ones >> 1, "umax": 0, "umin": ones}
        number = neutral.get(update.op)
        return [] if number is None else holds(value, ValueSet.of(bits, (number, number)))
    match update.op:
        case "exchange":
            return [] if isinstance(value.type, Float) else equal(old, value)
        case "or":
            return equal(operation("and", (old, value), value.type), value)
        case "and":
            cleared = operation("xor", (value, Constant(value.type, ones)), value.type)
            return holds(operation("and", (old, cleared), value.type), ValueSet.of(bits, (0, 0)))
        case "nand":
            common = operation("and", (old, value), value.type)
            return equal(operation("xor", (common, Constant(value.type, ones)), value.type), old)
        case op:
            kept = {"max": "sge", "min": "sle", "umax": "uge", "umin": "ule"}[op]
            return holds(Operation(kept, (old, value), I1), TRUE)


def _is_large(term: Term) -> bool:
    return sum(1 for _ in parts(term)) > MAX_TERM_PARTS
