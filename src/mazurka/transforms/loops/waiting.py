"""Loops that wait for one of several variables, as one event: `while (flag && turn == other);`

Where a loop reads one variable, the read can wait (`awaits`). A loop that reads several could wait in the last of its
reads only: too late, if what it has read before has changed meanwhile. But some loops could as well read all of their
variables at once. Let such a loop

- do nothing but load and branch, from parts of global variables that all threads access atomically only, and that hold
  nothing but values that were written, so that no read is an error or a data race (but for the first, which every
  iteration begins with, and which is therefore allowed to be out of bounds);
- leave in one direction only, and without a trace: nobody uses what it has read, so that it does not matter why it
  was left;
- and let *no exit depend on an old read*: on each way out, the value that was read last, alone, rules out that an
  iteration that reads it goes on. (This is so in `while (a(x) && b(y))`, but not in `while (a(x) || b(y))`.)

Then a whole iteration can be one event that waits until it leaves. It does nothing that the loop cannot do. And
whenever the loop is left, it is left just after its last read; an iteration done at once at that moment reads the same
there, so that it does not go on, either: it leaves, to the same place and with the same variables.

What such an event has read it may have read later than the loop would have, so it may know more of what others
did. That could hide a data race elsewhere, unless whatever can be seen of others has happened before. So this is done
only in programs in which all atomic accesses synchronise.

Under a weak memory model, a thread may read what is newest in one place and what is old in another, so that there is no
moment at which it could have read both; and events that touch several places would order what is around them. There,
such a loop stays as it is, and waits in its last read.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.program import instructions as ins
from mazurka.program.cfg import natural_loops
from mazurka.program.instructions import Constant, GlobalAddress, Instruction, Register, Value
from mazurka.program.operands import operands
from mazurka.program.program import Block
from mazurka.program.types import I1
from mazurka.transforms.loops.conditions import Conjunction, Operation, both, computed, registers
from mazurka.transforms.loops.iterations import Disjunct, LoopIteration, value_from
from mazurka.transforms.simplify import may_fail, remove_unreachable_blocks


def wait_at_once(iteration: LoopIteration) -> ins.Assume | None:
    """Make an iteration of a loop one event that waits until the loop can be left, if it is such a loop. Its guard."""
    exit = _exit(iteration)
    if exit is None or not _only_reads(iteration) or not _leaves_no_trace(iteration):
        return None
    if not iteration.facts.synchronises or _depends_on_old_reads(iteration):
        return None
    return _make_one_event(iteration, *exit)


def _exit(iteration: LoopIteration) -> tuple[Block, list[Value]] | None:
    """The block to which control leaves the loop, on the way of nothing but jumps, and what its phis get; if there is
    only one, and they get the same on each way."""
    blocks = iteration.function.blocks
    headers = {loop.header for loop in natural_loops(iteration.function)}
    found: tuple[Block, list[Value]] | None = None
    for block in iteration.blocks:
        for target in iteration.targets(block):
            if target in iteration.loop.blocks:
                continue
            source, passed = block, {target}
            while len(blocks[target].instructions) == 1 and not blocks[target].phis and target not in headers:
                match blocks[target].terminator:
                    case ins.Jump(following) if following not in passed:
                        source, target = blocks[target], following
                        passed.add(target)
                    case _:
                        break
            arrival = blocks[target], [value_from(phi, source) for phi in blocks[target].phis]
            if found is not None and found != arrival:
                return None
            found = arrival
    return found


def _only_reads(iteration: LoopIteration) -> bool:
    """Whether the loop reads several places that do not change, and does nothing else, without inner loops."""
    reads = 0
    for block in iteration.blocks:
        for instruction in block.instructions:
            if any(isinstance(value, Constant) and value.undefined for value in operands(instruction)):
                return False
            if isinstance(instruction, ins.Load):
                first = reads == 0 and block is iteration.header
                reads += 1
                if not _can_be_read(iteration, instruction, first):
                    return False
            elif not isinstance(instruction, ins.Terminator) and (
                computed(instruction, iteration.term) is None or may_fail(instruction)
            ):
                return False
        for target in iteration.targets(block):
            inside = target in iteration.loop.blocks and target != iteration.header.name
            if inside and iteration.is_back_edge(block.name, target):
                return False
    return reads > 1


def _can_be_read(iteration: LoopIteration, load: ins.Load, first: bool) -> bool:
    """Whether nobody can tell if a load is done; of the first, only whether anything can be told from what it finds."""
    assert load.result is not None
    address = iteration.term(load.address)
    while first and isinstance(address, Operation) and address.op == "offset":
        if not all(_is_constant(iteration, register) for register in registers(address)):
            return False
        address = address.operands[0]
    if not isinstance(address, GlobalAddress) or address.name not in iteration.facts.only_defined:
        return False
    return address.name in iteration.facts.atomic if first else iteration.facts.is_skippable(load, load.result.type)


def _is_constant(iteration: LoopIteration, register: Register) -> bool:
    """Whether a register is the same in each iteration, given that the loop does not change its variables."""
    return register not in iteration.home or (register not in iteration.origin and register not in iteration.phis)


def _leaves_no_trace(iteration: LoopIteration) -> bool:
    """Whether nobody uses what the loop has read: not after it, and not in the next iteration."""
    for block in iteration.function.blocks.values():
        if block.name not in iteration.loop.blocks:
            used = [value for instruction in block.instructions for value in operands(instruction)]
            used += (value for phi in block.phis for _, value in phi.incoming)
            if any(value in iteration.home for value in used if isinstance(value, Register)):
                return False
    return all(
        iteration.term(value) == iteration.term(phi.result)
        for phi in iteration.header.phis
        for name, value in phi.incoming
        if name in iteration.loop.blocks
    )


def _depends_on_old_reads(iteration: LoopIteration) -> bool:
    """Whether the loop may be left though an iteration that reads the same as the last read might go on."""

    def at_end(_: Block, target: str) -> list[Disjunct]:
        return [] if target in iteration.loop.blocks else [Disjunct({})]

    def before(instruction: Instruction, disjuncts: list[Disjunct]) -> list[Disjunct]:
        if isinstance(instruction, ins.Load):
            return [replace(disjunct, pin=disjunct.pin or instruction) for disjunct in disjuncts]
        return disjuncts

    ways_out = iteration.propagate(at_end, before)
    if iteration.limit is not None:  # there are more
        return True
    return any(
        both(_known_from(iteration, way_out), way_back.literals) is not None
        for way_out in ways_out
        for way_back in iteration.purity
    )


def _known_from(iteration: LoopIteration, way_out: Disjunct) -> Conjunction:
    """What a way out of the loop says of its last read alone."""
    return {
        term: values
        for term, values in way_out.literals.items()
        if all(_is_constant(iteration, r) or iteration.origin.get(r) is way_out.pin for r in registers(term))
    }


def _make_one_event(iteration: LoopIteration, target: Block, values: list[Value]) -> ins.Assume:
    header, location = iteration.header, iteration.location
    guard = ins.Assume(Constant(I1, 0), "loop", location=location)
    leave = Block(f"{header.name}.leave")
    leave.instructions = [ins.AtomicEnd(location=location), ins.Jump(target.name, location=location)]
    again = Block(f"{header.name}.again")
    again.instructions = [guard, ins.AtomicEnd(location=location), ins.Jump(header.name, location=location)]
    inside = iteration.loop.blocks
    for phi, value in zip(target.phis, values, strict=True):
        phi.incoming = [*((name, other) for name, other in phi.incoming if name not in inside), (leave.name, value)]
    for phi in header.phis:
        phi.incoming = [
            *((name, begin) for name, begin in phi.incoming if name not in inside),
            (again.name, phi.result),
        ]
    for block in iteration.blocks:
        exits = {name: leave.name for name in iteration.targets(block) if name not in inside}
        redirect(block.terminator, {**exits, header.name: again.name})
    header.instructions.insert(0, ins.AtomicBegin(guarded=True, location=location))
    for block in leave, again:
        iteration.function.blocks[block.name] = block
    remove_unreachable_blocks(iteration.function)
    return guard


def redirect(terminator: ins.Terminator, targets: dict[str, str]) -> None:
    """Let control go to other blocks in place of some."""
    match terminator:
        case ins.Jump(target):
            terminator.target = targets.get(target, target)
        case ins.Branch(_, if_true, if_false):
            terminator.if_true, terminator.if_false = targets.get(if_true, if_true), targets.get(if_false, if_false)
        case ins.Switch(_, cases, default):
            terminator.cases = [(number, targets.get(target, target)) for number, target in cases]
            terminator.default = targets.get(default, default)
