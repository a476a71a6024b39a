"""Which memory orders a program asks for: those weaker than seq_cst, and fences, with the lines that ask for them.

What is in the library does not count by itself: the line is the one in the program from which the library was called,
and what is inside of a compiled library (a file in `<…>`) is nobody's choice but its own.
There, an order is mostly an argument: `x.load(memory_order_acquire)` of C++ comes to a function with a switch over all
orders, and an operation for each. So constants are followed through calls and branches, and only what can be reached
with them counts. If an order is not known, all of them do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import Constant, FunctionAddress, Instruction, Location, Register, Value
from mazurka.program.operands import definitions, operands
from mazurka.program.program import Block, Function, Program, WeakOrder
from mazurka.program.types import Float

# What `memory_order` is in C and C++ (consume is acquire), and where it is among the arguments of functions for objects
# that are too large for one access.
_ORDERS: tuple[ins.Ordering, ...] = ("relaxed", "acquire", "acquire", "release", "acq_rel", "seq_cst")
_LARGE = {
    "__atomic_load": ("load", (3,)),
    "__atomic_store": ("store", (3,)),
    "__atomic_exchange": ("update", (4,)),
    "__atomic_compare_exchange": ("compare-exchange", (4, 5)),
}
_OPERATIONS = {ins.Load: "load", ins.Store: "store", ins.Update: "update", ins.CompareExchange: "compare-exchange"}
_GUARD = (
    "_ZGV"  # whether a static variable of a C++ function has been initialised: the compiler asks for that, nobody else
)
_MOST_CONTEXTS = 64  # of one function; from then on, nothing is known of its arguments
_DEEPEST = 100  # calls

Known = int | None  # a constant, or that it is not known
Arguments = tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class _Use:
    """An operation that asks for an order. `library`: it is there, and the program's own line is not known yet."""

    location: Location | None
    library: bool
    operation: str
    order: str


@dataclass(frozen=True, slots=True)
class _Behaviour:
    """What a function does with some arguments: which orders it uses, and what it returns."""

    uses: frozenset[_Use] = frozenset()
    returns: Known = None


def find_weak_orders(program: Program) -> tuple[WeakOrder, ...]:
    """All places where orders weaker than seq_cst or fences are used, sorted; in the end those without a line."""
    found: dict[tuple[str, int, str], set[str]] = {}
    for use in _Search(program).uses():
        file, line = (use.location.file, use.location.line) if use.location else ("", 0)
        found.setdefault((file, line, use.operation), set()).add(use.order)
    placed = sorted(found.items(), key=lambda item: (not item[0][0], item[0]))
    return tuple(
        WeakOrder(file or None, line or None, operation, tuple(sorted(orders)))
        for (file, line, operation), orders in placed
    )


def weak_orders_of(program: Program) -> tuple[WeakOrder, ...]:
    """The same, without another look if it is known."""
    return find_weak_orders(program) if program.weak_orders is None else program.weak_orders


def accesses_in(orders: Iterable[WeakOrder]) -> tuple[WeakOrder, ...]:
    """The accesses among them. Where all of these are seq_cst, fences put nothing in order that is not."""
    return tuple(order for order in orders if order.operation != "fence")


def exceeds_interleavings(program: Program, memory: str) -> bool:
    """Whether there may be more to a program than its interleavings under a memory model. Under that of C, that takes
    an access which is weaker than seq_cst, or somebody who looks at a lock without taking it, which synchronises with
    nothing, beside atomic accesses: without these, it has only interleavings, or a data race, which they show."""
    if memory != "c11":
        return memory != "sc"
    return bool(accesses_in(weak_orders_of(program))) or (_looks_at_locks(program) and has_atomics(program))


def always_synchronises(program: Program) -> bool:
    """Whether every atomic read of a program acquires and every atomic write releases, so that reading what another
    thread has written synchronises with it or is a data race."""
    strong = {
        "load": ("acquire",),
        "store": ("release",),
        "update": ("acq_rel",),
        "compare-exchange": ("acq_rel/acquire", "acq_rel/seq_cst", "seq_cst/acquire"),
        "fence": ("acquire", "release", "acq_rel", "seq_cst"),
    }
    weak = weak_orders_of(program)
    return not _looks_at_locks(program) and all(set(use.orders) <= set(strong[use.operation]) for use in weak)


def _looks_at_locks(program: Program) -> bool:
    return any(
        isinstance(instruction, ins.Relax)
        for function in program.functions.values()
        for instruction in function.instructions
    )


def has_atomics(program: Program) -> bool:
    """Whether anything in a program is accessed atomically, the inside of compiled libraries and locks aside."""
    return any(
        isinstance(instruction, ins.Load | ins.Store | ins.Update | ins.CompareExchange)
        and instruction.ordering != "plain"
        and not (instruction.location is not None and instruction.location.file.startswith("<"))
        and instruction not in locks
        for function in program.functions.values()
        for locks in [_locks(function)]
        for instruction in function.instructions
    )


def _asked_for(instruction: Instruction) -> tuple[str, str] | None:
    """What an instruction does with an order that is weaker than seq_cst, and which; fences are asked for anyhow."""
    if instruction.location is not None and instruction.location.file.startswith("<"):  # not even in a header
        return None
    match instruction:
        case ins.Fence(ordering):
            return "fence", ordering
        case ins.CompareExchange(ordering=ordering) if ordering != "plain":
            return _weak("compare-exchange", ordering, instruction.failure_ordering)
        case ins.Load(ins.GlobalAddress(name)) if name.startswith(_GUARD):
            return None
        case ins.Load() | ins.Store() | ins.Update() if instruction.ordering != "plain":
            return _weak(_OPERATIONS[type(instruction)], instruction.ordering)
        case _:
            return None


def _locks(function: Function) -> set[Instruction]:
    """The instructions of sections that take locks, give them back or wait: what these put in order is what a lock or a
    join does, whatever the orders are called. (Of the library's, nothing counts anyway.)"""
    found: set[Instruction] = set()
    for block in function.blocks.values():
        for number, instruction in enumerate(block.instructions):
            if isinstance(instruction, ins.AtomicBegin):
                section = list(_section(function, block, number))
                if any(isinstance(each, ins.Await | ins.Claim) for each in section):
                    found.update(section)
    return found


def _section(function: Function, block: Block, begin: int) -> Iterator[Instruction]:
    """What can come after the begin of a section up to its end, in one function."""
    pending, seen = [(block, begin + 1)], {block.name}
    while pending:
        inside, start = pending.pop()
        for instruction in inside.instructions[start:]:
            yield instruction
            if isinstance(instruction, ins.AtomicEnd):
                break
        else:
            new = [name for name in successors(inside) if name not in seen]
            seen.update(new)
            pending += [(function.blocks[name], 0) for name in new]


def _weak(operation: str, *orders: str) -> tuple[str, str] | None:
    return None if all(order == "seq_cst" for order in orders) else (operation, "/".join(orders))


def _name(order: Known) -> str:
    return _ORDERS[order] if order is not None and 0 <= order < len(_ORDERS) else "unknown"


class _Search:
    """Goes through the functions that may come to such an operation, from those that somebody else calls."""

    def __init__(self, program: Program) -> None:
        self.functions = program.functions
        self._relevant = _relevant(program)
        self._roots = [program.entry, *_addressed(program)]
        self._behaviours: dict[tuple[str, Arguments], _Behaviour] = {}
        self._contexts: dict[str, int] = {}
        self._depth = 0

    def uses(self) -> Iterator[_Use]:
        while self._roots:
            name = self._roots.pop()
            if name in self._relevant:
                nothing = (None,) * len(self.functions[name].parameters)
                yield from (use for use in self.behaviour(name, nothing).uses if not use.library)

    def behaviour(self, name: str, arguments: Arguments) -> _Behaviour:
        function = self.functions.get(name)
        matters = name in self._relevant or any(number is not None for number in arguments)
        if function is None or not matters:
            return _Behaviour()
        # Nobody chooses an order by other numbers.
        wanted = [number if number is not None and 0 <= number < len(_ORDERS) else None for number in arguments]
        known = tuple(wanted[: len(function.parameters)])
        if (name, known) not in self._behaviours:
            self._contexts[name] = self._contexts.get(name, 0) + 1
            if self._contexts[name] > _MOST_CONTEXTS:
                known = (None,) * len(function.parameters)
        if (name, known) not in self._behaviours:
            if self._depth == _DEEPEST:
                self._roots.append(name)
                return _Behaviour()
            self._behaviours[name, known] = _Behaviour()  # if it calls itself
            self._depth += 1
            self._behaviours[name, known] = _Flow(self, function, known).behaviour()
            self._depth -= 1
        return self._behaviours[name, known]


def _relevant(program: Program) -> set[str]:
    """The functions that may come to such an operation."""
    callers: dict[str, set[str]] = {}
    found: set[str] = set()
    for function in program.functions.values():
        locks = _locks(function)
        for instruction in function.instructions:
            if isinstance(instruction, ins.Call) and isinstance(instruction.callee, str):
                callers.setdefault(instruction.callee, set()).add(function.name)
                if instruction.callee in _LARGE:
                    found.add(function.name)
            elif _asked_for(instruction) is not None and instruction not in locks:
                found.add(function.name)
    pending = list(found)
    while pending:
        new = callers.get(pending.pop(), set()) - found
        found |= new
        pending.extend(new)
    return found


def _addressed(program: Program) -> Iterator[str]:
    """The functions that may be called by their address, or as threads."""
    for variable in program.globals.values():
        yield from (relocation.target for relocation in variable.relocations if relocation.target in program.functions)
    for function in program.functions.values():
        for block in function.blocks.values():
            values = [value for phi in block.phis for _, value in phi.incoming]
            for instruction in block.instructions:
                values += operands(instruction)
            yield from (value.name for value in values if isinstance(value, FunctionAddress))


class _Flow:
    """Constants in a function that is called with some arguments, along the ways that they leave open."""

    def __init__(self, search: _Search, function: Function, arguments: Arguments) -> None:
        self.search = search
        self.function = function
        # What registers, and local variables by their addresses, are known to be; what is missing was not met yet.
        self.values: dict[Register, Known] = dict(zip(function.parameters, arguments, strict=True))
        self.variables: dict[Register, Known] = {}
        self.local = _local_variables(function)
        self.locks = _locks(function)
        self.edges: set[tuple[str, str]] = set()
        self.reached = {function.entry.name}
        self.changed = True

    def behaviour(self) -> _Behaviour:
        blocks = self.function.blocks
        while self.changed:
            self.changed = False
            for name in [name for name in blocks if name in self.reached]:
                self.follow(blocks[name])
        uses: set[_Use] = set()
        returned: set[Known] = set()
        for name in self.reached:
            for instruction in blocks[name].instructions:
                uses.update(self.uses(instruction))
            if isinstance(end := blocks[name].terminator, ins.Return) and end.value is not None:
                returned.add(self.known(end.value))
        return _Behaviour(frozenset(uses), returned.pop() if len(returned) == 1 else None)

    def uses(self, instruction: Instruction) -> Iterable[_Use]:
        library, here = self.function.library, instruction.location
        found: set[_Use] = set()
        if (asked := _asked_for(instruction)) is not None and instruction not in self.locks:
            found.add(_Use(here, library, *asked))
        if isinstance(instruction, ins.Call) and isinstance(instruction.callee, str):
            if instruction.callee in _LARGE:
                operation, positions = _LARGE[instruction.callee]
                orders = [self.known(instruction.arguments[position]) for position in positions]
                weak = _weak(operation, *map(_name, orders))
                found.update([_Use(here, library, *weak)] if weak else [])
            found |= self.called(instruction, instruction.callee).uses
        return (
            found if library else {replace(use, location=here, library=False) if use.library else use for use in found}
        )

    def called(self, call: ins.Call, callee: str) -> _Behaviour:
        return self.search.behaviour(callee, tuple(map(self.known, call.arguments)))

    def follow(self, block: Block) -> None:
        for phi in block.phis:
            for source, value in phi.incoming:
                if (source, block.name) in self.edges and self.is_met(value):
                    self.note(self.values, phi.result, self.known(value))
        for instruction in block.instructions[:-1]:
            if not all(map(self.is_met, operands(instruction))):
                continue
            match instruction:
                case ins.Store(value, Register() as address) if address in self.local:
                    self.note(self.variables, address, self.known(value))
                case ins.Load(Register() as address, result=Register() as result) if address in self.local:
                    if address in self.variables:
                        self.note(self.values, result, self.variables[address])
                case _:
                    number = self.computed(instruction)
                    for register in definitions(instruction):
                        self.note(self.values, register, number)
        for target in self.targets(block):
            self.changed |= (block.name, target) not in self.edges
            self.edges.add((block.name, target))
            self.reached.add(target)

    def targets(self, block: Block) -> list[str]:
        match block.terminator:
            case ins.Branch(condition, if_true, if_false) if self.is_met(condition):
                number = self.known(condition)
                return [if_true, if_false] if number is None else [if_true if number else if_false]
            case ins.Switch(value, cases, default) if self.is_met(value):
                number = self.known(value)
                return successors(block) if number is None else [dict(cases).get(number, default)]
            case ins.Branch() | ins.Switch():
                return []
            case _:
                return successors(block)

    def note(self, table: dict[Register, Known], register: Register, number: Known) -> None:
        """One more value that something can have."""
        if register not in table:
            table[register] = number
            self.changed = True
        elif table[register] not in (number, None):
            table[register] = None
            self.changed = True

    def is_met(self, value: Value) -> bool:
        return not isinstance(value, Register) or value in self.values

    def known(self, value: Value) -> Known:
        match value:
            case Constant(type, int(number), False) if not isinstance(type, Float):
                return number
            case Register():
                return self.values.get(value)
            case _:
                return None

    def computed(self, instruction: Instruction) -> Known:
        match instruction:
            case ins.Call(str(callee)):
                return self.called(instruction, callee).returns
            case ins.Select(condition, if_true, if_false):
                chosen, first, second = map(self.known, (condition, if_true, if_false))
                return (first if first == second else None) if chosen is None else first if chosen else second
            case ins.Convert("zext" | "trunc" | "bitcast", value, result=Register(type=type)):
                number = self.known(value)
                return None if number is None or isinstance(type, Float) else number % (1 << type.bits)
            case ins.Compare("eq" | "ne" as predicate, left, right):
                numbers = self.known(left), self.known(right)
                return None if None in numbers else int((numbers[0] == numbers[1]) == (predicate == "eq"))
            case ins.Binary("and" | "or" | "xor" as op, left, right):
                one, other = self.known(left), self.known(right)
                if one is None or other is None:
                    return None
                return one & other if op == "and" else one | other if op == "or" else one ^ other
            case _:
                return None


def _local_variables(function: Function) -> set[Register]:
    """Addresses of variables that are only ever loaded from and stored to as they are."""
    local = {
        instruction.result
        for instruction in function.instructions
        if isinstance(instruction, ins.StackAlloc) and instruction.result is not None
    }
    types: dict[Register, object] = {}
    for block in function.blocks.values():
        for phi in block.phis:
            local.difference_update(value for _, value in phi.incoming if isinstance(value, Register))
        for instruction in block.instructions:
            used = operands(instruction)
            address = instruction.address if isinstance(instruction, ins.Load | ins.Store) else None
            if isinstance(address, Register):
                used.remove(address)
                accessed = (
                    instruction.value.type
                    if isinstance(instruction, ins.Store)
                    else instruction.result.type
                    if instruction.result
                    else None
                )
                if types.setdefault(address, accessed) != accessed:
                    local.discard(address)
            local.difference_update(value for value in used if isinstance(value, Register))
    return local


class CodedOrders:
    """What becomes of numbers that are passed as orders: which arguments are such, and what they are for."""

    def __init__(self, program: Program) -> None:
        self._search = _Search(program)

    def positions(self, callee: str) -> tuple[int, ...]:
        """Of a function for objects that are too large for one access."""
        return _LARGE[callee][1] if callee in _LARGE else ()

    def operation(self, call: ins.Call, callee: str, position: int) -> str | None:
        """What gets the order at this position: "load", "store", "update", "fence", "compare-exchange", or "failing
        compare-exchange" if it is that of the failure only. None: nothing, or several that take different ones."""
        relaxed, acquire = (self._uses(call, callee, position, code) for code in (0, 2))
        operations = {operation for operation, _ in relaxed ^ acquire} or {
            operation for operation, _ in relaxed ^ self._uses(call, callee, position, 3)
        }
        if len(operations) != 1:
            return None
        (operation,) = operations
        if operation == "compare-exchange" and not any(order.startswith("acquire/") for _, order in acquire - relaxed):
            return "failing compare-exchange"
        return operation

    def _uses(self, call: ins.Call, callee: str, position: int, code: int) -> frozenset[tuple[str, str]]:
        if callee in _LARGE:
            operation, positions = _LARGE[callee]
            names = (_name(code) if each == position else "seq_cst" for each in positions)
            return frozenset([(operation, "/".join(names))])
        known = [
            number.value if isinstance(number, Constant) and isinstance(number.value, int) else None
            for number in call.arguments
        ]
        known[position] = code
        uses = self._search.behaviour(callee, tuple(known)).uses
        return frozenset((use.operation, use.order) for use in uses)
