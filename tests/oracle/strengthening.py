"""The least that has to be stronger in a litmus test for an outcome not to be possible, by trying everything that costs
less; and litmus tests in C, with one operation in a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from tests.oracle.axioms import (
    CompareExchange,
    Expression,
    Fence,
    Litmus,
    Load,
    Operation,
    Order,
    Outcome,
    Store,
    Update,
    judge,
)

COSTS: dict[Order, int] = {"relaxed": 0, "acquire": 1, "release": 1, "acq_rel": 2, "seq_cst": 4}
NEW_FENCE = 5
ALL_ORDERS: tuple[Order, ...] = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
STRONGER: dict[Order, tuple[Order, ...]] = {
    "plain": (),
    "relaxed": ("acquire", "release", "acq_rel", "seq_cst"),
    "acquire": ("acq_rel", "seq_cst"),
    "release": ("acq_rel", "seq_cst"),
    "acq_rel": ("seq_cst",),
    "seq_cst": (),
}
READS: tuple[Order, ...] = ("relaxed", "acquire", "seq_cst")
WRITES: tuple[Order, ...] = ("relaxed", "release", "seq_cst")


@dataclass(frozen=True)
class Wrong:
    """A litmus test, and what must not be: an outcome, and with `races` any data race."""

    litmus: Litmus
    outcome: Outcome
    memory: str
    races: bool

    def is_right(self) -> bool:
        verdict = judge(self.litmus, [self.memory])[self.memory]
        return self.outcome not in verdict.outcomes and not (self.races and verdict.races)

    @property
    def strongest(self) -> Wrong:
        """With a seq_cst fence everywhere, and all orders as strong as they can be."""
        threads = []
        for thread in self.litmus.threads:
            strong: list[Operation] = [Fence("seq_cst")]
            for operation in thread:
                strong += [_ways(operation)[-1][1], Fence("seq_cst")]
            threads.append(tuple(strong))
        return replace(self, litmus=Litmus(tuple(threads)))

    def cheaper(self, cost: int) -> Iterator[Wrong]:
        """With all changes that cost less."""
        threads = [_threads(thread, cost - 1) for thread in self.litmus.threads]
        for chosen in _sums([[way[0] for way in thread] for thread in threads], cost - 1):
            picked = tuple(thread[number][1] for thread, number in zip(threads, chosen, strict=True))
            yield replace(self, litmus=Litmus(picked))


def _ways(operation: Operation) -> list[tuple[int, Operation]]:
    """An operation with all orders that are not weaker, and what each costs more; the strongest comes last."""

    def orders(present: Order, possible: tuple[Order, ...]) -> list[tuple[int, Order]]:
        more = [order for order in STRONGER[present] if order in possible]
        return [(0, present), *((COSTS[order] - COSTS[present], order) for order in more)]

    match operation:
        case Load(order=order):
            return [(cost, replace(operation, order=each)) for cost, each in orders(order, READS)]
        case Store(order=order):
            return [(cost, replace(operation, order=each)) for cost, each in orders(order, WRITES)]
        case Update(order=order) | Fence(order=order):
            return [(cost, replace(operation, order=each)) for cost, each in orders(order, ALL_ORDERS)]
        case CompareExchange(order=order, failure=failure):
            return [
                (cost + more, replace(operation, order=each, failure=other))
                for cost, each in orders(order, ALL_ORDERS)
                for more, other in orders(failure, READS)
            ]
        case _:
            raise AssertionError(operation)


@cache
def _threads(thread: tuple[Operation, ...], most: int) -> list[tuple[int, tuple[Operation, ...]]]:
    """A thread with all changes that cost no more than that."""
    fences: list[tuple[int, tuple[Operation, ...]]] = [(0, ())]
    fences += [(NEW_FENCE + COSTS[order], (Fence(order),)) for order in ALL_ORDERS[1:]]
    found: list[tuple[int, tuple[Operation, ...]]] = [(0, ())]
    parts: list[list[tuple[int, tuple[Operation, ...]]]] = [fences]
    for operation in thread:
        parts += [[(cost, (way,)) for cost, way in _ways(operation)], fences]
    for part in parts:
        found = [(cost + more, begin + end) for cost, begin in found for more, end in part if cost + more <= most]
    return found


def _sums(costs: list[list[int]], most: int) -> Iterator[tuple[int, ...]]:
    """One of each, as numbers, such that the sum is no more than that."""
    if not costs:
        yield ()
        return
    for number, cost in enumerate(costs[0]):
        if cost <= most:
            yield from ((number, *rest) for rest in _sums(costs[1:], most - cost))


def simple(litmus: Litmus) -> Litmus:
    """Without branches."""
    kept = (Load, Store, Update, CompareExchange, Fence)
    return Litmus(tuple(tuple(each for each in thread if isinstance(each, kept)) for thread in litmus.threads))


def with_other_orders(source: Random, litmus: Litmus) -> Litmus:
    """With orders that are mostly too weak."""

    def weaker(order: Order, possible: tuple[Order, ...]) -> Order:
        weights = [1 / (1 + 2 * COSTS[each]) for each in possible]
        return order if order == "plain" else source.choices(possible, weights)[0]

    def changed(operation: Operation) -> Operation:
        match operation:
            case Load(order=order):
                return replace(operation, order=weaker(order, READS))
            case Store(order=order):
                return replace(operation, order=weaker(order, WRITES))
            case Update(order=order):
                return replace(operation, order=weaker(order, ALL_ORDERS))
            case CompareExchange(order=order, failure=failure):
                return replace(operation, order=weaker(order, ALL_ORDERS), failure=weaker(failure, READS))
            case Fence(order=order):
                return Fence(weaker(order, ALL_ORDERS[1:]))
        return operation

    return Litmus(tuple(tuple(map(changed, thread)) for thread in litmus.threads))


def random_wrong(source: Random, litmus: Litmus, memory: str) -> Wrong | None:
    """An outcome that is possible, and would not be if everything were stronger, or sometimes still would; or a data
    race that stronger orders remove. None: there is no such thing."""
    weak = judge(litmus, [memory])[memory]
    some = min(weak.outcomes, key=repr)
    strong = Wrong(litmus, some, memory, True).strongest.litmus
    least = judge(strong, [memory])[memory]
    outcomes = sorted(weak.outcomes - least.outcomes, key=repr)
    if weak.races and not least.races and source.random() < 0.7:
        never = replace(some, registers=tuple(tuple(9 for _ in each) for each in some.registers))
        return Wrong(litmus, never, memory, races=True)
    if not outcomes and source.random() < 0.97:
        return None
    return Wrong(litmus, source.choice(outcomes or [some]), memory, races=not least.races)


# ------------------------------------------------------------------------------------------------------------- C


@dataclass(frozen=True)
class Source:
    """A litmus test in C. `lines` are those of its operations, by thread and position."""

    text: str
    lines: dict[tuple[int, int], int]


def to_c(wrong: Wrong, builtins: bool) -> Source:
    """With the functions of <stdatomic.h>, or with builtins, which leave it open which accesses are atomic."""
    litmus, outcome = wrong.litmus, wrong.outcome
    out = ["#include <assert.h>", "#include <pthread.h>", "#include <stdatomic.h>"]
    lines = {}
    out += [f"{'int' if builtins else 'atomic_int'} {name};" for name in litmus.locations]
    for thread in range(len(litmus.threads)):
        out += [f"int result{thread}_{name};" for name in litmus.registers(thread)]
    for thread, operations in enumerate(litmus.threads):
        names = litmus.registers(thread)
        out += ["", f"static void *thread{thread}(void *unused) {{"]
        out += [f"    int {name} = 0;" for name in names]
        for position, operation in enumerate(operations):
            before, code, after = _statement(operation, position, builtins)
            out += [*(f"    {line}" for line in before), f"    {code};"]
            lines[thread, position] = len(out)
            out += [f"    {line}" for line in after]
        out += [f"    result{thread}_{name} = {name};" for name in names]
        out += ["    return unused;", "}"]
    count = len(litmus.threads)
    out += ["", "int main(void) {", f"    pthread_t threads[{count}];"]
    out += [f"    pthread_create(&threads[{n}], 0, thread{n}, 0);" for n in range(count)]
    out += [f"    pthread_join(threads[{n}], 0);" for n in range(count)]
    seen = [
        f"result{thread}_{name} == {value}"
        for thread, values in enumerate(outcome.registers)
        for name, value in zip(litmus.registers(thread), values, strict=True)
    ]
    seen += [f"{name} == {value}" for name, value in zip(litmus.locations, outcome.memory, strict=True)]
    out += [f"    assert(!({' && '.join(seen)}));", "    return 0;", "}", ""]
    return Source("\n".join(out), lines)


def _statement(operation: Operation, position: int, builtins: bool) -> tuple[list[str], str, list[str]]:
    """What is to be done before, the line of the operation itself, and what is to be done after."""

    def order(name: Order) -> str:
        return f"__ATOMIC_{name.upper()}" if builtins else f"memory_order_{name}"

    def value(expression: Expression) -> str:
        return str(expression) if isinstance(expression, int) else f"{expression[0]} + {expression[1]}"

    match operation:
        case Load(register, location, "plain"):
            return [], f"{register} = {location}", []
        case Store(location, expression, "plain"):
            return [], f"{location} = {value(expression)}", []
        case Load(register, location, name):
            function = "__atomic_load_n" if builtins else "atomic_load_explicit"
            return [], f"{register} = {function}(&{location}, {order(name)})", []
        case Store(location, expression, name):
            function = "__atomic_store_n" if builtins else "atomic_store_explicit"
            return [], f"{function}(&{location}, {value(expression)}, {order(name)})", []
        case Update(register, location, kind, operand, name):
            which = {"add": "fetch_add", "exchange": "exchange_n" if builtins else "exchange"}[kind]
            function = f"__atomic_{which}" if builtins else f"atomic_{which}_explicit"
            call = f"{function}(&{location}, {value(operand)}, {order(name)})"
            return [], f"{register} = {call}" if register else call, []
        case CompareExchange(register, location, expected, desired, name, failure):
            function = "__atomic_compare_exchange_n" if builtins else "atomic_compare_exchange_strong_explicit"
            weak = ", 0" if builtins else ""
            call = f"{function}(&{location}, &e{position}, {desired}{weak}, {order(name)}, {order(failure)})"
            return [f"int e{position} = {expected};"], call, [f"{register} = e{position};"]
        case Fence(name):
            return [], f"atomic_thread_fence({order(name)})", []
        case _:
            raise AssertionError(operation)
