"""A schedule: which thread takes each step of an execution. A plain value, to print, store, compare and replay."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mazurka.errors import InputError
from mazurka.jsonfiles import read_json
from mazurka.leeway import USUAL, Leeway

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Transformations:
    """What is done to a program from files before it is explored: the options of `transforms.prepare`. A schedule fits
    a program only after the same."""

    purity: bool = True
    awaits: bool = True
    unroll: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a thread, with the values of the choices that it makes on the way."""

    thread: str
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of one execution. Threads are named by the path of their creation ("main", "main.1", ...);
    `threads` lists them in the order of their numbers, which addresses of objects depend on. A schedule that shows a
    data race ends with it; `race` is then the numbers, from 1, of the two steps. `transforms` is what the program had
    gone through. What a thread computes on its own is one step, unless `pause_after` is above 0: then it is cut after
    each so many instructions. `inputs`: whatever comes from outside is a choice, also the time. `leeway` is how the
    program was read where C leaves that open."""

    threads: tuple[str, ...]
    steps: tuple[Step, ...]
    race: tuple[int, int] | None = None
    transforms: Transformations = Transformations()
    pause_after: int = 0
    inputs: bool = False
    leeway: Leeway = USUAL

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "threads": list(self.threads),
            "steps": [[step.thread, *step.choices] for step in self.steps],
            "race": list(self.race) if self.race else None,
            "transforms": asdict(self.transforms),
            "pause_after": self.pause_after,
            "inputs": self.inputs,
            "leeway": asdict(self.leeway),
        }

    @staticmethod
    def from_json(data: Any, origin: str = "schedule") -> Schedule:
        """Read what `to_json` gave; also accepts a whole result of `mazurka check --json`."""
        if isinstance(data, dict) and "schedule" in data:
            data = data["schedule"]
            if data is None:
                raise InputError(f"{origin}: a result without a schedule: it shows no bug")

        def require(condition: bool, problem: str) -> None:
            if not condition:
                raise InputError(f"{origin}: not a schedule as `mazurka check --save-schedule` writes it: {problem}")

        require(isinstance(data, dict), "it is not a JSON object")
        if data.get("format", FORMAT) != FORMAT:
            raise InputError(f"{origin}: schedule format {data['format']}, but this version reads format {FORMAT}")
        for key in ("format", "threads", "steps"):
            require(key in data, f'"{key}" is missing')
        threads, steps, race, transforms = data["threads"], data["steps"], data.get("race"), data.get("transforms")
        named = isinstance(threads, list) and all(isinstance(name, str) for name in threads)
        require(named, '"threads" is not a list of names')
        require(isinstance(steps, list), '"steps" is not a list')
        for number, step in enumerate(steps, 1):
            named = isinstance(step, list) and bool(step) and isinstance(step[0], str)
            require(named and _are_numbers(step[1:]), f"step {number} is not the name of a thread and its choices")
        if race is not None:
            pair = isinstance(race, list) and len(race) == 2 and _are_numbers(race)
            require(pair and 0 < race[0] < race[1] <= len(steps), '"race" is not the numbers of two steps')
            race = (race[0], race[1])
        require(_are_transformations(transforms), '"transforms" does not say what was done to the program')
        pause_after = data.get("pause_after", 0)
        require(_are_numbers([pause_after]), '"pause_after" is not a number of instructions')
        inputs = data.get("inputs", True)
        require(isinstance(inputs, bool), '"inputs" is neither true nor false')
        leeway = data.get("leeway", asdict(USUAL))
        require(_is_leeway(leeway), '"leeway" does not say what was made of what C leaves open')
        taken = tuple(Step(name, tuple(choices)) for name, *choices in steps)
        made = Transformations(**transforms)
        return Schedule(tuple(threads), taken, race, made, pause_after, inputs, Leeway(**leeway))

    @staticmethod
    def load(path: Path) -> Schedule:
        return Schedule.from_json(read_json(path), str(path))


def _are_numbers(values: list[object]) -> bool:
    return all(type(value) is int and 0 <= value < 1 << 32 for value in values)  # (a bool is another type)


def _are_transformations(data: Any) -> bool:
    if not isinstance(data, dict) or data.keys() != {"purity", "awaits", "unroll"}:
        return False
    bound = data["unroll"]
    are_switches = isinstance(data["purity"], bool) and isinstance(data["awaits"], bool)
    return are_switches and (bound is None or (type(bound) is int and 0 < bound < 1 << 63))


def _is_leeway(data: Any) -> bool:
    known = {field.name for field in fields(Leeway)}
    if not isinstance(data, dict) or not data.keys() <= known:
        return False
    return all(isinstance(value, type(getattr(USUAL, key)) | _OTHERWISE.get(key, bool)) for key, value in data.items())


# What a field may be besides what it usually is.
_OTHERWISE: dict[str, type] = {"nondet": str, "stdin": str, "compat": str}
