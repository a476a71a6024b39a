"""Calls.

A function that returns several scalars gets the address to store them at as a hidden first argument; a variadic one
gets the address of its extra arguments as a hidden last one.
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.syntax import Cursor, Operand, Unsupported, leaves, name_of, size_of
from mazurka.frontends.c.translate import builtins
from mazurka.frontends.c.translate.memory import load_all
from mazurka.frontends.c.translate.refusals import refusal
from mazurka.frontends.c.translate.translator import CallSite, Translation, Translator, parameter_types
from mazurka.frontends.c.translate.variadic import extra_arguments
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Register, Value
from mazurka.program.types import PTR

# Assembly that only orders accesses or gives the processor a hint: nothing to do, as all accesses are ordered anyway.
_HINTS = frozenset({"", "nop", "pause", "rep; nop", "rep nop", "mfence", "lfence", "sfence"})
# For debuggers. Without one, they end the program.
_BREAK_POINTS = frozenset({"int3", "int $3", "int 3"})


def _call(t: Translator, cursor: Cursor, result: str | None) -> None:
    site = _call_site(cursor, result)
    attributes = takewhile(lambda token: token not in ("to", ",", "["), cursor.tokens[cursor.position :])
    t.silent = any(each == "nounwind" or t.module.has_attribute(each, "nounwind") for each in attributes)
    match site.callee:
        case llvm.Assembly():
            _assembly(t, site, site.callee)
        case llvm.Symbol(name):
            _call_symbol(t, site, name)
        case _:
            callee = t.scalar(Operand(llvm.Scalar(PTR), site.callee))
            _emit_call(t, callee, site, site.type)
    t.silent = False


def _call_site(cursor: Cursor, result: str | None) -> CallSite:
    type_ = cursor.call_type()
    callee = cursor.value(llvm.Scalar(PTR))
    arguments = cursor.arguments()
    if not isinstance(type_, llvm.FunctionType):
        type_ = llvm.FunctionType(type_, tuple(operand.type for operand, _ in arguments), False)
    return CallSite(callee, type_, arguments, result)


def _call_symbol(t: Translator, site: CallSite, name: str) -> None:
    if builtins.is_intrinsic(name):
        builtins.translate(t, site, name)
        return
    definition = t.linker.find_function(t.module, name)
    if definition is not None:
        t.linker.refusals.note_call(definition, t.definition, t.location)
        header = definition.module.header(definition.name)
        _emit_call(t, t.linker.name(definition), site, header.type)
    elif builtins.is_builtin(name):
        builtins.translate(t, site, name)
    elif t.linker.find(t.module, name) is not None:
        _emit_call(t, t.scalar(Operand(llvm.Scalar(PTR), site.callee)), site, site.type)
    else:
        t.refuse(Unsupported(refusal(name)))
        for operand, _ in site.arguments:
            t.operand(operand)  # there may be more to refuse: what a thread of an unknown library runs, say


def _emit_call(t: Translator, callee: str | Value, site: CallSite, type_: llvm.FunctionType) -> None:
    """Call a function of this type, which may differ from the one that the call was compiled with."""
    fixed = len(type_.parameters)
    given = [(operand, attributes, t.operand(operand)) for operand, attributes in site.arguments]
    arguments = [value for _, _, values in given[:fixed] for value in values]
    returned = leaves(type_.returns)
    types = parameter_types(type_.returns, type_.parameters, type_.variadic)
    results: Register | None = None
    if len(returned) > 1:
        results = t.area(size_of(type_.returns))
        arguments.insert(0, results)
    if type_.variadic:
        arguments.append(extra_arguments(t, given[:fixed], given[fixed:]))
    if len(arguments) != len(types):
        raise Unsupported(f"'{callee}' is called with other arguments than it takes; declare it as it is defined")
    arguments = [t.fit(value, wanted) for value, wanted in zip(arguments, types, strict=True)]
    call = ins.Call(callee, arguments)
    wanted = leaves(site.returns)
    if results is not None:
        t.emit(call)
        if [leaf for _, leaf in wanted] != [leaf for _, leaf in returned]:
            raise Unsupported(f"'{callee}' is called as if it returned another type; declare it as it is defined")
        t.bind(site.result, load_all(t, results, type_.returns, 8))
    elif not wanted:
        t.emit(call)
    elif not returned:
        t.emit(call)
        t.bind(site.result, [Constant(leaf, undefined=True) for _, leaf in wanted])
    else:
        same = len(wanted) == 1 and wanted[0][1] == returned[0][1]
        value = t.compute(returned[0][1], call, site.result if same else None)
        t.bind(site.result, [t.fit(value, wanted[0][1])])


def _assembly(t: Translator, site: CallSite, assembly: llvm.Assembly) -> None:
    """An empty template only keeps the compiler from moving accesses, which happens to none here."""
    template = re.sub(r"\s+", " ", assembly.template.strip().rstrip(";"))
    if template.replace("$$", "$") in _BREAK_POINTS:
        t.emit(ins.Fail("abort", "a break point was reached"))
        return
    constraints = [part for part in assembly.constraints.split(",") if not part.startswith("~")]
    outputs = [part for part in constraints if part.startswith("=") and "*" not in part]
    inputs = [part for part in constraints if not (part.startswith("=") and "*" not in part)]
    if template not in _HINTS or (template and constraints):
        raise Unsupported("inline assembly is not supported; write it in C, or with atomics")
    values: list[Value] = []
    for number in range(len(outputs)):
        if str(number) not in inputs:
            raise Unsupported("inline assembly with outputs is not supported; write it in C, or with atomics")
        values += t.operand(site.arguments[inputs.index(str(number))][0])
    if any(part.startswith("=*") for part in constraints):
        raise Unsupported("inline assembly with outputs is not supported; write it in C, or with atomics")
    t.bind(site.result, values)


def _invoke(t: Translator, cursor: Cursor, result: str | None) -> None:
    """A call that goes on elsewhere if it throws."""
    labels = [name_of(after) for before, after in pairwise(cursor.tokens) if before == "label"]
    normal, t.pad = labels[-2:]
    try:
        _call(t, cursor, result)
    finally:
        t.pad = None
    if not t.block.instructions or not isinstance(t.block.instructions[-1], ins.Terminator):
        t.emit(ins.Jump(normal))


INSTRUCTIONS: dict[str, Translation] = {
    "call": _call,
    "invoke": _invoke,
}
