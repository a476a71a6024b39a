"""A schedule: which thread takes each step of an execution. A plain value, to print, store, compare and replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

from mazurka.errors import InputError
from mazurka.jsonfiles import read_json
from mazurka.leeway import USUAL, Leeway
from mazurka.options import MEMORY_MODELS
from mazurka.program.orders import exceeds_interleavings
from mazurka.program.program import Program

FORMAT = 3
# Those that can be read: before 3, every step read the latest writes.
_FORMATS = (2, FORMAT)

# As the native core takes and tells them: what a step reads, by the fields of `Reading`, and a step: the number of its
# thread, from 1, its choices and what it reads.
ToldReading = tuple[int, int, int, int, int]
ToldStep = tuple[int, Sequence[int], Sequence[ToldReading]]


@dataclass(frozen=True, slots=True)
class Transformations:
    """What is done to a program from files before it is explored: the options of `transforms.prepare`. A schedule fits
    a program only after the same. `memory` is "sc" if that keeps the sequentially consistent executions, and need not
    keep others, or "weak" if it keeps those of all memory models."""

    purity: bool = True
    awaits: bool = True
    unroll: int | None = None
    memory: str = "sc"

    def under(self, memory: str, program: Program) -> Transformations:
        """The same, for a program that is explored under a memory model."""
        return replace(self, memory="weak") if exceeds_interleavings(program, memory) else self

    @property
    def options(self) -> dict[str, Any]:
        """As `transforms.prepare` takes them."""
        return {
            "purity": self.purity,
            "awaits": self.awaits,
            "unroll": self.unroll,
            "weak": self.memory == "weak",
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """What a step reads from some bytes, instead of what the latest step before it left there: the `value`, of which
    nobody has written the bits that are `undefined`. `source` is the position of the step that wrote it, from 0; -1: it
    was there at the start."""

    address: int
    size: int
    value: int
    undefined: int
    source: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a thread, with the values of the choices that it makes on the way, and, under a weak memory model,
    what it reads that others have overwritten."""

    thread: str
    choices: tuple[int, ...] = ()
    reads: tuple[Reading, ...] = ()

    def to_json(self) -> Any:
        if not self.reads:
            return [self.thread, *self.choices]
        return {"thread": self.thread, "choices": list(self.choices), "reads": [list(astuple(r)) for r in self.reads]}

    def told(self, thread: int) -> ToldStep:
        """As the native core takes it, if the thread has this number."""
        return thread, self.choices, [astuple(read) for read in self.reads]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of one execution. Threads are named by the path of their creation ("main", "main.1", ...);
    `threads` lists them in the order of their numbers, which addresses of objects depend on. A schedule that shows a
    data race ends with it; `race` is then the numbers, from 1, of the two steps. `transforms` is what the program had
    gone through. What a thread computes on its own is one step, unless `pause_after` is above 0: then it is cut after
    each so many instructions. `inputs`: whatever comes from outside is a choice, also the time. `leeway` is how the
    program was read where C leaves that open. `memory` is the memory model under which the execution was found. `end`
    is what is in memory at the end, where that is not what the latest step left there: one before it has overwritten
    that."""

    threads: tuple[str, ...]
    steps: tuple[Step, ...]
    race: tuple[int, int] | None = None
    transforms: Transformations = Transformations()
    pause_after: int = 0
    inputs: bool = False
    leeway: Leeway = USUAL
    memory: str = "sc"
    end: tuple[Reading, ...] = ()

    @property
    def is_interleaving(self) -> bool:
        """Whether all reads are of the latest writes, so that the steps are all there is to say."""
        return not self.end and not any(step.reads for step in self.steps)

    @property
    def told_end(self) -> Sequence[ToldReading]:
        """What is in memory at the end, as the native core takes it."""
        return [astuple(read) for read in self.end]

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "threads": list(self.threads),
            "steps": [step.to_json() for step in self.steps],
            "race": list(self.race) if self.race else None,
            "transforms": asdict(self.transforms),
            "pause_after": self.pause_after,
            "inputs": self.inputs,
            "leeway": asdict(self.leeway),
            "memory": self.memory,
            "end": [list(astuple(read)) for read in self.end],
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
        if data.get("format", FORMAT) not in _FORMATS:
            known = " and ".join(map(str, _FORMATS))
            raise InputError(f"{origin}: schedule format {data['format']}, but this version reads formats {known}")
        for key in ("format", "threads", "steps"):
            require(key in data, f'"{key}" is missing')
        threads, steps, race, transforms = data["threads"], data["steps"], data.get("race"), data.get("transforms")
        named = isinstance(threads, list) and all(isinstance(name, str) for name in threads)
        require(named, '"threads" is not a list of names')
        require(isinstance(steps, list), '"steps" is not a list')
        for number, step in enumerate(steps, 1):
            problem = _problem_with(step, number, data["format"])
            require(problem is None, f"{problem}")
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
        memory = data.get("memory", "sc")
        require(memory in MEMORY_MODELS, f'"memory" is none of {", ".join(MEMORY_MODELS)}')
        end = data.get("end", [])
        fits = isinstance(end, list) and all(_is_reading(read, len(steps) + 1) for read in end)
        require(fits, f'"end" is not {_READINGS}')
        return Schedule(
            threads=tuple(threads),
            steps=tuple(map(_step, steps)),
            race=race,
            transforms=Transformations(**transforms),
            pause_after=pause_after,
            inputs=inputs,
            leeway=Leeway(**leeway),
            memory=memory,
            end=tuple(Reading(*read) for read in end),
        )

    @staticmethod
    def load(path: Path) -> Schedule:
        return Schedule.from_json(read_json(path), str(path))


_READINGS = "a list of addresses, sizes of up to 8 bytes, values, undefined bits and positions of earlier steps, or -1"


def _problem_with(step: Any, number: int, version: int) -> str | None:
    """Why something is not the step of this number, from 1, of a schedule in this format."""
    plain = step
    if isinstance(step, dict) and version > 2:
        if step.keys() != {"thread", "choices", "reads"}:
            return f'step {number} has something else than "thread", "choices" and "reads"'
        if not isinstance(step["reads"], list) or not all(_is_reading(read, number) for read in step["reads"]):
            return f"what step {number} reads is not {_READINGS}"
        plain = [step["thread"], *step["choices"]] if isinstance(step["choices"], list) else None
    named = isinstance(plain, list) and bool(plain) and isinstance(plain[0], str)
    fits = named and _are_numbers(plain[1:])
    return None if fits else f"step {number} is not the name of a thread and its choices"


def _is_reading(read: Any, number: int) -> bool:
    """Whether a step of this number, from 1, can read so."""
    if not isinstance(read, list) or len(read) != 5 or any(type(value) is not int for value in read):
        return False
    address, size, value, undefined, source = read
    fits = 0 < size <= 8 and all(0 <= bits < 1 << 8 * size for bits in (value, undefined))
    return fits and 0 <= address < 1 << 64 and -1 <= source < number - 1


def _step(data: Any) -> Step:
    if isinstance(data, list):
        return Step(data[0], tuple(data[1:]))
    return Step(data["thread"], tuple(data["choices"]), tuple(Reading(*read) for read in data["reads"]))


def _are_numbers(values: list[object]) -> bool:
    return all(type(value) is int and 0 <= value < 1 << 32 for value in values)  # (a bool is another type)


def _are_transformations(data: Any) -> bool:
    if not isinstance(data, dict) or data.keys() - {"memory"} != {"purity", "awaits", "unroll"}:
        return False
    bound = data["unroll"]
    are_switches = isinstance(data["purity"], bool) and isinstance(data["awaits"], bool)
    is_known = data.get("memory", "sc") in ("sc", "weak")
    return are_switches and is_known and (bound is None or (type(bound) is int and 0 < bound < 1 << 63))


def _is_leeway(data: Any) -> bool:
    known = {field.name for field in fields(Leeway)}
    if not isinstance(data, dict) or not data.keys() <= known:
        return False
    return all(isinstance(value, type(getattr(USUAL, key)) | _OTHERWISE.get(key, bool)) for key, value in data.items())


# What a field may be besides what it usually is.
_OTHERWISE: dict[str, type] = {"nondet": str, "stdin": str, "compat": str}
