"""That redirected loads get what the loads of the schedule get, and that memory is as it should be."""

from __future__ import annotations

from mazurka.constrained.enforce.validation.context import Check, Context
from mazurka.constrained.enforce.validation.places import is_plain
from mazurka.constrained.enforce.validation.walks import Move, Walk, WalkEvent, Walks
from mazurka.constrained.model import StateVariable


class Redirections(Check):
    def __init__(self, context: Context, walks: Walks) -> None:
        super().__init__(context)
        self._walks = walks

    def check(self) -> None:
        for walk in self._walks.all:
            self._redirects(walk)

    def _redirects(self, walk: Walk) -> None:
        """That redirected loads get what the loads of the schedule get, and that memory is as it should be where it is
        read and when the stage ends."""
        latest: dict[StateVariable, dict[int | None, WalkEvent]] = {}  # the last store to a word
        cells: dict[int, WalkEvent] = {}
        for event in walk.events:
            move = event.move
            where = f"section {walk.stage}: {self._native.at(event.thread, event.step.point)}"
            if event.flags & self._omit:
                if event.flags & self._redirect:
                    self._say(f"{where} is left out and redirected")
                continue
            if event.flags & self._redirect:
                self._redirected(event, where, latest, cells)
                continue
            for (variable, index), writes in move.touched.items():
                stores = latest.setdefault(variable, {})
                for at, store in stores.items():
                    is_replaced = at == index and writes and not self._reads(move, variable)
                    if store.flags & self._redirect and (at == index or index is None) and not is_replaced:
                        self._say(
                            f"{where} uses memory to which {self._native.at(store.thread, store.step.point)} has not "
                            "written what it should"
                        )
                if writes:
                    stores[index] = event
        for stores in latest.values():
            for store in stores.values():
                if store.flags & self._redirect:
                    self._say(
                        f"section {walk.stage}: what {self._native.at(store.thread, store.step.point)} writes last "
                        "does not come to memory"
                    )

    @staticmethod
    def _reads(move: Move, variable: StateVariable) -> bool:
        return any(a.reads for _, step in move.steps for a in step.accesses if a.variable is variable)

    def _redirected(
        self,
        event: WalkEvent,
        where: str,
        latest: dict[StateVariable, dict[int | None, WalkEvent]],
        cells: dict[int, WalkEvent],
    ) -> None:
        move, offset = event.move, event.step.redirect
        constants = self._tables.constants
        if move.word is None or self._native.is_call(move.location) or move.prints or move.word[0].term.width > 64:
            self._say(f"{where} is redirected, but it is no load or store of a single word")
            return
        variable, index = move.word
        if offset < 0 or offset % 8 or offset + 8 > self._tables.area_size:
            self._say(f"{where} is redirected to outside of the area")
        elif offset < 8 * len(constants):
            value = constants[offset // 8]
            if move.writes:
                self._say(f"{where} writes to a constant")
            elif move.value != value or not is_plain(variable, value):
                self._say(f"{where} reads the constant {value}, which may not be what it reads in the schedule")
        elif variable.reused:
            self._say(f"{where} uses a cell for a word that is another one at other times")
        elif move.writes:
            latest.setdefault(variable, {})[index] = event
            cells[offset] = event
        else:
            stores = latest.get(variable, {})
            if (None in stores and index is not None) or stores.get(index) is None:
                self._say(f"{where} reads a cell, but what it reads in the schedule is not from this section")
            elif cells.get(offset) is not stores[index]:
                store = stores[index]
                self._say(
                    f"{where} reads a cell that is not the one of {self._native.at(store.thread, store.step.point)}, "
                    "which is what it reads in the schedule"
                )
