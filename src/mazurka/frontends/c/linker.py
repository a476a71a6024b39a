"""Joins modules into one program: finds what each symbol stands for, and takes only what `main` can reach."""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mazurka.frontends.c.archive import LIBRARY, Archive, is_left_out
from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.debug import DebugInfo
from mazurka.frontends.c.llvm.module import Definition, Module
from mazurka.frontends.c.llvm.syntax import LLVMType, LLVMValue, Operand, Unsupported, leaves, size_of
from mazurka.frontends.c.refusing import Refusals, shown
from mazurka.frontends.c.unwinding import Unwinding
from mazurka.leeway import Leeway
from mazurka.machine.layout import MAX_OBJECT_SIZE, OBJECT_LIMIT
from mazurka.program.instructions import Fail, Location
from mazurka.program.program import Block, GlobalVariable, Program, Relocation
from mazurka.program.types import Float, Int


@dataclass(frozen=True, slots=True)
class Address:
    """An address that is known when the program is linked. A function has no name of a variable, and vice versa."""

    name: str
    offset: int = 0
    function: bool = False
    thread_local: bool = False


def label_number(module: Module, function: str, block: str) -> int:
    """What stands for the address of a label: its number among those of its function. No object lies there, and how far
    two of them lie apart is the same wherever it is computed."""
    return 1 + list(module.body(function)).index(block)


class Linker:
    """The definitions of all modules. User modules come before those of the library, and win; members of the archive
    come when one of their definitions is asked for that no module before has.

    A definition that is asked for gets a name in the program and is `pending` until someone translates it. What cannot
    be translated goes to `refusals`, and all that is reachable is looked at nevertheless, so that they have everything.
    """

    def __init__(
        self,
        modules: Sequence[Module],
        archive: Archive | None,
        spellings: Mapping[str, str],
        system: Sequence[str],
        leeway: Leeway,
        wrapped: Sequence[str] = (),
        lenient: bool = False,
    ) -> None:
        self.program = Program()
        self.leeway = leeway
        self.pending: deque[Definition] = deque()
        self.refusals = Refusals()
        self.unwinding = Unwinding()
        self.selectors: dict[tuple[str, int] | None, int] = {}  # the numbers of the types that are caught
        self._archive = archive
        self._spellings = spellings
        self.lenient = lenient  # what is not supported is told when an execution gets there
        self._renamed = {name: f"__wrap_{name}" for name in wrapped} | {f"__real_{name}": name for name in wrapped}
        self._system = tuple(directory + os.sep for directory in system)
        self._system_files: dict[str, bool] = {}
        self._debug: dict[Module, DebugInfo] = {}
        self._exported: dict[str, Definition] = {}
        self._names: dict[tuple[Module, str], str] = {}
        self._taken: dict[str, Definition] = {}
        for module in modules:
            self._add_module(module)

    @property
    def has_cpp_library(self) -> bool:
        return self._archive is not None

    @property
    def modules(self) -> Sequence[Module]:
        """Those that are part of the program so far."""
        return list(self._debug)

    def _add_module(self, module: Module) -> None:
        prefix = f"{len(self._debug)}!"
        self._debug[module] = DebugInfo(module, self._spellings, self.program.debug_types, prefix)
        for problem in module.problems:
            self.refusals.add_file(problem, module.origin)
        for definition in module.symbols.values():
            hidden = definition.local or definition.name.startswith("llvm.")
            if definition.defined and not hidden and not (module.library == LIBRARY and is_left_out(definition.name)):
                self._export(definition)

    def _export(self, new: Definition) -> None:
        old = self._exported.get(new.name)
        if old is None or (old.weak and not new.weak and old.module.library == new.module.library):
            self._exported[new.name] = new
        elif not old.weak and not new.weak and old.module.library == new.module.library:
            self.refuse(
                new,
                f"multiple definition of '{new.name}', which is also defined at {self.place(old)}; remove one, or make "
                "both `static`",
            )

    def refuse(self, definition: Definition, message: str) -> None:
        """A definition as a whole is not supported."""
        self.refusals.add(message, definition, self.declared_at(definition))

    def add_stubs(self) -> None:
        """Functions of the C++ library that cannot be translated, and that the program does not call by name, are
        only a matter for executions that get there."""
        for definition, message in self.refusals.without_callers(self.is_library).items():
            function = self.program.functions[self.name(definition)]
            name = shown(definition.name)
            failure = Fail("abort", f"'{name}' of the C++ library is not supported: {message}")
            failure.location = function.location
            function.blocks = {"entry": Block("entry", instructions=[failure])}

    def check(self) -> None:
        """Raise `Refused` if something is not supported of what was looked at so far."""
        self.refusals.check(self.is_library)

    def note_use(self, name: str, user: Definition, location: Location | None) -> None:
        """A function takes the address of another one, by its name in the program: as good as a call."""
        self.refusals.note_call(self._taken[name], user, location)

    def debug(self, module: Module) -> DebugInfo:
        return self._debug[module]

    def declared_at(self, definition: Definition) -> Location | None:
        module = definition.module
        if definition.kind == "function":
            return self._debug[module].declaration(module.header(definition.name).debug)
        if definition.kind == "variable":
            return self._debug[module].declaration(module.variable(definition.name).debug)
        return None

    def display(self, definition: Definition) -> str | None:
        """The name of a function in the source, if it is not that of its symbol."""
        module = definition.module
        name = self._debug[module].function_name(module.header(definition.name).debug)
        return name if name != definition.name else None

    def place(self, definition: Definition) -> str:
        """Where something is defined, for a message."""
        return str(self.declared_at(definition) or definition.module.origin)

    def is_library(self, definition: Definition) -> bool:
        """Whether a function belongs to the library: its models, or the headers that come with the compiler."""
        if definition.module.library or definition.name == "__clang_call_terminate":  # (it has no place in the source)
            return True
        location = self.declared_at(definition)
        return location is not None and self._is_system_file(location.file)

    def _is_system_file(self, file: str) -> bool:
        known = self._system_files.get(file)
        if known is None:  # (what is installed below the directory that the user is in has a short name)
            known = self._system_files[file] = os.path.abspath(file).startswith(self._system)
        return known

    def is_named(self, name: str) -> bool:
        """Whether a file of the program, and not only the library, names something."""
        return any(name in module.symbols for module in self.modules if not module.library)

    def find(self, module: Module, name: str) -> Definition | None:
        """The definition that `@name` means in a module, if there is one. Aliases are not followed."""
        own = module.symbols.get(name)
        if own is not None and own.defined and own.local:
            return own
        name = self._renamed.get(name, name)
        definition = self._exported.get(name)
        if definition is None and self._archive is not None:
            member = self._archive.member(name)
            if member is not None:
                self._add_module(member)
                definition = self._exported.get(name)
        return definition

    def find_function(self, module: Module, name: str) -> Definition | None:
        """The function that `@name` means in a module, if there is one."""
        definition = self.find(module, name)
        while definition is not None and definition.kind == "alias":
            target = definition.module.aliasee(definition.name).value
            definition = self.find(definition.module, target.name) if isinstance(target, llvm.Symbol) else None
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
            self._taken[name] = definition
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
            if is_left_out(name):
                raise Unsupported(
                    f"the facet '{shown(name).removesuffix('::id')}' of locales is not supported; "
                    "only text, integers and floating-point numbers are formatted"
                )
            raise Unsupported(
                f"'{shown(name)}' is used, which is defined nowhere and which Mazurka does not model; "
                f"give the file that defines it as well, or define it in the program"
            )
        if definition.kind == "alias":
            operand = definition.module.aliasee(definition.name)
            target = self.evaluate(definition.module, operand.value)
            if not isinstance(target, Address):
                raise Unsupported(f"the alias '{name}' is not supported")
            return target
        if definition.kind == "function":
            self.unwinding.take(self.name(definition))
            return Address(self.name(definition), function=True)
        thread_local = definition.module.variable(definition.name).thread_local
        return Address(self.name(definition), thread_local=thread_local)

    # -------------------------------------------------------------------------------------- constants

    def evaluate(self, module: Module, value: LLVMValue) -> int | float | Address | llvm.Undefined:
        """The value of a scalar constant."""
        match value:
            case llvm.Number(number):
                return number
            case llvm.Zero():
                return 0
            case llvm.Undefined():
                return value
            case llvm.Symbol(name):
                return self.symbol(module, name) or 0
            case llvm.Label(function, block):
                return label_number(module, function, block)
            case llvm.Expression("getelementptr", (base, *indices), source) if source is not None:
                displacement = self._displacement(module, source, indices)
                return self._add(self.evaluate(module, base.value), displacement)
            case llvm.Expression("ptrtoint" | "ptrtoaddr" | "inttoptr" | "bitcast" | "addrspacecast", (operand,)):
                return self.evaluate(module, operand.value)
            case llvm.Expression("add" | "sub" | "mul" | "xor" | "shl" | "trunc" as op, operands):
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
                offset, source = llvm.element_at(source, index)
                displacement += offset
        return displacement

    def _add(self, base: int | float | Address | llvm.Undefined, number: int) -> int | Address | llvm.Undefined:
        if isinstance(base, Address):
            return Address(base.name, base.offset + number, base.function, base.thread_local)
        return base if isinstance(base, llvm.Undefined) else int(base) + number

    def _compute(
        self, op: str, values: Sequence[int | float | Address | llvm.Undefined]
    ) -> int | Address | llvm.Undefined:
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
            if size > MAX_OBJECT_SIZE:
                raise Unsupported(f"'{name}' has {size} bytes, more than the {OBJECT_LIMIT} that are supported")
            data = bytearray(size)
            relocations: list[Relocation] = []
            if variable.value is not None:
                self._initialise(definition, variable.type, variable.value, 0, data, relocations)
        except Unsupported as reason:
            self.refuse(definition, str(reason))
            return
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
        definition: Definition,
        type_: LLVMType,
        value: LLVMValue,
        offset: int,
        data: bytearray,
        relocations: list[Relocation],
    ) -> None:
        match value, type_:
            case ((llvm.Zero() | llvm.Undefined()), _):
                pass
            case llvm.Characters(characters), _:
                data[offset : offset + len(characters)] = characters
            case llvm.Aggregate(elements), llvm.Structure() | llvm.Array() | llvm.Vector():
                for index, element in enumerate(elements):
                    start, _ = llvm.element_at(type_, index)
                    try:
                        self._initialise(definition, element.type, element.value, offset + start, data, relocations)
                    except Unsupported as reason:
                        self.refuse(definition, str(reason))
            case llvm.Number(int(wide)), llvm.Other("i128"):
                data[offset : offset + 16] = (wide % (1 << 128)).to_bytes(16, "little")
            case _, llvm.Scalar(scalar):
                number = self.evaluate(definition.module, value)
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
