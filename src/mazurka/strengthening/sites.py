"""The sites of a program at which something can be stronger, and the program with a choice of that.

A site is a place in the source: an atomic access or fence that names an order, or a line before or after which there
could be a fence. All instructions that the compiler made of it get stronger together, such as those of the instances of
a template. Where the order is an argument of a library function (`x.store(1, std::memory_order_relaxed)`) or of one of
the program that only passes it on, the site is the call. Orders that are computed are left as they are.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mazurka.program import instructions as ins
from mazurka.program.cfg import dominators
from mazurka.program.instructions import Constant, Instruction, Location, Ordering, Register
from mazurka.program.operands import operands
from mazurka.program.orders import CodedOrders, find_weak_orders
from mazurka.program.program import Block, Function, Program
from mazurka.strengthening.orders import ALL, COSTS, FENCE_COST, NONE, POSSIBLE, Promises, order_of, promises
from mazurka.strengthening.statements import Statement, statements

# The type of a variable that is an order.
_ORDER_TYPE = "memory_order"
_CODES: dict[Ordering, int] = {"relaxed": 0, "acquire": 2, "release": 3, "acq_rel": 4, "seq_cst": 5}
_ORDERS: dict[int, Ordering] = {**{code: order for order, code in _CODES.items()}, 1: "acquire"}


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a file. `operation` is "load", "store", "update", "compare-exchange", "failing compare-exchange" or
    "fence", on an `object` if the source tells which. `order` is the present one; None: there could be a fence, before
    or after the line (`where`), in `braces` with it if it is the body of an `if` or a loop."""

    file: str
    line: int
    column: int
    operation: str
    object: str | None = None
    order: Ordering | None = None
    where: str | None = None
    braces: bool = False
    can: Promises = field(default=ALL, compare=False)

    @property
    def promised(self) -> Promises:
        return NONE if self.order is None else promises(self.order)

    @property
    def missing(self) -> Promises:
        """What can be added."""
        return self.can - self.promised

    def with_more(self, more: Promises) -> Ordering:
        return order_of(self.promised | more)

    def cost(self, more: Promises) -> int:
        """What it costs to promise more."""
        if not more:
            return 0
        return COSTS[self.with_more(more)] + (FENCE_COST if self.order is None else -COSTS[self.order])


@dataclass(frozen=True, slots=True)
class _Handle:
    """Where the order of a site stands: in a `field` of an instruction, or among the arguments of a call (its number);
    "": it is to be a fence before the instruction."""

    instruction: Instruction
    field: str | int

    def set(self, order: Ordering) -> None:
        if isinstance(self.field, int):
            assert isinstance(self.instruction, ins.Call)
            old = self.instruction.arguments[self.field]
            assert isinstance(old, Constant)
            self.instruction.arguments[self.field] = replace(old, value=_CODES[order])
        else:
            setattr(self.instruction, self.field, order)


class Strengthenable:
    """A program, as it was loaded, and all that could be stronger in it. `computed` are the lines with orders that are
    not known before the program runs."""

    def __init__(self, program: Program) -> None:
        finder = _Finder(program)
        accesses, fences = finder.accesses(), finder.fences()
        self.sites = (*accesses, *fences)
        self.computed = tuple(sorted(finder.computed))
        handles = [*accesses.values(), *fences.values()]
        # The quickest way to many copies, in which handles are of the same copy.
        self._kept = pickle.dumps((program, handles), protocol=pickle.HIGHEST_PROTOCOL)

    def program(self, stronger: dict[int, Promises]) -> Program:
        """A copy of the program in which the sites of these numbers promise more."""
        program: Program
        handles: list[list[_Handle]]
        program, handles = pickle.loads(self._kept)  # (what was pickled above)
        new: dict[Instruction, list[Instruction]] = {}
        for number, more in sorted(stronger.items()):
            site = self.sites[number]
            for handle in handles[number]:
                if site.order is None:
                    fence = ins.Fence(site.with_more(more), location=Location(site.file, site.line))
                    new.setdefault(handle.instruction, []).append(fence)
                else:
                    handle.set(site.with_more(more))
        if new:
            for function in program.functions.values():
                for block in function.blocks.values():
                    if not new.keys().isdisjoint(block.instructions):
                        block.instructions = [one for each in block.instructions for one in (*new.get(each, ()), each)]
        program.weak_orders = find_weak_orders(program)
        return program


class _Finder:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.coded = CodedOrders(program)
        self.own = [each for each in program.functions.values() if not each.library]
        self.parameters = {name: tuple(_order_parameters(program, name)) for name in program.functions}
        self.computed: set[tuple[str, int]] = set()
        self.texts: dict[str, str] = {}

    def accesses(self) -> dict[Site, list[_Handle]]:
        """The sites of orders that the source names."""
        found: dict[Site, list[_Handle]] = {}
        for function in self.own:
            passed_on = bool(self.parameters[function.name])  # what is not known here is known to callers
            for instruction, block in _outside_of_sections(function):
                named = self._named(instruction, passed_on) if _is_in_source(instruction.location) else []
                if named and _is_chosen(function, block, instruction):
                    if not passed_on:
                        self._note_computed(instruction)
                    continue
                for operation, order, handle in named:
                    site = self._site(instruction, operation, order)
                    if site.missing:
                        found.setdefault(site, []).append(handle)
        return dict(sorted(found.items(), key=lambda item: _place(item[0])))

    def _named(self, instruction: Instruction, passed_on: bool) -> list[tuple[str, Ordering, _Handle]]:
        match instruction:
            case ins.Load(ordering=order) if order != "plain":
                return [("load", order, _Handle(instruction, "ordering"))]
            case ins.Store(ordering=order) if order != "plain":
                return [("store", order, _Handle(instruction, "ordering"))]
            case ins.Update(ordering=order) if order != "plain":
                return [("update", order, _Handle(instruction, "ordering"))]
            case ins.Fence(ordering=order):
                return [("fence", order, _Handle(instruction, "ordering"))]
            case ins.CompareExchange(ordering=order) if order != "plain":
                return [
                    ("compare-exchange", order, _Handle(instruction, "ordering")),
                    ("failing compare-exchange", instruction.failure_ordering, _Handle(instruction, "failure")),
                ]
            case ins.Call(str(callee)):
                return list(self._passed(instruction, callee, passed_on))
            case _:
                return []

    def _passed(self, call: ins.Call, callee: str, passed_on: bool) -> Iterator[tuple[str, Ordering, _Handle]]:
        for position in (*self.parameters.get(callee, ()), *self.coded.positions(callee)):
            match call.arguments[position]:
                case Constant(value=int(code)) if code in _ORDERS:
                    operation = self.coded.operation(call, callee, position)
                    if operation is not None:
                        yield operation, _ORDERS[code], _Handle(call, position)
                case _ if not passed_on:
                    self._note_computed(call)

    def _note_computed(self, instruction: Instruction) -> None:
        assert instruction.location is not None
        self.computed.add((instruction.location.file, instruction.location.line))

    def _site(self, instruction: Instruction, operation: str, order: Ordering) -> Site:
        where = instruction.location
        assert where is not None
        return Site(
            *(where.file, where.line, where.column, operation, self._object(instruction, operation), order),
            can=POSSIBLE[operation],
        )

    def _object(self, instruction: Instruction, operation: str) -> str | None:
        """What the source calls that which is accessed."""
        if operation == "fence" or instruction.location is None:
            return None
        where = instruction.location
        lines = self._text(where.file).splitlines()
        if 0 < where.line <= len(lines):
            line, start = lines[where.line - 1], max(where.column - 1, 0)
            if called := re.match(r"(?:std::)?_*\w*atomic\w*\s*\(\s*&?\s*((?:[^,()]|\([^()]*\))+)", line[start:]):
                return called[1].strip()
            if member := re.search(r"((?:[\w:]|\[[^\[\]]*\]|\.|->|\(\))+)(?:\.|->)$", line[:start]):
                return member[1]
        address = instruction.arguments[0] if isinstance(instruction, ins.Call) else getattr(instruction, "address", 0)
        if isinstance(address, ins.GlobalAddress) and address.offset == 0:
            variable = self.program.globals.get(address.name)
            type = self.program.debug_types.get(variable.debug_type or "") if variable is not None else None
            if variable is not None and (type is None or type.kind not in ("struct", "union", "array")):
                return variable.display or variable.name
        return None

    def fences(self) -> dict[Site, list[_Handle]]:
        """The sites of fences that could be there: before and after the statements that access what may be shared. Of
        those with nothing between them that others could notice, the first one counts."""
        found: dict[Site, list[_Handle]] = {}
        for function in self.own:
            places = (each.location for each in function.instructions)
            for file in sorted({place.file for place in places if place is not None and _is_in_source(place)}):
                for site, at in self._fences_in(function, file):
                    found.setdefault(site, []).append(_Handle(at, ""))
        kept: dict[frozenset[Instruction], Site] = {}
        for site in sorted(found, key=_place):
            kept.setdefault(frozenset(handle.instruction for handle in found[site]), site)
        return {site: found[site] for site in kept.values()}

    def _fences_in(self, function: Function, file: str) -> Iterator[tuple[Site, Instruction]]:
        local = {each.result for each in function.instructions if isinstance(each, ins.StackAlloc)}
        reached = dominators(function)
        parameters = set(function.parameters)
        lines: dict[int, list[tuple[Block, int]]] = {}
        for name in reached.order:
            block = function.blocks[name]
            for number, instruction in enumerate(block.instructions):
                where = instruction.location
                made = isinstance(instruction, ins.StackAlloc) or (
                    isinstance(instruction, ins.Store) and instruction.value in parameters
                )
                if where is not None and where.file == file and where.line and not made:
                    lines.setdefault(where.line, []).append((block, number))
        for statement in self._statements(file):
            last = statement.last or statement.first
            code = [place for line in range(statement.first, last + 1) for place in lines.get(line, ())]
            if not any(self._is_shared(block.instructions[number], local) for block, number in code):
                continue
            blocks = {block.name for block, _ in code}
            first = [block for block, _ in code if all(reached.dominates(block.name, other) for other in blocks)]
            if first:
                begin = min(number for block, number in code if block is first[0])
                yield self._fence(statement.first, file, "before", statement), _next(first[0], begin, local)
            if statement.last is not None and len(blocks) == 1:
                block, end = code[0][0], max(number for _, number in code)
                leaves = block.instructions[end]
                if isinstance(leaves, ins.Jump):  # to what comes after the `if` or the round
                    yield self._fence(statement.last, file, "after", statement), leaves
                elif not isinstance(leaves, ins.Terminator):
                    yield self._fence(statement.last, file, "after", statement), _next(block, end + 1, local)

    def _fence(self, line: int, file: str, where: str, statement: Statement) -> Site:
        return Site(file, line, 0, "fence", where=where, braces=statement.bare)

    def _is_shared(self, instruction: Instruction, local: set[Register | None]) -> bool:
        match instruction:
            case ins.Load(address) | ins.Store(_, address):
                return instruction.ordering != "plain" or address not in local
            case ins.Update() | ins.CompareExchange():
                return True
            case ins.Call(str(callee)):
                return bool(self.parameters.get(callee) or self.coded.positions(callee))
            case _:
                return False

    def _statements(self, file: str) -> list[Statement]:
        return statements(self._text(file))

    def _text(self, file: str) -> str:
        if file not in self.texts:
            try:
                self.texts[file] = Path(file).read_text(errors="replace")
            except OSError:
                self.texts[file] = ""
        return self.texts[file]


def _place(site: Site) -> tuple[Any, ...]:
    return site.file, site.line, site.column, site.where != "before", site.operation


def _is_in_source(location: Location | None) -> bool:
    return location is not None and location.line > 0 and not location.file.startswith("<")


def _outside_of_sections(function: Function) -> Iterator[tuple[Instruction, Block]]:
    """The instructions that are not in an atomic section of the same block: what the compiler has made of one access
    that there is no instruction for is as it is."""
    for block in function.blocks.values():
        depth = 0
        for instruction in block.instructions:
            depth += isinstance(instruction, ins.AtomicBegin) - isinstance(instruction, ins.AtomicEnd)
            if depth <= 0:
                yield instruction, block


def _is_chosen(function: Function, block: Block, instruction: Instruction) -> bool:
    """Whether this is one of several instructions, for each order that a number may mean."""
    here = instruction.location
    return any(
        isinstance(end := other.terminator, ins.Switch)
        and end.location is not None
        and here is not None
        and (end.location.line, end.location.column) == (here.line, here.column)
        and block.name in (end.default, *(target for _, target in end.cases))
        for other in function.blocks.values()
    )


def _order_parameters(program: Program, name: str) -> Iterator[int]:
    """The parameters of a function that are orders. In one that is not of the library, only if they are passed on as
    they are: who looks at an order may do anything because of it."""
    function = program.functions[name]
    kept = {
        each.value: each.address
        for each in function.entry.instructions
        if isinstance(each, ins.Store) and isinstance(each.value, Register) and isinstance(each.address, Register)
    }
    types = {each.result: each.debug_type for each in function.instructions if isinstance(each, ins.StackAlloc)}
    for position, parameter in enumerate(function.parameters):
        variable = kept.get(parameter)
        key = types.get(variable) if isinstance(variable, Register) else None
        if key is None or program.debug_types[key].name.removeprefix("std::") != _ORDER_TYPE:
            continue
        if function.library or _is_passed_on(function, variable):
            yield position


def _is_passed_on(function: Function, variable: ins.Value | None) -> bool:
    read = {each.result for each in function.instructions if isinstance(each, ins.Load) and each.address is variable}
    stores = sum(variable in operands(each) for each in function.instructions if not isinstance(each, ins.Load))
    used = [each for each in function.instructions if not read.isdisjoint(operands(each))]
    return stores == 1 and all(isinstance(each, ins.Switch | ins.Call) for each in used)


def _next(block: Block, number: int, local: set[Register | None]) -> Instruction:
    """The next instruction in a block, beginning with this one, that does more than compute with local variables."""
    for instruction in block.instructions[number:]:
        match instruction:
            case ins.Load(address, "plain") | ins.Store(_, address, "plain") if address in local:
                pass
            case ins.Binary(checked=False) | ins.Compare() | ins.Convert() | ins.Offset() | ins.StackAlloc():
                pass
            case _:
                return instruction
    return block.terminator
