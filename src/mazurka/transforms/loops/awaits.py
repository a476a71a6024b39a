"""Waiting instead of giving up: an access and the assumes about what it reads become one guarded access.

`a = load x; assume a == 1` stops a thread that comes too early. As an atomic section, the same two are a load that is
enabled only where x is 1: the thread waits, and all the executions in which it would have come too early are gone. Any
condition will do that is computed from the access's results and from what was known before, without a division that
might fail.

Why nothing is lost. Where the condition is false, the access alone must leave memory as it is; then a thread that has
done it and stops differs from one that has not done it yet in nothing that others can see, and whatever others do next
they can do while it waits. If it waits in vain, the verdict is the same as if it had stopped: which one depends on the
assume, not on whether the assume is a guard. What the access does where the condition is true it does in both
programs, and a fault is one in both: a section that fails is enabled. So the question is only whether the access writes
where the condition is false.

- A load does not write.
- An assume of a loop ("loop") is false only in iterations that change nothing, of which the access is a part.
- A compare-exchange does not write if it fails. So its success must imply an assume of the program, which then is
  false only if it fails.
- Other updates write, before an assume of the program says that this does not happen. What others make of that write
  counts, so these stay as they are.

An access that is not atomic may race even where the program assumes something else of it, so it stays alone, to be
seen whatever it reads. (For threads that wait in a loop, the search looks for the races of what they read in vain.)

An assume that does not depend on the access stays local. If it came between the access and its guards, it comes after
them: whether a thread stops there or waits before it makes no difference to others. But one of the program might fail,
if its condition is undefined, and is not put off.

All of this holds under weak memory models, too. A read whose condition is false is the last event of its thread, and
nobody reads from it; without it, the rest of the graph is allowed whenever all of it is. A guarded access is that
access, with its own memory order, and not an event that orders what is around it. It may read whatever fulfils the
condition; if the newest write does not, its thread waits. What must not be lost is that an access which is in vain may
be in a race, also if it reads something that is not the newest. The search has to look at that for those that are
guarded. So those that are not atomic, and therefore are in a race with any other access, stay alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, takewhile

from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Instruction, Register, Value
from mazurka.program.operands import definitions, operands
from mazurka.program.program import Block, Program
from mazurka.transforms.simplify import DIVISIONS


def make_awaits(program: Program, *, simple: bool = False, weak: bool = False) -> set[ins.Assume]:
    """Guard the accesses of the program's own functions by the assumes that follow them, and return these. `simple`:
    only where what is read is compared with something, and nothing else is asked, as in the paper on awaits. `weak`: as
    is right under weak memory models, too."""
    guards: set[ins.Assume] = set()
    for function in program.functions.values():
        if not function.library:
            for block in function.blocks.values():
                guards |= _guard_accesses(block, simple, weak)
    return guards


def _guard_accesses(block: Block, simple: bool, weak: bool) -> set[ins.Assume]:
    guards: set[ins.Assume] = set()
    code, block.instructions = block.instructions, []
    position = 0
    depth = 0  # of sections; in one that began in another block, a further one does no harm
    while position < len(code):
        instruction = code[position]
        if isinstance(instruction, ins.AtomicBegin):
            depth += 1
        elif isinstance(instruction, ins.AtomicEnd):
            depth = max(depth - 1, 0)
        section, taken = [instruction], 1
        if depth == 0 and isinstance(instruction, ins.ReadingAccess) and not (weak and instruction.ordering == "plain"):
            section, taken = _section(instruction, islice(code, position + 1, None), simple)
            inside = takewhile(lambda each: not isinstance(each, ins.AtomicEnd), section)
            guards.update(each for each in inside if isinstance(each, ins.Assume))
        block.instructions += section
        position += taken
    return guards


def _section(access: ins.ReadingAccess, code: Iterable[Instruction], simple: bool) -> tuple[list[Instruction], int]:
    """What replaces the access and the beginning of the code after it, and how many instructions that replaces."""
    section: list[Instruction] = [access]
    replaced = 1
    results = set(definitions(access))  # and what is computed from them
    inside: list[Instruction] = [access]
    local: list[Instruction] = []
    for count, instruction in enumerate(code, 2):
        if _is_computation(instruction):
            inside.append(instruction)
            if not results.isdisjoint(value for value in operands(instruction) if isinstance(value, Register)):
                results.update(definitions(instruction))
        elif not isinstance(instruction, ins.Assume) or instruction.origin == "bound":
            break
        elif instruction.condition not in results and instruction.origin == "loop":
            local.append(instruction)
        elif instruction.condition not in results:
            break
        elif _can_wait(access, instruction, inside) and (not simple or _is_simple(access, instruction, inside)):
            inside.append(instruction)
            begin = ins.AtomicBegin(guarded=True, location=access.location)
            section, replaced = [begin, *inside, ins.AtomicEnd(location=access.location), *local], count
        else:
            break
    return section, replaced


def _is_computation(instruction: Instruction) -> bool:
    """Whether this only computes a value, and does not divide by what may be 0."""
    match instruction:
        case ins.Binary(op, _, Constant(_, int(divisor), False)) if op in DIVISIONS:
            return divisor not in (0, (1 << instruction.left.type.bits) - 1)  # (-1 can overflow)
        case ins.Binary(op):
            return op not in DIVISIONS
        case ins.Compare() | ins.Convert() | ins.Unary() | ins.Select() | ins.Offset():
            return True
        case _:
            return False


def _can_wait(access: ins.ReadingAccess, assume: ins.Assume, computed: Sequence[Instruction]) -> bool:
    """Whether the access leaves memory as it is where the assume is false, and no race is lost that way."""
    if assume.origin == "loop":
        return True
    match access:
        case ins.Load(ordering=ordering):
            return ordering != "plain"
        case ins.CompareExchange():
            return _implied_by_success(access, assume.condition, computed)
        case _:
            return False


def _is_simple(access: ins.ReadingAccess, assume: ins.Assume, computed: Sequence[Instruction]) -> bool:
    """Whether the condition is a comparison of what the access reads with something known before, or its success."""
    results = set(definitions(access))
    for instruction in computed:
        if isinstance(instruction, ins.Convert) and instruction.value in results:
            results.update(definitions(instruction))
    comparison = next((each for each in computed if each.result is assume.condition), None)
    return assume.condition in results or (
        isinstance(comparison, ins.Compare) and (comparison.left in results) != (comparison.right in results)
    )


def _implied_by_success(access: ins.CompareExchange, condition: Value, computed: Sequence[Instruction]) -> bool:
    """Whether a condition is true whenever the compare-exchange succeeds, by the simple computations that C makes of
    that."""
    sources = {instruction.result: instruction for instruction in computed}

    def after_success(value: Value) -> Value:
        """A simpler value that this one has then."""
        if value is access.success:
            return Constant(value.type, 1)
        if value is access.result:
            return access.expected
        match sources.get(value) if isinstance(value, Register) else None:
            case ins.Convert("zext" | "trunc", inner):
                match after_success(inner):
                    case Constant(_, int(number), False):
                        return Constant(value.type, number % (1 << value.type.bits))
            case ins.Compare("eq" | "ne" as predicate, left, right):
                left, right = after_success(left), after_success(right)
                known = isinstance(left, Constant) and isinstance(right, Constant)
                if any(isinstance(side, Constant) and side.undefined for side in (left, right)):
                    return value
                if left == right or known:
                    return Constant(value.type, int((left == right) == (predicate == "eq")))
            case ins.Binary("xor", left, Constant(_, int(mask), False)):
                match after_success(left):
                    case Constant(_, int(number), False):
                        return Constant(value.type, number ^ mask)
        return value

    return after_success(condition) == Constant(condition.type, 1)
