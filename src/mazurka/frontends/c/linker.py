"""Joins modules into one program: finds what each symbol stands for, and takes only what `main` can reach."""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mazurka.errors import InputError
from mazurka.frontends.c.debug import DebugInfo
from mazurka.frontends.c.module import Definition, Module
from mazurka.frontends.c.syntax import (
    Aggregate,
    Array,
    Characters,
    Expression,
    LLVMType,
    LLVMValue,
    Number,
    Operand,
    Scalar,
    Structure,
    Symbol,
    Undefined,
    Unsupported,
    Vector,
    Zero,
    element_at,
    leaves,
    size_of,
)
from mazurka.program.instructions import Location
from mazurka.program.program import GlobalVariable, Program, Relocation
from mazurka.program.types import Float, Int

_LARGEST_OBJECT = 32 << 20


@dataclass(frozen=True, slots=True)
class Address:
    """An address that is known when the program is linked. A function has no name of a variable, and vice versa."""

    name: str
    offset: int = 0
    function: bool = False
    thread_local: bool = False


class Linker:
    """The definitions of all modules. User modules come before those of the library, and win.

    A definition that is asked for gets a name in the program and is `pending` until someone translates it. `callers`
    has the first call of each function, for messages.
    """

    def __init__(self, modules: Sequence[Module], spellings: Mapping[str, str], system: Sequence[str]) -> None:
        self.program = Program()
        self.pending: deque[Definition] = deque()
        self.callers: dict[Definition, tuple[Definition, Location | None]] = {}
        self._modules = modules
        self._system = tuple(directory + os.sep for directory in system)
        self._debug = {
            module: DebugInfo(module, spellings, self.program.debug_types, f"{index}!")
            for index, module in enumerate(modules)
        }
        self._exported: dict[str, Definition] = {}
        self._names: dict[tuple[Module, str], str] = {}
        self._taken: set[str] = set()
        for module in modules:
            for definition in module.symbols.values():
                if definition.defined and not definition.local and not definition.name.startswith("llvm."):
                    self._export(definition)

    def _export(self, new: Definition) -> None:
        old = self._exported.get(new.name)
        if old is None or (old.weak and not new.weak and old.module.library == new.module.library):
            self._exported[new.name] = new
        elif not old.weak and not new.weak and old.module.library == new.module.library:
            raise InputError(
                f"{self.place(new)}: multiple definition of '{new.name}', which is also defined at {self.place(old)}; "
                "remove one, or make both `static`"
            )

    def debug(self, module: Module) -> DebugInfo:
        return self._debug[module]

    def declared_at(self, definition: Definition) -> Location | None:
        module = definition.module
        if definition.kind == "function":
            return self._debug[module].declaration(module.header(definition.name).debug)
        if definition.kind == "variable":
            return self._debug[module].declaration(module.variable(definition.name).debug)
        return None

    def place(self, definition: Definition) -> str:
        """Where something is defined, for a message."""
        return str(self.declared_at(definition) or definition.module.origin)

    def is_library(self, definition: Definition) -> bool:
        """Whether a function belongs to the library: its models, or the headers that come with the compiler."""
        if definition.module.library:
            return True
        location = self.declared_at(definition)
        return location is not None and location.file.startswith(self._system)

    def find(self, module: Module, name: str) -> Definition | None:
        """The definition that `@name` means in a module, if there is one. Aliases are not followed."""
        own = module.symbols.get(name)
        if own is not None and own.defined and own.local:
            return own
        return self._exported.get(name)

    def find_function(self, module: Module, name: str) -> Definition | None:
        """The function that `@name` means in a module, if there is one."""
        definition = self.find(module, name)
        while definition is not None and definition.kind == "alias":
            target = definition.module.aliasee(definition.name).value
            definition = self.find(definition.module, target.name) if isinstance(target, Symbol) else None
        return definition if definition is not None and definition.kind == "function" else None

    def name(self, definition: Definition) -> str:
        """The name of a definition in the program. Different `static` things of the same name are numbered."""
        key = (definition.module, definition.name)
        if key not in self._names:
            name, number = definition.name, 1
            # A name that is visible everywhere is for the one definition that has it.
            while name in self._taken or (definition.local and name in self._exported):
                number += 1
                name = f"{definition.name}.{number}"
            self._taken.add(name)
            self._names[key] = name
            self.pending.append(definition)
        return self._names[key]

    def symbol(self, module: Module, name: str) -> Address | None:
        """The address of `@name`; None is null, for weak symbols that nobody defines."""
        definition = self.find(module, name)
        if definition is None:
            declared = module.symbols.get(name)
            if declared is not None and declared.linkage == "extern_weak":
                return None
            raise Unsupported(
                f"'{name}' is used, which is defined nowhere and which Mazurka does not model; "
                f"give the file that defines it as well, or define it in the program"
            )
        if definition.kind == "alias":
            operand = definition.module.aliasee(definition.name)
            target = self.evaluate(definition.module, operand.value)
            if not isinstance(target, Address):
                raise Unsupported(f"the alias '{name}' is not supported")
            return target
        if definition.kind == "function":
            return Address(self.name(definition), function=True)
        thread_local = definition.module.variable(definition.name).thread_local
        return Address(self.name(definition), thread_local=thread_local)

    # -------------------------------------------------------------------------------------- constants

    def evaluate(self, module: Module, value: LLVMValue) -> int | float | Address | Undefined:
        """The value of a scalar constant."""
        match value:
            case Number(number):
                return number
            case Zero():
                return 0
            case Undefined():
                return value
            case Symbol(name):
                return self.symbol(module, name) or 0
            case Expression("getelementptr", (base, *indices), source) if source is not None:
                displacement = self._displacement(module, source, indices)
                return self._add(self.evaluate(module, base.value), displacement)
            case Expression("ptrtoint" | "ptrtoaddr" | "inttoptr" | "bitcast" | "addrspacecast", (operand,)):
                return self.evaluate(module, operand.value)
            case Expression("add" | "sub" | "mul" | "xor" | "shl" | "trunc" as op, operands):
                return self._compute(op, [self.evaluate(module, operand.value) for operand in operands])
        raise Unsupported("a constant of this form is not supported; compute it when the program runs")

    def _displacement(self, module: Module, source: LLVMType, indices: Sequence[Operand]) -> int:
        displacement = 0
        for number, operand in enumerate(indices):
            index = self.evaluate(module, operand.value)
            if not isinstance(index, int):
                raise Unsupported("an address computed from another address is not supported in a constant")
            if number == 0:
                displacement += index * size_of(source)
            else:
                offset, source = element_at(source, index)
                displacement += offset
        return displacement

    def _add(self, base: int | float | Address | Undefined, number: int) -> int | Address | Undefined:
        if isinstance(base, Address):
            return Address(base.name, base.offset + number, base.function, base.thread_local)
        return base if isinstance(base, Undefined) else int(base) + number

    def _compute(self, op: str, values: Sequence[int | float | Address | Undefined]) -> int | Address | Undefined:
        match op, values:
            case "add", (left, int(right)):
                return self._add(left, right)
            case "add", (int(left), right):
                return self._add(right, left)
            case "sub", (left, int(right)):
                return self._add(left, -right)
            case "sub", (Address() as left, Address() as right) if left.name == right.name:
                return left.offset - right.offset
            case "mul", (int(left), int(right)):
                return left * right
            case "xor", (int(left), int(right)):
                return left ^ right
            case "shl", (int(left), int(right)):
                return left << right
            case "trunc", (int(number),):
                return number
        raise Unsupported("a constant computed from addresses is not supported; compute it when the program runs")

    # -------------------------------------------------------------------------------------- variables

    def add_variable(self, definition: Definition) -> None:
        """Put a variable with its initial value into the program."""
        module = definition.module
        name = self.name(definition)
        try:
            variable = module.variable(definition.name)
            size = size_of(variable.type)
            if size > _LARGEST_OBJECT:
                raise Unsupported(f"'{definition.name}' has {size} bytes, more than the 32 MiB that are supported")
            data = bytearray(size)
            relocations: list[Relocation] = []
            if variable.value is not None:
                self._initialise(module, variable.type, variable.value, 0, data, relocations)
        except Unsupported as reason:
            raise InputError(f"{self.place(definition)}: {reason}") from None
        display, debug_type = self._debug[module].global_variable(variable.debug)
        self.program.globals[name] = GlobalVariable(
            name,
            bytes(data),
            relocations,
            constant=variable.constant,
            thread_local=variable.thread_local,
            display=display,
            debug_type=debug_type,
            location=self._debug[module].declaration(variable.debug),
        )

    def _initialise(
        self,
        module: Module,
        type_: LLVMType,
        value: LLVMValue,
        offset: int,
        data: bytearray,
        relocations: list[Relocation],
    ) -> None:
        match value, type_:
            case ((Zero() | Undefined()), _):
                pass
            case Characters(characters), _:
                data[offset : offset + len(characters)] = characters
            case Aggregate(elements), Structure() | Array() | Vector():
                for index, element in enumerate(elements):
                    start, _ = element_at(type_, index)
                    self._initialise(module, element.type, element.value, offset + start, data, relocations)
            case _, Scalar(scalar):
                number = self.evaluate(module, value)
                if isinstance(number, Address):
                    if scalar.size != 8:
                        raise Unsupported("an address in fewer than 8 bytes is not supported in an initialiser")
                    if number.thread_local:
                        raise Unsupported("the address of a thread-local variable is not supported in an initialiser")
                    relocations.append(Relocation(offset, number.name, number.offset))
                elif isinstance(scalar, Float):
                    data[offset : offset + scalar.size] = struct.pack("<f" if scalar.bits == 32 else "<d", number)
                elif isinstance(number, int):
                    bits = scalar.bits if isinstance(scalar, Int) else 64
                    # An integer of, say, 24 bits takes 3 bytes; what is left of its place is padding.
                    stored = (number % (1 << bits)).to_bytes((bits + 7) // 8, "little")
                    data[offset : offset + len(stored)] = stored
            case _:
                leaves(type_)  # refuses what is not a value that can be translated
                raise Unsupported("an initialiser of this form is not supported")
