"""Whether a small model has a safe, deadlock-free and fair schedule, decided by a parity game.

The game of scheduler and inputs is made a parity game by remembering in which order the threads have run last (an index
appearance record), and solved by Zielonka's algorithm: slow, simple, and nothing like what the engine does."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from mazurka import _native
from mazurka.constrained.model import Transition
from mazurka.constrained.model.terms import evaluate
from mazurka.machine.lowering import Lowered
from tests.oracle.model_states import State, States, inputs_of
from tests.oracle.oracle import Step, TooLarge
from tests.oracle.states import deadlocks, enabled, failure

# For each thread that can run: where it may lead, as the adversary likes; None if it must not run.
Options = Mapping[int, frozenset[Hashable] | None]

_SCHEDULER, _ADVERSARY = 0, 1


def has_schedule(states: States) -> bool:
    """Whether a scheduler that sees the state can avoid everything bad, and be fair."""

    def options(state: Hashable) -> Options:
        return {thread: _safe(frozenset(nodes)) for thread, nodes in states.successors[_state(state)].items()}

    return _wins(states.initial, options, lambda state: state in states.ends, len(states.model.threads))


def has_blind_schedule(states: States) -> bool:
    """The same for one that sees only which transitions were taken."""

    def options(group: Hashable) -> Options:
        assert isinstance(group, frozenset)
        found: dict[int, frozenset[Hashable] | None] = {}
        for thread in {thread for state in group for thread in states.successors[state]}:
            targets: dict[Transition, set[State]] = {}
            found[thread] = None
            if all(None not in states.successors[state].get(thread, {None}) for state in group):
                for state in group:
                    for transition, after in _steps(states, state, thread):
                        targets.setdefault(transition, set()).add(after)
                found[thread] = frozenset(frozenset(each) for each in targets.values())
        return found

    def ended(group: Hashable) -> bool:
        assert isinstance(group, frozenset)
        return group <= states.ends

    return _wins(frozenset({states.initial}), options, ended, len(states.model.threads))


def machine_has_schedule(lowered: Lowered, thread_names: Sequence[str], *, limit: int) -> bool:
    """Whether a scheduler that sees the state of the virtual machine can avoid everything bad, and be fair."""
    machine = _native.Machine(
        lowered.code, pause_after=1000, follow_pointers=True, any_status=True, thread_names=thread_names
    )
    begin = machine.mark()
    while True:
        addresses_matter = machine.addresses_matter()
        ended: set[Hashable] = set()
        options = _machine_options(machine, lowered, ended, limit)
        # If the program turns out to look at addresses as at numbers, more states are different.
        if machine.addresses_matter() == addresses_matter:
            machine.rewind(begin)
            return _wins(machine.canonical(), options.__getitem__, ended.__contains__, len(thread_names))
        machine.rewind(begin)


def _machine_options(
    machine: _native.Machine, lowered: Lowered, ended: set[Hashable], limit: int
) -> dict[Hashable, Options]:
    targets: dict[Hashable, dict[int, set[Hashable] | None]] = {}
    path: list[tuple[int, Hashable, list[Step]]] = []

    def arrive() -> Hashable | None:
        """The state, None if it is a failure."""
        if failure(machine):
            return None
        state = machine.canonical()
        if state not in targets:
            if len(targets) == limit:
                raise TooLarge
            targets[state] = {}
            statuses = {machine.status(each) for each in machine.threads()}
            steps = list(enabled(machine))
            deadlocked = any(kind == "deadlock" for kind, _ in deadlocks(machine, lowered))
            returned = "returned" in statuses and not steps and not deadlocked
            if machine.exited() or returned or statuses <= {"ended", "returned", "stopped"}:
                ended.add(state)
            elif not deadlocked:
                path.append((machine.mark(), state, steps))
        return state

    if arrive() is None:
        return {machine.canonical(): {}}
    while path:
        mark, state, remaining = path[-1]
        machine.rewind(mark)
        if not remaining:
            path.pop()
            continue
        thread, choices = remaining.pop()
        machine.step(thread, choices)
        found = targets[state].setdefault(thread - 1, set())
        after = arrive()
        if after is None or found is None:
            targets[state][thread - 1] = None
        else:
            found.add(after)
    return {
        state: {thread: None if found is None else frozenset(found) for thread, found in own.items()}
        for state, own in targets.items()
    }


def _state(position: Hashable) -> State:
    assert isinstance(position, tuple)
    return position


def _safe(nodes: frozenset[State | None]) -> frozenset[Hashable] | None:
    return None if None in nodes else frozenset(nodes)


def _steps(states: States, state: State, thread: int) -> list[tuple[Transition, State]]:
    values = {each.term: value for each, value in zip(states.variables, state[1], strict=True)}
    found = []
    for transition in states.locations(state)[thread].transitions:
        for inputs in inputs_of(transition.inputs):
            if evaluate(transition.condition, {**values, **inputs}):
                after = states.after(state, transition, {**values, **inputs})
                assert after is not None
                found.append((transition, after))
    return found


def _wins(initial: Hashable, options: Callable[[Hashable], Options], ended: Callable[[Hashable], bool], n: int) -> bool:
    """Whether the scheduler wins. Vertices of the scheduler are (position, order); the priority of the adversary's says
    who gains by the step: the scheduler likes odd ones."""
    owner: dict[Hashable, int] = {"won": _SCHEDULER, "lost": _SCHEDULER}
    priority: dict[Hashable, int] = {"won": 1, "lost": 2}
    edges: dict[Hashable, set[Hashable]] = {"won": {"won"}, "lost": {"lost"}}
    first: Hashable = (initial, tuple(range(n)))
    waiting = [first]
    while waiting:
        vertex = waiting.pop()
        if vertex in edges:
            continue
        assert isinstance(vertex, tuple)
        position, order = vertex
        owner[vertex], priority[vertex], edges[vertex] = _SCHEDULER, 0, set()
        if ended(position):
            edges[vertex].add("won")
            continue
        able = options(position)
        for thread, targets in able.items():
            if targets is None:
                continue
            runs = order.index(thread) + 1
            waits = max(order.index(other) + 1 for other in able)
            new_order = (thread, *(other for other in order if other != thread))
            move: Hashable = ("move", vertex, thread)
            owner[move], priority[move] = _ADVERSARY, 2 * waits if waits > runs else 2 * runs + 1
            edges[move] = {(target, new_order) for target in targets}
            edges[vertex].add(move)
            waiting += edges[move]
        if not edges[vertex]:
            edges[vertex].add("lost")
    return first in _zielonka(set(edges), owner, priority, edges)


def _zielonka(
    vertices: set[Hashable],
    owner: Mapping[Hashable, int],
    priority: Mapping[Hashable, int],
    edges: Mapping[Hashable, set[Hashable]],
) -> set[Hashable]:
    """The vertices from which the scheduler can make the greatest priority that is seen for ever odd."""
    if not vertices:
        return set()
    highest = max(priority[each] for each in vertices)
    player = _SCHEDULER if highest % 2 else _ADVERSARY
    near = _attractor({each for each in vertices if priority[each] == highest}, player, vertices, owner, edges)
    rest = vertices - near
    scheduler = _zielonka(rest, owner, priority, edges)
    opponent = rest - scheduler if player == _SCHEDULER else scheduler
    if not opponent:
        return vertices if player == _SCHEDULER else set()
    lost = _attractor(opponent, 1 - player, vertices, owner, edges)
    scheduler = _zielonka(vertices - lost, owner, priority, edges)
    return scheduler if player == _SCHEDULER else scheduler | lost


def _attractor(
    target: set[Hashable],
    player: int,
    vertices: set[Hashable],
    owner: Mapping[Hashable, int],
    edges: Mapping[Hashable, set[Hashable]],
) -> set[Hashable]:
    found = set(target)
    while True:
        more = {
            each
            for each in vertices - found
            if (edges[each] & found if owner[each] == player else (edges[each] & vertices) <= found)
        }
        if not more:
            return found
        found |= more
