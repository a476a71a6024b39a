"""Which programs can tell that a block of memory has another address? The machine watches what is done to pointers."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka._native import Machine
from mazurka.frontends.c import load_c_program
from mazurka.machine.lowering import lower
from mazurka.transforms import prepare

HEADERS = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; long count; };
struct node *head; struct node pool[4]; long number; int sink;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct node *make(void) { return calloc(1, sizeof(struct node)); }
"""

TREIBER = """
_Atomic(struct node *) top;
void push(struct node *node) {
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &node->next, node));
}
struct node *pop(void) {
    struct node *old = atomic_load(&top);
    while (old && !atomic_compare_exchange_strong(&top, &old, old->next));
    return old;
}
"""

# Next pointers with a mark in their lowest bit.
MARKED = """
struct marked { int value; _Atomic uintptr_t next; };
int is_marked(struct marked *node) { return atomic_load(&node->next) & 1; }
struct marked *next(struct marked *node) { return (struct marked *)(atomic_load(&node->next) & ~(uintptr_t)1); }
int mark(struct marked *node) {
    uintptr_t old = atomic_load(&node->next);
    return !(old & 1) && atomic_compare_exchange_strong(&node->next, &old, old | 1);
}
int use(void) {
    struct marked *node = calloc(1, sizeof *node), *other = calloc(1, sizeof *node);
    atomic_store(&node->next, (uintptr_t)other);
    int marked = mark(node);
    atomic_fetch_or(&other->next, 1);
    return marked + is_marked(node) + next(node)->value;
}
"""

HARMLESS = {
    "following": "int use(void) { struct node *n = make(); n->next = head; return n->next->value; }",
    "equality": "int use(void) { struct node *n = make(); return n == head || n != 0 || !head; }",
    "equality of numbers": "int use(void) { uintptr_t n = (uintptr_t)make(); return n == (uintptr_t)head; }",
    "there and back": "int use(void) { number = (uintptr_t)make(); return ((struct node *)number)->value; }",
    "elements": "int use(void) { int *p = malloc(40); for (long i = 0; i < 10; i++) p[i] = i; return *(p + sink); }",
    "until the end": "int use(void) { int *p = malloc(40); for (int *q = p; q < p + 10; q++) *q = 1; return 0; }",
    "a difference": "long use(void) { int *p = malloc(40), *q = p + 3; return (q - p) * 2; }",
    "a copy": "int use(void) { struct node n = {1, make(), 2}, m = n; *m.next = n; return m.next->next->value; }",
    "a stack": f"{TREIBER} int use(void) {{ push(make()); push(make()); return pop()->value; }}",
    "swapping": f"{TREIBER} int use(void) {{ push(make()); return atomic_exchange(&top, make())->value; }}",
    "an address that moves": "_Atomic(int *) p; int use(void) { p = calloc(2, 4); return *atomic_fetch_add(&p, 1); }",
    "the lowest bits": "int use(void) { uintptr_t n = (uintptr_t)head; return n % 16 + (n & 7); }",
    "rounding": "int use(void) { return *(char *)(((uintptr_t)calloc(8, 8) + 15) & ~(uintptr_t)15); }",
    "marks": MARKED,
    "addresses of globals": "long use(void) { return ((uintptr_t)&sink >> 3) % 101 + (&pool[1] < &pool[2]); }",
    "numbers as pointers": "void *argument = (void *)7; int use(void) { return (int)(long)argument * 2; }",
    "a comparator": """
        int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
        int use(void) { int *p = calloc(4, 4); p[0] = 5; qsort(p, 4, 4, compare); return *p; }""",
    "the library": """
        int use(void) {
            char *text = malloc(64), *copy = strdup("x");
            struct node *n = malloc(sizeof *n);
            pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex);
            memset(n, 0, 24); memcpy(text, n, 24); memmove(text + 1, text, 8); strcpy(text, copy);
            printf("%s %d %ld", text, n->value, (long)strlen(text)); snprintf(text, 64, "%d", n->value);
            text = realloc(text, 128);
            return strcmp(text, copy) + (strchr(text, '0') - text);
        }""",
}

OBSERVED = {
    "order": "int use(void) { struct node *n = make(); return n < head; }",
    "order of numbers": "int use(void) { return (uintptr_t)make() > (uintptr_t)head; }",
    "a hash": "int use(void) { return (uintptr_t)make() % 101; }",
    "other bits": "int use(void) { return (uintptr_t)make() >> 26 & 1; }",
    "a truncation": "int use(void) { return (int)(uintptr_t)make(); }",
    "higher marks": "int use(void) { number = (uintptr_t)make() | 1ul << 48; return 0; }",
    "a sum": "long use(void) { return (uintptr_t)make() + (uintptr_t)head; }",
    "a difference between blocks": "long use(void) { return (uintptr_t)make() - (uintptr_t)head; }",
    "xor of links": "int use(void) { number = (uintptr_t)make() ^ (uintptr_t)head; return 0; }",
    "a switch": "int use(void) { switch ((uintptr_t)make()) { case 64: return 1; default: return 2; } }",
    "a number in memory": "long use(void) { number = (uintptr_t)make(); return number * 3; }",
    "the largest": "int use(void) { __atomic_fetch_max(&number, (long)make(), __ATOMIC_SEQ_CST); return 0; }",
    "a number for the library": "long use(void) { return labs((long)make()); }",
    "a local variable": "int deeper(int *a) { int b; return a < &b; } int use(void) { int a; return deeper(&a); }",
    "a union": "union { struct node *n; uintptr_t i; } u; long use(void) { u.n = make(); return u.i * 3; }",
    "half of it": "union { struct node *n; int i[2]; } u; long use(void) { u.n = make(); return u.i[1]; }",
    "bytes": "int use(void) { head->next = make(); return ((char *)head)[11]; }",
    "printing": 'int use(void) { char text[32]; snprintf(text, 32, "at %-8p", (void *)make()); return text[5]; }',
    "printing numbers": 'int use(void) { char text[32]; snprintf(text, 32, "%lx", (long)make()); return text[5]; }',
}


def addresses_matter(source: str, tmp_path: Path) -> bool:
    file = tmp_path / "program.c"
    file.write_text(f"{HEADERS}{source}\nint main(void) {{ head = make(); use(); return 0; }}\n")
    machine = Machine(lower(prepare(load_c_program([file]))).code, follow_pointers=True)
    while machine.status(1) == "ready":
        machine.step(1)
    assert machine.failure() is None
    return machine.addresses_matter()


@pytest.mark.parametrize("name", HARMLESS)
def test_programs_that_cannot_tell(name: str, tmp_path: Path) -> None:
    assert not addresses_matter(HARMLESS[name], tmp_path)


@pytest.mark.parametrize("name", OBSERVED)
def test_programs_that_can(name: str, tmp_path: Path) -> None:
    assert addresses_matter(OBSERVED[name], tmp_path)
