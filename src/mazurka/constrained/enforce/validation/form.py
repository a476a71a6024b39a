"""That the numbers in the tables are in their ranges, and agree with each other."""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.constrained.enforce.validation.context import Check
from mazurka.constrained.enforce.validation.reading import Stage, TableOption, TableStep


class Form(Check):
    def check(self) -> None:
        """That numbers are in their ranges, and agree with each other."""
        threads = len(self._model.threads)
        if self._tables.threads != threads:
            self._say(f"the tables are for {self._tables.threads} threads, the program has {threads}")
            return
        by_name = {thread.name: thread.number for thread in self._model.threads}
        created = {
            (by_name.get(parent), int(number), thread.number)
            for thread in self._model.threads
            for parent, dot, number in [thread.name.rpartition(".")]
            if dot
        }
        if self._tables.children != created:
            self._say("the tables have other names for the threads that are created")
        if not self._tables.stages or any(self._stage(0).events):
            self._say("the tables do not begin with a section without events")
            return
        lanes: set[tuple[int, int]] = set()
        for number, stage in enumerate(self._tables.stages):
            if stage.events != tuple(map(len, stage.lanes)):
                self._say(f"section {number} has another number of events than it says")
            for thread, lane in enumerate(stage.lanes):
                if (thread, id(lane)) not in lanes:
                    lanes.add((thread, id(lane)))
                    self._lane(number, thread, lane)
            for option in stage.options:
                self._option(number, stage, option)

    def _lane(self, number: int, thread: int, lane: Sequence[TableStep]) -> None:
        was_late = False
        for clock, step in enumerate(lane, 1):
            problems = [
                (step.clock != clock, f"its clock should be {clock}"),
                (was_late and not step.flags & self._settle, "nobody learns that the event before it is over"),
                (
                    any(other >= self._tables.threads for other, _ in step.waits),
                    "it waits for a thread that is not there",
                ),
                (step.flags & self._omit and self._level < 1, "it is left out, which this level does not do"),
                (step.flags & self._redirect and self._level < 2, "it is redirected, which this level does not do"),
            ]
            for is_one, problem in problems:
                if is_one:
                    self._say(f"section {number}, {self._native.at(thread, step.point)}: {problem}")
            was_late = step.flags & self._late != 0

    def _option(self, number: int, stage: Stage, option: TableOption) -> None:
        where = f"the way from section {number} to section {option.section}"
        if option.thread >= self._tables.threads or option.section >= len(self._tables.stages):
            self._say(f"{where}: there is no such thread or section")
            return
        following = self._stage(option.section)
        lane = following.lanes[option.thread]
        is_choice = len(stage.options) > 1  # otherwise all follow it without looking any closer
        if is_choice and (option.begin == self._nowhere or not lane or lane[0].point != option.begin):
            self._say(f"{where} does not begin with an event of {self._name(option.thread)}")
        if following.previous != stage.events:
            self._say(f"{where}: the section counts other events before it than there are")
        own = [other for other in stage.options if other.thread == option.thread]
        if option.sure and len(own) > 1:
            self._say(f"{where} is not the only one of {self._name(option.thread)}, but said to be")
        if not option.sure and is_choice:
            if any(other.begin != option.begin for other in own):
                self._say(f"the ways of {self._name(option.thread)} from section {number} begin at different places")
            if any(other is not option and other.arrival == option.arrival for other in own):
                self._say(
                    f"{self._native.at(option.thread, option.begin)}: which way it goes on after section {number} "
                    "cannot be told from where it arrives next; let the two ways begin with different accesses"
                )
