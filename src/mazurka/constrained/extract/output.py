"""What the library computes on its own only to print it: the digits of a number, say.

Such a computation goes round loops that nothing else depends on. That it ends, and that its divisions are right, is the
library's business: so the thread goes on right where it arrives after it. A search would otherwise have to prove it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mazurka.constrained.extract.paths import PathEnd, SymbolicLocation
from mazurka.constrained.model import StateVariable

if TYPE_CHECKING:
    from mazurka.constrained.extract.extraction import Extraction


def skip_output(extraction: Extraction) -> None:
    """Let the paths that lead to such computations go on to where these end."""
    places = list(extraction.places.values())
    inside = [place for place in places if place.silent and place.frames[-1].function.library and place.frames[1:]]
    ends: dict[SymbolicLocation, SymbolicLocation] = {}
    printing: set[SymbolicLocation] = set()
    for place in inside:
        region = _region(place, set(inside))
        end = _end(region)
        if end is not None and not _has_effect(extraction, region, end):
            ends[place] = end
            if any(outcome.path.prints for each in region for outcome in each.outcomes):
                printing.add(place)
    for place in places:
        if place not in ends:
            for outcome in place.outcomes:
                if isinstance(outcome.target, SymbolicLocation) and outcome.target in ends:
                    outcome.path.prints |= outcome.target in printing
                    outcome.target = ends[outcome.target]


def _region(start: SymbolicLocation, inside: set[SymbolicLocation]) -> list[SymbolicLocation]:
    """The places of a computation of the library from one of them on."""
    region = [start]
    for place in region:
        for outcome in place.outcomes:
            target = outcome.target
            if isinstance(target, SymbolicLocation) and target in inside and target not in region:
                region.append(target)
    return region


def _end(region: list[SymbolicLocation]) -> SymbolicLocation | None:
    """Where a computation ends, if it always ends at the same place."""
    ends: list[SymbolicLocation] = []
    for outcome in (outcome for place in region for outcome in place.outcomes):
        if _is_own_mistake(outcome):
            continue
        if not isinstance(outcome.target, SymbolicLocation):
            return None
        if outcome.target not in region and outcome.target not in ends:
            ends.append(outcome.target)
    return ends[0] if len(ends) == 1 else None


def _is_own_mistake(outcome: PathEnd) -> bool:
    return outcome.failure is not None and outcome.failure.kind == "arithmetic"


def _has_effect(extraction: Extraction, region: list[SymbolicLocation], end: SymbolicLocation) -> bool:
    """Whether anything but output depends on a computation."""
    outcomes = [outcome for place in region for outcome in place.outcomes if not _is_own_mistake(outcome)]
    if any(outcome.path.starts or outcome.path.inputs or outcome.path.accesses for outcome in outcomes):
        return True
    changed: set[StateVariable] = {variable for outcome in outcomes for variable in extraction.assigns(outcome)}
    own = {variable for place in region for variable in place.variables.values()} - set(end.variables.values())
    return not changed <= own or any(extraction.is_memory(variable) for variable in changed)
