"""Where a function goes on: jumps, returns, and the values that depend on where it comes from."""

from __future__ import annotations

from copy import copy

from mazurka.frontends.c.linker import label_number
from mazurka.frontends.c.llvm.syntax import Cursor, Local, Operand, name_of
from mazurka.frontends.c.translate.memory import store_all
from mazurka.frontends.c.translate.translator import PendingPhi, Translation, Translator
from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import Constant, Register, Value
from mazurka.program.operands import replace_operands
from mazurka.program.program import Block, Function
from mazurka.program.types import I64


def _phi(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    type_ = cursor.type()
    assert result is not None
    pending = PendingPhi(t.block, t.define(result, type_), type_)
    while cursor.accept("["):
        value = cursor.value(type_)
        cursor.expect(",")
        pending.incoming.append((value, name_of(cursor.next())))
        cursor.expect("]")
        cursor.accept(",")
    t.phis.append(pending)


def note_phis(t: Translator) -> None:
    """Ask for whatever phis give the address of."""
    for pending in t.phis:
        for value, label in pending.incoming:
            if label in t.ends and not isinstance(value, Local):
                t.block = Block("")
                t.parts(pending.type, value)


def fill_phis(t: Translator) -> None:
    for pending in t.phis:
        incoming: list[tuple[str, list[Value]]] = []
        for value, label in pending.incoming:
            ways = (t.ends.get(label), t.throws.get(label))
            source = next((way for way in ways if way is not None and pending.block.name in successors(way)), None)
            if source is None:
                continue
            # A constant that takes an instruction to compute (the address of a thread-local) is computed there.
            t.block = Block("", instructions=[])
            t.location = source.terminator.location
            values = t.operand(Operand(pending.type, value))
            source.instructions[-1:-1] = t.block.instructions
            incoming.append((source.name, values))
        for index, register in enumerate(pending.results):
            # A switch may have several edges to the same block; the phi names it once.
            edges = {label: values[index] for label, values in incoming}
            pending.block.phis.append(ins.Phi(register, list(edges.items())))


def _return(t: Translator, cursor: Cursor, result: str | None) -> None:
    values: list[Value] = []
    if cursor.peek() != "void":
        operand = cursor.operand()
        values = t.operand(operand)
        if t.result_area is not None:
            store_all(t, values, operand.type, t.result_area, 8)
            values = []
    if runs_atomically(t):
        t.emit(ins.AtomicEnd())
    t.emit(ins.Return(values[0] if values else None))


def return_where_written(function: Function) -> None:
    """Return where the source says so: the compiler lets all of these places jump to the closing brace, where nobody
    can tell any more which of them it was."""
    gathered = {block.name: block for block in function.blocks.values() if _merely_returns(block)}
    for block in function.blocks.values():
        jump = block.terminator
        if isinstance(jump, ins.Jump) and jump.target in gathered and jump.target != block.name:
            renamed: dict[Register, Value] = {}
            block.instructions.pop()
            for instruction in map(copy, gathered[jump.target].instructions):
                replace_operands(instruction, renamed)
                if instruction.result is not None:
                    old = instruction.result
                    renamed[old] = instruction.result = Register(f"{old.name}.{block.name}", old.type)
                instruction.location = jump.location
                block.instructions.append(instruction)


def _merely_returns(block: Block) -> bool:
    *before, last = block.instructions
    return isinstance(last, ins.Return) and not block.phis and [type(each) for each in before] in ([], [ins.Load])


def runs_atomically(t: Translator) -> bool:
    """A convention of SV-COMP, for functions of the program (`__VERIFIER_atomic_begin` is one of the library)."""
    return t.definition.name.startswith("__VERIFIER_atomic_") and not t.module.library


def _branch(t: Translator, cursor: Cursor, result: str | None) -> None:
    if cursor.accept("label"):
        t.emit(ins.Jump(name_of(cursor.next())))
        return
    condition = t.scalar(cursor.operand())
    targets = []
    for _ in range(2):
        cursor.expect(",")
        cursor.expect("label")
        targets.append(name_of(cursor.next()))
    if targets[0] == targets[1]:
        t.emit(ins.Jump(targets[0]))
    elif isinstance(condition, Constant) and not condition.undefined:
        t.emit(ins.Jump(targets[0 if condition.value else 1]))
    else:
        t.emit(ins.Branch(condition, targets[0], targets[1]))


def _switch(t: Translator, cursor: Cursor, result: str | None) -> None:
    value = t.scalar(cursor.operand())
    cursor.expect(",")
    cursor.expect("label")
    default = name_of(cursor.next())
    cursor.expect("[")
    cases: list[tuple[int, str]] = []
    while not cursor.accept("]"):
        case = t.scalar(cursor.operand())
        assert isinstance(case, Constant)
        cursor.expect(",")
        cursor.expect("label")
        cases.append((int(case.value), name_of(cursor.next())))
    t.emit(ins.Switch(value, cases, default))


def _computed_goto(t: Translator, cursor: Cursor, result: str | None) -> None:
    """To one of the labels whose addresses are taken; anything else is no place to go to."""
    address = t.fit(t.scalar(cursor.operand()), I64)
    cursor.expect(",")
    cursor.expect("[")
    labels: dict[str, None] = {}
    for _ in cursor.items("]"):
        cursor.expect("label")
        labels[name_of(cursor.next())] = None
    elsewhere = t.new_block("no label")
    elsewhere.instructions.append(ins.Fail("memory", "a computed goto to what is no label of its function"))
    elsewhere.instructions[0].location = t.location
    numbers = [(label_number(t.module, t.definition.name, label), label) for label in labels]
    t.emit(ins.Switch(address, numbers, elsewhere.name))


def _unreachable(t: Translator, cursor: Cursor, result: str | None) -> None:
    t.emit(ins.Unreachable())


INSTRUCTIONS: dict[str, Translation] = {
    "phi": _phi,
    "ret": _return,
    "br": _branch,
    "switch": _switch,
    "indirectbr": _computed_goto,
    "unreachable": _unreachable,
}
