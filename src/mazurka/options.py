"""All options, each known here and nowhere else: what it is called, which values it takes, what it is if nobody says,
what it does in words, which engine has a use for it, and which commands that reports print must carry it along.

From this come the command line and its help (`cli`), the checks of what Python callers give, and what a report says is
to be typed to see a bug again. The commands and their options are in `COMMANDS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from mazurka.errors import InputError
from mazurka.machine.layout import MAX_CHOICES
from mazurka.sizes import parse_size

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Chosen = TypeVar("Chosen", bound=DataclassInstance)

# By which the executions of a program are told: what threads may see of each other's writes. The last one is that of C.
MEMORY_MODELS = ("sc", "tso", "pso", "ra", "c11")
# How many executions a random walk tries when nobody says how long to go on.
RANDOM_EXECUTIONS = 10_000
MOST_JOBS = 1024


@dataclass(frozen=True, slots=True)
class Kind:
    """What the values of an option have in common. `noun` is what a text is not that cannot be read at all, `what` is
    what a value that can be read has to be, and `metavar` stands for one in the help."""

    noun: str
    metavar: str
    what: str
    read: Callable[[str], Any]
    fits: Callable[[Any], bool]

    def parse(self, text: str) -> Any:
        """The value that is written so. Raises `ValueError` if there is none, `InputError` if it cannot be meant."""
        value = self.read(text)
        if not self.fits(value):
            raise InputError(f"{text} is not {self.what}")
        return value


def _is_number(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value < high


def _is_count(value: Any) -> bool:
    return _is_number(value, 1, 1 << 63)


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < math.inf


def _read_until(text: str) -> int | str:
    return text if text == "complete" else 1 if text == "first" else int(text)


def _read_jobs(text: str) -> int | str:
    return text if text == "auto" else int(text)


def _read_size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise InputError(str(error)) from None


def _is_suppression(text: str) -> bool:
    kind, _, pattern = text.partition(":")
    return kind in ("file", "function", "object") and pattern != ""


def bounds(text: str) -> tuple[int, int]:
    """The least and the largest number of a range that is written LOW..HIGH."""
    low, dots, high = text.partition("..")
    if not dots:
        raise ValueError(text)
    return int(low), int(high)


def _is_range(text: Any) -> bool:
    try:
        low, high = bounds(str(text))
    except ValueError:
        return False
    return isinstance(text, str) and -(1 << 63) <= low <= high < 1 << 63 and high - low < MAX_CHOICES


TEXT = Kind("text", "FILE", "a text", str, lambda value: isinstance(value, str))
COUNT = Kind("number", "N", "a number above 0", int, _is_count)
SECONDS = Kind("time", "SECONDS", "a time above 0", float, _is_time)
SIZE = Kind("size", "SIZE", "a size above 0", _read_size, _is_count)
BITS = Kind("number", "N", "a number of 64 bits", int, lambda value: _is_number(value, 0, 1 << 64))
RANGE = Kind("range", "LOW..HIGH", f"a range LOW..HIGH of at most {MAX_CHOICES:,} numbers", str, _is_range)
RACES_MEANT = Kind(
    "suppression",
    "file|function|object:NAME",
    "file:NAME, function:NAME or object:NAME",
    str,
    lambda value: isinstance(value, str) and _is_suppression(value),
)
GOAL = Kind(
    "first, number or complete",
    "first|N|complete",
    "a number above 0",
    _read_until,
    lambda value: value == "complete" or _is_count(value),
)

JOB_COUNT = Kind(
    "auto or number",
    "N|auto",
    f"a number from 1 to {MOST_JOBS}",
    _read_jobs,
    lambda value: value == "auto" or _is_number(value, 1, MOST_JOBS + 1),
)

# Which of the commands that a report prints, to see a bug again, carry an option: none; the one that looks for the bug
# once more; that, and the one that replays it, which has to judge it alike; or that of a random walk, which may end
# before the bug without its limits.
Again = Literal["never", "finding", "judging", "walking"]


@dataclass(frozen=True, slots=True)
class Option:
    """`flag` is how it is written, `keyword` how Python callers call it. `values` are those that there are, or their
    kind; None: it is a switch, which turns `default` into its opposite. `default` is what counts if nobody says. One
    that is `repeatable` has a sequence of such values.
    `only` is the one engine that has a use for it, and why the other has none; but the other one takes the value
    `harmless`, which asks for what it does anyway. Where `interleavings` is not None, it asks for them, and has no
    meaning for execution graphs, except for these values."""

    flag: str
    help: str
    values: tuple[str | int, ...] | Kind | None = None
    metavar: str | None = None
    keyword: str = ""
    default: Any = None
    again: Again = "never"
    only: tuple[str, str] | None = None
    harmless: str | bool | None = None
    interleavings: tuple[str, ...] | None = None
    required: bool = False
    repeatable: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "keyword", self.keyword or self.key.replace("-", "_"))

    @property
    def key(self) -> str:
        """How it is called in a configuration file."""
        return self.flag.removeprefix("--no-" if self.default is True else "--")

    @property
    def explained(self) -> str:
        """The help, with the value that counts if nobody says."""
        if self.values is None or self.default in (None, ()) or "(default" in self.help:
            return self.help
        return f"{self.help} (default: {self.default})".lstrip()

    @property
    def unsaid(self) -> Any:
        """What stands for it where nobody said anything. If an engine has no use for it, that is told apart from the
        default, as far as that can be."""
        return None if self.repeatable or (self.only is not None and self.values is not None) else self.default

    def check(self, value: Any) -> None:
        """Refuse what a Python caller cannot mean. None: nothing was said."""
        problem = None if value is None else self._problem(value)
        if problem is not None:
            raise InputError(f"{self.keyword} {problem}")

    def configured(self, value: Any) -> Any:
        """The value that a configuration file means, where some are written as on the command line."""
        if self.values in (SIZE, GOAL, JOB_COUNT) and isinstance(value, str):
            assert isinstance(self.values, Kind)
            with suppress(ValueError):
                return self.values.parse(value)
        problem = self._problem(value)
        if problem is not None:
            raise InputError(problem)
        return value

    def _problem(self, value: Any) -> str | None:
        if self.repeatable:
            if not isinstance(value, list | tuple):
                return f"must be a list, not {value!r}"
            return next((problem for each in value if (problem := self._problem_with(each))), None)
        return self._problem_with(value)

    def _problem_with(self, value: Any) -> str | None:
        """Why this cannot be a value, if so."""
        if isinstance(self.values, tuple):
            fits = value in self.values and not isinstance(value, bool)
            return None if fits else f"can be {', '.join(map(str, self.values))}, not {value!r}"
        if self.values is None:
            return None if isinstance(value, bool) else f"must be true or false, not {value!r}"
        return None if self.values.fits(value) else f"must be {self.values.what}, not {value!r}"

    def words(self, value: Any) -> list[str]:
        """How it is written on a command line, if it has to be."""
        if value is None or value == self.default:
            return []
        if self.values is None:
            return [self.flag]
        given = dict.fromkeys(value) if self.repeatable else [value]
        texts = [str(each).removesuffix(".0") if isinstance(each, float) else str(each) for each in given]
        # What begins as an option does has to be one word with its own.
        return [word for t in texts for word in ((f"{self.flag}={t}",) if t[:1] == "-" else (self.flag, t))]


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it does, which `files` it takes, what else its usage shows, and its options, in groups. Those of
    `project` say where else files come from."""

    description: str
    files: str
    groups: Mapping[str | None, tuple[Option, ...]]
    usage: str = ""
    project: tuple[Option, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        return tuple(option for group in self.groups.values() for option in group)


ENGINE = Option(
    "--engine",
    "stateless: cover all executions; stateful: cover all states, also of programs that never end; auto: the former if "
    "the program ends, as far as can be seen, and the latter if not, or if that turns out on the way",
    ("auto", "stateless", "stateful"),
    default="auto",
    again="finding",
    interleavings=("auto", "stateless"),
)
MEMORY = Option(
    "--memory",
    "which executions a program has. c11: those that C allows, as it names memory orders; sc: interleavings, in which "
    "every read is of the latest write, whatever order it names; tso, pso: those of processors that buffer writes, as "
    "x86 does; ra: all accesses acquire and release",
    MEMORY_MODELS,
    default="c11",
    again="finding",
)
KEEP_GOING = Option("--keep-going", "go on after the first bug, and report all that differ, each once", default=False)
TIMEOUT = Option("--timeout", "stop the search after this time", SECONDS, again="walking")
UNINITIALISED = Option(
    "--no-uninitialised",
    "do not report branches and addresses that depend on memory that was never written",
    default=True,
    again="judging",
)
ANY_STATUS = Option(
    "--any-status",
    "do not report that the program exits with another status than 0",
    default=False,
    again="judging",
)
SUPPRESS_RACE = Option(
    "--suppress-race",
    "leave out data races in a file, in a function or on an object (file:PATTERN, function:PATTERN, object:PATTERN, "
    "with * and ? as in a shell); may be given more than once",
    RACES_MEANT,
    default=(),
    again="finding",
    repeatable=True,
)

OVERFLOW = Option(
    "--no-overflow",
    "do not report signed integers that overflow and shifts by too much: numbers wrap around",
    default=True,
    again="finding",
)
ALIGNMENT = Option(
    "--no-alignment",
    "do not report plain accesses to addresses that are not aligned as their type has to be",
    default=True,
    again="finding",
)
MEMBER_BOUNDS = Option(
    "--no-member-bounds",
    "do not report indices that leave an array inside of a structure, as long as they stay inside of the object",
    default=True,
    again="finding",
)
SPURIOUS = Option(
    "--spurious",
    "explore also that a condition variable lets a thread go on without a signal, and that a weak compare-exchange "
    "fails without a reason; a thread meets neither twice in a row at the same",
    default=False,
    again="finding",
)
FAILING_MALLOC = Option(
    "--failing-malloc",
    "explore also that malloc, calloc, realloc, aligned_alloc, posix_memalign and new (std::nothrow) give null, and "
    "that new throws",
    default=False,
    again="finding",
)
REUSE_ADDRESSES = Option(
    "--reuse-addresses",
    "explore also that malloc gives a block again that the same thread has freed, if it has the same size",
    default=False,
    again="finding",
)
NONDET = Option(
    "--nondet",
    "let inputs without bounds (__VERIFIER_nondet_int() and the like, rand) be any number from LOW to HIGH that their "
    "type has; all are explored (--nondet=-1..1 if LOW is negative)",
    RANGE,
    again="finding",
)
STDIN = Option("--stdin", "let the program read FILE as its standard input", TEXT, again="finding")
COMPAT = Option(
    "--compat",
    "give the program the headers and functions of another tool for which it was written; of svcomp: abort() ends an "
    "execution that is not to be considered",
    ("genmc", "esbmc", "dartagnan", "svcomp"),
    again="finding",
)
LEAKS = Option(
    "--leaks",
    "report blocks on the heap that nobody has freed and that no pointer leads to when the process ends",
    default=False,
    again="judging",
)

ALGORITHM = Option(
    "--algorithm",
    "pop: one execution of each equivalence class; optimal: the same, in another way that takes more memory; "
    "exhaustive: every interleaving; random: a random walk, for programs that are too large, up to a limit, which "
    f"is {RANDOM_EXECUTIONS} executions unless --timeout or --max-executions is given; graphs: each execution graph of "
    "a memory model, which is what there is for those with more than interleavings, and can be asked for with sc",
    ("pop", "optimal", "exhaustive", "random", "graphs"),
    default="pop",
    again="finding",
    interleavings=("graphs",),
    only=("stateless", "has --reduction instead (cpc, cycle-detection, unsound, none)"),
)
EQUIVALENCE = Option(
    "--equivalence",
    "which executions are one and explored once. traces: those with the same order of all that conflicts; reads-from: "
    "those in which every read reads from the same write, which are fewer where several threads write what few read; "
    "by graphs, for interleavings and --memory sc and tso",
    ("traces", "reads-from"),
    default="traces",
    again="finding",
    only=("stateless", "visits each state once"),
)
SEED = Option(
    "--seed",
    "of the random walk (default: 1); the other algorithms begin each execution with a thread that depends on N, which "
    "changes which bug they meet first, but not the counts",
    BITS,
    again="finding",
    only=("stateless", "searches in a fixed order"),
    interleavings=(),
)
RACES = Option(
    "--races",
    "data races are reported along with the verdict, or are bugs, or are not looked for",
    ("warn", "error", "ignore"),
    default="warn",
    again="finding",
)
COMMUTE = Option(
    "--no-commute",
    "tell apart the orders of updates whose old value nobody uses",
    default=True,
    again="finding",
    only=("stateless", "tells states apart, not orders of updates"),
)
SYMMETRY = Option(
    "--no-symmetry",
    "tell apart threads that are alike, created one after the other with the same function and argument",
    default=True,
    again="finding",
    only=("stateless", "tells threads apart"),
)
PURITY = Option(
    "--no-purity",
    "let loops go round also where that changes nothing",
    default=True,
    again="finding",
    only=("stateless", "lets loops go round as they are"),
    harmless=False,
)
AWAITS = Option(
    "--no-await",
    "let a thread stop, rather than wait, where what it reads is not what is assumed or what its loop needs",
    keyword="awaits",
    default=True,
    again="finding",
    only=("stateless", "lets loops go round as they are"),
    harmless=False,
)
UNROLL = Option(
    "--unroll",
    "stop each loop after N iterations; if one does go on, the answer is at best: no bug within N iterations",
    COUNT,
    again="finding",
    only=("stateless", "needs no bound on loops: they end where they come back to a known state"),
)
MAX_EXECUTIONS = Option(
    "--max-executions",
    "stop the search after N executions",
    COUNT,
    again="walking",
    only=("stateless", "counts states, which --max-states limits"),
)
MAX_STEPS = Option(
    "--max-steps",
    "follow an execution for N steps; if it has not ended then, the answer is at best: incomplete",
    COUNT,
    default=100_000,
    again="judging",
    only=("stateless", "has no limit on the length of executions"),
)
ALLOW_LIVELOCK = Option(
    "--allow-livelock", "do not report loops that wait for ever for another thread", default=False, again="judging"
)

JOBS = Option(
    "--jobs",
    "search with so many threads, each of which explores a part (pop and graphs); auto: as many as there are cores "
    "that this process may use. The counts, and which bugs --keep-going finds in which order, do not depend on it",
    JOB_COUNT,
    default=1,
)

REDUCTION = Option(
    "--reduction",
    "cpc: other threads run only between transactions, made safe by commit point completion; cycle-detection: made "
    "safe in an older way; none: they run everywhere; unsound: not made safe, can miss bugs, for comparison only",
    ("cpc", "cycle-detection", "unsound", "none"),
    default="cpc",
    again="finding",
    only=("stateful", "has --algorithm instead (pop, optimal, exhaustive, random)"),
)
EXACT = Option(
    "--exact",
    "compare whole states, not fingerprints of 124 bits",
    default=False,
    again="finding",
    only=("stateful", "stores no states"),
)
MAX_MEMORY = Option(
    "--max-memory",
    "stop the search when it takes so much memory: 500M, 4GiB (default: half of the memory that there is)",
    SIZE,
    again="finding",
    only=("stateful", "stores no states; --timeout and --max-executions limit it"),
)
MAX_STATES = Option(
    "--max-states",
    "stop the search after N states",
    COUNT,
    only=("stateful", "stores no states; --timeout and --max-executions limit it"),
)

UNTIL = Option(
    "--until",
    "end with the first schedule, or after N iterations that found one, or when it is known of all schedules whether "
    "they are safe (default: first)",
    GOAL,
    default=1,
    again="finding",
)
INTEGERS = Option(
    "--integers",
    "bits: those of the machine; mathematical: without limits, which can be faster, but proves nothing about programs "
    "in which integers overflow",
    ("bits", "mathematical"),
    default="bits",
    again="finding",
)
BUILDABLE = Option(
    "--no-build-check",
    "do not look whether programs can be built that keep to the schedules",
    keyword="buildable",
    default=True,
)

PROGRESS = Option("--no-progress", "no progress line on a terminal", default=True)
JSON = Option("--json", "print the result as one JSON object", default=False)
COLOR = Option("--color", "", ("auto", "always", "never"), default="auto")

# Of all commands. What they say is not in the file that they are about.
CONFIG = Option(
    "--config",
    "take defaults of options from FILE, not from a mazurka.toml in the folder of the first file or above it",
    TEXT,
    keyword="config_file",
    again="judging",
)
NO_CONFIG = Option("--no-config", "do not look for a mazurka.toml", default=True, again="judging")
CONFIGURATION = (CONFIG, NO_CONFIG)

# Where the files of a program are, and their flags.
BUILD = Option(
    "--build",
    "take files and flags from the compile_commands.json of the build in DIR",
    TEXT,
    "DIR",
    again="judging",
)
TARGET = Option(
    "--target",
    "with --build: check this target, an executable or a library; FILEs are added to it",
    TEXT,
    "NAME",
    again="judging",
)
TESTS = Option(
    "--tests",
    "a program with a test framework (GoogleTest, Catch2, doctest, Unity): check each of its test cases by itself; "
    "limits such as --timeout are for each",
    default=False,
)
TEST = Option("--test", "check only this test case of such a program", TEXT, "NAME", again="judging")
PROJECT = (BUILD, TARGET, TEST)

EVERY = Option("--all", "also the other proposals that cost the same, up to 20", default=False, keyword="every")

# What `mazurka.leeway` is about.
SURROUNDINGS = (NONDET, STDIN, COMPAT)
LEEWAY = (OVERFLOW, ALIGNMENT, MEMBER_BOUNDS, SPURIOUS, FAILING_MALLOC, REUSE_ADDRESSES, *SURROUNDINGS)
LOOPS = (PURITY, AWAITS, UNROLL)
_EXECUTIONS = (MAX_STEPS, ALLOW_LIVELOCK)
_SEARCH: dict[str | None, tuple[Option, ...]] = {
    "search": (ENGINE, MEMORY, KEEP_GOING, TIMEOUT, UNINITIALISED, ANY_STATUS, SUPPRESS_RACE, RACES, ALLOW_LIVELOCK),
    "what C leaves undefined or open": (*LEEWAY, LEAKS),
    "search of the engine stateless": (
        ALGORITHM,
        EQUIVALENCE,
        JOBS,
        SEED,
        COMMUTE,
        SYMMETRY,
        *LOOPS,
        MAX_EXECUTIONS,
        MAX_STEPS,
    ),
    "search of the engine stateful": (REDUCTION, EXACT, MAX_MEMORY, MAX_STATES),
}

# What a check depends on that looks for fences, but for what C leaves open.
FENCES_CHECKS = (MEMORY, RACES, SUPPRESS_RACE, ALLOW_LIVELOCK, UNINITIALISED, ANY_STATUS, LEAKS, MAX_STEPS)
FENCES = (*FENCES_CHECKS, *LEEWAY, TIMEOUT, EVERY)

COMMANDS = {
    "check": Command(
        "execute a program in every way that its memory model allows and report the first bug",
        "C or C++ source files, LLVM .ll, .bc and .o files, or .a archives of such",
        {
            **_SEARCH,
            "output": (
                Option("--save-schedule", "write the schedule of a bug to FILE, for replay", TEXT),
                Option("--junit", "write the verdict, or those of all test cases, to FILE as JUnit XML", TEXT),
                PROGRESS,
                JSON,
                Option("--race-schedules", "with --json: the schedule of each data race, for replay", default=False),
                COLOR,
            ),
        },
        project=(BUILD, TARGET, TESTS, TEST),
    ),
    "replay": Command(
        "execute a program once more, exactly as a schedule says",
        "the files as for check; the last one is the schedule",
        {"execution": (*_EXECUTIONS, UNINITIALISED, ANY_STATUS, LEAKS), "output": (JSON, COLOR)},
        usage="SCHEDULE.json ",
        project=PROJECT,
    ),
    "schedule": Command(
        "find schedules under which a program is safe, whatever its inputs",
        "the files as for check",
        {
            "search": (
                UNTIL,
                INTEGERS,
                TIMEOUT,
                Option(
                    "--check",
                    "do not search, but prove that this schedule is safe for the program",
                    TEXT,
                    "SCHEDULE.json",
                ),
                BUILDABLE,
            ),
            "output": (
                Option(
                    "-o",
                    "where to write the latest schedule (default: the name of the first FILE, with .schedule.json)",
                    TEXT,
                    "SCHEDULE.json",
                    keyword="output",
                ),
                Option("--picture", "draw the latest schedule, as .svg or as .dot for Graphviz", TEXT),
                Option("--save-bug", "write how the first bug comes about to FILE, for replay", TEXT),
                PROGRESS,
                JSON,
                COLOR,
            ),
        },
    ),
    "build": Command(
        "compile a program so that its threads keep to a schedule",
        "the files as for schedule, which made the schedule",
        {
            "build": (
                Option("--schedule", "the schedule", TEXT, "SCHEDULE.json", required=True),
                Option("-o", "where to write the program", TEXT, "PROGRAM", keyword="output", required=True),
                Option(
                    "--optimise",
                    "0: all events in one order; 1: only dependent events are ordered, locks are left out; 2: also, "
                    "longer sections, fewer accesses",
                    (0, 1, 2),
                    default=2,
                ),
                Option(
                    "--no-check",
                    "do not prove again, before the program is built, that the schedule is safe for it",
                    default=True,
                ),
            )
        },
        usage="--schedule SCHEDULE.json -o PROGRAM ",
    ),
    "fences": Command(
        "find the least that has to be stronger, of memory orders and fences, for a program to be verified",
        "the files as for check",
        {
            "search": (*FENCES_CHECKS, TIMEOUT, EVERY),
            "what C leaves undefined or open": LEEWAY,
            "output": (PROGRESS, JSON, COLOR),
        },
        project=PROJECT,
    ),
    "loops": Command(
        "list the loops of a program: which only wait for other threads, and for what",
        "the files as for check",
        {None: (MEMORY, Option("--json", "print a JSON list", default=False))},
        project=PROJECT,
    ),
    "print": Command(
        "print the program that check explores, in Mazurka's own representation",
        "the files as for check",
        {None: (*LOOPS, MEMORY), "what C leaves undefined or open": LEEWAY},
        project=PROJECT,
    ),
}

# What a check depends on: the options that Python callers give, too.
SEARCH = tuple(option for group in _SEARCH.values() for option in group)
# Those that a replay depends on, too: what is taken for a bug.
JUDGING = tuple(option for option in SEARCH if option.again == "judging")


def chosen(options: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each option, by its keyword. Raises `InputError` for one that there is not."""
    values = {}
    for option in options:
        value = given.get(option.keyword)
        option.check(value)
        values[option.keyword] = option.default if value is None else value
    return values


def fitting_engine(given: Mapping[str, Any]) -> str:
    """The engine that is asked for: by its name, or else by an option that only one of them has a use for; "auto" if
    that is left open. Nothing that was asked for is ignored in silence: an option that the engine has no use for is an
    error, and so are two that are for different ones."""
    engine: str = given["engine"]
    decided: dict[str, Option] = {}
    for option in SEARCH:
        value = given[option.keyword]
        if option.only is None or value == option.unsaid:
            continue
        decided.setdefault(option.only[0], option)
        if engine not in ("auto", option.only[0]) and value != option.harmless:
            raise InputError(f"{option.flag} is for --engine {option.only[0]}; the engine {engine} {option.only[1]}")
    if engine == "auto" and len(decided) > 1:
        one, other = (f"{option.flag} is for --engine {name}" for name, option in decided.items())
        raise InputError(f"{one}, but {other}")
    if engine == "auto" and decided:
        engine = next(iter(decided))
    if given["jobs"] != JOBS.default:
        if engine == "stateful":
            raise InputError("--jobs is for --engine stateless; the engine stateful searches with one")
        if given["algorithm"] not in (None, "pop", "graphs"):
            raise InputError(f"--jobs is for --algorithm pop and graphs; {given['algorithm']} searches with one")
    memory = MEMORY.default if given["memory"] is None else given["memory"]
    if given["equivalence"] == "reads-from":
        _refuse_traces(given, memory)
    if memory not in ("sc", MEMORY.default):
        refuse_interleavings(given, f"--memory {memory} has more executions than these")
        return "stateless"
    if given["algorithm"] == "graphs":
        refuse_interleavings(given, "--algorithm graphs explores execution graphs")
    return engine


def _refuse_traces(given: Mapping[str, Any], memory: str) -> None:
    """Raise `InputError` for what is not there for reads-from classes."""
    named = "--equivalence reads-from"
    if memory not in ("sc", "tso", MEMORY.default):
        raise InputError(f"{named} is for --memory sc and tso: under {memory}, leave it out")
    if given["algorithm"] not in (None, "graphs"):
        raise InputError(f"{named} is for --algorithm graphs, not {given['algorithm']}")
    if given["leaks"]:
        raise InputError(f"{named} leaves open what is in memory at the end, where --leaks looks: leave one out")


def refuse_interleavings(given: Mapping[str, Any], why: str) -> None:
    """Raise `InputError` for an option that asks for interleavings, where graphs are explored: it says `why`."""
    for option in SEARCH:
        value = given[option.keyword]
        if value in (None, option.unsaid, *(option.interleavings or ())):
            continue
        if option.interleavings is not None or (option.only is not None and option.only[0] == "stateful"):
            words = f"{option.flag} {value}" if isinstance(option.values, tuple) else option.flag
            raise InputError(f"{words} is for interleavings, but {why}: use --memory sc, or leave {option.flag} out")


def picked(kind: type[Chosen], values: Mapping[str, Any]) -> Chosen:
    """The options of one engine, out of all."""
    return kind(**{field.name: values[field.name] for field in fields(kind)})


def repeated(options: Iterable[Option], given: Mapping[str, Any], again: Iterable[Again]) -> list[str]:
    """The words of a command line that asks for the same, as far as options of these sorts go."""
    options = tuple(options)
    return [
        word
        for sort in again
        for option in options
        if option.again == sort
        for word in option.words(given.get(option.keyword))
    ]
