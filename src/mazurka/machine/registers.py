"""Which machine register holds which value, and when: liveness, and a linear scan over it.

Frames should be small: the machine saves one whenever it may have to return to an earlier state.
"""

from __future__ import annotations

from mazurka.program import cfg
from mazurka.program.instructions import Landing, Register
from mazurka.program.operands import definitions, operands
from mazurka.program.program import Block, Function


def live_out(function: Function, order: list[str]) -> dict[str, set[Register]]:
    """The registers whose values are still needed at the end of each block. A phi uses its values at the ends of the
    blocks that they come from."""
    used: dict[str, set[Register]] = {}
    defined: dict[str, set[Register]] = {}
    phi_uses: dict[str, set[Register]] = {name: set() for name in order}
    for name in order:
        block = function.blocks[name]
        born = {phi.result for phi in block.phis}
        needed: set[Register] = set()
        for instruction in block.instructions:
            needed.update(v for v in operands(instruction) if isinstance(v, Register) and v not in born)
            born.update(definitions(instruction))
        used[name], defined[name] = needed, born
        for phi in block.phis:
            for source, value in phi.incoming:
                if isinstance(value, Register) and source in phi_uses:
                    phi_uses[source].add(value)

    live: dict[str, set[Register]] = {name: set(phi_uses[name]) for name in order}
    changed = True
    while changed:
        changed = False
        for name in reversed(order):
            out = live[name]
            before = len(out)
            for successor in cfg.successors(function.blocks[name]):
                out |= used[successor] | (live[successor] - defined[successor])
            changed = changed or len(out) != before
    return live


def _defined_in(block: Block) -> list[Register]:
    return [*(phi.result for phi in block.phis), *(each for i in block.instructions for each in definitions(i))]


def allocate(function: Function, order: list[str]) -> tuple[dict[Register, int], int]:
    """A register number for each value, and how many there are. Values that are alive at the same time get different
    numbers; parameters get the first ones, in order. `order` is the order of the code. In a function with landings all
    get different ones: what it calls may go on there, where other values are alive."""
    if any(isinstance(instruction, Landing) for instruction in function.instructions):
        every = [*function.parameters, *(register for name in order for register in _defined_in(function.blocks[name]))]
        return {register: number for number, register in enumerate(every)}, len(every)
    live = live_out(function, order)
    first: dict[Register, int] = {}
    last: dict[Register, int] = {}

    def extend(register: Register, position: int) -> None:
        first[register] = min(first.get(register, position), position)
        last[register] = max(last.get(register, position), position)

    ends: dict[str, int] = {}
    position = 0
    for parameter in function.parameters:
        extend(parameter, 0)
    for name in order:
        block = function.blocks[name]
        start = position
        for phi in block.phis:
            extend(phi.result, start)
        for instruction in block.instructions:
            position += 2  # even: operands are read; odd: results are written
            for value in operands(instruction):
                if isinstance(value, Register):
                    extend(value, position)
            for register in definitions(instruction):
                extend(register, position + 1)
        position += 2
        ends[name] = position
        for register in live[name]:
            extend(register, position)
        # What comes in and is needed later is alive from the start; what is needed in the block, until then.
    position = 0
    for name in order:
        block = function.blocks[name]
        start = position
        position = ends[name]
        born = {phi.result for phi in block.phis}
        for instruction in block.instructions:
            for value in operands(instruction):
                if isinstance(value, Register) and value not in born:
                    extend(value, start)
            born.update(definitions(instruction))
        for register in live[name] - born:
            extend(register, start)
        # The moves into a phi happen at the ends of the blocks before.
        for phi in block.phis:
            for source, _ in phi.incoming:
                if source in ends:
                    extend(phi.result, ends[source])

    numbers: dict[Register, int] = {parameter: index for index, parameter in enumerate(function.parameters)}
    active = list(numbers.values())
    free: list[int] = []
    expiring = sorted(numbers, key=lambda register: last[register])
    count = len(numbers)
    for register in sorted((r for r in first if r not in numbers), key=lambda r: first[r]):
        while expiring and last[expiring[0]] < first[register]:
            gone = numbers[expiring.pop(0)]
            active.remove(gone)
            free.append(gone)
        if free:
            free.sort()
            number = free.pop(0)
        else:
            number = count
            count += 1
        numbers[register] = number
        active.append(number)
        index = next((i for i, other in enumerate(expiring) if last[other] > last[register]), len(expiring))
        expiring.insert(index, register)
    return numbers, count
