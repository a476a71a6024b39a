"""Registers whose values nobody will use any more are forgotten.

A register that is explicit is part of what tells states apart, also after its last use: eight threads that each
remember whether their last round did something make 256 states of one. So a transition after which a register is dead
gives it its initial value. That changes no execution but in values that are not used: whatever a transition mentions
counts as a use here, the indices of its accesses included, since sections of schedules rest on these.
"""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.constrained.model import Location, Model, ThreadModel, Transition
from mazurka.constrained.model.terms import Term, constant


def forget_dead_registers(model: Model) -> None:
    """Only registers: what is in memory is compared with that of the machine. (Silent transitions are left as they
    are: what is known of local loops is known of what they assign.)"""
    used = [set().union(*map(_uses, thread.locations)) for thread in model.threads]
    for thread in model.threads:
        others = set().union(*(each for number, each in enumerate(used) if number != thread.number))
        registers = [
            each
            for each in model.variables.values()
            if each.explicit and each.address is None and each.thread == thread.number and each.term not in others
        ]
        live = _live(thread)
        for transition in _transitions(thread):
            for register in registers:
                if transition.silent or register.term in live[transition.target]:
                    continue
                if register in transition.assigns or register.term in live[transition.source]:
                    assert isinstance(register.initial, int)
                    transition.assigns[register] = constant(register.initial, register.term.width)


def _live(thread: ThreadModel) -> dict[Location, set[Term]]:
    """The variables whose values a thread may use from each of its locations on, before it assigns them."""
    live = {location: _uses(location) for location in thread.locations}
    changed = True
    while changed:
        changed = False
        for transition in _transitions(thread):
            kept = live[transition.target].difference(each.term for each in transition.assigns)
            if not kept <= live[transition.source]:
                live[transition.source] |= kept
                changed = True
    return live


def _uses(location: Location) -> set[Term]:
    """The variables that a location and its transitions mention."""
    found = {*location.enabled.variables, *location.awaits.variables}
    if location.holder is not None:
        found |= location.holder.variables
    for transition in location.transitions:
        for term in (transition.condition, *transition.assigns.values(), *(each.count for each in transition.inputs)):
            found |= term.variables
        for access in transition.accesses:
            found |= access.index.variables if access.index is not None else frozenset()
    return found


def _transitions(thread: ThreadModel) -> Iterator[Transition]:
    return (transition for location in thread.locations for transition in location.transitions)
