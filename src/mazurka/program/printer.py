"""Programs as text: for people, for comparing and for the messages of the validator.

The text is stable (it depends on nothing but the program), and two programs that differ in anything but their debug
types differ in their text. It never fails, not even on an invalid program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import Constant, FunctionAddress, GlobalAddress, Instruction, Phi, Register, Value
from mazurka.program.operands import definitions
from mazurka.program.program import Block, Function, GlobalVariable, Program
from mazurka.program.types import Float, Pointer

Names = Mapping[Register, str]


def format_program(program: Program) -> str:
    """The whole program: its globals, then its functions."""
    parts = [f"entry {_name(program.entry)}\n"]
    if program.globals:
        parts.append("".join(f"{_global(variable)}\n" for variable in program.globals.values()))
    parts += [format_function(function) for function in program.functions.values()]
    return "\n".join(parts)


def format_function(function: Function) -> str:
    names = register_names(function)
    parameters = ", ".join(f"{names[parameter]}: {parameter.type}" for parameter in function.parameters)
    returns = "" if function.returns is None else f" -> {function.returns}"
    library = "library " if function.library else ""
    header = f"{library}function {_name(function.name)}({parameters}){returns} {{"
    lines = [header if function.location is None else f"{header:<54}  ; {_place(function)}"]
    depths = _section_depths(function)
    for block in function.blocks.values():
        lines.append(f"{_name(block.name)}:")
        depth = depths.get(block.name, 0)
        for phi in block.phis:
            lines.append(f"{_indent(depth)}{format_phi(phi, names)}")
        for instruction in block.instructions:
            if isinstance(instruction, ins.AtomicEnd):
                depth -= 1
            text = f"{_indent(depth)}{format_instruction(instruction, names)}"
            lines.append(text if instruction.location is None else f"{text:<54}  ; {_place(instruction)}")
            if isinstance(instruction, ins.AtomicBegin):
                depth += 1
    return "\n".join([*lines, "}", ""])


def format_phi(phi: Phi, names: Names | None = None) -> str:
    incoming = ", ".join(f"{_name(block)}: {_value(value, names or {})}" for block, value in phi.incoming)
    return f"{_value(phi.result, names or {})} = phi {phi.result.type} [{incoming}]"


def format_instruction(instruction: Instruction, names: Names | None = None) -> str:
    """One instruction, without its location. `names` are those of `register_names`; without them, registers show the
    names they carry, which need not be unique."""
    names = names or {}
    text = _operation(instruction, names)
    if isinstance(instruction, ins.CompareExchange):
        results = [instruction.result, instruction.success]
        if results != [None, None]:
            shown = ", ".join("_" if register is None else _value(register, names) for register in results)
            return f"{shown} = {text}"
    elif instruction.result is not None:
        return f"{_value(instruction.result, names)} = {text}"
    return text


def register_names(function: Function) -> dict[Register, str]:
    """A unique name for each register: its own, with a number where it is taken, or only a number."""
    names: dict[Register, str] = {}
    taken: set[str] = set()
    counts: dict[str, int] = {}

    def name(register: Register) -> None:
        if register in names:
            return
        chosen = _name(register.name) if register.name else ""
        while not chosen or chosen in taken:
            counts[register.name] = counts.get(register.name, 0) + 1
            number = counts[register.name]
            chosen = _name(f"{register.name}.{number}") if register.name else str(number)
        taken.add(chosen)
        names[register] = f"%{chosen}"

    for parameter in function.parameters:
        name(parameter)
    for block in function.blocks.values():
        for phi in block.phis:
            name(phi.result)
        for instruction in block.instructions:
            for register in definitions(instruction):
                name(register)
    return names


def _section_depths(function: Function) -> dict[str, int]:
    """How many atomic sections are open at the start of each block, as far as the function alone tells."""
    if not function.blocks:
        return {}
    entry = function.entry.name
    depths = {entry: 0}
    pending = [entry]
    while pending:
        name = pending.pop()
        block = function.blocks.get(name)
        if block is None or not _is_terminated(block):
            continue
        depth = depths[name]
        for instruction in block.instructions:
            if isinstance(instruction, ins.AtomicBegin):
                depth += 1
            elif isinstance(instruction, ins.AtomicEnd):
                depth -= 1
        for target in successors(block):
            if target not in depths:
                depths[target] = depth
                pending.append(target)
    return depths


def _is_terminated(block: Block) -> bool:
    return bool(block.instructions) and isinstance(block.instructions[-1], ins.Terminator)


def _indent(depth: int) -> str:
    return "    " * (1 + max(depth, 0))


def _name(name: str) -> str:
    return name if re.fullmatch(r"[\w.$-]+", name, re.ASCII) else json.dumps(name)


def _place(item: Function | Instruction | GlobalVariable) -> str:
    location = item.location
    assert location is not None
    return f"{location}:{location.column}" if location.column else str(location)


def _global(variable: GlobalVariable) -> str:
    flags = [flag for flag in ("constant", "thread_local", "private") if getattr(variable, flag)]
    contents = f"{len(variable.data)} zeros" if not any(variable.data) else variable.data.hex(" ", -8)
    text = f"{' '.join([*flags, 'global'])} @{_name(variable.name)} = {contents}"
    for relocation in variable.relocations:
        addend = f" + {relocation.addend}" if relocation.addend else ""
        text += f", at {relocation.offset}: @{_name(relocation.target)}{addend}"
    if variable.display is not None:
        text += f", shown as {json.dumps(variable.display)}"
    if variable.debug_type is not None:
        text += f", a {_name(variable.debug_type)}"
    return text if variable.location is None else f"{text}  ; {_place(variable)}"


def _value(value: Value, names: Names) -> str:
    match value:
        case Register():
            return names.get(value) or str(value)
        case Constant(type, number, undefined):
            if undefined:
                return "undefined"
            if isinstance(type, Float):
                return repr(float(number))
            if isinstance(type, Pointer):
                return hex(number) if isinstance(number, int) and number else "null" if number == 0 else repr(number)
            if isinstance(number, int) and type.bits > 1 and number >> (type.bits - 1) == 1:
                return str(number - (1 << type.bits))
            return repr(int(number) if isinstance(number, bool) else number)
        case GlobalAddress(name, offset):
            return f"@{_name(name)}{offset:+d}" if offset else f"@{_name(name)}"
        case FunctionAddress(name):
            return f"&{_name(name)}"


def _typed(value: Value, names: Names) -> str:
    return f"{value.type} {_value(value, names)}"


def _operation(instruction: Instruction, names: Names) -> str:
    """An instruction without its results."""

    def show(value: Value) -> str:
        return _value(value, names)

    def typed(value: Value) -> str:
        return _typed(value, names)

    result = "?" if instruction.result is None else str(instruction.result.type)
    match instruction:
        case ins.Binary(op, left, right, checked):
            return f"{op} {'checked ' if checked else ''}{typed(left)}, {show(right)}"
        case ins.Compare(op, left, right):
            return f"{op} {typed(left)}, {show(right)}"
        case ins.Convert(op, value):
            return f"{op} {typed(value)} to {result}"
        case ins.Unary(op, value):
            return f"{op} {typed(value)}"
        case ins.MultiplyAdd(left, right, addend):
            return f"fma {typed(left)}, {show(right)}, {show(addend)}"
        case ins.AnyOfSign(sign):
            return f"any_of_sign {show(sign)}"
        case ins.Landing(number):
            return f"landing {number}"
        case ins.Select(condition, if_true, if_false):
            return f"select {show(condition)}, {typed(if_true)}, {show(if_false)}"
        case ins.Offset(base, index, scale, displacement, limit):
            bound = "" if limit is None else f", below {limit}"
            moved = f" + {displacement}" if displacement else ""
            return f"offset {show(base)} + {show(index)} * {scale}{moved}{bound}"
        case ins.Load(address):
            return f"load {result} {show(address)}{_how(instruction)}"
        case ins.Store(value, address):
            return f"store {typed(value)}, {show(address)}{_how(instruction)}"
        case ins.Update(op, address, value):
            return f"update {op} {show(address)}, {typed(value)}{_how(instruction)}"
        case ins.CompareExchange(address, expected, desired):
            return f"compare_exchange {show(address)}, {typed(expected)}, {show(desired)}{_how(instruction)}"
        case ins.StackAlloc(size, private, variable, debug_type):
            named = "" if variable is None else f", {json.dumps(variable)}"
            debug = "" if debug_type is None else f", a {_name(debug_type)}"
            return f"stack_alloc {show(size)}{', private' if private else ''}{named}{debug}"
        case ins.HeapAlloc(size, zeroed, reuse):
            return f"heap_alloc {show(size)}{', zeroed' if zeroed else ''}{', or one again' if reuse else ''}"
        case ins.Free(address):
            return f"free {show(address)}"
        case ins.BlockSize(address):
            return f"block_size {show(address)}"
        case ins.ThreadLocalAddress(name):
            return f"thread_local @{_name(name)}"
        case ins.Call(callee, arguments):
            returned = "" if instruction.result is None else f"{result} "
            target = _name(callee) if isinstance(callee, str) else f"*{show(callee)}"
            return f"call {returned}{target}({', '.join(map(typed, arguments))})"
        case ins.Spawn(function, arguments):
            return f"spawn {show(function)}({', '.join(map(typed, arguments))})"
        case ins.Self():
            return "self"
        case ins.Choose(count):
            return f"choose {show(count)}"
        case ins.Assume(condition, origin):
            return f"assume {show(condition)}" + ("" if origin == "program" else f", {origin}")
        case ins.Await(condition, what, object, holder):
            return f"await {show(condition)}, {json.dumps(what)} at {show(object)} held by {show(holder)}"
        case ins.Claim(lock, kind):
            return f"claim {kind} {show(lock)}"
        case ins.AtomicBegin(guarded):
            return "guarded begin" if guarded else "atomic begin"
        case ins.AtomicEnd():
            return "atomic end"
        case ins.Relax():
            return "relax"
        case ins.Fence(ordering):
            return f"fence {ordering}"
        case ins.Output(byte):
            return f"output {show(byte)}"
        case ins.Jump(target):
            return f"jump {_name(target)}"
        case ins.Branch(condition, if_true, if_false):
            return f"branch {show(condition)}, {_name(if_true)}, {_name(if_false)}"
        case ins.Switch(value, cases, default):
            targets = "".join(f"{number}: {_name(target)}, " for number, target in cases)
            return f"switch {typed(value)}, {targets}default: {_name(default)}"
        case ins.Return(value):
            word = "return thrown" if instruction.thrown else "return"
            return word if value is None else f"{word} {typed(value)}"
        case ins.LongJump(object, landing, value):
            return f"long_jump {show(object)}, {show(landing)}, {show(value)}"
        case ins.EndThread(status):
            return "end_thread" if status is None else f"end_thread {show(status)}"
        case ins.Exit(status):
            return f"exit {show(status)}"
        case ins.Fail(kind, message, details, cause):
            more = "".join(f" {word} {show(each)}" for word, each in (("with", details), ("of", cause)) if each)
            return f"fail {kind} {json.dumps(message)}{more}"
        case ins.Unreachable():
            return "unreachable"
        case _:
            return type(instruction).__name__


def _how(access: ins.MemoryAccess) -> str:
    ordering = "" if access.ordering == "plain" else f", {access.ordering}"
    if isinstance(access, ins.CompareExchange) and access.failure is not None:
        ordering += f" {access.failure}"
    return ordering if access.align == 1 else f"{ordering}, align {access.align}"
