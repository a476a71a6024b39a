"""What is known of a whole program to whoever looks at one of its loops."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from mazurka.program import instructions as ins
from mazurka.program.cfg import dominators, natural_loops, reverse_postorder
from mazurka.program.instructions import FunctionAddress, GlobalAddress, Instruction, Register, Value
from mazurka.program.operands import operands
from mazurka.program.program import Block, Function, Program
from mazurka.program.types import I32, PTR, Type
from mazurka.transforms.atomic_sections import blocks_in_atomic_sections
from mazurka.transforms.loops.conditions import computed
from mazurka.transforms.simplify import may_fail

# (A fence in a round that is left out only orders more than there is without that round.)
_IDLE = (
    ins.Jump
    | ins.Return
    | ins.AtomicBegin
    | ins.AtomicEnd
    | ins.Fence
    | ins.Claim
    | ins.Relax
    | ins.Self
    | ins.ThreadLocalAddress
)


class ProgramFacts:
    """Which accesses may fail or race, which calls do nothing."""

    def __init__(self, program: Program, *, weak: bool = False) -> None:
        self.program = program
        self.weak = weak  # executions may be others than interleavings
        self._idle: dict[str, bool] = {}
        self._makers: dict[str, bool] = {}

    @cached_property
    def in_atomic_sections(self) -> set[tuple[str, str]]:
        return blocks_in_atomic_sections(self.program)

    @cached_property
    def synchronises(self) -> bool:
        """Whether all atomic accesses synchronise: whoever reads what another has written is ordered after it."""
        enough = {
            ins.Load: ("plain", "acquire", "seq_cst"),
            ins.Store: ("plain", "release", "seq_cst"),
            ins.Update: ("acq_rel", "seq_cst"),
            ins.CompareExchange: ("acq_rel", "seq_cst"),
        }
        return all(
            instruction.ordering in enough[type(instruction)]
            and not (isinstance(instruction, ins.CompareExchange) and instruction.failure_ordering == "relaxed")
            for function in self.program.functions.values()
            for instruction in function.instructions
            if isinstance(instruction, ins.MemoryAccess)
        )

    def is_skippable(self, access: ins.ReadingAccess, type: Type) -> bool:
        """Whether nobody can tell if an access is done that changes nothing: it cannot fail and is in no data race."""
        if not isinstance(access.address, GlobalAddress):
            return False
        variable = self.program.globals[access.address.name]
        offset = access.address.offset
        if offset < 0 or offset + type.size > len(variable.data) or offset % access.align:
            return False
        return isinstance(access, ins.Load) if variable.constant else variable.name in self.atomic

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
                    if isinstance(instruction, ins.MemoryAccess) and instruction.ordering != "plain":
                        values.remove(instruction.address)
                    elif isinstance(instruction, ins.Offset) and isinstance(instruction.base, GlobalAddress):
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
                        case ins.Store(value) | ins.Update(value=value) | ins.CompareExchange(desired=value):
                            name = addresses.variable(instruction.address)
                            if name in found and not written.is_defined(value, block, instruction):
                                found.discard(name)
        return found

    def is_never_read(self, origin: Instruction | None) -> bool:
        """Whether this gives the address of a thread-local variable, such as errno, that is only ever written: by its
        own thread, since nothing else is done with the address. Nobody can tell what such a variable holds."""
        name = self._thread_local(origin)
        return name is not None and name not in self._used_thread_locals

    @staticmethod
    def is_about_handlers(value: Value, origin: Instruction | None) -> bool:
        """Whether a store says which handlers of exceptions there are during a call, before it, or that they are gone,
        after it. So a round of a loop begins and ends with the same ones; and what a handler is for is written anew
        before each call, and looked at by nobody after it."""
        match value, origin:
            case GlobalAddress(name), _ if name.startswith(ins.CLAUSES):
                return True
            case _, ins.ThreadLocalAddress(ins.HANDLERS):
                return True
            case _:
                return False

    @cached_property
    def _used_thread_locals(self) -> set[str]:
        variables = self.program.globals.values()
        used = {self._locations.get(each.target, "") for variable in variables for each in variable.relocations}
        for function in self.program.functions.values():
            addresses: dict[Value, str] = {FunctionAddress(name): of for name, of in self._locations.items()}
            for instruction in function.instructions:
                if instruction.result is not None and (name := self._thread_local(instruction)) is not None:
                    addresses[instruction.result] = name
            for block in function.blocks.values():
                values = [value for phi in block.phis for _, value in phi.incoming]
                for instruction in block.instructions:
                    if not isinstance(instruction, ins.Return) or function.name not in self._locations:
                        values += operands(instruction)
                    if isinstance(instruction, ins.Store) and instruction.value is not instruction.address:
                        values.remove(instruction.address)
                used.update(addresses[value] for value in values if value in addresses)
        return used

    def _thread_local(self, origin: Instruction | None) -> str | None:
        match origin:
            case ins.ThreadLocalAddress(name):
                return name
            case ins.Call(str(name)):
                return self._locations.get(name)
            case _:
                return None

    @cached_property
    def _locations(self) -> dict[str, str]:
        """The functions that only return the address of a thread-local variable, as `__errno_location` does."""
        found = {}
        for function in self.program.functions.values():
            match list(function.instructions):
                case [ins.ThreadLocalAddress(name) as address, ins.Return(value)] if value is address.result:
                    found[function.name] = name
        return found

    def makes_object(self, name: str) -> bool:
        """Whether a function, such as `malloc`, returns the address of a new object each time, which nobody else gets
        to know, or null."""
        if name not in self._makers:
            self._makers[name] = False  # if it calls itself
            self._makers[name] = self._returns_new_object(self.program.functions[name])
        return self._makers[name]

    def _returns_new_object(self, function: Function) -> bool:
        new: set[Value] = set()
        returned: list[Value | None] = []
        for instruction in function.instructions:
            match instruction:
                case ins.HeapAlloc(reuse=False, result=Register() as made):
                    new.add(made)
                case ins.Call(str(name), result=Register() as made) if self.makes_object(name):
                    new.add(made)
                case ins.Return(value):
                    returned.append(value)
        null = ins.Constant(PTR, 0)
        for block in (function.blocks[name] for name in reverse_postorder(function)):
            for phi in block.phis:
                if all(value in new or value == null for _, value in phi.incoming):
                    new.add(phi.result)
        others = (each for each in function.instructions if not isinstance(each, ins.Return | ins.Compare))
        kept = all(new.isdisjoint(operands(each)) for each in others) and all(
            phi.result in new or new.isdisjoint(value for _, value in phi.incoming)
            for block in function.blocks.values()
            for phi in block.phis
        )
        return kept and bool(new) and all(value in new or value == null for value in returned)

    @cached_property
    def locks(self) -> dict[str, Literal["lock", "unlock"]]:
        """The functions of the library that take a mutex or a spinlock, whose address they are given, or give it back,
        and return 0 if they did."""
        found: dict[str, Literal["lock", "unlock"]] = {}
        for function in self.program.functions.values():
            claims = [each for each in function.instructions if isinstance(each, ins.Claim)]
            waits = {each.what for each in function.instructions if isinstance(each, ins.Await)}
            kinds = {each.kind for each in claims}
            if function.library and len(function.parameters) == 1 and function.returns == I32:
                of_parameter = all(each.lock is function.parameters[0] for each in claims)
                if of_parameter and "acquire" in kinds <= {"acquire", "keep"} and waits <= {"mutex", "spinlock"}:
                    found[function.name] = "lock"
                elif of_parameter and "release" in kinds <= {"release", "keep", "look"} and not waits:
                    found[function.name] = "unlock"
        return found

    @cached_property
    def unseen_locks(self) -> bool:
        """Whether nobody can tell if a mutex or a spinlock was held for a while: nobody tries to take one without
        waiting."""
        return not any(
            isinstance(each, ins.Claim) and each.kind == "try"
            for function in self.program.functions.values()
            for each in function.instructions
        )

    def is_idle(self, name: str) -> bool:
        """Whether a call of a function does nothing that anybody can notice, other than that atomic sections begin or
        end."""
        if name not in self._idle:
            function = self.program.functions[name]
            self._idle[name] = False  # if it calls itself
            self._idle[name] = not natural_loops(function) and all(
                isinstance(instruction, _IDLE)
                or (computed(instruction, lambda value: value) is not None and not may_fail(instruction))
                or (
                    isinstance(instruction, ins.Call)
                    and isinstance(instruction.callee, str)
                    and self.is_idle(instruction.callee)
                )
                for instruction in function.instructions
            )
        return self._idle[name]

    def does_nothing(self, name: str) -> bool:
        """Whether a call of a function does nothing that anybody can notice, also in a round that stays."""
        return self.is_idle(name) and not any(
            isinstance(each, ins.AtomicBegin | ins.AtomicEnd)
            or (self.weak and isinstance(each, ins.Fence))
            or (isinstance(each, ins.Call) and isinstance(each.callee, str) and not self.does_nothing(each.callee))
            for each in self.program.functions[name].instructions
        )


class _Addresses:
    """Which registers of a function are addresses in variables, by an offset."""

    def __init__(self, function: Function) -> None:
        self._variables: dict[Value, str] = {}
        for instruction in function.instructions:
            match instruction:
                case ins.Offset(GlobalAddress(name), result=Register() as result):
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
        for instruction in function.instructions:
            if instruction.result is not None:
                self._sources[instruction.result] = instruction
        for block in function.blocks.values():
            for index, instruction in enumerate(block.instructions):
                if isinstance(instruction, ins.MemoryAccess):
                    for register in self._parts(instruction.address):
                        self._used.setdefault(register, []).append((block.name, index))

    def is_defined(self, value: Value, block: Block, at: Instruction) -> bool:
        if not isinstance(value, Register):
            return not (isinstance(value, ins.Constant) and value.undefined)
        for name, index in self._used.get(value, []):
            if name == block.name and index < block.instructions.index(at):
                return True
            if name != block.name and block.name in self._tree.spans and self._tree.dominates(name, block.name):
                return True
        source = self._sources.get(value)
        return isinstance(source, ins.Binary | ins.Convert | ins.Compare) and all(
            self.is_defined(operand, block, at) for operand in operands(source)
        )

    def _parts(self, address: Value) -> Iterator[Value]:
        """What an address is computed from such that it is not defined if that is not."""
        yield address
        match self._sources.get(address):
            case ins.Offset(base, index):
                yield from self._parts(base)
                yield from self._parts(index)
            case ins.Convert("sext" | "zext", value):
                yield from self._parts(value)
            case ins.Binary("add" | "sub", left, right):
                yield from self._parts(left)
                yield from self._parts(right)
