"""One round of a loop: under which conditions does it do nothing?

A *forward purity condition* of a point in a loop is a condition on registers under which everything from there on,
until control is back at the loop's header, is pure: no memory is changed, no local variable, and no inner loop goes
round. It is propagated backwards through one iteration: a back edge gives "each phi of the header gets the value that
it has"; an edge adds the condition of its branch and replaces the phis of its target by what they get; an instruction
adds the condition under which it changes nothing (a compare-exchange: that it fails); edges that leave the loop or go
back to an inner header contribute nothing. Each disjunct of the condition at the header stands for some *paths* through
the loop: whatever values the registers have that a path does not define, the disjunct holds only if one of its own
paths is taken, for any other takes a branch that contradicts it.

**Reading again.** In `v = load x; while (!compare_exchange(x, &v, f(v)));` a failed round changes `v`. But it ends as
the round would have begun if the load before the loop had come when the compare-exchange did, as long as that load is
the last thing done before the loop, and nothing else depends on it. So the first round is as good as pure if it ends
like this. (And all rounds that follow such rounds, for they follow none if those are cut short.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from mazurka.positions import spoken
from mazurka.program.cfg import Loop, dominators, natural_loops, predecessors
from mazurka.program.instructions import (
    Assume,
    AtomicBegin,
    AtomicEnd,
    Binary,
    Branch,
    Call,
    Choose,
    Claim,
    Compare,
    CompareExchange,
    Constant,
    Convert,
    Free,
    GlobalAddress,
    HeapAlloc,
    Instruction,
    Jump,
    Load,
    Location,
    Offset,
    Output,
    Phi,
    Register,
    Return,
    Self,
    Spawn,
    StackAlloc,
    Store,
    Switch,
    ThreadLocalAddress,
    Update,
    Value,
)
from mazurka.program.operands import definitions, operands
from mazurka.program.program import Block, Function, Program
from mazurka.program.types import I1, Float, Type
from mazurka.transforms.conditions import (
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
from mazurka.transforms.sections import blocks_in_sections
from mazurka.transforms.simplify import DIVISIONS
from mazurka.transforms.wording import Words

# Beyond these, conditions are given up, which leaves some pure iterations where they are.
MAX_DISJUNCTS = 32
MAX_LITERALS = 24
MAX_TERM_PARTS = 32
TOO_LONG = "there is a way round whose condition is too long to be followed"
TOO_MANY = "there are too many ways round; only the simplest are considered"


class Knowledge:
    """What is known of the whole program: which accesses may fail or race, which calls do nothing."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._idle: dict[str, bool] = {}

    @cached_property
    def in_sections(self) -> set[tuple[str, str]]:
        return blocks_in_sections(self.program)

    @cached_property
    def synchronises(self) -> bool:
        """Whether all atomic accesses synchronise: whoever reads what another has written is ordered after it."""
        enough = {
            Load: ("plain", "acquire", "seq_cst"),
            Store: ("plain", "release", "seq_cst"),
            Update: ("acq_rel", "seq_cst"),
            CompareExchange: ("acq_rel", "seq_cst"),
        }
        return all(
            instruction.ordering in enough[type(instruction)]
            for function in self.program.functions.values()
            for block in function.blocks.values()
            for instruction in block.instructions
            if isinstance(instruction, Load | Store | Update | CompareExchange)
        )

    def is_skippable(self, access: Load | Update | CompareExchange, type: Type) -> bool:
        """Whether nobody can tell if an access is done that changes nothing: it cannot fail and is in no data race."""
        if not isinstance(access.address, GlobalAddress):
            return False
        variable = self.program.globals[access.address.name]
        offset = access.address.offset
        if offset < 0 or offset + type.size > len(variable.data) or offset % access.align:
            return False
        return isinstance(access, Load) if variable.constant else variable.name in self.atomic

    @cached_property
    def atomic(self) -> set[str]:
        """The variables that are only ever accessed atomically: none of their accesses is in a data race."""
        others: set[str] = set()
        for variable in self.program.globals.values():
            others.update(relocation.target for relocation in variable.relocations)
        for function in self.program.functions.values():
            addresses = _Addresses(function)
            for block in function.blocks.values():
                used = [value for phi in block.phis for _, value in phi.incoming]
                for instruction in block.instructions:
                    values = operands(instruction)
                    match instruction:
                        case Load() | Store() | Update() | CompareExchange() if instruction.ordering != "plain":
                            values.remove(instruction.address)
                        case Offset(GlobalAddress()):
                            values.remove(instruction.base)
                    used += values
                others.update(name for value in used if (name := addresses.variable(value)) is not None)
        return self.program.globals.keys() - others

    @cached_property
    def only_defined(self) -> set[str]:
        """Those of them that never hold what nobody wrote: all that is written there is known to be defined."""
        found = set(self.atomic)
        for function in self.program.functions.values():
            written, addresses = _Written(function), _Addresses(function)
            for block in function.blocks.values():
                for instruction in block.instructions:
                    match instruction:
                        case Store(value, address) | Update(_, address, value) | CompareExchange(address, _, value):
                            name = addresses.variable(address)
                            if name in found and not written.is_defined(value, block, instruction):
                                found.discard(name)
        return found

    def is_idle(self, name: str) -> bool:
        """Whether a call of a function does nothing that anybody can notice, other than that atomic sections begin or
        end."""
        if name not in self._idle:
            function = self.program.functions[name]
            self._idle[name] = False  # if it calls itself
            self._idle[name] = not natural_loops(function) and all(
                isinstance(instruction, Jump | Return | AtomicBegin | AtomicEnd | Claim | Self | ThreadLocalAddress)
                or computed(instruction, lambda value: value) is not None
                or (
                    isinstance(instruction, Call)
                    and isinstance(instruction.callee, str)
                    and self.is_idle(instruction.callee)
                )
                for block in function.blocks.values()
                for instruction in block.instructions
            )
        return self._idle[name]


class _Addresses:
    """Which registers of a function are addresses in variables, by an offset."""

    def __init__(self, function: Function) -> None:
        self._variables: dict[Value, str] = {}
        for block in function.blocks.values():
            for instruction in block.instructions:
                match instruction:
                    case Offset(GlobalAddress(name), result=Register() as result):
                        self._variables[result] = name

    def variable(self, address: Value) -> str | None:
        """The variable of which this is the address of some part."""
        return address.name if isinstance(address, GlobalAddress) else self._variables.get(address)


class _Written:
    """What a function is known to write: values that are computed from constants, and from what is part of an address
    that was used before, because an address that is not defined is an error."""

    def __init__(self, function: Function) -> None:
        self._tree = dominators(function)
        self._sources: dict[Value, Instruction] = {}
        self._used: dict[Value, list[tuple[str, int]]] = {}  # where registers were part of addresses
        for block in function.blocks.values():
            for instruction in block.instructions:
                if instruction.result is not None:
                    self._sources[instruction.result] = instruction
        for block in function.blocks.values():
            for index, instruction in enumerate(block.instructions):
                if isinstance(instruction, Load | Store | Update | CompareExchange):
                    for register in self._parts(instruction.address):
                        self._used.setdefault(register, []).append((block.name, index))

    def is_defined(self, value: Value, block: Block, at: Instruction) -> bool:
        if not isinstance(value, Register):
            return not (isinstance(value, Constant) and value.undefined)
        for name, index in self._used.get(value, []):
            if name == block.name and index < block.instructions.index(at):
                return True
            if name != block.name and block.name in self._tree.spans and self._tree.dominates(name, block.name):
                return True
        source = self._sources.get(value)
        return isinstance(source, Binary | Convert | Compare) and all(
            self.is_defined(operand, block, at) for operand in operands(source)
        )

    def _parts(self, address: Value) -> Iterator[Value]:
        """What an address is computed from such that it is not defined if that is not."""
        yield address
        match self._sources.get(address):
            case Offset(base, index):
                yield from self._parts(base)
                yield from self._parts(index)
            case Convert("sext" | "zext", value):
                yield from self._parts(value)
            case Binary("add" | "sub", left, right):
                yield from self._parts(left)
                yield from self._parts(right)


@dataclass(frozen=True, slots=True)
class Disjunct:
    """Some paths on which the rest of an iteration is pure: those on which `literals` hold. `pin` is the last
    instruction on them that must not be skipped. `first`: this is only so in the first round, which ends with
    variables that it could have begun with as well."""

    literals: Conjunction
    pin: Instruction | None = None
    first: bool = False

    def where(self, condition: Condition) -> list[Disjunct]:
        """The same under a further condition."""
        return [replace(self, literals=literals) for literals in conjoin([self.literals], condition)]

    def can_merge(self, other: Disjunct) -> bool:
        return self.pin is other.pin and self.first == other.first


class Iteration:
    """One round of a loop, from its header until it returns there."""

    def __init__(self, knowledge: Knowledge, function: Function, loop: Loop) -> None:
        self.knowledge = knowledge
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
        self.calls: list[Call] = []  # those that stand in the way of purity
        self.phis = {phi.result for block in self.blocks[1:] for phi in block.phis}  # but for those of the header
        self._read_blocks()
        self.late_read = self._find_late_read()
        self.words = Words(knowledge.program, function)
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
                _make_result(instruction)
                for register in definitions(instruction):
                    self.home[register] = block.name
                    self.origin[register] = instruction
                term = computed(instruction, self.term)
                if isinstance(instruction, CompareExchange) and instruction.success is not None:
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
        return self.words.conjunction(self.in_order(disjunct.literals))

    def _find_late_read(self) -> tuple[Load, Register, dict[Register, Term]] | None:
        """The last thing done before the loop, if it is a read that may as well be done later: nobody uses it but the
        loop, as what its variables begin with. Those are the terms."""
        outside = [name for name in self.sources[self.header.name] if name not in self.loop.blocks]
        entry = self.function.blocks[outside[0]]
        if len(outside) > 1 or not isinstance(entry.terminator, Jump):
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
        if not isinstance(instruction, Load) or read is None or instruction.ordering == "plain":
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
            again = (Disjunct(literals, first=True) for literals in self._read_again(block))
            return [*(Disjunct(literals) for literals in self._unchanged(block)), *again]

        disjuncts = self.propagate(at_end, self._before)
        if disjuncts:
            self.obstacle = self.limit
        elif self.obstacle is None:
            self.obstacle = self.limit or "no round leaves everything as it was"
        return disjuncts

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
        return [] if isinstance(new.type, Float) or self._is_step(new) else equal(new, old)

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
        if isinstance(origin, Binary) or (origin is not None and computed(origin, self.term) is not None):
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
            if not _reads_again(register, access, before) or not self.tree.dominates(self.home[register], block.name):
                continue
            same: Condition = [{}]
            for phi in self.header.phis:
                begin, new = begins[phi.result], self.term(value_from(phi, block))
                if read in registers(begin):
                    same = conjoin(same, self._same(new, substitute(begin, {read: register})))
                elif new != phi.result:  # in the first round, the variable is what the loop began with
                    same = conjoin(same, self._same(new, begin))
            condition += same
        return condition

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
        knowledge = self.knowledge
        pinned = False  # whether it must not be skipped
        unchanged: Condition = [{}]  # the condition that it has no effect
        match instruction:
            case Load(result=Register(type=type)):
                pinned = not knowledge.is_skippable(instruction, type)
            case Update(_, _, value):
                pinned = not knowledge.is_skippable(instruction, value.type)
                unchanged = _update_unchanged(instruction, self.term(value))
            case CompareExchange(_, expected, desired, result=Register() as old):
                pinned = not knowledge.is_skippable(instruction, expected.type)
                failed = holds(operation("eq", (old, self.term(expected)), I1), FALSE)
                unchanged = [*failed, *equal(self.term(desired), old)]
            case Assume(condition, origin):
                # An assume of an inner loop holds wherever control leaves that loop.
                unchanged = [{}] if origin == "loop" else holds(self.term(condition), TRUE)
            case Choose(count):
                pinned = not isinstance(count, Constant)
            case Call(str(name)) if knowledge.is_idle(name):
                pass
            case Binary(op) if op in DIVISIONS:
                pinned = True
            case AtomicBegin() | AtomicEnd() | Claim() | Self() | ThreadLocalAddress():
                pass
            case _ if computed(instruction, self.term) is None:
                unchanged = []
        if unchanged != [{}]:
            disjuncts = self._simplified([case for disjunct in disjuncts for case in disjunct.where(unchanged)])
            if not disjuncts:
                self._give_up(self._effect(instruction), instruction)
                if isinstance(instruction, Call):
                    self.calls.append(instruction)
        if pinned:
            disjuncts = [replace(disjunct, pin=disjunct.pin or instruction) for disjunct in disjuncts]
        return disjuncts

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
            case Store() | Update() | CompareExchange():
                return f"writes {self.words.place(instruction.address)}"
            case Call(str(name)):
                return f"calls {spoken(name)}"
            case Call():
                return "calls a function through a pointer"
            case Spawn():
                return "starts a thread"
            case HeapAlloc() | StackAlloc():
                return "makes a new object"
            case Free():
                return "frees memory"
            case Output():
                return "prints"
            case Assume():
                return "goes on only under an assumption"
            case _:
                return "has an effect"


def value_from(phi: Phi, source: Block) -> Value:
    return next(value for name, value in phi.incoming if name == source.name)


def _reads_again(register: Register, access: Instruction, before: Load) -> bool:
    """Whether an access reads the same, into this register, as one before it, and synchronises no less."""
    return (
        isinstance(access, Load | Update | CompareExchange)
        and access.result is register
        and access.address == before.address
        and before.result is not None
        and before.result.type == register.type
        and (before.ordering == "relaxed" or access.ordering in ("acquire", "acq_rel", "seq_cst"))
    )


def edges(block: Block) -> Iterable[tuple[str, Value | None, ValueSet]]:
    """Where control can go from a block: the value that decides it, and those for which it goes there."""
    match block.terminator:
        case Jump(target):
            yield target, None, TRUE
        case Branch(condition, if_true, if_false):
            if if_true == if_false:
                yield if_true, condition, TRUE | FALSE
            else:
                yield if_true, condition, TRUE
                yield if_false, condition, FALSE
        case Switch(value, cases, default):
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


def _make_result(instruction: Instruction) -> None:
    """Give an instruction a result if it needs one in order to tell whether it changed anything. (Not if it commutes
    with others of its kind because it has none.)"""
    if instruction.result is None:
        if isinstance(instruction, CompareExchange):
            instruction.result = Register("old", instruction.expected.type)
        elif isinstance(instruction, Update) and instruction.op == "exchange":
            instruction.result = Register("old", instruction.value.type)


def _update_unchanged(update: Update, value: Term) -> Condition:
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
