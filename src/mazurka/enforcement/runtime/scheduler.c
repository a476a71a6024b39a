/* Makes the threads of a program follow its schedule.
 *
 * The program calls `mazurka_access` and `mazurka_accessed` around each access that is an event, and operations of the
 * library call `mazurka_before` and `mazurka_after`. Every thread goes through the sections of the schedule by itself: it
 * knows the list of its events in each, and for each event the clocks of other threads that it must wait for. Where the
 * schedule branches, the thread whose event it is has the event, goes on, and when it arrives at its next event it is known
 * which way it went: it publishes the decision, and the others follow.
 *
 * A thread begins a section when all events of the section before the last are over. So waits need to tell only events of two
 * sections apart, two areas for redirected accesses are enough, and nobody has to look back by more than two decisions. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "schedule.h"
#include "scheduler.h"

enum { MOST_THREADS = 64, RECENT = 4, EXIT_LEFT = 70, CACHE_LINE = 128, MOST_SPINS = 2000, LOOK_CLOSER = 500 };

/* ------------------------------------------------------------------------------------------ waiting */

/* A number that only grows, and how many threads sleep until it does. Those who wait look at `shown`, which is not brought
 * up to date each time, so that its cache line does not go back and forth: only who has waited in vain for a while looks at
 * the exact value. */
struct counter {
    _Alignas(CACHE_LINE) _Atomic uint64_t shown;
    _Atomic uint32_t sleepers;
    _Alignas(CACHE_LINE) _Atomic uint64_t exact;
};

static int processors = 1;
static _Atomic int active = 1; /* threads that have not ended and do not wait for something outside of the schedule */

static bool is_crowded(void) { return atomic_load_explicit(&active, memory_order_relaxed) > processors; }

static bool has_sleepers(const struct counter *counter) {
    return atomic_load_explicit(&counter->sleepers, memory_order_relaxed) != 0;
}

/* The program's own errno is left alone. */
static void futex(struct counter *counter, int operation, uint32_t value, const struct timespec *duration) {
    const int before = errno;
    syscall(SYS_futex, (uint32_t *)&counter->shown, operation, value, duration, NULL, 0);
    errno = before;
}

static void wake(struct counter *counter) {
    if (has_sleepers(counter))
        futex(counter, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
}

/* Before a thread waits, everybody sees how far it has come. */
static void show_all(struct counter *counter) {
    const uint64_t exact = atomic_load_explicit(&counter->exact, memory_order_relaxed);
    if (atomic_load_explicit(&counter->shown, memory_order_relaxed) != exact)
        atomic_store_explicit(&counter->shown, exact, memory_order_release);
    wake(counter);
}

/* To wake somebody is expensive, and where processors are scarce it pays to get more done before. A sleeper that is overlooked,
 * because it has just fallen asleep, or because who would wake it is busy with something else, looks again by itself. */
static void publish(struct counter *counter, uint64_t value) {
    atomic_store_explicit(&counter->exact, value, memory_order_release);
    atomic_store_explicit(&counter->shown, value, memory_order_release);
    if (has_sleepers(counter) && !is_crowded())
        wake(counter);
}

static uint64_t at_least(struct counter *counter, uint64_t least, bool exactly) {
    const uint64_t shown = atomic_load_explicit(&counter->shown, memory_order_acquire);
    return shown >= least || !exactly ? shown : atomic_load_explicit(&counter->exact, memory_order_acquire);
}

static uint64_t sleep_until(struct counter *counter, uint64_t least) {
    atomic_fetch_add(&counter->sleepers, 1);
    uint64_t value;
    for (long nap = 1000000;; nap = nap < 8000000 ? 2 * nap : nap) {
        const uint64_t shown = atomic_load(&counter->shown);
        if ((value = at_least(counter, least, true)) >= least)
            break;
        futex(counter, FUTEX_WAIT_PRIVATE, (uint32_t)shown, &(struct timespec){0, nap});
    }
    atomic_fetch_sub(&counter->sleepers, 1);
    return value;
}

/* ------------------------------------------------------------------------------------------ state */

/* The code that is woven into the program knows the layout of the first four. */
struct thread {
    const struct step *next; /* its next event in this section */
    char *area;              /* of this section */
    _Atomic uint64_t *exact; /* its own clock, ... */
    uint64_t begun;          /* ... and what it was when the section began */

    struct counter *clock;
    const struct step *current; /* the event that an operation of the library is; NULL between them */
    const struct step *hidden;  /* where `next` belongs while nothing is an event */
    uint32_t number;
    uint32_t children;
    uint64_t late;              /* its clock, if it is not published yet */
    uint32_t depth;             /* of atomic sections */
    uint32_t section;
    uint64_t round;             /* how many sections there were */
    uint64_t decisions;         /* how many it has followed */
    struct step deciding[2];    /* if the next decision is its own, then the event that tells, and what ends the list */
    uint64_t base[MOST_THREADS]; /* the clocks when the section began */
    uint64_t seen[MOST_THREADS]; /* the latest that it knows of them */
};

struct decision {
    _Atomic uint32_t section;
    _Atomic uint64_t round;
    _Atomic uint64_t base[MOST_THREADS];
};

static struct counter clocks[MOST_THREADS];
static struct counter decided;         /* how many decisions are made */
static struct decision recent[RECENT]; /* the latest ones */
static _Atomic uint64_t claimed;       /* how many decisions have somebody who makes them */
static _Atomic bool several;           /* a thread was created */
static char *areas;                    /* two */
static const struct step nothing[2];
static struct thread first = {.next = nothing + 1, .exact = &clocks[0].exact, .clock = &clocks[0]};
static struct thread stranger = {.next = nothing + 1}; /* created behind the scheduler's back */
__attribute__((tls_model("initial-exec"))) _Thread_local struct thread *mazurka_self = &stranger;
#define self mazurka_self
__attribute__((tls_model("initial-exec"))) _Thread_local uint64_t mazurka_context; /* the calls that are under way */

/* ------------------------------------------------------------------------------------------ leaving the schedule */

static const char *place_of(uint32_t point) {
    return point < FIRST_POINT ? "the end of its function" : mazurka_point[point - FIRST_POINT].place;
}

static const char *what_at(uint32_t point) {
    return point < FIRST_POINT ? "ends" : mazurka_point[point - FIRST_POINT].what;
}

static _Noreturn void leave(uint32_t point, uint32_t expected) {
    fflush(stdout);
    fprintf(stderr, "mazurka: thread %s leaves the schedule: at %s (%s)", mazurka_thread_names[self->number],
            place_of(point), what_at(point));
    if (expected == NOWHERE)
        fprintf(stderr, ", where the schedule has no event for it\n");
    else
        fprintf(stderr, ", but its next event is at %s (%s)\n", place_of(expected), what_at(expected));
    fflush(stderr);
    _exit(EXIT_LEFT);
}

_Noreturn void mazurka_stop(const char *why) {
    fflush(stdout);
    fprintf(stderr, "mazurka: %s\n", why);
    fflush(stderr);
    _exit(EXIT_LEFT);
}

/* ------------------------------------------------------------------------------------------ following it */

/* Gives a value that is large enough. */
static uint64_t wait_until(struct counter *counter, uint64_t least) {
    uint64_t value = at_least(counter, least, false);
    if (value >= least)
        return value;
    show_all(self->clock);
    if (!is_crowded()) {
        for (unsigned spin = 1; spin <= MOST_SPINS; spin++) {
            if ((value = at_least(counter, least, spin % LOOK_CLOSER == 0)) >= least)
                return value;
            __builtin_ia32_pause();
        }
    }
    return sleep_until(counter, least);
}

static void await_clock(uint32_t thread, uint64_t least) {
    if (self->seen[thread] < least)
        self->seen[thread] = wait_until(&clocks[thread], least);
}

static void await(const struct step *step) {
    for (const struct wait *wait = &mazurka_wait[step->first_wait], *end = wait + step->waits; wait < end; wait++)
        await_clock(wait->thread, self->base[wait->thread] + (uint64_t)(int64_t)wait->clock);
}

static const struct section *at(uint32_t section) { return &mazurka_section[section]; }

/* All events of the section before the last are over. `counts` are those of the last. */
static void await_previous(const uint32_t *counts) {
    for (uint32_t thread = 0; thread < mazurka_threads; thread++)
        if (thread != self->number)
            await_clock(thread, self->base[thread] - counts[thread]);
}

static void settle(void) {
    if (self->late != 0) {
        publish(self->clock, self->late);
        self->late = 0;
    }
}

/* The section is over: its events count for the clocks when the next one begins. */
static void pass(void) {
    const uint32_t *events = at(self->section)->events;
    for (uint32_t thread = 0; thread < mazurka_threads; thread++)
        self->base[thread] += events[thread];
    self->round++;
}

static void enter(uint32_t section) {
    self->section = section;
    self->next = &mazurka_step[at(section)->steps[self->number]];
    self->begun = self->base[self->number];
    self->area = areas + self->round % 2 * mazurka_area_size;
}

static void decide(const struct option *option) {
    struct decision *decision = &recent[(self->decisions + 1) % RECENT];
    atomic_store_explicit(&decision->section, option->section, memory_order_relaxed);
    atomic_store_explicit(&decision->round, self->round, memory_order_relaxed);
    for (uint32_t thread = 0; thread < mazurka_threads; thread++)
        atomic_store_explicit(&decision->base[thread], self->base[thread], memory_order_relaxed);
    enter(option->section);
    self->decisions++;
    publish(&decided, self->decisions);
    wake(&decided);
}

/* Follow the latest decision, or the one before it: earlier ones have no event for this thread, for otherwise the latest could
 * not have been made. */
static void follow(void) {
    for (;;) {
        const uint64_t latest = atomic_load_explicit(&decided.shown, memory_order_acquire);
        const uint64_t number = latest > self->decisions + 1 ? latest - 1 : latest;
        struct decision *decision = &recent[number % RECENT];
        const uint32_t section = atomic_load_explicit(&decision->section, memory_order_relaxed);
        self->round = atomic_load_explicit(&decision->round, memory_order_relaxed);
        for (uint32_t thread = 0; thread < mazurka_threads; thread++)
            self->base[thread] = atomic_load_explicit(&decision->base[thread], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&decided.shown, memory_order_relaxed) < number + RECENT - 1) {
            self->decisions = number;
            enter(section);
            return;
        }
    }
}

/* The way to go on from here that begins with this thread's event at `point`, or with its arrival there. */
static const struct option *find_option(uint32_t point) {
    const struct section *section = at(self->section);
    const struct option *option = &mazurka_option[section->first_option];
    for (uint32_t i = 0; i < section->options; i++, option++) {
        if (option->thread != self->number)
            continue;
        if (option->begin == NOWHERE ? option->arrival == point
                                     : option->begin == point)
            return option;
    }
    return NULL;
}

/* The schedule has no event for this thread any more: it waits for something that never comes, or it should not be here. */
static _Noreturn void stay(uint32_t point) {
    if (at(self->section)->standing[self->number] != point)
        leave(point, at(self->section)->standing[self->number]);
    show_all(self->clock);
    atomic_fetch_sub(&active, 1);
    for (;;)
        pause();
}

/* The thread has come to the end of its list and is at `point`: find the list of its next events. */
static void go_on(uint32_t point) {
    uint32_t without_events = 0;
    show_all(self->clock);
    while (self->next->point == NOWHERE) {
        const struct section *section = at(self->section);
        if (section->options == 0 || without_events++ > mazurka_sections)
            stay(point);
        if (section->options == 1) {
            pass();
            enter(mazurka_option[section->first_option].section);
            if (self->next->point != NOWHERE)
                await_previous(section->events);
            continue;
        }
        without_events = 0;
        if (atomic_load_explicit(&decided.shown, memory_order_acquire) > self->decisions) {
            follow();
            if (self->next->point != NOWHERE)
                await_previous(at(self->section)->previous);
            continue;
        }
        const struct option *option = find_option(point);
        uint64_t expected = self->decisions;
        if (option == NULL || !atomic_compare_exchange_strong(&claimed, &expected, self->decisions + 1)) {
            const uint32_t standing = section->standing[self->number];
            if (standing != NOWHERE && standing != point)
                leave(point, standing);
            wait_until(&decided, self->decisions + 1);
            continue;
        }
        pass();
        await_previous(section->events);
        if (option->sure || option->begin == NOWHERE) {
            decide(option);
            continue;
        }
        self->deciding[0] = mazurka_step[at(option->section)->steps[self->number]];
        self->deciding[0].flags &= OMIT | CONTINUES;
        self->next = self->deciding;
        self->begun = self->base[self->number];
    }
}

/* The thread has had the event that decides how to go on; where it arrives tells. */
static void arrive(uint32_t point) {
    const struct section *section = at(self->section);
    const struct option *option = &mazurka_option[section->first_option];
    for (uint32_t i = 0; i < section->options; i++, option++) {
        if (option->thread == self->number && option->arrival == point) {
            decide(option);
            self->next++;
            publish(self->clock, self->begun + 1);
            return;
        }
    }
    leave(point, NOWHERE);
}

static bool is_event(uint32_t point) {
    if (self->depth != 0 || point == ELSEWHERE)
        return false;
    if (point < FIRST_POINT)
        return true;
    const struct point *about = &mazurka_point[point - FIRST_POINT];
    if (!(about->threads >> self->number & 1))
        return false;
    return about->always || atomic_load_explicit(&several, memory_order_relaxed);
}

/* The point of a line that is several, or none. */
uint32_t mazurka_point_here(uint32_t line) {
    for (uint32_t i = 0; i < mazurka_contexts; i++)
        if (mazurka_context_table[i].line == line && mazurka_context_table[i].context == mazurka_context)
            return mazurka_context_table[i].point;
    return ELSEWHERE;
}

/* While nothing but certain operations is an event, no list of events is there to be followed. */
static void hide(void) {
    if (self->hidden == NULL) {
        self->hidden = self->next;
        self->next = nothing + 1;
    }
}

static void show(void) {
    if (self->hidden != NULL) {
        self->next = self->hidden;
        self->hidden = NULL;
    }
}

/* For tests: threads that dawdle at random, if the environment says so. */
static bool dawdling;

static void dawdle(void) {
    static _Thread_local unsigned state;
    if (!dawdling)
        return;
    const int before = errno;
    state = (state + self->number + 1) * 1103515245u + 12345u;
    if (state >> 16 & 1)
        sched_yield();
    else if (state >> 17 & 1)
        usleep(state >> 20 & 127);
    errno = before;
}

/* The thread arrives at an instruction that may be an event. It waits until the schedule allows it. NULL: it is none. */
static const struct step *begin(uint32_t point) {
    if (self->next->point != point) {
        if (self == &stranger)
            mazurka_stop("a thread that the schedule does not know touches what others touch");
        if (!is_event(point))
            return NULL;
        show();
        settle();
        if (self->next == &self->deciding[1])
            arrive(point);
        if (self->next->point == NOWHERE)
            go_on(point);
        if (self->next->point != point)
            leave(point, self->next->point);
    }
    settle();
    const struct step *step = self->next++;
    await(step);
    dawdle();
    return step;
}

static void finish(const struct step *step) {
    dawdle();
    if (step->flags & LATE)
        self->late = self->begun + step->clock;
    else if (step->flags & SHOW)
        publish(self->clock, self->begun + step->clock);
    else if (step->flags & PUBLISH)
        atomic_store_explicit(self->exact, self->begun + step->clock, memory_order_release);
}

/* Around an access of the program: gives the address of what it should touch. */
void *mazurka_access(uint32_t point, void *address) {
    const struct step *step = begin(point);
    return step != NULL && step->flags & REDIRECT ? self->area + step->redirect : address;
}

void mazurka_accessed(void) { finish(self->next - 1); }

/* Around an operation of the library. */
void *mazurka_before(uint32_t point, void *address) {
    if (self->depth != 0)
        return address; /* it belongs to the event that the section is */
    self->current = begin(point);
    if (self->current != NULL && !atomic_load_explicit(&several, memory_order_relaxed))
        hide();
    return self->current != NULL && self->current->flags & REDIRECT ? self->area + self->current->redirect : address;
}

void mazurka_after(void) {
    if (self->current != NULL && self->depth == 0) {
        finish(self->current);
        self->current = NULL;
    }
}

bool mazurka_has(unsigned flag) {
    return self->depth == 0 && self->current != NULL && (self->current->flags & flag) != 0;
}

void mazurka_begin_section(void) {
    self->depth++;
    hide();
}

bool mazurka_end_section(void) {
    if (self->depth == 0 || --self->depth != 0)
        return false;
    if (several)
        show();
    return true;
}

void mazurka_wait_outside(void) {
    show_all(self->clock);
    atomic_fetch_sub(&active, 1);
}

void mazurka_waited_outside(void) { atomic_fetch_add(&active, 1); }

/* ------------------------------------------------------------------------------------------ threads */

struct beginning {
    struct thread *thread;
    void *(*function)(void *);
    void *argument;
};

static void *run(void *raw) {
    struct beginning beginning = *(struct beginning *)raw;
    free(raw);
    self = beginning.thread;
    void *value = beginning.function(beginning.argument);
    mazurka_end_thread(RETURN);
    return value;
}

void mazurka_end_thread(uint32_t point) {
    mazurka_before(point, NULL);
    mazurka_after();
    mazurka_wait_outside();
}

int mazurka_create_thread(pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    const uint32_t number = ++self->children;
    const struct child *child = mazurka_child;
    while (child < mazurka_child + mazurka_children && (child->parent != self->number || child->number != number))
        child++;
    if (child == mazurka_child + mazurka_children)
        mazurka_stop("the program creates a thread that the schedule does not know");
    struct thread *thread = aligned_alloc(CACHE_LINE, (sizeof *thread + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    struct beginning *beginning = malloc(sizeof *beginning);
    if (thread == NULL || beginning == NULL)
        return EAGAIN;
    struct counter *clock = &clocks[child->thread];
    *thread = (struct thread){.number = child->thread, .next = nothing + 1, .exact = &clock->exact, .clock = clock};
    *beginning = (struct beginning){thread, function, argument};
    atomic_store_explicit(&several, true, memory_order_relaxed);
    if (self->depth == 0)
        show();
    atomic_fetch_add(&active, 1);
    return pthread_create(handle, attributes, run, beginning);
}

__attribute__((constructor(101))) static void prepare(void) {
    self = &first;
    dawdling = getenv("MAZURKA_DAWDLE") != NULL;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        processors = CPU_COUNT(&set);
    areas = aligned_alloc(CACHE_LINE, (2 * (size_t)mazurka_area_size + CACHE_LINE) / CACHE_LINE * CACHE_LINE);
    if (areas == NULL)
        mazurka_stop("not enough memory");
    for (uint32_t area = 0; area < 2; area++)
        memcpy(areas + area * mazurka_area_size, mazurka_constant, mazurka_constants * sizeof *mazurka_constant);
}

int main(int argc, char **argv, char **environment) {
    int status = mazurka_main(argc, argv, environment);
    mazurka_end_thread(RETURN);
    return status;
}
