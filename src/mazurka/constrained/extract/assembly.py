"""The last step of an extraction: places and paths become the locations and transitions of a `Model`."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from mazurka.constrained.extract.conditions import NOBODY
from mazurka.constrained.extract.liveness import forget_dead_registers
from mazurka.constrained.extract.output import skip_output
from mazurka.constrained.extract.paths import UndefinedValue, source_of
from mazurka.constrained.extract.ranking import find_loops
from mazurka.constrained.extract.values import opened, possible
from mazurka.constrained.model import (
    Location,
    Model,
    Point,
    Rest,
    SharedAccess,
    StateVariable,
    ThreadModel,
    Transition,
    Waits,
)
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import FALSE, TRUE, Term
from mazurka.errors import InputError
from mazurka.executions.schedule import Transformations
from mazurka.frontends.c.roles import ROLES
from mazurka.machine.layout import object_of
from mazurka.program import instructions as ins
from mazurka.program.names import demangle

if TYPE_CHECKING:
    from mazurka.constrained.extract.extraction import Extraction
    from mazurka.constrained.extract.paths import PathEnd, SymbolicLocation

_MOST_STATES = 2000
_MOST_INPUTS = 1000
_WAITS: tuple[Waits, ...] = ("await", "loop", "assume")
_VERBS = {("lock", "mutex"): "locks", ("unlock", "mutex"): "unlocks", ("end", "thread"): "ends"}


def assemble(extraction: Extraction, transforms: Transformations) -> Model:
    skip_output(extraction)
    return _Assembly(extraction, transforms).run()


class _Assembly:
    def __init__(self, extraction: Extraction, transforms: Transformations) -> None:
        self.extraction = extraction
        self.model = Model(transforms=transforms, program=extraction.program, lowered=extraction.lowered)
        self.model.unnoticed = extraction.unnoticed
        self.model.targets = extraction.targets
        self.model.telling = extraction.telling[0] if extraction.telling else None
        self.locations: dict[SymbolicLocation, Location] = {}
        self.rests: dict[tuple[int, Rest], Location] = {}
        self._consulted: dict[Transition, set[Term]] = {}
        self._renewed: dict[Transition, set[StateVariable]] = {}

    def run(self) -> Model:
        extraction, model = self.extraction, self.model
        for variable in extraction.memory_variables():
            variable.initial = extraction.initial(variable)
        for _, variable in extraction.own_holders():
            variable.initial = 0
        for number, name in enumerate(extraction.memory.thread_names):
            start = extraction.starts.get(number)
            unborn = Location(number, 0, FALSE, rest="unborn")
            thread = ThreadModel(number, name, name, unborn)
            model.threads.append(thread)
            if number:
                thread.locations.append(unborn)
            if start is not None:
                entry = self._entry(start)
                self._reach(thread, entry)
                thread.entry = self.locations[entry]
                thread.display = self._display(thread)
        for place, location in self.locations.items():
            try:
                self._transitions(place, location)
            except RecursionError:
                raise extraction.too_much(place.frames) from None
        for thread in model.threads:
            self._number(thread)
        self._variables()
        for place, location in self.locations.items():
            location.point = self._point(place, location)
        return model

    def _number(self, thread: ThreadModel) -> None:
        for number, location in enumerate(thread.locations):
            location.number = number

    def _display(self, thread: ThreadModel) -> str:
        """The function of the program that a thread runs, whatever the library wraps around it."""
        functions = {
            demangle(frame.function.name)
            for place in self.locations
            if place.thread == thread.number
            for frame in [next((frame for frame in place.frames if not frame.function.library), None)]
            if frame is not None
        }
        return functions.pop() if len(functions) == 1 else thread.name

    def _entry(self, start: SymbolicLocation) -> SymbolicLocation:
        """Where a thread begins: before its first event, unless something happens on the way there."""
        if len(start.outcomes) != 1:
            return start
        outcome = start.outcomes[0]
        changes = self.extraction.assigns(outcome)
        if isinstance(outcome.target, str) or outcome.path.starts or outcome.path.conditions:
            return start
        if any(not value.is_constant or variable.thread is None for variable, value in changes.items()):
            return start
        for variable, value in changes.items():
            variable.initial = value.value
        return outcome.target

    def _reach(self, thread: ThreadModel, entry: SymbolicLocation) -> None:
        pending = [entry]
        self.locations[entry] = Location(thread.number, 0, TRUE)
        thread.locations.append(self.locations[entry])
        while pending:
            place = pending.pop(0)
            for outcome in place.outcomes:
                if not isinstance(outcome.target, str) and outcome.target not in self.locations:
                    self.locations[outcome.target] = Location(thread.number, 0, TRUE)
                    thread.locations.append(self.locations[outcome.target])
                    pending.append(outcome.target)

    def _rest(self, number: int, rest: Rest) -> Location:
        location = self.rests.get((number, rest))
        if location is None:
            location = self.rests[number, rest] = Location(number, 0, FALSE, rest=rest)
            self.model.threads[number].locations.append(location)
        return location

    # ---------------------------------------------------------------------------------------- transitions

    def _transitions(self, place: SymbolicLocation, location: Location) -> None:
        location.enabled = self._enabled(place)
        location.holder = self._holder(place)
        location.waits = next(
            (waits for waits in _WAITS if any(guard.waits == waits for guard in place.guards)), "await"
        )
        if len({guard.waits for guard in place.guards}) > 1 and not any(guard.inputs for guard in place.guards):
            awaits = [guard.condition for guard in place.guards if guard.waits == "await"]
            location.awaits = self._simplified(t.disjunction(awaits))
        groups: dict[object, list[PathEnd]] = {}
        for outcome in place.outcomes:
            starts = tuple(number for number, _, _ in outcome.path.starts)
            inputs = tuple(outcome.path.inputs)
            groups.setdefault((outcome.target, outcome.failure, starts, inputs), []).append(outcome)
        for outcomes in groups.values():
            self._transition(place, location, outcomes)

    def _transition(self, place: SymbolicLocation, location: Location, outcomes: list[PathEnd]) -> None:
        first = outcomes[0]
        conditions = [t.conjunction(outcome.path.conditions) for outcome in outcomes]
        always = len(outcomes) == len(place.outcomes) and not place.guards and not first.path.inputs
        condition = TRUE if always else self._simplified(t.disjunction(conditions))
        if condition.is_false:
            return
        changes = [self.extraction.assigns(outcome) for outcome in outcomes]
        assigns: dict[StateVariable, Term] = {}
        for variable in dict.fromkeys(variable for one in changes for variable in one):
            values = [one.get(variable, variable.term) for one in changes]
            value = values[-1]
            for case, other in zip(reversed(conditions[:-1]), reversed(values[:-1]), strict=True):
                value = t.ite(case, other, value)
            if value is not variable.term:
                assigns[variable] = value
        accesses: dict[tuple[StateVariable, Term | None], tuple[bool, bool]] = {}
        for outcome in outcomes:
            for key, (reads, writes) in outcome.path.accesses.items():
                did_read, did_write = accesses.get(key, (False, False))
                accesses[key] = (did_read or reads, did_write or writes)
        target = first.target
        transition = Transition(
            number=len(self.model.transitions),
            thread=place.thread,
            source=location,
            target=self._rest(place.thread, target) if isinstance(target, str) else self.locations[target],
            condition=condition,
            assigns=assigns,
            inputs=tuple(first.path.inputs),
            accesses=tuple(SharedAccess(v, index, reads, writes) for (v, index), (reads, writes) in accesses.items()),
            starts=tuple(number for number, _, _ in first.path.starts),
            failure=first.failure,
            silent=place.silent,
            back=any(outcome.path.back for outcome in outcomes),
            prints=any(outcome.path.prints for outcome in outcomes),
        )
        if self.extraction.reuse.active:
            self._consulted[transition] = {term for outcome in outcomes for term in outcome.path.consulted}
            self._renewed[transition] = {variable for outcome in outcomes for variable in outcome.path.renewed}
        location.transitions.append(transition)
        self.model.transitions.append(transition)

    def _simplified(self, condition: Term) -> Term:
        """A condition that holds for all values that its variables can have is true; for none, false."""
        whole, elements = opened(condition)
        names, combinations = list(whole.variables), possible(whole, elements, self.extraction.values_of, _MOST_STATES)
        if combinations is None:
            return condition
        found = {t.evaluate(whole, dict(zip(names, values, strict=True))) for values in combinations}
        if found == {1}:
            return TRUE
        return condition if 1 in found else FALSE

    def _enabled(self, place: SymbolicLocation) -> Term:
        """Where none of the guards is in the way, for some input."""
        paths = place.outcomes
        if place.guards and not any(o.path.inputs for o in paths) and not any(g.inputs for g in place.guards):
            return self._simplified(t.disjunction([t.conjunction(outcome.path.conditions) for outcome in paths]))
        blocked = t.disjunction([guard.condition for guard in place.guards])
        inputs = {one.term: one.count for guard in place.guards for one in guard.inputs}
        used = {term: count for term, count in inputs.items() if term in blocked.variables}
        if any(not count.is_constant for count in used.values()) or prod(c.value for c in used.values()) > _MOST_INPUTS:
            raise InputError(
                f"{source_of(place.frames)}: what this waits for depends on an input, which cannot be "
                "followed; let it choose among fewer values"
            )
        always = TRUE
        for values in product(*(range(count.value) for count in used.values())):
            state = {term: t.constant(value, term.width) for term, value in zip(used, values, strict=True)}
            always = t.binary("and", always, t.substitute(blocked, state))
        return self._simplified(t.negation(always))

    def _holder(self, place: SymbolicLocation) -> Term | None:
        """Who holds what is awaited, in the states in which something is."""
        holder = NOBODY
        for guard in reversed(place.guards):
            if guard.inputs or isinstance(guard.holder, UndefinedValue):
                return None
            holder = t.ite(guard.condition, guard.holder, holder) if guard is not place.guards[-1] else guard.holder
        return None if holder is NOBODY else holder

    # ------------------------------------------------------------------------------------------ variables

    def _variables(self) -> None:
        """The variables that matter, and which of them are explicit. What never changes is no variable."""
        extraction, model = self.extraction, self.model
        for transition in model.transitions:
            for variable in list(transition.assigns):
                known = None if variable.is_array else extraction.sets.of(variable.term)
                if known is not None and len(known) == 1 and variable.initial == next(iter(known)):
                    del transition.assigns[variable]
        used = self._used()
        for transition in model.transitions:
            for variable in list(transition.assigns):
                if variable.term not in used:
                    del transition.assigns[variable]
        locals_ = [v for v in extraction.locals.values() if v not in extraction.memory.by_variable]
        for variable in [*extraction.memory_variables(), *locals_]:
            if variable.term in used:
                assert variable.name not in model.variables, variable.name
                model.variables[variable.name] = variable
        for transition in model.transitions:
            transition.accesses = tuple(a for a in transition.accesses if a.variable.name in model.variables)
        self._find_ghosts()
        find_loops(model)
        self._find_explicit()
        forget_dead_registers(model)

    def _find_ghosts(self) -> None:
        """What transitions look at or assign without an access, where blocks are used again and it may matter to
        another thread: so that those which are independent can be exchanged in the model, too."""
        for variable, word in self.extraction.memory.by_variable.items():
            variable.reused = object_of(word.object.base) in self.extraction.reuse.objects
        everything = {variable.term: variable for variable in self.model.variables.values()}
        looked_at = {term for consulted in self._consulted.values() for term in consulted}
        accessed = {access.variable for each in self.model.transitions for access in each.accesses}
        for transition, consulted in self._consulted.items():
            written = {access.variable for access in transition.accesses if access.writes}
            assigned = {
                variable
                for variable in transition.assigns
                if (variable not in written or variable in self._renewed[transition])
                and (variable in accessed or variable.term in looked_at)
            }
            read = {everything[term] for term in consulted if term in everything}
            transition.ghosts = tuple(
                SharedAccess(variable, None, variable in read, variable in assigned)
                for variable in sorted(read | assigned, key=lambda each: each.name)
            )

    def _used(self) -> set[Term]:
        """The variables that something depends on: a condition, or what is in shared memory."""
        used: set[Term] = set()
        for location in self.locations.values():
            used |= location.enabled.variables | location.awaits.variables
            if location.holder is not None:
                used |= location.holder.variables
        for transition in self.model.transitions:
            used |= transition.condition.variables
            for access in transition.accesses:
                used |= access.index.variables if access.index is not None else frozenset()
            for one in transition.inputs:
                used |= one.count.variables
            used |= {v.term for v in transition.assigns if v.thread is None and v.address is not None}
        size = -1
        while size != len(used):
            size = len(used)
            for transition in self.model.transitions:
                for variable, value in transition.assigns.items():
                    if variable.term in used:
                        used |= value.variables
        return used

    def _find_explicit(self) -> None:
        """The greatest set of variables with few values that all follow from constants and each other. What a local
        loop that ends computes on its way is not among them: each round would be looked at for itself."""
        loops = {location.loop for location in self.locations.values() if location.loop and location.ends}
        counting = {variable for loop in loops for variable in loop.changed}
        explicit = {
            variable.term: variable
            for variable in self.model.variables.values()
            if not variable.is_array and variable not in counting and self.extraction.sets.of(variable.term) is not None
        }
        changed = True
        while changed:
            changed = False
            for transition in self.model.transitions:
                for variable, value in transition.assigns.items():
                    if variable.term in explicit and not value.variables <= explicit.keys():
                        del explicit[variable.term]
                        changed = True
        for variable in explicit.values():
            variable.explicit = True
            if variable.initial is None:
                variable.initial = 0  # it is assigned before it matters

    # --------------------------------------------------------------------------------------------- points

    def _point(self, place: SymbolicLocation, location: Location) -> Point:
        frames = place.frames
        positions = tuple(self.extraction.code.position(frame) for frame in reversed(frames))
        depth = next((i for i in range(len(frames) - 1, -1, -1) if not frames[i].function.library), None)
        library = None
        if depth is None:
            library = demangle(frames[-1].function.name)
        elif depth + 1 < len(frames):
            library = demangle(frames[depth + 1].function.name)
        function = frames[depth].function if depth is not None else frames[0].function
        text = [line for frame in frames[: depth + 1] for line in frame.text] if depth is not None else []
        return Point(
            what=self._what(place, location, library),
            source=source_of(frames),
            function=demangle(function.name),
            frames=positions,
            calls=tuple(text[:-1]),
            line=text[-1] if text else None,
            ordinal=place.ordinal if library is not None else 0,
            operation=library,
        )

    def _what(self, place: SymbolicLocation, location: Location, library: str | None) -> str:
        """The event after a location, in words."""
        if place.silent:
            return "goes on" if place.frames[-1].index == 0 else "starts"
        names = list(dict.fromkeys(a.variable.display for one in location.transitions for a in one.accesses))
        if library is not None:
            role = ROLES.get(library)
            verb = _VERBS.get((role.action, role.thing)) if role is not None else None
            if verb == "ends":
                return verb
            return f"{verb} {names[0]}" if verb and names else f"calls {library}"
        match place.frames[-1].instruction:
            case ins.Load():
                return "reads " + ", ".join(names or ["a constant"])
            case ins.Store():
                return "writes " + ", ".join(names)
            case ins.Update() | ins.CompareExchange():
                return "updates " + ", ".join(names)
            case ins.Choose():
                return "chooses"
            case ins.AtomicBegin():
                return "atomically uses " + ", ".join(names) if names else "enters an atomic section"
            case ins.Exit():
                return "exits"
            case ins.Return():
                return "returns"
            case _:
                return "ends"
