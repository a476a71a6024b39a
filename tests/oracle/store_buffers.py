"""What machines with store buffers do to a litmus test: tso and pso once more, as machines instead of axioms.

Each thread has a buffer of writes on their way to memory, and reads its own latest write from there. With tso, they
leave in order; with pso, whatever no order holds back may leave first. Full fences wait until the buffer is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from tests.oracle.axioms import (
    RELEASING,
    Assume,
    CompareExchange,
    Expression,
    Fence,
    Litmus,
    Load,
    Outcome,
    SkipUnless,
    Store,
    Update,
)

# A write on its way: location, value, and whether all that was written before has to leave first. A fence that
# releases has no location.
Pending = tuple[str | None, int, bool]
Values = tuple[tuple[str, int], ...]
T = TypeVar("T")


@dataclass(frozen=True)
class _State:
    positions: tuple[int, ...]
    registers: tuple[Values, ...]
    buffers: tuple[tuple[Pending, ...], ...]
    memory: Values


def buffered_outcomes(litmus: Litmus, model: Literal["tso", "pso"]) -> frozenset[Outcome]:
    """How executions end in which all threads do."""
    count = len(litmus.threads)
    start = _State((0,) * count, ((),) * count, ((),) * count, tuple((name, 0) for name in litmus.locations))
    seen, open_states, outcomes = {start}, [start], set()
    while open_states:
        state = open_states.pop()
        if not any(state.buffers) and all(
            position >= len(operations) for position, operations in zip(state.positions, litmus.threads, strict=True)
        ):
            registers = tuple(
                tuple(dict(values).get(name, 0) for name in litmus.registers(thread))
                for thread, values in enumerate(state.registers)
            )
            outcomes.add(Outcome(registers, tuple(value for _, value in state.memory)))
        following = [*_steps(litmus, state), *_flushes(state, model)]
        open_states += [new for new in dict.fromkeys(following) if new not in seen]
        seen.update(following)
    return frozenset(outcomes)


def _flushes(state: _State, model: str) -> list[_State]:
    found = []
    for thread, buffer in enumerate(state.buffers):
        for index, (location, value, last) in enumerate(buffer):
            earlier = buffer[:index]
            held = any(other in (None, location) for other, _, _ in earlier) or (last and earlier)
            if held or (model == "tso" and earlier):
                continue
            memory = state.memory if location is None else _set(state.memory, location, value)
            left = buffer[:index] + buffer[index + 1 :]
            found.append(_State(state.positions, state.registers, _replaced(state.buffers, thread, left), memory))
    return found


def _steps(litmus: Litmus, state: _State) -> list[_State]:
    found = []
    for thread, operations in enumerate(litmus.threads):
        position, buffer, memory = state.positions[thread], state.buffers[thread], dict(state.memory)
        registers = dict(state.registers[thread])
        if position >= len(operations):
            continue

        def value(expression: Expression, registers: dict[str, int] = registers) -> int:
            if isinstance(expression, int):
                return expression
            return registers.get(expression[0], 0) + expression[1]

        position += 1
        match operations[position - 1]:
            case Load(register, location):
                own = [written for name, written, _ in buffer if name == location]
                registers[register] = own[-1] if own else memory[location]
            case Store(location, expression, "seq_cst"):
                if buffer:
                    continue
                memory[location] = value(expression)
            case Store(location, expression, order):
                buffer = (*buffer, (location, value(expression), order in RELEASING))
            case Update(name, location, op, operand):
                if buffer:
                    continue
                old = memory[location]
                memory[location] = value(operand) + (old if op == "add" else 0)
                if name is not None:
                    registers[name] = old
            case CompareExchange(register, location, expected, desired):
                if buffer:
                    continue
                registers[register] = memory[location]
                if memory[location] == expected:
                    memory[location] = desired
            case Fence("seq_cst"):
                if buffer:
                    continue
            case Fence(order):
                if order in RELEASING:
                    buffer = (*buffer, (None, 0, True))
            case SkipUnless(register, wanted, count):
                position += 0 if registers.get(register, 0) == wanted else count
            case Assume(register, wanted):
                if registers.get(register, 0) != wanted:
                    continue
        found.append(
            _State(
                _replaced(state.positions, thread, position),
                _replaced(state.registers, thread, tuple(sorted(registers.items()))),
                _replaced(state.buffers, thread, buffer),
                tuple(memory.items()),
            )
        )
    return found


def _set(values: Values, name: str, value: int) -> Values:
    return tuple((other, value if other == name else old) for other, old in values)


def _replaced(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])
