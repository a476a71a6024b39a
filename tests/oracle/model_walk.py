"""A model and the virtual machine side by side: the same threads take the same steps with the same inputs, and after
each of them both must be in the same state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mazurka._native import Access as NativeAccess
from mazurka._native import Machine
from mazurka.constrained.model import Location, Model, StateVariable, Transition
from mazurka.constrained.model.terms import Term, evaluate
from mazurka.machine.layout import OFFSET_BITS, base_of, object_of

State = dict[Term, int | Sequence[int]]


@dataclass(frozen=True, slots=True)
class Walk:
    """How a walk ended: "end" (nobody can go on), "exit", "failed" (in both), "beyond" (the model goes no further),
    "local" (a thread computes on its own for ever) or "steps"; and how many steps there were."""

    end: str
    steps: int
    message: str = ""


class _Local(Exception):
    """A thread computes on its own for ever."""


class Walker:
    def __init__(self, model: Model, seed: int) -> None:
        assert model.lowered is not None
        self.model = model
        self.random = Random(seed)
        names = [thread.name for thread in model.threads]
        self.machine = Machine(model.lowered.code, any_status=True, thread_names=names)
        self.locations = list(model.initial_locations)
        self.values: State = {v.term: self._initial(v) for v in model.variables.values()}
        self.failure: Transition | None = None
        self.exited = False

    def _initial(self, variable: StateVariable) -> int | Sequence[int]:
        width, length = variable.term.width, variable.term.length
        if variable.initial is not None:
            return variable.initial
        return self.random.getrandbits(width) if length is None else [self.random.getrandbits(width)] * length

    # ------------------------------------------------------------------------------------------ the model

    def choose(self, location: Location) -> tuple[Transition, State] | None:
        """A transition that can be taken, with values of its inputs."""
        drawn: State = {}
        options = list(location.transitions)
        for _ in range(300):
            drawn = {}
            for transition in options:
                for each in transition.inputs:
                    if each.term not in drawn:
                        count = evaluate(each.count, self.values | drawn)
                        drawn[each.term] = (
                            self.random.choice((0, count - 1, self.random.randrange(count))) if count else 0
                        )
            able = [one for one in options if self._can(one, drawn)]
            assert len(able) <= 1, f"two transitions at once: {able}"
            if able:
                return able[0], drawn
        return None

    def _can(self, transition: Transition, drawn: State) -> bool:
        state = self.values | drawn
        in_range = all(evaluate(one.term, state) < evaluate(one.count, state) for one in transition.inputs)
        return in_range and bool(evaluate(transition.condition, state))

    def take(self, transition: Transition, drawn: State) -> None:
        state = self.values | drawn
        after = {}
        for variable, value in transition.assigns.items():
            after[variable.term] = _elements(value, state) if variable.is_array else evaluate(value, state)
        self.values |= after
        self.locations[transition.thread] = transition.target
        for number in transition.starts:
            assert self.locations[number].rest == "unborn", "a thread that exists is started"
            self.locations[number] = self.model.threads[number].entry
        if transition.failure is not None:
            self.failure = transition

    def settle(self, number: int) -> list[int]:
        """Take the silent transitions of a thread, and of those that they start; the inputs of these."""
        inputs: list[int] = []
        for _ in range(300):
            location = self.locations[number]
            if not location.transitions or not location.transitions[0].silent or self.failure is not None:
                return inputs
            found = self.choose(location)
            assert found is not None, f"no way to go on locally at {location.point}"
            transition, drawn = found
            inputs += [evaluate(one.term, drawn) for one in transition.inputs]
            self.take(transition, drawn)
            for started in transition.starts:
                assert not self.settle(started)
        raise _Local

    # -------------------------------------------------------------------------------------------- together

    def run(self, most_steps: int) -> Walk:
        try:
            return self._run(most_steps)
        except _Local:
            return Walk("local", 0)
        except AssertionError as error:
            places = (location.point.source if location.point else location.rest for location in self.locations)
            where = "; ".join(f"{number}: {place}" for number, place in enumerate(places))
            raise AssertionError(f"{error} (at {where})") from error

    def _run(self, most_steps: int) -> Walk:
        self.settle(0)
        for steps in range(most_steps):
            if self.failure is not None:
                assert self.failure.failure is not None
                if self.failure.failure.kind == "beyond":
                    return Walk("beyond", steps, f"{self.failure.failure.location}: {self.failure.failure.message}")
                self._compare_failure()
                return Walk("failed", steps)
            self.compare()
            if self.exited:
                return Walk("exit", steps)
            enabled = [n for n, location in enumerate(self.locations) if self._is_enabled(n, location)]
            if not enabled:
                return Walk("end", steps)
            self.step(self.random.choice(enabled))
        return Walk("steps", most_steps)

    def _is_enabled(self, number: int, location: Location) -> bool:
        if location.rest is not None:
            return False
        enabled = bool(evaluate(location.enabled, self.values))
        ahead = self.machine.next(number + 1)
        follows = not any(one.failure is not None and one.failure.kind == "beyond" for one in location.transitions)
        assert enabled == ahead.enabled or (enabled and ahead.ranges) or not follows, (
            f"thread {number} is {'enabled' if enabled else 'blocked'} in the model only"
        )
        return enabled

    def step(self, number: int) -> None:
        before = self.locations[number]
        found = self.choose(before)
        assert found is not None, f"no transition at {before.point}, where the thread is enabled"
        transition, drawn = found
        state = self.values | drawn
        self.take(transition, drawn)
        choices = [evaluate(one.term, drawn) for one in transition.inputs]
        for started in transition.starts:
            assert not self.settle(started)
        if transition.failure is None:
            choices += self.settle(number)
        if self.failure is not None and self.failure.failure is not None and self.failure.failure.kind == "beyond":
            return
        ahead = self.machine.next(number + 1, choices)
        assert ahead.enabled, f"the machine cannot take {before.point} with {choices}"
        touched = self.machine.step(number + 1, choices)
        self._compare_accesses(transition, touched, state)
        self.exited = transition.target.rest == "exit"

    # ------------------------------------------------------------------------------------------- comparing

    def compare(self) -> None:
        failure = self.machine.failure()
        assert failure is None, f"the machine fails: {failure.kind} {failure.fault} at {failure.frames}"
        assert self.machine.exited() == self.exited
        if self.exited:
            return
        existing = set(self.machine.threads())
        for number, location in enumerate(self.locations):
            slot = number + 1
            assert (slot in existing) == (location.rest != "unborn"), f"thread {number} exists on one side only"
            if location.rest is None:
                assert self.machine.status(slot) == "ready", f"thread {number} has {self.machine.status(slot)}"
                assert location.point is not None
                frames = tuple(self.machine.frames(slot))
                assert frames == location.point.frames, f"thread {number} is at {frames}, not {location.point}"
            elif location.rest in ("end", "return", "stuck"):
                expected = {"end": "ended", "return": "returned", "stuck": "stopped"}[location.rest]
                assert self.machine.status(slot) == expected, f"thread {number}: {self.machine.status(slot)}"
        self._compare_memory()

    def _compare_memory(self) -> None:
        """Blocks may have other addresses in the machine, but each one its own. What is in those that variables refer
        to is compared as well, where the model says that it was written."""
        blocks: dict[int, int] = {}
        for variable in self.model.variables.values():
            if variable.address is None or variable.thread is not None:
                continue
            info = self.machine.describe(variable.address)
            if info.kind in ("global", "thread") and info.alive:
                self._compare_words(variable, variable.address, blocks)
        compared: set[StateVariable] = set()
        pending = True
        while pending:
            pending = False
            for variable in self.model.variables.values():
                if variable.address is None or variable in compared or object_of(variable.address) not in blocks:
                    continue
                compared.add(variable)
                base = blocks[object_of(variable.address)] << OFFSET_BITS
                written = self.model.variables.get(f"{variable.name}.written")
                if written is None or variable.is_array or not self.values[written.term]:
                    continue
                if self.machine.describe(base).alive:
                    offset = variable.address - base_of(variable.address)
                    self._compare_words(variable, base + offset, blocks)
                    pending = True

    def _compare_words(self, variable: StateVariable, address: int, blocks: dict[int, int]) -> None:
        size = variable.term.width // 8
        value = self.values[variable.term]
        for index, element in enumerate([value] if isinstance(value, int) else value):
            found = int.from_bytes(self.machine.read(address + index * variable.stride, size), "little")
            what = f"{variable.name}[{index}] is {found}, not {element}"
            if size == 8 and self.machine.describe(found).kind in ("heap", "stack"):
                ours, theirs = object_of(element), object_of(found)
                assert blocks.setdefault(ours, theirs) == theirs, what
                assert len(set(blocks.values())) == len(blocks), what
                assert element - base_of(element) == found - base_of(found), what
            else:
                assert found == element, what

    def _compare_failure(self) -> None:
        failure = self.machine.failure()
        assert self.failure is not None and self.failure.failure is not None
        expected = self.failure.failure
        assert failure is not None, f"only the model fails: {expected}"
        assert failure.kind == expected.kind, f"{failure.kind} ({failure.fault}), not {expected}"

    def _compare_accesses(self, transition: Transition, touched: list[NativeAccess], state: State) -> None:
        """What the machine has touched must be among the accesses of the transition, taken in a state."""
        said = {
            (access.variable, None if access.index is None else evaluate(access.index, state)): access
            for access in transition.accesses
        }
        for access in touched:
            start, size = access.address, access.size
            if size > 8 or self.machine.describe(start).kind not in ("global", "thread"):
                continue
            for variable in self.model.variables.values():
                if variable.address is None or variable.thread is not None:
                    continue
                element, offset = None, variable.address
                if variable.term.length is not None:
                    element = max(0, min(start - variable.address, variable.stride * variable.term.length - 1))
                    element //= variable.stride
                    offset += element * variable.stride
                if not (start < offset + variable.term.width // 8 and offset < start + size):
                    continue
                known = said.get((variable, element))
                assert known is not None, f"{transition.source.point} touches {variable.name} {element or ''}"
                assert known.reads or not access.reads
                assert known.writes or not access.writes


def _elements(term: Term, state: State) -> Sequence[int]:
    """The elements of an array."""
    match term.op:
        case "variable":
            value = state[term]
            assert not isinstance(value, int)
            return value
        case "array":
            return [evaluate(term.args[0], state)] * (term.length or 0)
        case "ite":
            return _elements(term.args[1] if evaluate(term.args[0], state) else term.args[2], state)
    elements = list(_elements(term.args[0], state))
    index = evaluate(term.args[1], state)
    assert index < len(elements), "an index beyond its array"
    elements[index] = evaluate(term.args[2], state)
    return elements
