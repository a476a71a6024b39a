"""The C front end: from C, C++ or LLVM files to a `Program`.

compiler.py    source files to LLVM's text
syntax.py      its tokens, types and constants
module.py      one such text, indexed
debug.py       what it says about the source
linker.py      several modules and the library become one program
translate.py   functions, instruction by instruction
builtins.py    calls that stand for instructions
library/       the models of the C library, in C
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mazurka.errors import InputError
from mazurka.frontends.c.compiler import (
    bundled_compiler,
    library_texts,
    load_text,
    named_compiler,
    system_directories,
)
from mazurka.frontends.c.linker import Linker
from mazurka.frontends.c.module import Definition, Module
from mazurka.frontends.c.syntax import leaves
from mazurka.frontends.c.translate import translate_function
from mazurka.program.instructions import AtomicBegin, Call, Constant, EndThread, GlobalAddress, Register, Value
from mazurka.program.operands import operands
from mazurka.program.program import Block, Function, GlobalVariable, Program, Relocation
from mazurka.program.types import I32, Pointer

ENTRY = "__mazurka_main"


def load_c_program(
    files: Sequence[str | Path],
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    inputs: bool = False,
) -> Program:
    """Compile, link and translate. `program_arguments` are what `main` gets as argv[1], ... With `inputs`, the program
    may call `__VERIFIER_nondet_int`, `rand`, `getchar` and the like, and the clock shows any time."""
    if not files:
        raise InputError("no input file; name at least one C, C++ or LLVM file")
    compiler = named_compiler(cc) if cc is not None else bundled_compiler()
    modules = [Module(load_text(file, compiler, compiler_arguments), str(file)) for file in files]
    library = library_texts(compiler)
    del library["clock.c" if inputs else "inputs.c"]
    modules += [Module(text, name, library=True) for name, text in library.items()]
    spellings = {os.path.abspath(file): str(file) for file in files}
    linker = Linker(modules, spellings, system_directories(compiler))
    users = modules[: len(files)]
    main = next((found for module in users if (found := linker.find_function(module, "main"))), None)
    if main is None:
        raise InputError(f"no function 'main' in {', '.join(map(str, files))}; give the file that defines it as well")
    program = linker.program
    program.entry = ENTRY
    constructors = _constructors(linker, users)
    arguments = [Path(files[0]).stem, *program_arguments]
    program.functions[ENTRY] = _entry(linker, main, constructors, arguments)
    _add_reachable(linker)
    if "__mazurka_at_exit" in program.functions:  # some function is to be called at exit
        handlers = linker.find_function(main.module, "__mazurka_run_exit_handlers")
        assert handlers is not None
        program.functions[ENTRY].blocks["entry"].instructions.insert(-2, Call(linker.name(handlers)))
        _add_reachable(linker)
    return program


def _add_reachable(linker: Linker) -> None:
    while linker.pending:
        definition = linker.pending.popleft()
        if definition.kind == "variable":
            linker.add_variable(definition)
        else:
            function = translate_function(linker, definition)
            linker.program.functions[function.name] = function


def _constructors(linker: Linker, modules: Sequence[Module]) -> list[Definition]:
    """The functions to run before `main`, in their order."""
    found: list[tuple[int, Definition]] = []
    for module in modules:
        for _, name in module.destructors():
            raise InputError(
                f"{linker.place(module.symbols[name])}: '{name}' is to run when the program ends "
                "(a destructor), which is not supported; register it with atexit"
            )
        for priority, name in module.constructors():
            definition = linker.find_function(module, name)
            assert definition is not None
            found.append((priority, definition))
    return [definition for _, definition in sorted(found, key=lambda pair: pair[0])]


def _entry(linker: Linker, main: Definition, constructors: Sequence[Definition], arguments: Sequence[str]) -> Function:
    """What the first thread runs: constructors, then `main`. When `main` returns, its thread ends, and no other."""
    block = Block("entry", instructions=[Call(linker.name(constructor)) for constructor in constructors])
    header = main.module.header(main.name)
    available: list[Value] = [
        Constant(I32, len(arguments)),
        _strings(linker.program, "argv", arguments),
        _strings(linker.program, "envp", []),
    ]
    if len(header.parameters) > len(available):
        raise InputError(f"{linker.place(main)}: 'main' has more than three parameters; use main(int, char **)")
    passed = available[: len(header.parameters)]
    for parameter, value in zip(header.parameters, passed, strict=True):
        ((_, type_),) = leaves(parameter.type)
        if type_ != value.type:
            wanted = "a pointer" if isinstance(value.type, Pointer) else "an int"
            raise InputError(f"{linker.place(main)}: a parameter of 'main' should be {wanted}; use main(int, char **)")
    call = Call(linker.name(main), passed)
    returned = leaves(header.returns)
    if len(returned) == 1:
        call.result = Register("status", returned[0][1])
    # Ends in a section of its own, as threads in the library's models do: a section that `main` left open is noticed.
    block.instructions += [call, AtomicBegin(), EndThread()]
    return Function(ENTRY, blocks={"entry": block}, library=True)


def used_arguments(program: Program) -> tuple[tuple[str, ...] | None, bool]:
    """The arguments that a prepared program was loaded with, beginning with its name; None if it does not look at them.
    And whether it looks at its environment, as a parameter of `main`."""
    calls = [call for call in program.functions[ENTRY].blocks["entry"].instructions if isinstance(call, Call)]
    call = next((call for call in calls if call.arguments), None)
    if call is None:
        return None, False
    assert isinstance(call.callee, str)
    main = program.functions[call.callee]
    used: set[Value] = set()
    for block in main.blocks.values():
        used.update(value for phi in block.phis for _, value in phi.incoming)
        used.update(value for instruction in block.instructions for value in operands(instruction))
    count, strings, environment = [*(parameter in used for parameter in main.parameters), False, False, False][:3]
    if not count and not strings:
        return None, environment
    passed = call.arguments[0]
    assert isinstance(passed, Constant)
    texts = (program.globals[f"__mazurka_argv.{index}"].data[:-1] for index in range(int(passed.value)))
    return tuple(map(os.fsdecode, texts)), environment


def _strings(program: Program, name: str, strings: Sequence[str]) -> GlobalAddress:
    """A global array of strings that ends with null."""
    array = GlobalVariable(f"__mazurka_{name}", bytes(8 * (len(strings) + 1)), display=name)
    for index, string in enumerate(strings):
        text = GlobalVariable(f"{array.name}.{index}", os.fsencode(string) + b"\0", display=f"{name}[{index}]")
        program.globals[text.name] = text
        array.relocations.append(Relocation(8 * index, text.name))
    program.globals[array.name] = array
    return GlobalAddress(array.name)
