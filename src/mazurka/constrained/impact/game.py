"""Whether there is a safe schedule at all, decided by a game (the paper's removal of error paths from a complete tree).

The scheduler chooses a thread that can run, its adversary what that thread does: the inputs. The scheduler loses a play
that fails or gets stuck, and one that goes on for ever and passes over a thread for ever that can run again and again.
It wins if it has a strategy that wins every play: then that is a schedule that is safe, free of deadlocks and fair; and
if not, there is no such schedule.

The game is played twice. If the scheduler loses when it sees the whole state, it has no schedule whatsoever: that is
a theorem about the program. A proof can only express schedules that depend on the transitions which were taken, though,
not on values that have been read. So the second game is about sets of states: those in which the same transitions can
have ended. There a thread may be chosen if it can run in all of them, and must not be passed over if it can in some. A
strategy that wins it is turned into a proof, with a node for each set and each thing that the strategy remembers.

**The fixpoint.** `Game._win(threads, region, good)` are the positions from which the scheduler can force that the play
comes to `good`, or stays in `region` for ever and is fair to `threads`. Let p be the positions at which the first
thread T of them that is being looked at can run. Z is what is left of the region, and F(Z) is the least Y so that

    Y  =  _win(threads - T, Z - p, good + "T can run here, and always leads to Z" + "some thread always leads to Y").

Z is replaced by F(Z), for one T after the other, until that changes nothing.

*All positions that are found are winning.* Serve the threads in turn. To serve T, follow the strategy of the smallest
Y that contains the position: either it stays in the region without p for ever, fair to the others, and T cannot run; or
it comes to a smaller Y, and in the end to `good` or to where T runs, and then it is the next thread's turn, again at a
position of Z. If everybody is served again and again, that is fair; if not, what happens in the end is fair.

*All winning positions are found.* Let V be those. V is a subset of F(V), for each T, so that V is never removed from Z
(F is monotone). For suppose that a play, by a strategy that wins, is at a position of V outside of Y = F(V). By
induction `_win` of fewer threads is exact, and such games are determined, so the adversary can prevent that from there
the play comes to one of the good positions of that smaller game, or stays in V - p for ever and is fair to the other
threads. It does not get to `good`, and it stays in V, since the strategy wins; so it comes to a position of p, outside
of Y. The strategy does not run T there, which need not lead to V. With any other thread, the adversary can get to a
position outside of Y again, or the position would be in Y; and so on for ever. T can run again and again, but never
does: the strategy does not win.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.constrained.impact.states import OutOfReach, StateGraph
from mazurka.constrained.model import Transition
from mazurka.constrained.model.terms import conjunction, disjunction
from mazurka.constrained.proof import Edge, Proof, ProofNode

_MOST_POSITIONS = 50_000

# What a strategy remembers: whose turn it is to be served, and what the strategy of a smaller game remembers, which it
# follows meanwhile (see `_Place.inner`).
Memory = tuple[int, "Memory | None"]


@dataclass(frozen=True, slots=True)
class _Place:
    """What to do at a position in order to serve a thread: let `thread` run, and if that `serves`, it is the next one's
    turn. Or follow the strategy `inner` until it comes to one of its good positions."""

    thread: int = -1
    serves: bool = False
    inner: _Strategy | None = None


@dataclass(slots=True, eq=False)
class _Strategy:
    """`order` are the threads that are served in turn, and `places` what to do for each of them."""

    good: Collection[int]
    order: tuple[int, ...] = ()
    places: list[dict[int, _Place]] = field(default_factory=list)

    def begin(self, position: int, turn: int = 0) -> Memory:
        inner = self.places[turn][position].inner
        return turn, inner.begin(position) if inner is not None else None

    def choice(self, position: int, memory: Memory) -> int:
        """The thread that runs. (While another strategy is followed, `places` is what that was begun with.)"""
        turn, within = memory
        place = self.places[turn][position]
        return place.thread if place.inner is None or within is None else place.inner.choice(position, within)

    def after(self, position: int, memory: Memory, following: int) -> Memory | None:
        """What is remembered when the play has come to another position; None: it is one of the good ones."""
        if following in self.good:
            return None
        turn, within = memory
        place = self.places[turn][position]
        if place.inner is not None and within is not None:
            inner = place.inner.after(position, within, following)
            return (turn, inner) if inner is not None else self.begin(following, turn)
        return self.begin(following, (turn + 1) % len(self.order) if place.serves else turn)


class Game:
    """`able` are the threads that can run at each position, `moves` where those lead that may be chosen there. The
    scheduler has won at the positions `ended`, and lost where it has no moves. `winning` are all positions from which
    it wins, and `strategy` is how."""

    def __init__(
        self,
        able: Sequence[Collection[int]],
        moves: Sequence[Mapping[int, Collection[int]]],
        ended: Iterable[int],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._able = able
        self._moves = moves
        self._is_stopped = is_stopped
        self._before: list[list[tuple[int, int]]] = [[] for _ in moves]  # from where, with which thread, to each
        for position, own in enumerate(moves):
            for thread, targets in own.items():
                for target in targets:
                    self._before[target].append((position, thread))
        threads = sorted({thread for each in able for thread in each})
        self.winning, self.strategy = self._win(tuple(threads), set(range(len(moves))), frozenset(ended))

    def _win(
        self, threads: tuple[int, ...], region: set[int], good: frozenset[int]
    ) -> tuple[frozenset[int], _Strategy]:
        left = frozenset(region | good)
        while threads:
            before = left
            strategy = _Strategy(good, threads)
            for thread in threads:
                left, places = self._serve(thread, threads, left, good)
                strategy.places.append(places)
            if left == before:
                return left, strategy
        return good, _Strategy(good)  # where nobody can run, nothing goes on

    def _serve(
        self, thread: int, threads: tuple[int, ...], left: frozenset[int], good: frozenset[int]
    ) -> tuple[frozenset[int], dict[int, _Place]]:
        """The positions of `left` from which the thread can be served, and how."""
        others = tuple(other for other in threads if other != thread)
        places = {
            position: _Place(thread, serves=True)
            for position in left - good
            if thread in self._moves[position] and left.issuperset(self._moves[position][thread])
        }
        reached = good.union(places)
        while True:
            if self._is_stopped():
                raise OutOfReach("it was stopped")
            reached = self._attracted(reached, left, places)
            apart = {position for position in left - reached if thread not in self._able[position]}
            more, inner = self._win(others, apart, reached) if apart else (reached, None)
            if more == reached:
                return reached, places
            for position in more - reached:
                places[position] = _Place(inner=inner)
            reached = more

    def _attracted(self, reached: frozenset[int], left: frozenset[int], places: dict[int, _Place]) -> frozenset[int]:
        """The positions from which the scheduler can force the play to those that are reached."""
        found = set(reached)
        missing: dict[tuple[int, int], int] = {}  # to how many other positions a thread may lead
        waiting = list(reached)
        while waiting:
            for move in self._before[waiting.pop()]:
                position, thread = move
                if position in left and position not in found:
                    missing[move] = missing.get(move, len(set(self._moves[position][thread]))) - 1
                    if missing[move] == 0:
                        found.add(position)
                        places[position] = _Place(thread)
                        waiting.append(position)
        return frozenset(found)


def winning_states(states: StateGraph) -> Collection[int]:
    """The states from which there is a schedule that is safe, free of deadlocks and fair. If the states are partial,
    there may be others among them, but all of those are: the adversary does less than it could, and the scheduler is
    taken to win in states that are unknown."""
    moves = [
        {}
        if number in states.stuck
        else {
            thread: {target for _, targets in ways for target in targets}
            for thread, ways in own.items()
            if ways is not None
        }
        for number, own in enumerate(states.moves)
    ]
    over = states.over | states.unknown
    ended = (number for number, state in enumerate(states.states) if state.ended or number in over)
    return Game(states.moves, moves, ended, states.is_stopped).winning


class _Guesses:
    """The positions of the second game: sets of states in which the same transitions can have ended. States from which
    the first game is lost are avoided."""

    def __init__(self, states: StateGraph, winning: Collection[int]) -> None:
        self._states = states
        self.sets: list[tuple[int, ...]] = [(0,)]
        self.able: list[set[int]] = []
        self.moves: list[dict[int, dict[Transition, int]]] = []
        self._numbers = {self.sets[0]: 0}
        while len(self.moves) < len(self.sets):
            if len(self.sets) > _MOST_POSITIONS or states.is_stopped():
                raise OutOfReach(f"there are more than {_MOST_POSITIONS} sets of states")
            own = self.sets[len(self.moves)]
            self.able.append({thread for each in own for thread in states.moves[each]})
            self.moves.append(
                {thread: ways for thread in sorted(self.able[-1]) if (ways := self._ways(own, thread, winning))}
            )

    def _ways(self, own: tuple[int, ...], thread: int, winning: Collection[int]) -> dict[Transition, int] | None:
        """Where the transitions of a thread lead, if it may be chosen."""
        found: dict[Transition, set[int]] = {}
        for state in own:
            ways = self._states.moves[state].get(thread)
            if ways is None:
                return None
            for transition, targets in ways:
                found.setdefault(transition, set()).update(targets)
        if not all(target in winning for targets in found.values() for target in targets):
            return None
        return {transition: self._number(tuple(sorted(targets))) for transition, targets in found.items()}

    def _number(self, states: tuple[int, ...]) -> int:
        number = self._numbers.setdefault(states, len(self.sets))
        if number == len(self.sets):
            self.sets.append(states)
        return number


def winning_proof(states: StateGraph, winning: Collection[int]) -> Proof | None:
    """A schedule that wins, if there is one that depends on nothing but the transitions that were taken. `winning` are
    the winning states; nothing must be missing."""
    assert states.partial is None
    guesses = _Guesses(states, winning)
    ended = [
        number for number, own in enumerate(guesses.sets) if states.states[own[0]].ended or states.over.issuperset(own)
    ]
    targets = [{thread: set(ways.values()) for thread, ways in own.items()} for own in guesses.moves]
    game = Game(guesses.able, targets, ended, states.is_stopped)
    if 0 not in game.winning:
        return None
    strategy = game.strategy
    first: tuple[int, Memory | None] = 0, None if 0 in strategy.good else strategy.begin(0)
    numbers = {first: 0}
    waiting = [first]
    nodes: list[ProofNode] = []
    for position, memory in waiting:  # (it grows)
        edges: list[Edge] = []
        if memory is not None:
            for transition, target in guesses.moves[position][strategy.choice(position, memory)].items():
                following = target, strategy.after(position, memory, target)
                if following not in numbers:
                    numbers[following] = len(waiting)
                    waiting.append(following)
                edges.append(Edge(transition, numbers[following]))
        nodes.append(_node(states, guesses.sets[position], len(nodes), tuple(edges)))
    return Proof(states.model, tuple(nodes))


def _node(states: StateGraph, own: tuple[int, ...], number: int, edges: tuple[Edge, ...]) -> ProofNode:
    """A node for a set of states, whose label says exactly which those are, as far as that matters."""
    facts = [dict.fromkeys(states.facts(states.states[each])) for each in own]
    common = [fact for fact in facts[0] if all(fact in others for others in facts)]
    different = [conjunction([fact for fact in each if fact not in common]) for each in facts]
    label = (*common, disjunction(different)) if len(own) > 1 else tuple(common)
    return ProofNode(number, states.states[own[0]].locations, (), label, edges)
