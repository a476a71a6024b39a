"""What an iteration yields: an incomplete verification result, as a finite proof of what it promises.

The proof is an abstract reachability tree without what it does not need: nodes with what is known of the states there,
the threads that may run at each, and which node stands in for which. It speaks only of a `Model`, so that it can be
stored, checked by somebody else (`checker`) and followed by a scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.constrained.model import Location, Model, Transition
from mazurka.constrained.model.terms import Term
from mazurka.executions.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition of a thread that may run at the node, and the number of the node that it leads to."""

    transition: Transition
    target: int


@dataclass(frozen=True, slots=True)
class ProofNode:
    """All states at `locations` (one for each thread) that are reached here satisfy all of `label`, and have the values
    `explicit` of the explicit variables.

    A node that is `covered_by` another has no edges: executions go on from that one, which is not covered itself.
    Otherwise, for each thread that has edges here, there is one for every transition of it at its location that some
    state of the label can take; and unless the program has ended here, there is such a thread."""

    number: int
    locations: tuple[Location, ...]
    explicit: tuple[tuple[str, int], ...]
    label: tuple[Term, ...]
    edges: tuple[Edge, ...] = ()
    covered_by: int | None = None

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads that may run here, in the order of their numbers."""
        return tuple(sorted({edge.transition.thread for edge in self.edges}))


@dataclass(frozen=True, slots=True)
class Proof:
    """A safe, deadlock-free and fair incomplete verification result. `nodes[0]` is where executions begin."""

    model: Model
    nodes: tuple[ProofNode, ...]

    def uncovered(self, number: int) -> int:
        """The node at which executions that arrive at this one go on."""
        covered_by = self.nodes[number].covered_by
        return number if covered_by is None else covered_by


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A path of the model to a failure (or, with kind "deadlock", to where no thread can go on), and the same as a
    schedule that the virtual machine can replay. `inputs` are the values of each transition's inputs."""

    kind: str
    message: str
    path: tuple[Transition, ...]
    inputs: tuple[tuple[int, ...], ...]
    schedule: Schedule
