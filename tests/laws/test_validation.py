"""The validator of built schedules: it accepts right tables, and what it accepts cannot go wrong natively."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

import pytest

from mazurka.constrained.checker import check_proof
from mazurka.constrained.enforce.validation import validate
from mazurka.constrained.enforce.validation.reading import header
from mazurka.constrained.model import Input, Location, StateVariable, Transition
from mazurka.constrained.model.terms import Term, binary, compare, constant, negation, variable
from mazurka.constrained.proof import Proof
from tests.support.native_tables import (
    LATE,
    NOWHERE,
    OMIT,
    PUBLISH,
    REDIRECT,
    Option,
    Scene,
    Stage,
    State,
    Step,
    Tables,
    alternating,
    equal,
    make_points,
    make_tables,
    misbehaviour,
    number,
    prove,
)

FIRST = header()[0]["FIRST_POINT"]


@dataclass
class Case:
    proof: Proof
    tables: Tables
    level: int = 1
    dropped: dict[Location, int | None] | None = None

    def problems(self, tables: Tables | None = None, level: int | None = None) -> list[str]:
        used = tables or self.tables
        points = {at: point for at, point in used.points.items() if at not in (self.dropped or {})}
        return validate(self.proof, used.text(), points, self.dropped or {}, self.level if level is None else level)


def lock(scene: Scene, thread: int, source: int, target: int, mutex: StateVariable) -> None:
    scene.step(
        thread, source, target, when=equal(mutex, 0), sets={mutex: number(1)}, reads=[mutex],
        operation="pthread_mutex_lock",
    )  # fmt: skip
    scene.place(thread, source).enabled = equal(mutex, 0)


def unlock(scene: Scene, thread: int, source: int, target: int, mutex: StateVariable) -> None:
    scene.step(thread, source, target, sets={mutex: number(0)}, reads=[mutex], operation="pthread_mutex_unlock")


def turns(longest: int = 1, repeat: int = 1) -> Case:
    """Two threads that take turns to write x, in critical sections, and look whether the other one has."""
    scene = Scene("ping", "pong")
    mutex, x = scene.word("m"), scene.word("x")
    lock(scene, 0, 0, 1, mutex)
    scene.step(0, 1, 2, sets={x: number(1)})
    unlock(scene, 0, 2, 3, mutex)
    scene.step(0, 3, 0, when=equal(x, 2), reads=[x])
    scene.step(0, 3, 4, when=negation(equal(x, 2)), reads=[x], failure="ping is too early")
    lock(scene, 1, 0, 1, mutex)
    scene.step(1, 1, 2, when=equal(x, 1), reads=[x])
    scene.step(1, 1, 4, when=negation(equal(x, 1)), reads=[x], failure="pong is too early")
    scene.step(1, 2, 3, sets={x: number(2)})
    unlock(scene, 1, 3, 0, mutex)
    return made(scene, [(0, 3), (1, 0)], longest, repeat)


def made(scene: Scene, stops: list[tuple[int, int]], longest: int, repeat: int = 1) -> Case:
    proof = prove(scene.model, alternating(scene.model, stops), 0)
    return Case(proof, make_tables(proof, make_points(scene.model, FIRST), longest, repeat=repeat))


def branches(longest: int = 1) -> Case:
    """A thread writes 1 or 2, depending on an input; the other one copies that, and the first one looks."""
    scene = Scene("chooses", "copies")
    x, y, z = scene.word("x"), scene.word("y"), scene.word("z")
    copied = scene.register(1, "r")
    coin = Input(variable("coin", 8), number(2))
    for side in (0, 1):
        scene.step(0, 0, 1 + side, when=compare("eq", coin.term, number(side)), reads=[x], inputs=[coin])
        scene.step(0, 1 + side, 3, sets={y: number(1 + side)})
    same = compare("eq", y.term, z.term)
    scene.step(0, 3, 0, when=same, reads=[y, z])
    scene.step(0, 3, 4, when=negation(same), reads=[y, z], failure="not copied")
    scene.step(1, 0, 1, sets={copied: y.term}, reads=[y])
    scene.step(1, 1, 0, sets={z: copied.term, copied: number(0)})
    scene.place(0, 3).point = replace(scene.place(0, 3).point, operation="memcmp")  # type: ignore[type-var]
    return made(scene, [(0, 3), (1, 0)], longest)


def unseen(longest: int = 1) -> Case:
    """The same, but the input is read after an event, where nobody sees it; the other thread computes unseen, too."""
    scene = Scene("chooses", "copies")
    x, y, z = scene.word("x"), scene.word("y"), scene.word("z")
    copied = scene.register(1, "r")
    coin = Input(variable("coin", 8), number(2))
    scene.step(0, 0, 5, sets={x: number(1)})
    for side in (0, 1):
        scene.step(0, 5, 1 + side, when=compare("eq", coin.term, number(side)), inputs=[coin])
        scene.step(0, 1 + side, 3, sets={y: number(1 + side)})
    same = compare("eq", y.term, z.term)
    scene.step(0, 3, 0, when=same, reads=[y, z], operation="memcmp")
    scene.step(0, 3, 4, when=negation(same), reads=[y, z], failure="not copied", operation="memcmp")
    scene.step(1, 0, 2, sets={copied: y.term}, reads=[y])
    scene.step(1, 2, 1)
    scene.step(1, 1, 0, sets={z: copied.term, copied: number(0)})
    proof = prove(scene.model, alternating(scene.model, [(0, 3), (1, 0)]), 0)
    points = make_points(scene.model, FIRST)
    for location in (scene.place(0, 5), scene.place(1, 2)):
        del points[location]
    return Case(proof, make_tables(proof, points, longest))


def endings(longest: int = 1) -> Case:
    """Two threads print and end; the third one ends the program."""
    scene = Scene("prints", "prints too", "exits")
    x = scene.word("x")
    for thread in (0, 1):
        scene.step(thread, 0, 1, sets={x: number(thread + 1)}, prints=True)
        scene.step(thread, 1, 2, rest="end")
    scene.step(2, 0, 1, when=equal(x, 2), reads=[x])
    scene.step(2, 0, 3, when=negation(equal(x, 2)), reads=[x], failure="too early")
    scene.step(2, 1, 2, rest="exit", operation="exit")
    return made(scene, [(0, 2), (1, 2), (2, 2)], longest)


def offers() -> Case:
    """Any of two threads may go first in each round; they must not meet."""
    scene = Scene("left", "right")
    a, b = scene.word("a"), scene.word("b")
    for thread, (mine, other) in enumerate(((a, b), (b, a))):
        scene.step(thread, 0, 1, sets={mine: number(1)})
        swap = "atomic_exchange"  # which uses both at once
        scene.step(thread, 1, 0, when=equal(other, 0), sets={mine: number(0)}, reads=[other], operation=swap)
        scene.step(thread, 1, 2, when=negation(equal(other, 0)), reads=[other], failure="both", operation=swap)

    def policy(state: State, turn: object) -> tuple[list[int], Callable[[Transition], object]]:
        """Who has not had its turn in this round, but one after the other."""
        assert isinstance(turn, frozenset)
        inside = [thread for thread in (0, 1) if state[0][thread].number == 1]

        def after(transition: Transition) -> object:
            had = turn | {transition.thread}
            return frozenset() if had == {0, 1} and transition.target.number == 0 else had

        return inside or [thread for thread in (0, 1) if thread not in turn], after

    proof = prove(scene.model, policy, frozenset())
    return Case(proof, make_tables(proof, make_points(scene.model, FIRST)))


def stored() -> Case:
    """A word that is written and read in one stage: its first value goes through a cell, a constant is known."""
    scene = Scene("writes", "reads")
    x, y = scene.word("x"), scene.word("y", 5)
    taken = scene.register(1, "r")
    scene.step(0, 0, 1, sets={x: number(7)})
    scene.step(0, 1, 0, sets={x: number(9)})
    scene.step(1, 0, 1, sets={taken: x.term}, reads=[x])
    right = equal(taken, 7)
    scene.step(1, 1, 2, when=conjoined(right, equal(y, 5)), reads=[y])
    scene.step(1, 1, 4, when=negation(conjoined(right, equal(y, 5))), reads=[y], failure="something else was read")
    scene.step(1, 2, 0, when=equal(x, 9), sets={taken: number(0)}, reads=[x])
    scene.step(1, 2, 4, when=negation(equal(x, 9)), reads=[x], failure="memory is wrong")

    def policy(state: State, turn: object) -> tuple[list[int], Callable[[Transition], object]]:
        order = [0, 1, 1, 0, 1]
        assert isinstance(turn, int)
        return [order[turn]], lambda transition: (turn + 1) % 5

    proof = prove(scene.model, policy, 0)
    case = Case(proof, make_tables(proof, make_points(scene.model, FIRST), 5), level=2)
    case.tables.constants, case.tables.area = [5], 192
    for stage in case.tables.stages[1:]:
        first, _ = stage.lanes[0]
        second, known, _ = stage.lanes[1]
        first.flags, first.redirect = first.flags | REDIRECT, 64
        second.flags, second.redirect = second.flags | REDIRECT, 64
        known.flags, known.redirect = known.flags | REDIRECT, 0
    return case


def conjoined(one: Term, other: Term) -> Term:
    return binary("and", one, other)


CASES: dict[str, Callable[[], Case]] = {
    "turns": turns,
    "turns, in longer stages": lambda: turns(3),
    "turns, in whole rounds": lambda: turns(8),
    "turns, repeated": lambda: turns(8, 2),
    "branches": branches,
    "branches, in longer stages": lambda: branches(4),
    "unseen": unseen,
    "unseen, in longer stages": lambda: unseen(5),
    "endings": endings,
    "endings, in longer stages": lambda: endings(3),
    "endings, at once": lambda: endings(9),
    "offers": offers,
    "redirected": stored,
}


@pytest.mark.parametrize("name", CASES)
def test_right_tables_are_accepted(name: str) -> None:
    case = CASES[name]()
    assert check_proof(case.proof.model, case.proof) == []
    assert case.problems() == []
    assert misbehaviour(case.tables) is None


def test_words_of_blocks_that_are_used_again_have_no_cells() -> None:
    case = stored()
    case.proof.model.variables["x"].reused = True
    assert any("another one at other times" in problem for problem in case.problems())


Change = Callable[[Tables], None]


def mutations(tables: Tables) -> Iterator[tuple[str, Tables]]:
    """Tables with one thing changed, and what that is."""
    for kind, change in changes(tables):
        other = copy.copy(tables)
        other.stages = copy.deepcopy(tables.stages)
        change(other)
        yield kind, other


def changes(tables: Tables) -> Iterator[tuple[str, Change]]:
    places = sorted(set(tables.points.values()))
    for s, stage in enumerate(tables.stages):
        at_stage = part("stages", s)
        for t, lane in enumerate(stage.lanes):
            for i in range(len(lane)):
                yield from step_changes(tables, (s, t, i), places)
            for place in {NOWHERE, *places} - {stage.standing[t]}:
                yield "standing", setting(at_stage, "standing", t, place)
            yield "other count", setting(at_stage, "previous", t, 7)
        for o, option in enumerate(stage.options):
            yield "option removed", setting(at_stage, "options", o, None)
            for name, values in (
                ("arrival", {NOWHERE, *places}),
                ("begin", set(places)),
                ("section", set(range(1, len(tables.stages)))),
                ("thread", set(range(len(stage.lanes)))),
                ("sure", {False, True}),
            ):
                for value in values - {getattr(option, name)}:
                    yield f"other {name}", setting(part("stages", s, "options", o), name, None, value)


def part(*path: str | int) -> Callable[[Any], Any]:
    """What is at the end of a path of members and positions."""

    def get(whole: Any) -> Any:
        for each in path:
            whole = getattr(whole, each) if isinstance(each, str) else whole[each]
        return whole

    return get


def setting(owner: Callable[[Any], Any], name: str, place: int | None, value: object) -> Change:
    """Set a member, or an element of one (None: take it away)."""

    def change(tables: Tables) -> None:
        if place is None:
            setattr(owner(tables), name, value)
        elif value is None:
            del getattr(owner(tables), name)[place]
        else:
            getattr(owner(tables), name)[place] = value

    return change


def step_changes(tables: Tables, at: tuple[int, int, int], places: list[int]) -> Iterator[tuple[str, Change]]:
    s, t, i = at
    step = tables.stages[s].lanes[t][i]
    lane = part("stages", s, "lanes", t)
    own = part("stages", s, "lanes", t, i)
    for w, (thread, clock) in enumerate(step.waits):
        yield "wait removed", setting(own, "waits", w, None)
        yield "clock changed", setting(own, "waits", w, (thread, clock - 1))
        yield "clock changed", setting(own, "waits", w, (thread, clock + 1))
    for bit, kind in ((PUBLISH, "not told"), (OMIT, "left out"), (LATE, "late"), (REDIRECT, "redirected")):
        if tables.area or bit != REDIRECT:
            yield kind, setting(own, "flags", None, step.flags ^ bit)
    for offset in range(0, tables.area if step.flags & REDIRECT else 0, 64):
        if offset != step.redirect:
            yield "redirected elsewhere", setting(own, "redirect", None, offset)
    for point in set(places) - {step.point}:
        yield "other point", setting(own, "point", None, point)

    def removed(other: Tables) -> None:
        del lane(other)[i]
        recount(other)

    def repeated(other: Tables) -> None:
        lane(other).insert(i, copy.deepcopy(lane(other)[i]))
        recount(other)

    def swapped(other: Tables) -> None:
        steps = lane(other)
        steps[i - 1], steps[i] = steps[i], steps[i - 1]
        recount(other)

    yield "event removed", removed
    yield "event repeated", repeated
    if i:
        yield "events swapped", swapped


def recount(tables: Tables) -> None:
    """Numbers that follow from others, after events were added or taken away."""
    for stage in tables.stages:
        for lane in stage.lanes:
            for clock, step in enumerate(lane, 1):
                step.clock = clock
    for stage in tables.stages:
        for option in stage.options:
            tables.stages[option.section].previous = stage.events


def check_changes(name: str, sample: int | None) -> Counter[str]:
    """That what is accepted after a change does nothing wrong. Gives how often each kind of change was refused."""
    case = CASES[name]()
    tried = list(mutations(case.tables))
    refused: Counter[str] = Counter()
    for kind, tables in tried if sample is None else Random(name).sample(tried, min(sample, len(tried))):
        if case.problems(tables):
            refused[kind] += 1
        else:
            assert misbehaviour(tables) is None, (kind, tables.text())
    return refused


@pytest.mark.parametrize("name", CASES)
def test_what_is_accepted_after_a_change_does_nothing_wrong(name: str) -> None:
    refused = check_changes(name, 8)
    assert refused


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_whatever_is_changed_what_is_accepted_does_nothing_wrong(name: str) -> None:
    assert check_changes(name, None)


def test_changes_of_all_kinds_are_found() -> None:
    refused = check_changes("redirected", None)
    assert {kind for kind, _ in changes(stored().tables)} - set(refused) <= {
        "standing", "other begin", "other arrival", "other thread", "other sure",
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------- one by one


def changed(case: Case, change: Change) -> list[str]:
    tables = copy.copy(case.tables)
    tables.stages = copy.deepcopy(case.tables.stages)
    change(tables)
    return case.problems(tables)


def only(problems: list[str]) -> str:
    assert len(set(problems)) == 1, problems
    return problems[0]


def find(tables: Tables, point: Location) -> Iterator[Step]:
    for stage in tables.stages:
        for lane in stage.lanes:
            yield from (step for step in lane if step.point == tables.points[point])


def test_a_missing_wait_is_told_with_the_places() -> None:
    case = turns(8)
    x = case.proof.model.threads[1].locations[1]  # where pong reads x

    def change(tables: Tables) -> None:
        for stage in tables.stages:  # of the mutex, nobody else tells in which order they happen
            for lane in stage.lanes[1:]:
                for step in lane:
                    step.waits.clear()

    problems = changed(case, change)
    assert any("thread pong (m.c:1001) does not wait for thread ping (m.c:1), but both use x" in p for p in problems)
    assert case.tables.points[x] in {step.point for step in find(case.tables, x)}


def test_a_change_deep_inside_of_a_long_stage_is_found() -> None:
    case = turns(8, 200)
    assert case.problems() == []
    assert max(stage.events[0] for stage in case.tables.stages) == 800

    def change(tables: Tables) -> None:
        step = tables.stages[1].lanes[0][399]  # ping reads what pong has written
        step.waits = [(1, clock - 4) for _, clock in step.waits]

    assert "thread ping (m.c:3) does not wait for thread pong (m.c:1002), but both use x" in only(changed(case, change))


def test_locks_are_left_out_together_or_not_at_all() -> None:
    case = turns(8)
    locks = [at for at in case.tables.points if at.point and at.point.operation]

    def leave_out(tables: Tables, locations: list[Location]) -> None:
        for location in locations:
            for step in find(tables, location):
                step.flags |= OMIT

    assert changed(case, lambda tables: leave_out(tables, locks)) == []
    case.level = 0
    assert "this level does not" in changed(case, lambda tables: leave_out(tables, locks))[0]
    case.level = 1
    for location in locks:
        problems = changed(case, partial(leave_out, locations=[location]))
        assert any("something else looks at m" in problem for problem in problems)


def test_who_prints_is_over_only_when_it_has_printed() -> None:
    case = endings(9)

    def change(tables: Tables) -> None:
        for stage in tables.stages:
            for lane in stage.lanes:
                for step in lane:
                    step.flags &= ~LATE

    assert "goes on after its instruction" in changed(case, change)[0]


def test_an_arrival_without_an_option_is_refused() -> None:
    case = branches()

    def change(tables: Tables) -> None:
        for stage in tables.stages:
            stage.options[1:] = []

    assert changed(case, change)


def test_unseen_steps_that_touch_something_are_refused() -> None:
    case = turns(8)
    location = case.proof.model.threads[0].locations[3]
    points = {at: point for at, point in case.tables.points.items() if at is not location}
    tables = copy.deepcopy(case.tables.stages)
    for stage in tables:
        stage.lanes[0] = [step for step in stage.lanes[0] if step.point != case.tables.points[location]]
    other = replace(case.tables, points=points, stages=tables)
    recount(other)
    problems = case.problems(other)
    assert any("touches what others touch, and the scheduler does not see it" in problem for problem in problems)


def test_a_constant_must_be_what_is_read() -> None:
    case = stored()
    known = case.proof.model.threads[1].locations[1]  # it always reads 5
    stages = copy.deepcopy(case.tables.stages)
    for stage in stages:
        stage.lanes[1] = [step for step in stage.lanes[1] if step.point != case.tables.points[known]]
    tables = replace(case.tables, stages=stages)
    recount(tables)
    for stage in tables.stages:
        for step in stage.lanes[0]:  # nobody waits for it any more
            step.waits = [(thread, min(clock, 1)) for thread, clock in step.waits]
    case.dropped = {known: 5}
    assert case.problems(tables) == []
    case.dropped = {known: 6}
    assert "gives always 6, which may not be what it reads" in case.problems(tables)[0]


def test_who_waits_for_ever_must_be_seen() -> None:
    scene = Scene("goes on", "waits")
    x = scene.word("x")
    scene.step(0, 0, 0, sets={x: number(1)})
    scene.step(1, 0, 1, sets={x: number(2)})
    scene.place(1, 1).enabled = constant(0, 1)
    scene.place(1, 1).point = replace(scene.place(1, 0).point, line=("m.c", 1001), operation="sem_wait")  # type: ignore[type-var]
    proof = prove(scene.model, alternating(scene.model, [(0, 0), (1, 1)]), 1)
    points = make_points(scene.model, FIRST)
    case = Case(proof, make_tables(proof, points))
    assert case.problems() == []
    hidden = {at: point for at, point in points.items() if at is not scene.place(1, 1)}
    assert "may have to wait" in only(case.problems(replace(case.tables, points=hidden)))

    def elsewhere(tables: Tables) -> None:
        for stage in tables.stages:
            stage.standing[1] = points[scene.place(1, 0)]

    assert "it would leave the schedule" in changed(case, elsewhere)[0]


def test_who_is_left_when_the_program_ends_must_be_where_it_is_expected() -> None:
    """It may go on to where it is seen next while the program ends."""
    scene = Scene("ends", "goes on")
    x = scene.word("x")
    scene.step(0, 0, 1, sets={x: number(1)}, rest="exit")
    scene.step(1, 0, 1, sets={x: number(2)})
    scene.step(1, 1, 0, sets={x: number(3)})
    case = made(scene, [(0, 1), (1, 0)], 3)
    assert case.problems() == []
    points = case.tables.points

    def elsewhere(tables: Tables) -> None:
        for stage in tables.stages:
            stage.standing[1] = points[scene.place(1, 1)]

    assert "it would leave the schedule" in changed(case, elsewhere)[0]


def test_a_thread_that_is_left_out_for_ever_is_named() -> None:
    """Both may run at each node; the tables have events of one of them only."""
    scene = Scene("runs", "starves")
    a, b = scene.word("a"), scene.word("b")
    scene.step(0, 0, 0, sets={a: number(1)})
    scene.step(1, 0, 0, sets={b: number(1)})
    proof = prove(scene.model, lambda state, turn: ((0, 1), lambda transition: None), None)
    case = Case(proof, make_tables(proof, make_points(scene.model, FIRST)))
    assert case.problems() == []  # who is offered a turn again and again takes it

    def one_only(tables: Tables) -> None:
        for stage in tables.stages:
            stage.options = [option for option in stage.options if option.thread == 0]

    assert any("thread starves (m.c:1000) can go on" in problem for problem in changed(case, one_only))


def test_a_local_loop_needs_an_end_if_others_wait() -> None:
    """A thread goes round a loop that nobody sees before it comes to its next event."""

    def case(ends: bool) -> list[str]:
        scene = Scene("loops", "waits")
        x, y = scene.word("x"), scene.word("y")
        coin = Input(variable("coin", 8), number(2))
        scene.step(0, 0, 1, sets={x: number(1)})
        for side, target in enumerate((1, 2)):
            scene.step(0, 1, target, when=compare("eq", coin.term, number(side)), inputs=[coin])
        scene.step(0, 2, 0, sets={y: number(1)})
        scene.step(1, 0, 0, sets={x: number(2)})
        proof = prove(scene.model, alternating(scene.model, [(0, 0), (1, 0)]), 0)
        points = make_points(scene.model, FIRST)
        del points[scene.place(0, 1)]
        threads = [[Step(points[scene.place(0, at)], waits=[(1, 0)], clock=at // 2 + 1) for at in (0, 2)]]
        threads.append([Step(points[scene.place(1, 0)], waits=[(0, 2)], clock=1)])
        standing = [points[scene.place(0, 0)], points[scene.place(1, 0)]]
        option = Option(0, points[scene.place(0, 0)], NOWHERE, 1, True)
        again = replace(option, section=2)
        stages = [
            Stage([[], []], [0, 0], standing, [option]),
            Stage(threads, [0, 0], standing, [again]),
            Stage(threads, [2, 1], standing, [again]),
        ]
        tables = Tables(scene.model, points, stages)
        if not ends:
            return validate(proof, tables.text(), points, {}, 1)
        fields = {name: getattr(scene.place(0, 1), name) for name in Location.__dataclass_fields__}
        endless = Location(**{**fields, "ends": True})
        return validate(with_location(proof, scene.place(0, 1), endless), tables.text(), points, {}, 1)

    assert case(ends=False)
    assert case(ends=True) == []


def with_location(proof: Proof, old: Location, new: Location) -> Proof:
    """The same proof, with another object for a location."""
    for transition in proof.model.transitions:
        transition.source = new if transition.source is old else transition.source
        transition.target = new if transition.target is old else transition.target
    nodes = [replace(node, locations=tuple(new if at is old else at for at in node.locations)) for node in proof.nodes]
    return Proof(proof.model, tuple(nodes))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{NOWHERE}};", "{1, 1}};"),
        ("mazurka_sections = ", "mazurka_sections = 1"),
        ("mazurka_threads = 2", "mazurka_threads = 3"),
        ("mazurka_threads = 2", "mazurka_threads = 02"),
        ("const struct wait mazurka_wait[] = {", "const struct wait mazurka_wait[] = {{0, 99999999999}, "),
        ("const struct step mazurka_step[] = {", "const struct step mazurka_step[9] = {"),
        ("const struct option mazurka_option", "const struct option mazurka_options"),
        ('#include "schedule.h"', '#include "other.h"'),
        ("const uint32_t mazurka_area_size = 0;", "const uint32_t mazurka_area_size = (0);"),
    ],
)
def test_text_that_is_not_understood_is_refused(old: str, new: str) -> None:
    case = turns()
    text = case.tables.text()
    assert old in text
    assert validate(case.proof, text.replace(old, new), case.tables.points, {}, 1)
