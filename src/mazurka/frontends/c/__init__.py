"""The C front end: from C, C++ or LLVM files to a `Program`.

compiler.py    source files to LLVM's text
flags.py       which flags of builds the compiler gets, and which are refused
sources.py     files with flags of their own, archives
llvm/          that text: tokens, types, constants; modules of it, indexed; what it says about the source; changes of it
archive.py     the standard library of C++, from its sources
linker.py      several modules and the library become one program
translate/     functions, instruction by instruction
unwinding.py   which calls may end with an exception
library/       the models of the C library, in C, and of what libc++abi is built on
roles.py       what the functions of the library are for
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from mazurka.errors import InputError
from mazurka.frontends.c.archive import Archive
from mazurka.frontends.c.compiler import (
    ARCHIVE_SUFFIX,
    CompileError,
    Compiler,
    bundled_compiler,
    compat_arguments,
    library_texts,
    load_bitcode,
    load_text,
    named_compiler,
    system_directories,
)
from mazurka.frontends.c.linker import Linker
from mazurka.frontends.c.llvm.module import Definition, Module
from mazurka.frontends.c.llvm.syntax import leaves
from mazurka.frontends.c.sources import Source, StaticLibrary, needed, read_archive
from mazurka.frontends.c.translate.control import return_where_written
from mazurka.frontends.c.translate.function import begin_function, finish_function, translate_landing_pad
from mazurka.frontends.c.translate.translator import Translator
from mazurka.leeway import USUAL, Leeway
from mazurka.options import bounds
from mazurka.program.instructions import (
    IN_FLIGHT,
    AtomicBegin,
    Branch,
    Call,
    Compare,
    Constant,
    EndThread,
    Fail,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    Load,
    Register,
    ThreadLocalAddress,
    Value,
)
from mazurka.program.operands import operands
from mazurka.program.orders import find_weak_orders
from mazurka.program.program import Block, Function, GlobalVariable, Program, Relocation
from mazurka.program.types import I1, I32, PTR, Pointer

ENTRY = "__mazurka_main"
# The clocks of the C++ library, which looks at them after a wait to see whether it has timed out.
_CLOCKS = ("_ZNSt3__16chrono12system_clock3nowEv", "_ZNSt3__16chrono12steady_clock3nowEv")
# Parts of the symbols of what waits until some time, and of what is inside of those clocks.
_WAITS = (
    "condition_variable",
    "timed_mutex",
    "__assoc_sub_state",
    "11this_thread",
    "__libcpp_steady_clock_now",
    "__libcpp_system_clock_now",
)
# Where nobody else looks at clocks, each thread has its own.
_OF_THREAD = {"clock_gettime": "__mazurka_time_of_thread", "__mazurka_pass_time": "__mazurka_pass_time_of_thread"}
# Functions of the C++ library that make something for good when they are first called, and nobody can tell when that
# is. They are called before `main`, so that it does not matter which thread would have been the first: here, the key
# by which each thread finds what is to happen at its end.
_EARLY = ("_ZNSt3__119__thread_local_dataEv",)
# What is said in reports of programs that call a function of the library.
_LEFT_OUT = {"sigaction": "signal handlers run only where the program itself raises a signal: none comes from outside"}


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler has made of files. `wrapped` are functions instead of which others are called, with `__wrap_`
    before their names, which call them with `__real_` before their names: as with the option --wrap of linkers.
    `lenient`: what is not supported is told when an execution gets there, and not of the program as a whole."""

    files: tuple[str, ...]
    modules: tuple[Module, ...]
    compiler: Compiler
    wrapped: tuple[str, ...] = ()
    lenient: bool = False
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)  # what was made of it before

    def wrapping(self, function: str, text: str, origin: str) -> Compiled:
        """The same, with LLVM's text of a module that wraps a function."""
        modules = (*self.modules, Module(text, origin, library="mazurka"))
        return replace(self, modules=modules, wrapped=(*self.wrapped, function), kept={})


def compile_c(
    files: Sequence[str | os.PathLike[str]],
    *,
    compiler_arguments: Sequence[str] = (),
    cc: str | None = None,
    lenient: bool = False,
) -> Compiled:
    """Compile, to have programs made of it."""
    if not files:
        raise InputError("no input file; name at least one C, C++ or LLVM file")
    compiler = named_compiler(cc) if cc is not None else bundled_compiler()
    names = tuple(os.fspath(file) for file in files)
    return Compiled(names, tuple(load_modules(files, compiler, compiler_arguments)), compiler, lenient=lenient)


def load_c_program(
    files: Sequence[str | os.PathLike[str]] | Compiled,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    leeway: Leeway = USUAL,
    inputs: bool = False,
) -> Program:
    """Compile, link and translate. `program_arguments` are what `main` gets as argv[1], ... With `inputs`, the program
    may call `__VERIFIER_nondet_int`, `rand`, `getchar` and the like, and the clock shows any time."""
    compiled = files
    if not isinstance(compiled, Compiled):
        arguments = [*compat_arguments(leeway.compat), *compiler_arguments]
        compiled = compile_c(compiled, compiler_arguments=arguments, cc=cc)
    files, users, compiler = compiled.files, compiled.modules, compiled.compiler
    cpp = compiler.headers is not None and any(map(_is_cpp, users))
    library = library_texts(compiler, cpp)
    for unwanted in _unwanted(leeway, inputs):
        del library[unwanted]
    library["surroundings"] = _surroundings(leeway)
    modules = [*users, *(Module(text, name, library="mazurka") for name, text in library.items())]
    archive = Archive(compiler) if cpp else None
    if archive is not None:
        archive.prepare(name for module in users for name, symbol in module.symbols.items() if not symbol.defined)
    spellings = {os.path.abspath(file): os.fspath(file) for file in files}
    linker = Linker(
        modules, archive, spellings, system_directories(compiler), leeway, compiled.wrapped, compiled.lenient
    )
    main = next((found for module in users if (found := linker.find_function(module, "main"))), None)
    if main is None:
        raise InputError(f"no function 'main' in {', '.join(map(str, files))}; give the file that defines it as well")
    program = linker.program
    program.entry = ENTRY
    entry = program.functions[ENTRY] = _entry(linker, main, [Path(files[0]).stem, *program_arguments])
    constructors = _constructors(linker)
    translations = _add_reachable(linker)
    while len(more := _constructors(linker)) > len(constructors):  # parts of the C++ library have come in
        constructors = more
        translations += _add_reachable(linker)
    before_main = [name for name in _EARLY if name in program.functions]
    before_main += [linker.name(constructor) for constructor in constructors]
    entry.blocks["entry"].instructions[:0] = [Call(name) for name in before_main]
    at_thread_end: list[Call] = []
    if "__mazurka_at_exit" in program.functions or "__cxa_thread_atexit" in program.functions:
        # Something is to be called at exit.
        entry.blocks["entry"].instructions.insert(-2, _call_model(linker, main, "__mazurka_run_exit_handlers"))
    if "__cxa_thread_atexit" in program.functions:
        at_thread_end.append(_call_model(linker, main, "__mazurka_destroy_thread_locals"))
    translations += _add_reachable(linker)
    linker.add_stubs()
    linker.check()
    for translation in translations:
        finish_function(translation)
    if linker.unwinding.throws(linker.name(main)):
        _let_nothing_out(linker.name(main), entry)
    for end in ("__mazurka_destroy_thread_data", "__mazurka_run_exit_handlers"):
        if end in program.functions:
            program.functions[end].entry.instructions[:0] = map(copy, at_thread_end)
    if not inputs:  # (a program that is built is woven into the text that the compiler made)
        return_where_written(program.functions[linker.name(main)])
    if program.functions.keys().isdisjoint(_CLOCKS):
        _forget_time(program)
    elif not inputs and not any(_looks_at_clock(function) for function in program.functions.values()):
        own = {name: _call_model(linker, main, model).callee for name, model in _OF_THREAD.items()}
        for translation in _add_reachable(linker):
            finish_function(translation)
        for function in program.functions.values():
            for instruction in function.instructions:
                if isinstance(instruction, Call) and isinstance(instruction.callee, str):
                    instruction.callee = own.get(instruction.callee, instruction.callee)
    program.weak_orders = find_weak_orders(program)
    program.left_out = tuple(
        sentence
        for name, sentence in _LEFT_OUT.items()
        if name in program.functions and program.functions[name].library
    )
    return program


def _unwanted(leeway: Leeway, inputs: bool) -> list[str]:
    """The files of the library that say in another way where values from outside come from."""
    ways = {
        "inputs.c": inputs,
        "clock.c": not inputs,
        "reading.c": not inputs,
        "nondet.c": not inputs and leeway.nondet is not None,
    }
    return [name for name, wanted in ways.items() if not wanted]


def _surroundings(leeway: Leeway) -> str:
    """What options say of the world around a program, as a module of constants that models look at."""
    low, high = bounds(leeway.nondet) if leeway.nondet is not None else (0, 0)
    content = b""
    if leeway.stdin is not None:
        try:
            content = Path(leeway.stdin).read_bytes()
        except OSError as error:
            raise InputError(f"--stdin {leeway.stdin}: {error.strerror}") from None
    size = len(content) if leeway.stdin is not None else -1
    text = "".join(f"\\{byte:02X}" for byte in content + b"\0")
    return f"""@__mazurka_nondet_low = constant i64 {low}
@__mazurka_nondet_high = constant i64 {high}
@__mazurka_input_size = constant i64 {size}
@__mazurka_input = constant [{len(content) + 1} x i8] c"{text}"
@__mazurka_abort_assumes = constant i32 {int(leeway.compat == "svcomp")}
"""


def _forget_time(program: Program) -> None:
    """Where nobody looks at the clock after a wait, what sets it is nothing that a round of a loop does."""
    for function in program.functions.values():
        for block in function.blocks.values():
            block.instructions = [
                instruction
                for instruction in block.instructions
                if not isinstance(instruction, Call) or instruction.callee != "__mazurka_pass_time"
            ]


def _let_nothing_out(main: str, entry: Function) -> None:
    """Have it noticed if an exception leaves `main`. It cannot, since who throws finds no handler then."""
    block = entry.blocks["entry"]
    after = next(at for at, each in enumerate(block.instructions, 1) if isinstance(each, Call) and each.callee == main)
    own, exception, thrown = Register("own", PTR), Register("exception", PTR), Register("thrown", I1)
    test: list[Instruction] = [
        ThreadLocalAddress(IN_FLIGHT, result=own),
        Load(own, result=exception),
        Compare("ne", exception, Constant(PTR), result=thrown),
        Branch(thrown, "thrown", "returned"),
    ]
    entry.blocks["returned"] = Block("returned", instructions=block.instructions[after:])
    entry.blocks["thrown"] = Block("thrown", instructions=[Fail("abort", "an exception leaves main")])
    block.instructions[after:] = test


def _looks_at_clock(function: Function) -> bool:
    """Whether others than the waits of the C++ library may see in a function what time it is."""
    clocks = (*_CLOCKS, "clock_gettime", "timespec_get", "gettimeofday", "time", "clock")
    if function.name in clocks or (function.library and any(part in function.name for part in _WAITS)):
        return False
    return any(
        (isinstance(instruction, Call) and instruction.callee in clocks)
        or any(isinstance(value, FunctionAddress) and value.name in clocks for value in operands(instruction))
        for instruction in function.instructions
    )


def _call_model(linker: Linker, main: Definition, name: str) -> Call:
    """A call that no source has."""
    definition = linker.find_function(main.module, name)
    assert definition is not None
    return Call(linker.name(definition))


def load_modules(files: Sequence[str | os.PathLike[str]], compiler: Compiler, arguments: Sequence[str]) -> list[Module]:
    """What the compiler makes of the files, and of the members of archives that are needed. What is wrong with any of
    them is told at once."""

    def load(file: str | os.PathLike[str]) -> Module | InputError:
        own = file.flags if isinstance(file, Source) else ()
        try:
            return Module(load_text(file, compiler, [*own, *arguments]), os.fspath(file))
        except InputError as error:
            return error

    archives = [file for file in files if _is_archive(file)]
    plain = [file for file in files if not _is_archive(file)]
    members = [list(file.members) if isinstance(file, StaticLibrary) else [] for file in archives]
    with ThreadPoolExecutor(os.cpu_count()) as compilers:
        loaded = list(compilers.map(load, [*plain, *chain(*members)]))
    problems = {str(error): error for error in loaded if isinstance(error, InputError)}
    if len(problems) == 1:
        raise next(iter(problems.values()))
    if problems:
        uncompiled = all(isinstance(error, CompileError) for error in problems.values())
        raise (CompileError if uncompiled else InputError)("\n".join(problems))
    found = iter([module for module in loaded if isinstance(module, Module)])
    modules = list(islice(found, len(plain)))
    libraries = [
        list(islice(found, len(sources))) if isinstance(archive, StaticLibrary) else _bitcode(os.fspath(archive))
        for archive, sources in zip(archives, members, strict=True)
    ]
    return [*modules, *needed(modules, libraries)]


def _is_archive(file: str | os.PathLike[str]) -> bool:
    return isinstance(file, StaticLibrary) or (not isinstance(file, Source) and Path(file).suffix == ARCHIVE_SUFFIX)


def _bitcode(archive: str) -> list[Module]:
    return [
        Module(load_bitcode(content, f"{archive}({name})"), f"{archive}({name})")
        for name, content in read_archive(archive)
    ]


def _add_reachable(linker: Linker) -> list[Translator]:
    """Translate what is asked for, and what that asks for, with the landing pads that exceptions get to."""
    translations = []
    while True:
        if linker.pending:
            definition = linker.pending.popleft()
            if definition.kind == "variable":
                linker.add_variable(definition)
            else:
                translations.append(begin_function(linker, definition))
        elif pad := linker.unwinding.landing():
            translate_landing_pad(*pad)
        else:
            return translations


def _is_cpp(module: Module) -> bool:
    """Whether a module may need the C++ library."""
    return any(name.startswith(("_Z", "__cxa_", "__gxx_")) for name in module.symbols)


def _constructors(linker: Linker) -> list[Definition]:
    """The functions to run before `main`, in their order. Those of libraries are first among equals."""
    found: list[tuple[int, bool, Definition]] = []
    for module in linker.modules:
        for constructor in module.destructors():
            linker.refuse(
                module.symbols[constructor.function],
                f"'{constructor.function}' is to run when the program ends (a destructor), which is not supported; "
                "register it with atexit",
            )
        for constructor in module.constructors():
            variable = linker.find(module, constructor.variable) if constructor.variable is not None else None
            if variable is None or variable.module is module:
                definition = linker.find_function(module, constructor.function)
                assert definition is not None
                linker.name(definition)  # asks for it
                found.append((constructor.priority, not module.library, definition))
    return [definition for _, _, definition in sorted(found, key=lambda entry: entry[:2])]


def _entry(linker: Linker, main: Definition, arguments: Sequence[str]) -> Function:
    """What the first thread runs. When `main` returns, the process ends."""
    block = Block("entry")
    header = main.module.header(main.name)
    available: list[Value] = [
        Constant(I32, len(arguments)),
        _strings(linker.program, "argv", arguments),
        _strings(linker.program, "envp", []),
    ]
    if len(header.parameters) > len(available):
        linker.refuse(main, "'main' has more than three parameters; use main(int, char **)")
    passed = available[: len(header.parameters)]
    for parameter, value in zip(header.parameters, passed, strict=False):
        ((_, type_),) = leaves(parameter.type)
        if type_ != value.type:
            wanted = "a pointer" if isinstance(value.type, Pointer) else "an int"
            linker.refuse(main, f"a parameter of 'main' should be {wanted}; use main(int, char **)")
    call = Call(linker.name(main), passed)
    status: Value = Constant(I32)
    if [type_ for _, type_ in leaves(header.returns)] == [I32]:
        status = call.result = Register("status", I32)
    # Ends in a section of its own, as threads in the library's models do: a section that `main` left open is noticed.
    block.instructions += [call, AtomicBegin(), EndThread(status)]
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


def with_arguments(program: Program, arguments: Sequence[str]) -> Program:
    """The same program, prepared as it may be, called with others than those that it was loaded with, but as many:
    their number is a constant to it, while the strings are variables, of whose contents nobody makes use."""
    variables = dict(program.globals)
    for index, string in enumerate(arguments, 1):
        name = f"__mazurka_argv.{index}"
        variables[name] = replace(variables[name], data=os.fsencode(string) + b"\0")
    return replace(program, globals=variables)


def _strings(program: Program, name: str, strings: Sequence[str]) -> GlobalAddress:
    """A global array of strings that ends with null."""
    array = GlobalVariable(f"__mazurka_{name}", bytes(8 * (len(strings) + 1)), display=name)
    for index, string in enumerate(strings):
        text = GlobalVariable(f"{array.name}.{index}", os.fsencode(string) + b"\0", display=f"{name}[{index}]")
        program.globals[text.name] = text
        array.relocations.append(Relocation(8 * index, text.name))
    program.globals[array.name] = array
    return GlobalAddress(array.name)
