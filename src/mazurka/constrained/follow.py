"""Run a program in the virtual machine as a schedule permits, choosing at random where it leaves a choice; but a thread
that was passed over often has its turn, so that one that may run again and again does.

The model is executed side by side with the machine: it says which transition a thread takes, and that the machine
agrees is checked at each step, as is all that the proof promises. `Departure` tells that a promise was broken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mazurka.constrained.model import Location, Model, Transition, Values
from mazurka.constrained.model.terms import Term, evaluate
from mazurka.constrained.plan import ProgramSchedule
from mazurka.constrained.proof import Proof, ProofNode
from mazurka.errors import MazurkaError
from mazurka.executions.schedule import Schedule, Step
from mazurka.leeway import TRUSTING

# How often inputs are drawn again if a thread cannot go on with those that were, and how long a thread may compute on
# its own.
_ATTEMPTS = 1000
_LONGEST_STEP = 100_000

# How often others may be chosen instead of a thread before it comes first.
PATIENCE = 4


class Departure(MazurkaError):
    """An execution does not do what the schedule says."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What was done: the transitions in their order, the same as steps of the virtual machine, and what the program
    printed. `ended`: the program did, otherwise there were enough steps. `waits` is, for each thread, for how many
    transitions in a row it was able to go on but others did."""

    transitions: tuple[Transition, ...]
    schedule: Schedule
    output: bytes
    ended: bool
    waits: tuple[int, ...]


def follow(schedule: Proof | ProgramSchedule, *, seed: int, steps: int = 1000) -> Execution:
    """An execution of at least so many transitions, or a whole one."""
    proof = schedule.proof if isinstance(schedule, ProgramSchedule) else schedule
    run = _Run(proof.model, Random(seed))
    node = 0
    while True:
        run.expect(proof.nodes[node])
        node = proof.uncovered(node)
        run.expect(proof.nodes[node])
        if not proof.nodes[node].edges:
            run.expect_end()
            return run.execution(ended=True)
        if len(run.transitions) >= steps:
            return run.execution(ended=False)
        if isinstance(schedule, ProgramSchedule):
            node = _follow_section(schedule, node, run)
        else:
            taken = run.take(run.choose(proof.nodes[node].threads))
            edge = next((edge for edge in proof.nodes[node].edges if edge.transition is taken), None)
            if edge is None:
                raise Departure(f"at node {node}, transition {taken.number} has no edge")
            node = edge.target


def _follow_section(schedule: ProgramSchedule, node: int, run: _Run) -> int:
    """Take the events of a section in some order that it permits (the paper's Algorithm 3)."""
    sections = schedule.sections_at(node)
    taken = run.take(run.choose(sorted({section.thread for section in sections})))
    section = next((section for section in sections if section.transition is taken), None)
    if section is None:
        raise Departure(f"at node {node}, no section begins with transition {taken.number}")
    predecessors = [0] * len(section.events)  # how many of them are left
    successors: list[list[int]] = [[] for _ in section.events]
    for first, second in section.order:
        predecessors[second] += 1
        successors[first].append(second)
    ready = [number for number, count in enumerate(predecessors) if count == 0 and number != 0]
    done, number = 1, 0
    while True:
        for later in successors[number]:
            predecessors[later] -= 1
            if predecessors[later] == 0:
                ready.append(later)
        if done == len(section.events):
            return section.end
        number = ready.pop(run.random.randrange(len(ready)))
        done += 1
        event = section.events[number]
        taken = run.take(event.thread)
        if taken is not event.transition:
            raise Departure(f"in the section from node {node}, event {number} is transition {taken.number}")


class _Run:
    """A state of the model, and the machine in the same state."""

    def __init__(self, model: Model, random: Random) -> None:
        from mazurka import _native

        assert model.lowered is not None, "the model of a program that was loaded"
        self.random = random
        self.transitions: list[Transition] = []
        self._model = model
        self._locations = list(model.initial_locations)
        self._values = model.initial_values
        # What a thread computes on its own belongs to the machine's step before it, so the choices are made in advance;
        # or, before its first event, to its creation, and the choices are made in its first step.
        self._ahead: list[deque[tuple[Transition, dict[Term, int]]]] = [deque() for _ in model.threads]
        self._owed: list[tuple[int, ...]] = [() for _ in model.threads]
        names = tuple(thread.name for thread in model.threads)
        self._machine = _native.Machine(model.lowered.code, record=True, any_status=True, thread_names=names)
        self._steps: list[Step] = []
        self._waits = [0] * len(names)
        self._longest_waits = [0] * len(names)
        self._passed = [0] * len(names)  # how often each thread might run and another one was chosen, since it ran

    def choose(self, threads: Sequence[int]) -> int:
        """One of the threads that may run: any, unless one was passed over too often."""
        longest = max(threads, key=lambda thread: self._passed[thread])
        chosen = longest if self._passed[longest] >= PATIENCE else self.random.choice(threads)
        for thread in threads:
            self._passed[thread] += 1
        self._passed[chosen] = 0
        return chosen

    def take(self, thread: int) -> Transition:
        """The next transition of a thread, in the model and in the machine."""
        for other, location in enumerate(self._locations):
            able = location.rest is None and bool(evaluate(location.enabled, self._values)) and other != thread
            self._waits[other] = self._waits[other] + 1 if able else 0
            self._longest_waits[other] = max(self._waits[other], self._longest_waits[other])
        if not self._ahead[thread]:
            if self._locations[thread].is_silent:
                transition, inputs = self._choose(self._locations[thread], self._values)
                self._ahead[thread].append((transition, inputs))
                self._owed[thread] += tuple(inputs[entry.term] for entry in transition.inputs)
            else:
                self._step(thread)
        transition, inputs = self._ahead[thread].popleft()
        if transition.silent:
            transition, inputs = self._now(thread, [inputs[entry.term] for entry in transition.inputs])
        self._values = transition.after(self._values, inputs)
        self._locations[thread] = transition.target
        for started in transition.starts:
            self._locations[started] = self._model.threads[started].entry
        self.transitions.append(transition)
        return transition

    def _step(self, thread: int) -> None:
        """One step of the machine, and all transitions that it consists of."""
        name = self._model.threads[thread].name
        values, location = self._values, self._locations[thread]
        path: list[tuple[Transition, dict[Term, int]]] = []
        while not path or location.is_silent:
            transition, inputs = self._choose(location, values)
            path.append((transition, inputs))
            values, location = transition.after(values, inputs), transition.target
            if transition.failure is not None:
                raise Departure(f"thread {name} fails: {transition.failure.message}")
            if len(path) == _LONGEST_STEP:
                raise Departure(f"thread {name} computes on its own for too long")
        choices = tuple(inputs[entry.term] for transition, inputs in path for entry in transition.inputs)
        choices, self._owed[thread] = self._owed[thread] + choices, ()
        machine = self._machine
        number = {machine.thread_name(each): each for each in machine.threads()}.get(name)
        if number is None:
            raise Departure(f"thread {name} does not exist in the machine")
        if not machine.next(number, choices).enabled:
            raise Departure(f"thread {name} cannot go on in the machine")
        machine.step(number, choices)
        self._steps.append(Step(name, choices))
        failure = machine.failure()
        if failure is not None:
            raise Departure(f"thread {name} fails in the machine: {failure.fault}")
        if location.rest == "exit":
            agree = machine.exited()
        elif location.rest is not None:
            agree = machine.status(number) == {"end": "ended", "return": "returned", "stuck": "stopped"}[location.rest]
        else:
            agree = location.point is not None and tuple(machine.frames(number)) == location.point.frames
        if not agree:
            raise Departure(f"thread {name} is at another place in the machine than in the model")
        self._ahead[thread].extend(path)

    def _choose(self, location: Location, values: Values) -> tuple[Transition, dict[Term, int]]:
        """The transition that a thread takes, with inputs drawn at random."""
        for _ in range(_ATTEMPTS):
            inputs: dict[Term, int] = {}
            for transition in location.transitions:
                for entry in transition.inputs:
                    if entry.term not in inputs:
                        count = evaluate(entry.count, values | inputs)
                        inputs[entry.term] = self.random.choice((0, count - 1, self.random.randrange(count)))
                if evaluate(transition.condition, values | inputs):
                    return transition, inputs
        raise Departure(f"thread {self._model.threads[location.thread].name} cannot go on")

    def _now(self, thread: int, drawn: Sequence[int]) -> tuple[Transition, dict[Term, int]]:
        """What a thread does on its own with inputs that were drawn ahead. Since then, others may have changed which
        block of the model is used again, which is nothing to the machine."""
        for transition in self._locations[thread].transitions:
            if len(transition.inputs) == len(drawn):
                inputs = {entry.term: value for entry, value in zip(transition.inputs, drawn, strict=True)}
                if evaluate(transition.condition, self._values | inputs):
                    return transition, inputs
        raise Departure(f"thread {self._model.threads[thread].name} does not go on as it has begun")

    def expect(self, node: ProofNode) -> None:
        """That the state is one of the node's."""
        if tuple(self._locations) != node.locations:
            raise Departure(f"the locations are not those of node {node.number}")
        for name, value in node.explicit:
            if self._values[self._model.variables[name].term] != value:
                raise Departure(f"{name} is not {value} at node {node.number}")
        for fact in node.label:
            if not evaluate(fact, self._values):
                raise Departure(f"{fact} does not hold at node {node.number}")

    def expect_end(self) -> None:
        statuses = {self._machine.status(thread) for thread in self._machine.threads()}
        if "ready" in statuses and "returned" not in statuses and not self._machine.exited():
            raise Departure("the schedule ends, but the program does not")

    def execution(self, *, ended: bool) -> Execution:
        schedule = Schedule(
            tuple(thread.name for thread in self._model.threads),
            tuple(self._steps),
            transforms=self._model.transforms,
            inputs=True,
            leeway=TRUSTING,
        )
        return Execution(tuple(self.transitions), schedule, self._machine.output(), ended, tuple(self._longest_waits))
