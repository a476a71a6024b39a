"""What a search comes back with, before anybody has told it in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from mazurka.executions.schedule import Schedule, Transformations
from mazurka.leeway import Leeway
from mazurka.result import Executions, States

Coverage = TypeVar("Coverage", Executions, States)


# A search that has met a limit goes on for a while, and then ends.
BEYOND = "the search was given up, since more and more executions would meet a limit"

# Everything was covered, and that is not much.
VACUOUS = "no execution gets past what the program assumes, so nothing was checked to its end"

# Said of a search that was asked to have several, and was handed over.
ONE_JOB = "it has one job"


@dataclass(frozen=True, slots=True)
class Found:
    """An execution that shows something: a bug of this `kind`, as in `Bug`, or a limit, as in `Limit`. So many
    `executions` show the same, if somebody has counted them. `thread` is the one that the bug is told of."""

    kind: str
    schedule: Schedule
    executions: int | None = None
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Coverage]):
    """`coverage` is what was covered, `bug` the first bug, `others` those that seem to differ from it, data races
    aside, `limit` the first execution that met a limit, and `races` the schedules of the data races. `reason` says
    why the search ended before everything was covered, unless it did so because of the bug. `left` is the schedule of
    an execution in which threads still wait when `main` returns."""

    coverage: Coverage
    bug: Found | None
    limit: Found | None
    reason: str | None
    races: tuple[Schedule, ...] = ()
    others: tuple[Found, ...] = ()
    left: Schedule | None = None

    def after(self, transforms: Transformations, leeway: Leeway, memory: str) -> Outcome[Coverage]:
        """The same, with schedules that say what was done to the program before, how it was read, and under which
        memory model it was explored."""

        def told(schedule: Schedule) -> Schedule:
            return replace(schedule, transforms=transforms, leeway=leeway, memory=memory)

        def shown(found: Found) -> Found:
            return replace(found, schedule=told(found.schedule))

        return replace(
            self,
            bug=self.bug and shown(self.bug),
            limit=self.limit and shown(self.limit),
            races=tuple(map(told, self.races)),
            others=tuple(map(shown, self.others)),
            left=self.left and told(self.left),
        )
