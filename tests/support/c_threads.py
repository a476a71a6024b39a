"""Random small C programs with threads: few states, and much of what C programs do with memory and locks.

Half of them are made to be safe: indices stay inside of their arrays, locks are not nested, assertions say little. The
others do as they please, and most of them go wrong somewhere.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
int __VERIFIER_nondet_range(int, int);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int x, y = 1, a[3];
unsigned char c;
struct { short s; int t; long l; } r;
struct { char k; int w[2]; } b[2];
int *p = &x, *o, *leak;
atomic_int f;
_Thread_local int own;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t q = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_barrier_t bar;
sem_t sem;

static void init(void) { r.s = 3; }
static void put(int *to, int value) { *to = value & 3; }
static int get(const int *from) { return *from; }
static int sum(int k) { int t = 0; for (int i = 0; i < k; i++) t += i; return t; }
static void leaks(int v) { int w = v; leak = &w; w = 1; }
static void keeps(int k) { int w = 2; if (k) leak = &w; else if (leak) *leak = 1; }
"""

FEATURES = [
    "atomic", "lock", "lock", "array", "pointer", "input", "section", "struct", "loop", "loop", "call", "divide",
    "switch", "condition", "semaphore", "undefined", "local", "own", "trylock", "rwlock", "once", "exit", "assume",
    "bytes", "forever", "barrier", "while", "heap", "count", "count", "count",
]  # fmt: skip
SIMPLE = ["load", "load", "store", "store", "check", "compute"]
SPECIAL = [
    "atomic", "pointer", "section", "call", "undefined", "trylock", "once", "exit", "assume", "semaphore", "rwlock",
    "barrier", "local", "heap", "count",
]  # fmt: skip
NESTED = ["lock", "loop", "switch", "condition", "while"]
CRITICAL = "pthread_mutex_lock(&{0});\n{1}\npthread_mutex_unlock(&{0});"

Lines = list[str]


def random_c_program(source: random.Random) -> str:
    return _Inventor(source).program()


@dataclass
class _Inventor:
    """Makes up a program with some of the features. Each thread has the local variables u and v."""

    source: random.Random
    features: list[str] = field(init=False)
    safe: bool = field(init=False)
    locked: bool = False  # a lock is held where the next statement goes

    def __post_init__(self) -> None:
        self.features = self.source.sample(FEATURES, self.source.choice([2, 3, 3, 4, 5]))
        self.safe = self.chance(0.6)

    def chance(self, probability: float) -> bool:
        return self.source.random() < probability

    def pick(self, *alternatives: str) -> str:
        return self.source.choice(alternatives)

    def number(self, below: int) -> int:
        return self.source.randrange(below)

    # -------------------------------------------------------------------------------------- expressions

    def local(self) -> str:
        return self.pick("u", "v")

    def index(self) -> str:
        local = self.local()
        if self.safe:
            return self.pick(f"{local} % 3u", f"({local} & 1) + 1")
        return self.pick(f"{local} % 3u", f"{local} & 3", f"{local} & 1", f"{local} - 1")

    def bit(self) -> str:
        return f"{self.local()} & {1 if self.safe or self.chance(0.7) else 3}"

    def shared(self) -> str:
        """Something that is shared by threads (or might be)."""
        found = ["x", "y"]
        if "bytes" in self.features:
            found.append("c")
        if "struct" in self.features:
            found += ["r.s", "r.t", "r.l"]
        if "array" in self.features:
            found += [f"a[{self.number(3)}]", f"a[{self.index()}]"]
            if "struct" in self.features:
                found += [f"b[{self.bit()}].w[{self.bit()}]", f"b[{self.number(2)}].k", f"b[{self.bit()}].k"]
        found += [
            name for feature, name in (("pointer", "*p"), ("atomic", "f"), ("own", "own")) if feature in self.features
        ]
        return self.pick(*found)

    def expression(self) -> str:
        local = self.local()
        found = [
            str(self.number(4)), local, f"({local} + 1) & 3", f"{local} ^ 1", f"({local} * 3) & 3", f"!{local}",
            f"{self.shared()} & 3", f"{local} == {self.number(3)}", f"(unsigned char)({local} - 1) >> 6",
            f"({local} << 1) & 3", f"u > v ? 1 : {self.number(3)}",
        ]  # fmt: skip
        if "divide" in self.features:
            found += [f"6 / ({local} | 1)", f"{local} % 3"] if self.safe else [f"6 / {local}", f"5 % ({local} - 1)"]
        if "call" in self.features:
            found += [f"get(&{self.pick('x', 'y')}) & 3", f"sum({local} & 3) & 3"]
        if "input" in self.features:
            found += ["__VERIFIER_nondet_range(0, 2)"] * 2
        return self.pick(*found)

    def condition(self) -> str:
        compared = f"{self.pick('==', '!=', '<', '>=')} {self.number(3)}"
        return self.pick(f"{self.local()} {compared}", f"{self.shared()} {compared}", "u == v", self.local())

    def assertion(self) -> str:
        local = self.local()
        if self.safe:
            return self.pick(f"{local} < 8", f"{local} >= -8", "u < 8 && v < 8", "u == u")
        shared = self.shared()
        rare = [f"{shared} != {2 + self.number(2)}", "x != 2 || y != 0", "x + y < 4", f"{local} <= {shared} + 1"]
        often = [f"{local} != {self.number(4)}", f"{shared} == {local}", "u != 2 || v != 1"]
        return self.pick(*rare, *rare, *often)

    # --------------------------------------------------------------------------------------- statements

    def block(self, depth: int, count: int | None = None) -> str:
        return "\n".join(self.statement(depth) for _ in range(count or self.source.choice([1, 1, 2])))

    def statement(self, depth: int) -> str:
        kinds = [*SIMPLE, *(kind for kind in SPECIAL if kind in self.features for _ in range(2))]
        if depth:
            kinds += ["if", *(kind for kind in NESTED if kind in self.features)] * 2
        kind = self.source.choice(kinds)
        match kind:
            case "if" | "lock" | "loop" | "while" | "switch" | "condition":
                return self.compound(kind, depth)
            case "load":
                return f"{self.local()} = {self.shared()};"
            case "store":
                return f"{self.shared()} = {self.expression()};"
            case "check":
                return f"assert({self.assertion()});"
            case "compute":
                return f"{self.local()} = {self.expression()};"
        return self.special(kind)

    def special(self, kind: str) -> str:
        local, variable = self.local(), self.pick("x", "y")
        match kind:
            case "atomic":
                exchange = f"{{ int e = 0; {local} = atomic_compare_exchange_strong(&f, &e, 1); }}"
                swap = f"{local} = atomic_exchange(&f, {self.number(3)});"
                return self.pick("f++; f &= 3;", "f = 0;", "atomic_fetch_xor(&f, 1);", exchange, swap)
            case "pointer":
                chosen = f"{{ int *w = {local} ? &x : &a[{self.number(3)}]; *w = {self.number(3)}; }}"
                moved = "{ int *w = a + (u & 1); w++; v = *w; }"
                odd = "if (p == &x) u = 1;" if self.safe else "{ int *w = p; if (u) w = 0; *w = 1; }"
                to = f"p = &{self.pick('x', 'y', 'a[1]')};"
                return self.pick(to, "*p = 1;", f"{local} = *p;", chosen, moved, odd)
            case "local":
                array = "{ int w[3] = {0, 1, 2}; u = w[v % 3u]; put(&w[u % 3u], 1); v = w[0]; }"
                published = f"{{ int w = {local}; p = &w; *p = 1; p = &x; }}"
                leak = "leaks(u);" if self.safe else self.pick("leaks(u); v = *leak;", "keeps(u);", "keeps(v);")
                return self.pick(array, published, leak)
            case "heap":
                own = self.pick("malloc(4); *w = 1;", "calloc(1, 4);", "malloc(8); w[1] = 2; w[0] = 0;")
                if self.safe:
                    return f"{{ int *w = {own} {local} = *w; free(w); }}"
                made = self.pick("o = malloc(4);", "o = calloc(1, 4);", "o = malloc(4); *o = 0;")
                read = self.pick(f"if (o) {local} = *o;", f"{local} = o ? *o & 3 : 0;", f"if (o && *o) {local} = 1;")
                return self.pick(
                    made, made, "if (o) *o = 1;", read, "free(o); o = 0;", "{ int *w = o; o = 0; free(w); }"
                )
            case "section":
                inside = [f"{local} = {variable};", f"{self.pick('x', 'y')} = {self.local()};"]
                if self.chance(0.4):
                    inside.insert(self.number(3), f"__VERIFIER_assume({self.condition()});")
                return "\n".join(["__VERIFIER_atomic_begin();", *inside, "__VERIFIER_atomic_end();"])
            case "count":
                return self.pick(
                    f"{local} = {variable}; {variable} = {local} + 1;", f"{variable}++;", f"{variable} ^= 1;"
                )
            case "call":
                return f"put(&{self.pick('x', 'y', 'a[0]', 'a[2]')}, {local});"
            case "undefined":
                return f"{{ int w; if ({self.condition()}) w = 1; {'u = 1;' if self.safe else 'if (w) u = 1;'} }}"
            case "trylock":
                return f"if (pthread_mutex_trylock(&n) == 0) {{\n{self.block(0)}\npthread_mutex_unlock(&n);\n}}"
            case "once":
                return "pthread_once(&once, init);"
            case "exit":
                end = self.pick("exit(0)", "return 0", "pthread_exit(0)", "return 0" if self.safe else "abort()")
                return f"if ({self.condition()}) {end};"
            case "assume":
                return f"__VERIFIER_assume({self.condition()});"
            case "semaphore":
                return self.pick("sem_wait(&sem);", "sem_post(&sem);", "if (sem_trywait(&sem) == 0) u = 1;")
            case "barrier":
                return "pthread_barrier_wait(&bar);"
            case "rwlock":
                lock = f"pthread_rwlock_{self.pick('rdlock', 'wrlock')}(&rw);"
                return f"{lock}\n{self.block(0)}\npthread_rwlock_unlock(&rw);"
        raise AssertionError(kind)

    def compound(self, kind: str, depth: int) -> str:
        match kind:
            case "if":
                otherwise = f" else {{\n{self.block(depth - 1)}\n}}" if self.chance(0.5) else ""
                return f"if ({self.condition()}) {{\n{self.block(depth - 1)}\n}}{otherwise}"
            case "loop":
                index = "ij"[depth % 2]
                limit = self.pick("2", "3", "u", "(v & 1)", "(x & 3)")
                return f"for (int {index} = 0; {index} < {limit}; {index}++) {{\n{self.block(depth - 1)}\n}}"
            case "while":
                counted = f"while ({self.condition()}) {{\n{self.block(depth - 1)}\nif (u++ > 2) break;\n}}"
                until = f"do {{\n{self.block(depth - 1)}\n}} while ({self.condition()} && v++ < 2);"
                return self.pick(counted, until, f"while ({self.shared()} == {self.number(2)});")
            case "switch":
                blocks = [self.block(0) for _ in range(3)]
                return (
                    f"switch ({self.local()}) {{\ncase 0:\n{blocks[0]}\nbreak;\ncase 2:\n{blocks[1]}\n"
                    f"default:\n{blocks[2]}\n}}"
                )
        if self.locked and (self.safe or kind == "condition"):
            return f"{self.local()} = {self.expression()};"
        variable = self.pick("x", "y")
        self.locked = True
        if kind == "lock":
            lock = self.pick("m", "m", "n")
            inside = self.block(depth - 1, 2)
        else:
            lock = "m"
            waiting = f"while ({variable} == 0) pthread_cond_wait(&q, &m);\n{self.block(0)}"
            telling = f"{variable} = {self.number(2)};\npthread_cond_{self.pick('signal', 'broadcast')}(&q);"
            inside = self.pick(waiting, telling)
        self.locked = False
        return CRITICAL.format(lock, inside)

    # ------------------------------------------------------------------------------------------ programs

    def program(self) -> str:
        threads = self.source.choice([1, 2, 2, 2, 3])
        parts = [HEAD]
        for number in range(threads):
            body = self.block(2, self.source.choice([1, 2, 2, 3]))
            if "forever" in self.features and self.chance(0.6):
                body = f"for (;;) {{\n{body}\n}}"
            first = self.pick("0", "1", "(int)(long)arg")
            start, end = f"int u = {first}, v = 0;", "return (void *)(long)(u + v);"
            parts.append("\n".join([f"static void *t{number}(void *arg) {{", start, body, end, "}"]))
        main = ["int u = 0, v = 0;", "pthread_t h[3];", f"sem_init(&sem, 0, {self.number(2)});"]
        main.append(f"pthread_barrier_init(&bar, 0, {min(2, threads)});")
        for number in range(threads):
            main.append(f"pthread_create(&h[{number}], 0, t{number}, {self.pick('0', '(void *)1')});")
        if self.chance(0.4):
            main.append(self.block(1))
        if self.chance(0.7):
            main += [f"pthread_join(h[{number}], 0);" for number in range(threads)]
            main.append(f"assert({self.assertion()});")
        parts.append("\n".join(["int main(void) {", *main, "return 0;", "}"]))
        return "\n".join(parts) + "\n"
