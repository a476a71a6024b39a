"""Which loops are left that may go round for ever, after those that wait have been made to (`purity`, `awaits`)."""

from __future__ import annotations

from mazurka.program.cfg import Dominators, Loop, dominators, natural_loops, predecessors, reverse_postorder, successors
from mazurka.program.instructions import Binary, Branch, Compare, Constant, Instruction, Register, Value
from mazurka.program.program import Function, Program


def loops_stay(program: Program) -> bool:
    """Whether the program's own code has a cycle that is not known to end: it does where a variable in a register is
    counted up or down in each round, until it has come to a value that does not change meanwhile. (A program whose
    functions call each other in a circle comes to the limit on their depth.)"""
    return any(not function.library and _stays(function) for function in program.functions.values())


def _stays(function: Function) -> bool:
    order = {name: index for index, name in enumerate(reverse_postorder(function))}
    backward = [(name, to) for name in order for to in successors(function.blocks[name]) if order[to] <= order[name]]
    if not backward:
        return False
    tree, loops = dominators(function), natural_loops(function)
    if any(not tree.dominates(to, name) for name, to in backward):
        return True  # control can enter it at several places
    return any(not _is_counted(function, loop, tree) for loop in loops)


def _is_counted(function: Function, loop: Loop, tree: Dominators) -> bool:
    inside: dict[Register, Instruction] = {}
    for name in loop.blocks:
        for instruction in function.blocks[name].instructions:
            result = getattr(instruction, "result", None)
            if isinstance(result, Register):
                inside[result] = instruction
    phis = {phi.result for name in loop.blocks for phi in function.blocks[name].phis}
    latches = [name for name in predecessors(function)[loop.header] if name in loop.blocks]

    def is_step(value: Value, counter: Register) -> bool:
        made = inside.get(value) if isinstance(value, Register) else None
        if not isinstance(made, Binary) or made.op not in ("add", "sub") or made.left is not counter:
            return False
        return isinstance(made.right, Constant) and made.right.value != 0

    def is_fixed(value: Value) -> bool:
        return not isinstance(value, Register) or (value not in inside and value not in phis)

    for phi in function.blocks[loop.header].phis:
        counter = phi.result
        steps = [value for source, value in phi.incoming if source in loop.blocks]
        if not all(is_step(value, counter) for value in steps):
            continue
        counts = {counter, *(value for value in steps if isinstance(value, Register))}
        for name in loop.blocks:
            # Every round comes by here, and may leave.
            leaves = any(target not in loop.blocks for target in successors(function.blocks[name]))
            branch = function.blocks[name].terminator
            if not leaves or not isinstance(branch, Branch) or not all(tree.dominates(name, at) for at in latches):
                continue
            test = inside.get(branch.condition) if isinstance(branch.condition, Register) else None
            if isinstance(test, Compare):
                sides = (test.left, test.right), (test.right, test.left)
                if any(one in counts and is_fixed(other) for one, other in sides):
                    return True
    return False
