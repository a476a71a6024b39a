"""What all parts of the validator know."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.constrained.checker.prover import Facts, Prover, claims_of
from mazurka.constrained.enforce.validation.places import Places
from mazurka.constrained.enforce.validation.reading import ReadTables, Stage
from mazurka.constrained.model.terms import negation
from mazurka.constrained.proof import Proof


@dataclass(slots=True)
class Context:
    """The tables and the proof that are compared, and the problems that were found, in their order."""

    proof: Proof
    tables: ReadTables
    places: Places
    level: int
    found: dict[str, None] = field(default_factory=dict)
    prover: Prover = field(default_factory=Prover)
    facts: dict[int, Facts] = field(default_factory=dict)


class Check:
    """A part of the validator."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._proof = context.proof
        self._model = context.proof.model
        self._nodes = context.proof.nodes
        self._tables = context.tables
        self._native = context.places
        self._level = context.level
        names = context.places.constants
        self._nowhere, self._first_point = names["NOWHERE"], names["FIRST_POINT"]
        self._publish, self._redirect, self._late = names["PUBLISH"], names["REDIRECT"], names["LATE"]
        self._settle, self._omit, self._continues = names["SETTLE"], names["OMIT"], names["CONTINUES"]

    def _say(self, problem: str) -> None:
        self._context.found[problem] = None

    def _name(self, thread: int) -> str:
        return f"thread {self._model.threads[thread].display}"

    def _stage(self, number: int) -> Stage:
        return self._tables.stages[number]

    def _facts_at(self, number: int) -> Facts:
        if number not in self._context.facts:
            self._context.facts[number] = Facts(claims_of(self._model, self._nodes[number]))
        return self._context.facts[number]

    def _can_go_on(self, number: int, thread: int) -> bool:
        location = self._nodes[number].locations[thread]
        return location.rest is None and not self._context.prover.implies(
            self._facts_at(number), negation(location.enabled)
        )
