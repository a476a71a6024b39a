"""Random C programs that are made to be built with a schedule: endless ones and ones that end, with 2 to 4 threads.

They are full of what could mislead a native build: loops that only compute, with and without inputs, threads that wait
for what never comes, inputs that decide which event is next, assertions that hold only under some schedules.

The text is for the check (`__MAZURKA__` is defined) and for a native run. That takes its inputs from a generator of its
own (or from INPUTS, the choices of the virtual machine for each thread), delays its threads here and there, and counts
the rounds of every loop of every thread. So a thread that goes on for ever counts for ever. A run ends by itself, when
each thread of MUST has gone round ENOUGH times, or when LIMIT (milliseconds) is over, with the status 75. It reports on
the standard error how often each thread has gone round until half of the time, and until the end; whether it has begun,
and ended; and hashes of what it has noted: after 16, after 64 and after 256 notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.oracle.statements import place, scalar, simple

OUT_OF_TIME = 75
MOST_THREADS = 4  # besides main

_PRELUDE = r"""
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
bool __VERIFIER_nondet_bool(void);
int __VERIFIER_nondet_range(int, int);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
#ifdef __MAZURKA__
#define DELAY(t)
#define ROUND(t)
#define NOTE(t, value)
#define BEGIN(t)
#define END(t)
#define INPUT(t) __VERIFIER_nondet_int()
#define FLIP(t) __VERIFIER_nondet_bool()
#define RANGE(t, low, high) __VERIFIER_nondet_range(low, high)
#else
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static struct {
    _Alignas(128) volatile unsigned long rounds;
    unsigned long half, state, delays;
    volatile bool begun, ended, enough;
    unsigned hash, notes, hashes[3];
    const char *choices;
} own[THREADS];
static unsigned long enough;
static atomic_int missing;
static bool is_late;
static unsigned number(const char *name, unsigned otherwise) {
    const char *text = getenv(name);
    return text && *text ? (unsigned)strtoul(text, 0, 10) : otherwise;
}
static void report(void) {
    static atomic_flag once;
    if (atomic_flag_test_and_set(&once)) return;
    char text[4096];
    int length = 0;
    for (int t = 0; t < THREADS; t++) {
        length += sprintf(text + length, "report %d %lu %lu", t, own[t].half, own[t].rounds);
        length += sprintf(text + length, " %d %d", own[t].begun, own[t].ended);
        for (unsigned n = 0; n < 3 && own[t].notes >= 16u << 2 * n; n++)
            length += sprintf(text + length, " %08x", own[t].hashes[n]);
        length += sprintf(text + length, "\n");
    }
    if (write(2, text, (size_t)length) < 0) _exit(1);
}
static void tick(int signal) {
    if (is_late) {
        report();
        _exit(75);
    }
    is_late = true;
    for (int t = 0; t < THREADS; t++) own[t].half = own[t].rounds;
}
static void arrange(void) {
    const unsigned seed = number("SEED", 1), limit = number("LIMIT", 1000);
    const char *must = getenv("MUST"), *choices = getenv("INPUTS");
    enough = number("ENOUGH", 0);
    for (int t = 0; t < THREADS; t++) {
        own[t].state = own[t].delays = (seed * 64ul + (unsigned)t + 1) * 0x9e3779b97f4a7c15ul;
        if (must && must[t] == '1') missing++;
        else own[t].enough = true;
        own[t].choices = choices ? choices : "";
        for (int skipped = 0; skipped < t && *own[t].choices; own[t].choices++)
            if (*own[t].choices == ';') skipped++;
    }
    atexit(report);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    const struct timeval time = {limit / 2000, limit % 2000 * 500};
    setitimer(ITIMER_REAL, &(struct itimerval){time, time}, 0);
}
static unsigned long any(unsigned long *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dul >> 16;
}
static bool choice(int t, int *value) {
    char *end;
    if (*own[t].choices == 0 || *own[t].choices == ';') return false;
    *value = (int)strtol(own[t].choices, &end, 10);
    own[t].choices = *end == ' ' ? end + 1 : end;
    return true;
}
static int input(int t) {
    int high, low;
    if (choice(t, &high) && choice(t, &low)) return high << 16 | low;
    const unsigned long drawn = any(&own[t].state);
    return drawn % 4 == 0 ? (int)(drawn >> 2) : drawn % 4 == 1 ? (int)(drawn >> 2 & 63) - 8 : (int)(drawn >> 2 & 1);
}
static bool flip(int t) {
    int value;
    if (choice(t, &value)) return value != 0;
    const unsigned long drawn = any(&own[t].state), rare = own[t].state >> 40 & 1023;
    return rare == 0 ? own[t].state & 1 : drawn & 1;
}
static int range(int t, int low, int high) {
    int value;
    if (choice(t, &value)) return low + value;
    return low + (int)(any(&own[t].state) % (unsigned)(high - low + 1));
}
static void delay(int t) {
    const unsigned long drawn = any(&own[t].delays);
    if (drawn % 16 == 0) usleep(drawn >> 4 & 63);
    else if (drawn % 16 < 4) sched_yield();
    else for (volatile unsigned i = 0; i < (drawn >> 4 & 127); i++) {}
}
static void went_round(int t) {
    if (++own[t].rounds >= enough && enough && !own[t].enough) {
        own[t].enough = true;
        if (--missing == 0) {
            report();
            _exit(0);
        }
    }
}
static void note(int t, int value) {
    own[t].hash = own[t].hash * 31u + (unsigned)value;
    own[t].notes++;
    for (unsigned n = 0; n < 3; n++)
        if (own[t].notes == 16u << 2 * n) own[t].hashes[n] = own[t].hash;
}
#define DELAY(t) delay(t);
#define ROUND(t) went_round(t);
#define NOTE(t, value) note(t, value);
#define BEGIN(t) if (t == 0) arrange(); own[t].begun = true;
#define END(t) own[t].ended = true;
#define INPUT(t) input(t)
#define FLIP(t) flip(t)
#define RANGE(t, low, high) range(t, low, high)
#endif
"""

_SHARED = """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER, other = PTHREAD_COND_INITIALIZER;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_barrier_t barrier;
sem_t sems[5], slots, items, never;
int x, y, z, array[4], p, q, turn = 1, inside, count, stop, account[2] = {5, 5};
unsigned w;
atomic_int counter, owner;
pthread_t h1, h2, h3, h4;
"""

_FUNCTIONS = """
static int get(int *from) { return *from; }
static void put(int *to, int v) { *to = v; }
static void add(int *to, int v) { *to = *to + v; }
static void guarded(int *to, int v) { pthread_mutex_lock(&inner); *to = *to * 5 + v; pthread_mutex_unlock(&inner); }
static void set_up(void) { z = 7; }
static void enter(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
static void leave(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }
static void show(int v) { putchar('A' + (v & 15)); putchar('A' + (v >> 4 & 15)); }
"""


@dataclass(frozen=True)
class Part:
    """A statement: pieces of text, each with statements after it, and the text behind them."""

    pieces: tuple[tuple[str, tuple[Part, ...]], ...]
    after: str = ""
    fixed: bool = False  # not to be taken away when the program is made smaller

    def lines(self, depth: int = 0) -> Iterator[str]:
        for text, inside in self.pieces:
            yield "    " * depth + text
            for part in inside:
                yield from part.lines(depth + 1)
        if self.after:
            yield "    " * depth + self.after

    def smaller(self) -> Iterator[tuple[Part, ...]]:
        """What can stand in its place: nothing, what is inside of it, or itself with less inside."""
        if not self.fixed:
            yield ()
            if any(inside for _, inside in self.pieces):
                yield tuple(part for _, inside in self.pieces for part in inside)
        for number, (text, inside) in enumerate(self.pieces):
            for less in smaller_sequences(inside):
                pieces = (*self.pieces[:number], (text, less), *self.pieces[number + 1 :])
                yield (replace(self, pieces=pieces),)


def smaller_sequences(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    for number, part in enumerate(parts):
        for less in part.smaller():
            yield (*parts[:number], *less, *parts[number + 1 :])


@dataclass(frozen=True)
class Program:
    """Thread 0 is main; thread n has the handle `h{n}`, and mostly runs the function `t{n}`."""

    parts: tuple[Part, ...]
    threads: int

    @property
    def text(self) -> str:
        return with_prelude(self.body, self.threads)

    @property
    def body(self) -> str:
        """Without what all programs have."""
        return "\n".join(line for part in self.parts for line in part.lines())

    def smaller(self) -> Iterator[Program]:
        for parts in smaller_sequences(self.parts):
            yield replace(self, parts=parts)


def with_prelude(body: str, threads: int) -> str:
    """The text of a program that uses what all programs have."""
    return f"#define THREADS {threads + 1}\n{_PRELUDE}{_SHARED}{_FUNCTIONS}{body}\n"


def line(text: str, *, fixed: bool = False) -> Part:
    return Part(((text, ()),), fixed=fixed)


def block(before: str, inside: Sequence[Part], after: str = "}", *, fixed: bool = False) -> Part:
    return Part(((before, tuple(inside)),), after, fixed)


def branch(condition: str, yes: Sequence[Part], no: Sequence[Part]) -> Part:
    return Part(((f"if ({condition}) {{", tuple(yes)), ("} else {", tuple(no))), "}")


def locked(mutex: str, inside: Sequence[Part]) -> Part:
    return block(f"pthread_mutex_lock({mutex});", inside, f"pthread_mutex_unlock({mutex});")


def generate(seed: int) -> Program:
    return _Writer(seed).program()


def _for_any_thread(function: Part) -> Part:
    """The function of thread 1 for a thread whose number is its argument."""

    def changed(text: str) -> str:
        return re.sub(r"\b(BEGIN|DELAY|END|FLIP|INPUT|NOTE|RANGE|ROUND)\(1\b", r"\1(me", text)

    def changed_part(part: Part) -> Part:
        pieces = tuple((changed(text), tuple(map(changed_part, inside))) for text, inside in part.pieces)
        return replace(part, pieces=pieces, after=changed(part.after))

    ((head, inside),) = changed_part(function).pieces
    number = line("int me = (int)(long)argument;", fixed=True)
    return replace(function, pieces=((head, (number, *inside)),), after=changed(function.after))


@dataclass
class _Scheme:
    """What threads do together: what each of them adds to its rounds, and main before them. `each_round`: there is no
    schedule if a thread leaves it out in some rounds."""

    turn: Callable[[int], list[Part]]
    before: list[Part] = field(default_factory=list)
    each_round: bool = False


class _Writer:
    def __init__(self, seed: int) -> None:
        self._random = Random(f"schedules {seed}")
        self._is_endless = self._chance(0.6)
        self._is_small = self._chance(0.75)
        self._threads = self._random.choices((2, 3, 4), (12, 4, 0) if self._is_small else (6, 6, 1))[0]
        self._has_inputs = self._chance(0.75)
        self._main_works = self._chance(0.1)
        self._times = self._random.choice((1, 1, 2))  # rounds of each thread, if they end
        self._has_twins = self._threads == 2 and self._chance(0.15)  # both threads run the same function
        self._me = 0
        self._names = 0
        self._held: set[str] = set()
        self._indices: list[str] = []
        self._waiter: int | None = None
        self._local: int | None = None

    def program(self) -> Program:
        roles = list(range(1, self._threads + 1))
        if self._threads > 2 and self._chance(0.15):
            self._waiter = roles.pop()
        if len(roles) > 1 and self._chance(0.15):
            self._local = roles.pop(self._random.randrange(len(roles)))
        schemes = self._schemes(roles)
        if self._has_twins:
            self._local = None
            functions = [_for_any_thread(self._thread(1, schemes))]
        else:
            functions = [self._thread(number, schemes) for number in range(1, self._threads + 1)]
        nested = self._threads > 2 and self._chance(0.15)
        if nested:  # the second thread creates the last one, and may wait for it
            (head, (start, *rest)), last = functions[1].pieces[0], self._threads
            joins = [line(f"pthread_join(h{last}, 0);")] if self._waiter is None and self._chance(0.5) else []
            inside = (start, self._create(last), *rest, *joins)
            functions[1] = replace(functions[1], pieces=((head, inside),))
        prototypes = ", ".join(f"*t{number}(void *)" for number in range(1, self._threads + 1))
        parts = (line(f"static void {prototypes};", fixed=True), *functions, self._main(schemes, nested))
        return Program(parts, self._threads)

    # ------------------------------------------------------------------------------------------ functions

    def _main(self, schemes: Sequence[_Scheme], nested: bool) -> Part:
        self._me = 0
        last = self._threads - nested
        body = [line("BEGIN(0) int u = 2, v = 3; unsigned k = 0;", fixed=True)]
        if self._has_inputs and self._chance(0.3):
            body.append(line(f"{self._random.choice('xyz')} = {self._input()};"))
        body += [part for scheme in schemes for part in scheme.before]
        body += [self._create(number) for number in range(1, last + 1)]
        if self._main_works:
            body += self._block(1, 1)
        if self._is_endless and self._chance(0.08):
            body += [self._loop_of_events(), line("exit(3);")]
            return block("int main(void) {", body, "}", fixed=True)
        if self._is_endless and self._chance(0.1):
            body.append(block("for (;;) {", [line("ROUND(0)", fixed=True), *self._block(1, 1)]))
        if self._waiter is not None and not self._is_endless:
            workers = [number for number in range(1, last + 1) if number != self._waiter]
            body += [line(f"pthread_join(h{number}, 0);") for number in workers]
            body.append(locked("&m", [line("stop = 1;"), line("pthread_cond_broadcast(&other);")]))
            body.append(line(f"pthread_join(h{self._waiter}, 0);"))
        else:
            body += [line(f"pthread_join(h{number}, 0);") for number in range(1, last + 1)]
        if not self._is_endless:
            places = ("x", "y", "z", "counter", "p", *(f"array[{n}]" for n in range(4)))
            body += [line(f"show({place});") for place in places]
        body.append(line("return 0;", fixed=True))
        return block("int main(void) {", body, "}", fixed=True)

    def _thread(self, number: int, schemes: Sequence[_Scheme]) -> Part:
        self._me = number
        start = [line(f"BEGIN({number}) int u = 2, v = {number}; unsigned k = 0;", fixed=True)]
        end = f"END({number}) return 0; }}"
        name = f"static void *t{number}(void *argument) {{"
        if number == self._waiter:
            return block(name, [*start, *self._wait_for_shutdown()], end)
        if number == self._local:
            before = [self._simple()] if self._chance(0.5) else []
            rounds = [self._local_part(1) for _ in range(self._random.randint(1, 2))]
            return block(name, [*start, *before, self._rounds(rounds)], end)
        parts: list[Part] = []
        for scheme in schemes:
            turn = scheme.turn(number)
            is_optional = turn and self._is_endless and not scheme.each_round
            parts += self._sometimes(turn) if is_optional and self._chance(0.3) else turn
        for _ in range(self._random.choices((0, 1, 2, 3), (6, 2, 0, 0) if self._is_small else (2, 5, 2, 1))[0]):
            place = self._random.randrange(len(parts) + 1)
            parts[place:place] = self._block(1 if self._is_small else 2, 1)
        if not parts:
            parts = self._block(1, 1)
        return block(name, [*start, self._rounds(parts)], end)

    def _create(self, number: int) -> Part:
        function = 1 if self._has_twins else number
        return line(f"pthread_create(&h{number}, 0, t{function}, (void *){number}L);")

    def _rounds(self, parts: Sequence[Part]) -> Part:
        mark = line(f"ROUND({self._me})", fixed=True)
        if self._is_endless:
            return block("for (;; k++) {", [mark, *parts])
        return block(f"for (; k < {self._times}; k++) {{", [mark, *parts])

    def _sometimes(self, parts: list[Part]) -> list[Part]:
        """What not every round does: only where nobody else counts on it."""
        return [block(f"if ({self._flip()}) {{", parts)] if self._has_inputs else parts

    # ------------------------------------------------------------------------------------------ schemes

    def _schemes(self, roles: list[int]) -> list[_Scheme]:
        """Of threads with these numbers."""
        kinds = [
            self._turns, self._barrier, self._buffer, self._semaphores, self._exclusive, self._invariant,
            self._declared, self._opposite, self._trying, self._accounts, self._read_write, self._spin_lock,
            self._order,
        ]  # fmt: skip
        if self._has_twins:
            kinds = [
                self._barrier, self._exclusive, self._invariant, self._trying, self._accounts, self._spin_lock,
                self._order,
            ]  # fmt: skip
        elif len(roles) < 2:
            kinds = [self._invariant, self._accounts, self._order]
        elif self._is_endless:
            kinds += [self._handshake] * 3
        many = self._random.choices((0, 1, 2), (2, 10, 0) if self._is_small else (2, 8, 3))[0]
        return [make(roles) for make in self._random.sample(kinds, many)]

    def _turns(self, roles: list[int]) -> _Scheme:
        kind = self._random.choice(("condition", "spinning", "assumption", "semaphore", "retry"))

        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            following = roles[(roles.index(me) + 1) % len(roles)]
            work = [*self._block(0, 1), line(f"turn = {following};")]
            match kind:
                case "condition":
                    wait = self._wait("changed", f"turn != {me}")
                    return [locked("&m", [wait, *work, line("pthread_cond_broadcast(&changed);")])]
                case "spinning":
                    return [block(f"while (turn != {me}) {{", [line(f"ROUND({me})", fixed=True)]), *work]
                case "assumption":
                    return [self._atomic([line(f"__VERIFIER_assume(turn == {me});"), *work])]
                case "semaphore":
                    return [block(f"sem_wait(&sems[{me}]);", work, f"sem_post(&sems[{following}]);")]
            done = self._name("done")
            attempt = locked("&m", [block(f"if (turn == {me}) {{", [*work, line(f"{done} = 1;")])])
            return [block(f"for (int {done} = 0; !{done};) {{", [line(f"ROUND({me})", fixed=True), attempt])]

        posts = [line(f"sem_init(&sems[{role}], 0, {int(role == roles[0])});") for role in roles]
        start = [line(f"turn = {roles[0]};")]
        return _Scheme(turn, [*start, *(posts if kind == "semaphore" else [])])

    def _barrier(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            return [line(self._random.choice(("v += pthread_barrier_wait(&barrier) != 0;",
                                              "pthread_barrier_wait(&barrier);")))]  # fmt: skip

        return _Scheme(turn, [line(f"pthread_barrier_init(&barrier, 0, {len(roles)});")])

    def _buffer(self, roles: list[int]) -> _Scheme:
        wake = "pthread_cond_signal" if len(roles) == 2 and self._chance(0.5) else "pthread_cond_broadcast"

        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            if me == roles[0]:
                body = [self._wait("changed", "count == 2"), line("count++;"), line("assert(count <= 2);"),
                        line(f"{wake}(&other);")]  # fmt: skip
                return self._often(len(roles) - 1, locked("&m", body))
            body = [self._wait("other", "count == 0"), line("count--;"), line("assert(count >= 0);"),
                    line(f"{wake}(&changed);")]  # fmt: skip
            return [locked("&m", body)]

        return _Scheme(turn)

    def _semaphores(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            first = me == roles[0]
            work = [locked("&m", [line("count++;" if first else "count--;"), line("assert(count >= 0);")])]
            taken, given = ("slots", "items") if first else ("items", "slots")
            part = block(f"sem_wait(&{taken});", work, f"sem_post(&{given});")
            return self._often(len(roles) - 1, part) if first else [part]

        return _Scheme(turn, [line("sem_init(&slots, 0, 2);"), line("sem_init(&items, 0, 0);")])

    def _declared(self, roles: list[int]) -> _Scheme:
        """Assumptions say when a thread can go on."""

        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            if me == roles[0]:
                body = [line("__VERIFIER_assume(count < 2);"), line("count++;"), line("assert(count <= 2);")]
                return self._often(len(roles) - 1, self._atomic(body))
            return [self._atomic([line("__VERIFIER_assume(count > 0);"), line("count--;")])]

        return _Scheme(turn)

    def _handshake(self, roles: list[int]) -> _Scheme:
        """Two threads of which one counts the rounds of the other."""
        checked = self._random.choice(("w == k", "w == k", "w - k <= 1", "w != k + 3"))
        one, two = sorted(self._random.sample(roles, 2), reverse=self._chance(0.1))

        def turn(me: int) -> list[Part]:
            if me == one:
                part = self._guard([line(f"assert({checked});")])
                return self._sometimes([part]) if self._chance(0.7) else [part]
            return [self._guard([line("w++;")])] if me == two else []

        return _Scheme(turn, each_round=True)

    def _guard(self, parts: list[Part]) -> Part:
        kind = self._random.randrange(5)
        if kind < 3:
            return locked("&m", parts)
        return self._atomic(parts) if kind == 3 else block("{", parts)

    def _exclusive(self, roles: list[int]) -> _Scheme:
        """Nothing but the schedule keeps them apart."""

        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            return [line("inside++;"), *self._block(0, self._random.randrange(2)), line("assert(inside == 1);"),
                    line("inside--;")]  # fmt: skip

        return _Scheme(turn)

    def _invariant(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            return [locked("&m", [line("p++;"), line("q++;"), line("assert(p == q);")])]

        return _Scheme(turn)

    def _opposite(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            first, second = ("&a", "&b") if me % 2 or self._chance(0.2) else ("&b", "&a")
            self._held |= {"a", "b"}
            inside = self._block(0, 1)
            self._held -= {"a", "b"}
            return [locked(first, [locked(second, inside)])]

        return _Scheme(turn)

    def _trying(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            if self._chance(0.4):
                retry = block("while (pthread_mutex_trylock(&a) != 0) {", [line(f"ROUND({me})", fixed=True)])
                return [retry, block("{", self._block(0, 1), "pthread_mutex_unlock(&a); }")]
            inside = [*self._block(0, 1), line("pthread_mutex_unlock(&a);", fixed=True)]
            return [branch("pthread_mutex_trylock(&a) == 0", inside, [line("v++;")])]

        return _Scheme(turn)

    def _accounts(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            if self._chance(0.3):
                return [locked("&m", [line("assert(account[0] + account[1] == 10);")])]
            way = [line("account[0]--;"), line("account[1]++;")], [line("account[1]--;"), line("account[0]++;")]
            return [locked("&m", [branch(self._flip(), *way)])]

        return _Scheme(turn)

    def _read_write(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            if me == roles[0]:
                inside = [line("p++;"), line("q++;")]
                return [block("pthread_rwlock_wrlock(&rw);", inside, "pthread_rwlock_unlock(&rw);")]
            return [block("pthread_rwlock_rdlock(&rw);", [line("assert(p == q);")], "pthread_rwlock_unlock(&rw);")]

        return _Scheme(turn)

    def _spin_lock(self, roles: list[int]) -> _Scheme:
        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            spin = f"for (int e = 0; !atomic_compare_exchange_strong(&owner, &e, {me}); e = 0) {{"
            held = [*self._block(0, 1), line(f"assert(owner == {me});")]
            return [block(spin, [line(f"ROUND({me})", fixed=True)]), block("{", held, "owner = 0; }")]

        return _Scheme(turn)

    def _order(self, roles: list[int]) -> _Scheme:
        """Inputs decide what is touched, and in which order."""

        def turn(me: int) -> list[Part]:
            if me not in roles:
                return []
            one, two = self._random.sample(("x", "y", "z", "p"), 2)
            ways = (
                ([f"{one} = v;", f"{two} = v;"], [f"{two} = v;", f"{one} = v;"]),
                ([f"{one} = v;", f"{two} = u;"], [f"{one} = v;", f"v = {two};"]),
                ([f"{one}++;"], [f"{one}++;"]),
                ([f"{one} = 1;"], [f"{one} = 1;", f"{two} = 1;"]),
                ([f"{one} = {two};"], ["v = 5;"]),
            )
            first, second = self._random.choice(ways)
            parts = [branch(self._flip(), [line(text) for text in first], [line(text) for text in second])]
            return [locked("&m", parts)] if self._chance(0.5) else parts

        return _Scheme(turn)

    def _often(self, times: int, part: Part) -> list[Part]:
        """As often as the others need it, if they are several and must come to an end."""
        if times == 1 or self._is_endless:
            return [part]
        index = self._name("n")
        mark = line(f"ROUND({self._me})", fixed=True)
        return [block(f"for (int {index} = 0; {index} < {times}; {index}++) {{", [mark, part])]

    def _wait(self, condition: str, while_: str) -> Part:
        mark = line(f"ROUND({self._me})", fixed=True)
        return block(f"while ({while_}) {{", [mark, line(f"pthread_cond_wait(&{condition}, &m);")])

    def _wait_for_shutdown(self) -> list[Part]:
        if self._is_endless and self._chance(0.25):
            return [line("sem_init(&never, 0, 0);"), line("sem_wait(&never);")]
        return [locked("&m", [self._wait("other", "!stop")])]

    # ------------------------------------------------------------------------------------------ statements

    def _block(self, depth: int, length: int) -> list[Part]:
        return [self._statement(depth) for _ in range(length)]

    def _statement(self, depth: int) -> Part:
        kind = self._random.random() if depth else 0
        if kind < 0.3:
            return self._simple()
        if kind < 0.5:
            return self._local_part(depth - 1)
        if kind < 0.62:
            return self._critical(depth)
        if kind < 0.75:
            conditions = [f"{self._scalar()} & 1", f"{self._place()} > v", "counter & 1", "v & 1", self._flip()]
            yes, no = self._block(depth - 1, 1), self._block(depth - 1, self._random.randrange(2))
            return branch(self._random.choice(conditions), yes, no)
        if kind < 0.85:
            return self._loop_of_events()
        if kind < 0.92:
            return self._atomic([self._simple(), self._simple()])
        if kind < 0.97:
            return line("pthread_once(&once, set_up);")
        if kind < 0.99:
            return line(f"{{ int *to = {self._flip()} ? &x : &y; *to = *to + v; v = *to; {self._note('v')} }}")
        return line("__VERIFIER_assume(v != 100);")

    def _critical(self, depth: int) -> Part:
        free = [mutex for mutex in ("a", "b") if mutex not in self._held and not self._held & {"b"}]
        if not free:
            return self._simple()
        mutex = self._random.choice(free)
        kind = self._random.random()
        self._held |= {"a", "b"} if kind > 0.8 else {mutex}
        inside = self._block(depth - 1, 1)
        self._held -= {"a", "b"} if kind > 0.8 else {mutex}
        if kind > 0.8:  # which one depends on an input
            chosen = self._name("lock")
            head = f"{{ pthread_mutex_t *{chosen} = {self._flip()} ? &a : &b; pthread_mutex_lock({chosen});"
            return block(head, inside, f"pthread_mutex_unlock({chosen}); }}")
        if kind > 0.7:
            return block(f"enter(&{mutex});", inside, f"leave(&{mutex});")
        if kind > 0.6:
            function = self._name("take")
            head = f"{{ int (*{function})(pthread_mutex_t *) = pthread_mutex_lock; {function}(&{mutex});"
            return block(head, inside, f"pthread_mutex_unlock(&{mutex}); }}")
        return locked(f"&{mutex}", inside)

    def _loop_of_events(self) -> Part:
        """A loop in which events happen: a few times, or as often as an input says."""
        index = self._name("i")
        self._indices.append(index)
        inside = [line(f"ROUND({self._me})", fixed=True), *self._block(0, 1)]
        self._indices.pop()
        if self._has_inputs and self._chance(0.4):
            inside = [inside[0], *self._sometimes(inside[1:])]
        many = self._random.choice(("2", "3", "5", self._small_input(), self._small_input()))
        return block(f"for (int {index} = 0, many{index} = {many}; {index} < many{index}; {index}++) {{", inside)

    def _local_part(self, depth: int) -> Part:
        """What a thread computes on its own: nobody else notices."""
        me, index = self._me, self._name("j")
        mark = line(f"ROUND({me})", fixed=True)
        work = [mark, *([self._local_part(depth - 1)] if depth > 0 and self._chance(0.3) else [self._compute(index)])]
        kind = self._random.choice(("constant", "constant", "input", "digits", "digits", "flips", "empty", "straight"))
        if not self._has_inputs and kind in ("input", "digits", "flips"):
            kind = "constant"
        match kind:
            case "constant":
                limit = self._random.choice((3, 5, 10, 30, 300))
                return block(f"for (int {index} = 0; {index} < {limit}; {index}++) {{", work)
            case "input":
                many = self._small_input()
                return block(f"for (int {index} = 0, n{index} = {many}; {index} < n{index}; {index}++) {{", work)
            case "digits":
                head = f"for (unsigned {index} = (unsigned){self._input()}; {index} != 0; {index} /= 10) {{"
                return block(head, work)
            case "flips":
                return block(f"for (int {index} = 0; {self._flip()}; {index}++) {{", work)
            case "empty":
                times = self._small_input() if self._has_inputs else "10"
                return block(f"for (int {index} = {times}; {index} > 0; {index}--) {{", [mark])
        return self._compute("u")

    def _compute(self, index: str) -> Part:
        return line(
            self._random.choice(
                (f"v += (int){index};", f"u = u * 3 + (int){index};", f"if ({index} & 1) v++; else u++;", "v ^= u;")
            )
        )

    def _atomic(self, parts: Sequence[Part]) -> Part:
        return block("__VERIFIER_atomic_begin();", parts, "__VERIFIER_atomic_end();")

    def _simple(self) -> Part:
        statement = simple(self._random, self._indices, self._note, by_local=True)
        return line(self._random.choice(("", f"DELAY({self._me}) ")) + statement)

    # ------------------------------------------------------------------------------------------ expressions

    def _note(self, value: str) -> str:
        return f"NOTE({self._me}, {value})"

    def _flip(self) -> str:
        if not self._has_inputs:
            return f"{self._scalar()} & 1"
        number = self._random.randrange(20)
        if number < 13:
            return f"FLIP({self._me})"
        return f"INPUT({self._me}) & 1" if number < 19 else f"INPUT({self._me}) == 123456789"  # hardly ever

    def _input(self) -> str:
        return f"INPUT({self._me})"

    def _small_input(self) -> str:
        if not self._has_inputs:
            return "v & 3"
        return self._random.choice((f"RANGE({self._me}, 0, 4)", f"INPUT({self._me}) & 7", f"RANGE({self._me}, 0, 90)"))

    def _scalar(self) -> str:
        return scalar(self._random)

    def _place(self) -> str:
        return place(self._random, self._indices)

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability
