"""Branches and loops that make no difference: `if (++tries > 100) usleep(10); else sched_yield();`

What a back-off does nobody can notice, so it does not matter which one a thread chooses, or how often it yields. Where
all ways from a branch to the place at which they meet again do nothing, control can go there at once. And it can go
past a loop that does nothing and ends, because each round counts up to what does not change meanwhile (`for (int i = 0;
i < pause; i++) sched_yield();`: the sum does not overflow). Then nobody may be left who looks at the number of tries,
and the round of the loop around it changes nothing.

A fence is nothing that can be noticed in interleavings; under a weak memory model, it stays where it is. (With a round
that is left out, it goes.)

The branches themselves must not be errors, which they are if their conditions are undefined. So these must be computed
from constants, in any number of rounds.
"""

from __future__ import annotations

from mazurka.program import instructions as ins
from mazurka.program.cfg import Loop, natural_loops, predecessors, reverse_postorder, successors
from mazurka.program.instructions import Constant, Instruction, Phi, Value
from mazurka.program.operands import operands
from mazurka.program.program import Block, Function
from mazurka.transforms.loops.facts import ProgramFacts
from mazurka.transforms.loops.waiting import redirect
from mazurka.transforms.simplify import DIVISIONS, may_fail, remove_dead_instructions, remove_unreachable_blocks

MOST_BLOCKS = 12  # on the ways from a branch to where they meet
_DEFINED = ("add", "sub", "mul", "and", "or", "xor", *DIVISIONS)  # where the operands are

_Sources = dict[Value, Instruction | Phi]  # what registers are computed by


def skip_idle_code(facts: ProgramFacts, function: Function) -> None:
    """Let control go past inner loops, and in loops to where the ways from a branch meet, if these do nothing."""
    loops, sources = natural_loops(function), _sources(function)
    for loop in loops:
        if any(loop.blocks < other.blocks for other in loops):
            _skip_loop(facts, function, loop, sources)
    remove_unreachable_blocks(function)
    inside = {name for loop in natural_loops(function) for name in loop.blocks}
    # The last ones first: then there are fewer blocks on the ways of the others.
    for name in reversed(reverse_postorder(function)):
        block = function.blocks[name]
        match block.terminator:
            case ins.Branch(tested, _, _) | ins.Switch(tested, _, _) if name in inside and _is_defined(sources, tested):
                meeting = _meeting(facts, function, block)
                if meeting is not None:
                    block.instructions[-1] = ins.Jump(meeting.name, location=block.terminator.location)
    remove_unreachable_blocks(function)
    remove_dead_instructions(function)


def _skip_loop(facts: ProgramFacts, function: Function, loop: Loop, sources: _Sources) -> None:
    """Let control go past a loop, if it does nothing but count from its header to where it ends."""
    header = function.blocks[loop.header]
    blocks = [function.blocks[name] for name in loop.blocks]
    made: dict[Value, Instruction] = {
        each.result: each for block in blocks for each in block.instructions if each.result is not None
    }
    phis = {phi.result: phi for block in blocks for phi in block.phis}
    match header.terminator:
        case ins.Branch(tested, inside, exit) if inside in loop.blocks and exit not in loop.blocks:
            below = "slt", "ult"
        case ins.Branch(tested, exit, inside) if inside in loop.blocks and exit not in loop.blocks:
            below = "sge", "uge"
        case _:
            return
    test = next((each for each in header.instructions if each.result is tested), None)
    # All other blocks have one way to go, so each round comes to the header, by one of the steps.
    if any(block is not header and not isinstance(block.terminator, ins.Jump) for block in blocks):
        return
    if not isinstance(test, ins.Compare) or test.predicate not in below or not _is_defined(sources, tested):
        return
    counter = next((phi for phi in header.phis if phi.result is test.left), None)
    if counter is None or test.right in made or test.right in phis or function.blocks[exit].phis:
        return
    steps = [made.get(value) for source, value in counter.incoming if source in loop.blocks]
    if not all(_is_step(step, counter.result) for step in steps):
        return
    for each in (each for block in blocks for each in block.instructions[:-1]):
        if each not in steps and not _is_idle(facts, each):
            return
    if _is_used_outside(function, loop, {*made, *phis}):
        return
    for source in predecessors(function)[loop.header]:
        if source not in loop.blocks:
            redirect(function.blocks[source].terminator, {loop.header: exit})


def _is_step(step: Instruction | None, counter: Value) -> bool:
    match step:
        case ins.Binary("add", left, Constant(_, 1, False)):
            return left is counter
        case _:
            return False


def _is_used_outside(function: Function, loop: Loop, values: set[Value]) -> bool:
    outside = [block for name, block in function.blocks.items() if name not in loop.blocks]
    used = [value for block in outside for each in block.instructions for value in operands(each)]
    used += (value for block in outside for phi in block.phis for _, value in phi.incoming)
    return not values.isdisjoint(used)


def _meeting(facts: ProgramFacts, function: Function, block: Block) -> Block | None:
    """Where all ways from a block meet, if they do nothing. No phi there may depend on the way."""
    ways = [_idle_way(facts, function, block.name, target) for target in successors(block)]
    for name in ways[0]:
        if all(name in way for way in ways) and not function.blocks[name].phis:
            return function.blocks[name]
    return None


def _idle_way(facts: ProgramFacts, function: Function, start: str, name: str) -> list[str]:
    """The blocks that control comes to from one on, as long as it does nothing there and has no choice."""
    way: list[str] = []
    while name != start and name not in way and len(way) < MOST_BLOCKS:
        way.append(name)
        block = function.blocks[name]
        match block.terminator:
            case ins.Jump(target) if not block.phis and all(_is_idle(facts, each) for each in block.instructions[:-1]):
                name = target
            case _:
                break
    return way


def _is_idle(facts: ProgramFacts, instruction: Instruction) -> bool:
    match instruction:
        case ins.Call(str(name)):
            return facts.does_nothing(name)
        case ins.Binary() | ins.Compare() | ins.Convert() | ins.Unary() | ins.Select() | ins.Offset():
            return not may_fail(instruction)
        case _:
            return False


def _sources(function: Function) -> _Sources:
    sources: _Sources = {}
    for block in function.blocks.values():
        sources.update((phi.result, phi) for phi in block.phis)
        sources.update((each.result, each) for each in block.instructions if each.result is not None)
    return sources


def _is_defined(sources: _Sources, value: Value) -> bool:
    """Whether a value is computed from constants only."""
    seen: set[Value] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        match sources.get(value, value):
            case Constant(undefined=False):
                pass
            case Phi(_, incoming):
                pending += (each for _, each in incoming)
            case ins.Binary("shl" | "lshr" | "ashr", left, Constant(_, int(bits), False)) if bits < left.type.bits:
                pending.append(left)
            case ins.Binary(op) as computation if op in _DEFINED:
                pending += operands(computation)
            case ins.Compare() | ins.Convert() | ins.Select() as computation:
                pending += operands(computation)
            case _:
                return False
    return True
