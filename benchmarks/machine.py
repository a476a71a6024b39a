"""How fast the machine runs local code, takes steps and goes back: python benchmarks/machine.py

Prints instructions per second with and without tracking of uninitialised values, and executions per second of both
explorers on a small program. Ratios within one run mean more than the absolute numbers, which depend on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mazurka import _native
from mazurka.machine.lowering import lower
from mazurka.program.builder import ProgramBuilder
from mazurka.program.program import Program
from mazurka.program.types import I64

ROUNDS = 5


def arithmetic(iterations: int) -> Program:
    """A loop of simple instructions in one thread."""
    builder = ProgramBuilder()
    result = builder.variable("result", I64)
    with builder.function("main") as f:
        entry = f.here
        f.block("loop")
        index, sum_ = f.phi(I64, (entry, 0)), f.phi(I64, (entry, 0))
        following = f.add(index, 1)
        mixed = f.xor(f.mul(sum_, 31), following)
        f.incoming(index, "loop", following)
        f.incoming(sum_, "loop", mixed)
        f.branch(f.compare("ult", following, iterations), "loop", "end")
        f.block("end")
        f.store(result, mixed)
    return builder.build()


def memory(iterations: int) -> Program:
    """The same with a load and a store in each round."""
    builder = ProgramBuilder()
    result = builder.variable("result", I64)
    with builder.function("main") as f, f.repeat(iterations):
        f.store(result, f.add(f.load(result), 1))
    return builder.build()


def counters(threads: int) -> Program:
    """Threads that each increment a shared counter, not atomically."""
    builder = ProgramBuilder()
    counter = builder.variable("counter", I64)
    with builder.function("worker") as f:
        f.store(counter, f.add(f.load(counter), 1))
    with builder.function("main") as f:
        for _ in range(threads):
            f.spawn("worker")
    return builder.build()


def best(measure: Callable[[], float]) -> float:
    return max(measure() for _ in range(ROUNDS))


def instructions_per_second(program: Program, uninitialised: bool) -> float:
    code = lower(program).code

    def measure() -> float:
        start = time.perf_counter()
        machine = _native.Machine(code, uninitialised=uninitialised, instruction_limit=10**10)
        return machine.instructions_executed() / (time.perf_counter() - start)

    return best(measure)


def executions_per_second(program: Program, algorithm: str) -> tuple[int, float]:
    code = lower(program).code
    executions = 0

    def measure() -> float:
        nonlocal executions
        exploration = _native.Exploration(code, algorithm=algorithm)
        start = time.perf_counter()
        exploration.run()
        seconds = time.perf_counter() - start
        executions = sum(exploration.progress()[:3])
        return executions / seconds

    rate = best(measure)
    return executions, rate


def main() -> None:
    print(f"{'million instructions per second':40}{'tracking':>10}{'without':>10}{'ratio':>8}")
    for name, program in [("arithmetic", arithmetic(2_000_000)), ("loads and stores", memory(1_000_000))]:
        tracking, without = (instructions_per_second(program, uninitialised) / 1e6 for uninitialised in (True, False))
        print(f"{name:40}{tracking:10.0f}{without:10.0f}{tracking / without:8.2f}")
    print()
    print(f"{'executions of threads with 2 accesses':40}{'number':>10}{'per second':>12}")
    for algorithm, threads in (("exhaustive", 3), ("pop", 5)):
        number, rate = executions_per_second(counters(threads), algorithm)
        print(f"{f'{algorithm}, {threads} threads':40}{number:10}{rate:12.0f}")


if __name__ == "__main__":
    main()
