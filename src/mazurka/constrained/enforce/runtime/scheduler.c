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

enum { MOST_THREADS = 64, RECENT = 4, EXIT_LEFT = 70, CACHE_LINE = 128, LEAST_SPINS = 32, MOST_SPINS = 2048 };

/* ------------------------------------------------------------------------------------------ waiting */

/* A number that only grows. Who waits for it spins for a while, if there is a processor for it, and then sleeps; who makes it
 * grow looks for sleepers, and wakes exactly those who have waited for no more than that. The code that is woven into the
 * program knows the layout. */
struct counter {
    _Alignas(CACHE_LINE) _Atomic uint64_t value;
    _Atomic uint32_t sleepers;
};

/* Where a thread sleeps, and until when. */
struct bed {
    _Alignas(CACHE_LINE) _Atomic uint32_t awake;
    _Atomic uint64_t least;
    struct counter *_Atomic counter;
};

static struct bed beds[MOST_THREADS];
static int processors = 1;
static _Atomic int active = 1; /* threads that have not ended and do not sleep */

static bool is_crowded(void) { return atomic_load_explicit(&active, memory_order_relaxed) > processors; }

/* The program's own errno is left alone. */
static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *duration) {
    const int before = errno;
    syscall(SYS_futex, (uint32_t *)word, operation, value, duration, NULL, 0);
    errno = before;
}

static void wake(struct counter *counter) {
    const uint64_t value = atomic_load(&counter->value);
    for (struct bed *bed = beds; bed < beds + mazurka_threads; bed++) {
        if (atomic_load(&bed->counter) == counter && atomic_load(&bed->least) <= value &&
            atomic_exchange(&bed->awake, 1) == 0)
            futex(&bed->awake, FUTEX_WAKE_PRIVATE, 1, NULL);
    }
}

/* Either who sleeps sees the new value, or who publishes it sees the sleeper. */
static void publish(struct counter *counter, uint64_t value) {
    atomic_exchange(&counter->value, value);
    if (atomic_load(&counter->sleepers) != 0)
        wake(counter);
}

static uint64_t value_of(struct counter *counter) { return atomic_load_explicit(&counter->value, memory_order_acquire); }

/* ------------------------------------------------------------------------------------------ state */

/* The code that is woven into the program knows the layout of the first four. */
struct thread {
    const struct step *next; /* its next event in this section */
    char *area;              /* of this section */
    struct counter *clock;   /* its own, ... */
    uint64_t begun;          /* ... and what it was when the section began */

    const struct step *current; /* the event that an operation of the library is; NULL between them */
    const struct step *hidden;  /* where `next` belongs while nothing is an event */
    uint32_t number;
    uint32_t children;
    uint64_t late;              /* its clock, if it is not published yet */
    unsigned patience;          /* how often it looks before it sleeps */
    uint32_t depth;             /* of atomic sections */
    uint32_t section;
    uint64_t round;             /* how many sections there were */
    uint64_t decisions;         /* how many it has followed */
    uint64_t latest;            /* the number of the last decision that it has made, ... */
    uint64_t since;             /* ... and when it made the first of several in a row */
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
static struct counter called[MOST_THREADS]; /* how often each thread that stands at a decision was called */
static _Alignas(CACHE_LINE) _Atomic uint64_t decided; /* how many decisions are made */
static _Atomic uint64_t claimed;       /* how many decisions have somebody who makes them */
static struct decision recent[RECENT]; /* the latest decisions */
static _Alignas(CACHE_LINE) _Atomic uint64_t tickets; /* how many were drawn, */
static _Atomic uint64_t standing;                     /* which threads have one, as bits: they stand at a decision, ... */
static _Atomic uint64_t ticket[MOST_THREADS];         /* ... and the one of each of them, or 0 */
static _Atomic bool several;           /* a thread was created */
static char *areas;                    /* two */
static const struct step nothing[2];
static struct thread first = {.next = nothing + 1, .clock = &clocks[0], .patience = MOST_SPINS};
static struct thread stranger = {.next = nothing + 1}; /* created behind the scheduler's back */
__attribute__((tls_model("initial-exec"))) _Thread_local struct thread *mazurka_self = &stranger;
#define self mazurka_self
__attribute__((tls_model("initial-exec"))) _Thread_local uint64_t mazurka_context; /* the calls that are under way */

/* For how many ticks of the processor's clock a thread may go on before it gives way to others: many times as long as it takes
 * until they go on then. */
enum { WORTH = 16, LEAST_BATCH = 20000, MOST_BATCH = 20000000 };
static _Atomic uint64_t batch = 1000000;
static _Atomic uint64_t given_way; /* when a thread has done so last */

/* From a section on until the next decision: which threads have events, and which may make that decision, as bits. */
struct reach {
    uint64_t events, offered;
};
static struct reach *reaches;

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

/* Sleep until a number has grown, for some nanoseconds at the most. */
static uint64_t sleep_until(struct counter *counter, uint64_t least, long nanoseconds) {
    struct bed *bed = &beds[self->number];
    uint64_t value;
    atomic_fetch_sub(&active, 1);
    atomic_store(&bed->awake, 0);
    atomic_store(&bed->least, least);
    atomic_store(&bed->counter, counter);
    atomic_fetch_add(&counter->sleepers, 1);
    if ((value = atomic_load(&counter->value)) < least) {
        futex(&bed->awake, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){0, nanoseconds});
        value = atomic_load(&counter->value);
    }
    atomic_fetch_sub(&counter->sleepers, 1);
    atomic_store(&bed->counter, NULL);
    atomic_fetch_add(&active, 1);
    return value;
}

/* To spin pays only if the other thread runs at the same time, and will come soon: where it has not paid, there is less patience
 * the next time. */
static uint64_t spin_until(struct counter *counter, uint64_t least) {
    uint64_t value = value_of(counter);
    if (value >= least || is_crowded())
        return value;
    for (unsigned spin = 0; spin < self->patience; spin++) {
        __builtin_ia32_pause();
        if ((value = value_of(counter)) >= least) {
            self->patience += self->patience < MOST_SPINS ? LEAST_SPINS : 0;
            return value;
        }
    }
    self->patience = self->patience / 2 > LEAST_SPINS ? self->patience / 2 : LEAST_SPINS;
    return value;
}

/* Gives a value that is large enough. */
static uint64_t wait_until(struct counter *counter, uint64_t least) {
    uint64_t value = spin_until(counter, least);
    while (value < least)
        value = sleep_until(counter, least, 500000000);
    return value;
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

static uint64_t bit(uint32_t thread) { return UINT64_C(1) << thread; }

static void call(uint32_t thread) {
    atomic_fetch_add(&called[thread].value, 1);
    if (atomic_load(&called[thread].sleepers) != 0)
        wake(&called[thread]);
}

/* Call those who have events from a section on until the next decision, and those who may make that. If this thread may, it
 * calls them when it gives way. */
static void call_for(uint32_t section) {
    const struct reach *reach = &reaches[section];
    uint64_t threads = reach->events | (reach->offered & bit(self->number) ? 0 : reach->offered);
    for (threads &= atomic_load(&standing) & ~bit(self->number); threads != 0; threads &= threads - 1)
        call((uint32_t)__builtin_ctzll(threads));
}

static void find_reaches(void) {
    reaches = calloc(mazurka_sections, sizeof *reaches);
    if (reaches == NULL)
        mazurka_stop("not enough memory");
    for (uint32_t start = 0; start < mazurka_sections; start++) {
        const struct section *section = at(start);
        for (uint32_t passed = 0; passed < mazurka_sections; passed++) {
            for (uint32_t thread = 0; thread < mazurka_threads; thread++)
                reaches[start].events |= section->events[thread] != 0 ? bit(thread) : 0;
            if (section->options != 1)
                break;
            section = at(mazurka_option[section->first_option].section);
        }
        for (uint32_t i = 0; section->options > 1 && i < section->options; i++)
            reaches[start].offered |= bit(mazurka_option[section->first_option + i].thread);
    }
}

static void decide(const struct option *option) {
    struct decision *decision = &recent[(self->decisions + 1) % RECENT];
    atomic_store_explicit(&decision->section, option->section, memory_order_relaxed);
    atomic_store_explicit(&decision->round, self->round, memory_order_relaxed);
    for (uint32_t thread = 0; thread < mazurka_threads; thread++)
        atomic_store_explicit(&decision->base[thread], self->base[thread], memory_order_relaxed);
    enter(option->section);
    self->latest = ++self->decisions;
    atomic_exchange(&decided, self->decisions);
    call_for(option->section);
}

/* Follow the latest decision, or the one before it: earlier ones have no event for this thread, for otherwise the latest could
 * not have been made. */
static void follow(void) {
    for (;;) {
        const uint64_t latest = atomic_load_explicit(&decided, memory_order_acquire);
        const uint64_t number = latest > self->decisions + 1 ? latest - 1 : latest;
        struct decision *decision = &recent[number % RECENT];
        const uint32_t section = atomic_load_explicit(&decision->section, memory_order_relaxed);
        self->round = atomic_load_explicit(&decision->round, memory_order_relaxed);
        for (uint32_t thread = 0; thread < mazurka_threads; thread++)
            self->base[thread] = atomic_load_explicit(&decision->base[thread], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&decided, memory_order_relaxed) < number + RECENT - 1) {
            self->decisions = number;
            enter(section);
            return;
        }
    }
}

/* The way to go on from here that begins with this thread's event at `point`, or one of several. */
static const struct option *find_option(uint32_t point) {
    const struct section *section = at(self->section);
    const struct option *option = &mazurka_option[section->first_option];
    for (uint32_t i = 0; i < section->options; i++, option++) {
        if (option->thread == self->number && option->begin == point)
            return option;
    }
    return NULL;
}

/* The schedule has no event for this thread any more: it waits for something that never comes, or it should not be here. */
static _Noreturn void stay(uint32_t point) {
    const uint32_t expected = at(self->section)->standing[self->number];
    if (expected != NOWHERE && expected != point)
        leave(point, expected);
    atomic_fetch_sub(&active, 1);
    for (;;)
        pause();
}

/* Where several threads may go on, the one that has made the last decision may make the next for as long as a hand-over is worth,
 * and then whoever has stood there for the longest time. So a thread to which it is offered again and again goes on again and
 * again. Gives the thread to which to give way, or this one. */
static uint32_t first_in_line(void) {
    uint32_t first = self->number;
    uint64_t others = reaches[self->section].offered & ~bit(first) & atomic_load(&standing);
    if (others == 0 || (self->latest == self->decisions && __builtin_ia32_rdtsc() - self->since < batch))
        return first;
    for (uint64_t least = atomic_load(&ticket[first]); others != 0; others &= others - 1) {
        const uint32_t thread = (uint32_t)__builtin_ctzll(others);
        const uint64_t other = atomic_load(&ticket[thread]);
        if (other != 0 && (least == 0 || other < least)) {
            least = other;
            first = thread;
        }
    }
    return first;
}

static void give_way(uint32_t thread) {
    if (self->latest == self->decisions)
        atomic_store(&given_way, __builtin_ia32_rdtsc());
    call(thread);
}

/* The thread makes a decision after another one has: how long has that taken? */
static void take_over(void) {
    const uint64_t now = __builtin_ia32_rdtsc(), before = atomic_exchange(&given_way, 0);
    if (before != 0 && before < now) {
        const uint64_t wanted = (3 * batch + WORTH * (now - before)) / 4;
        batch = wanted < LEAST_BATCH ? LEAST_BATCH : wanted > MOST_BATCH ? MOST_BATCH : wanted;
    }
    self->since = now;
}

static void stand(void) {
    atomic_store(&ticket[self->number], atomic_fetch_add(&tickets, 1) + 1);
    atomic_fetch_or(&standing, bit(self->number));
}

static void stand_no_more(void) {
    if (atomic_load_explicit(&ticket[self->number], memory_order_relaxed) != 0) {
        atomic_fetch_and(&standing, ~bit(self->number));
        atomic_store(&ticket[self->number], 0);
    }
}

/* The thread is at a decision and has nothing to do: until it is called, or for a while that grows each time. */
static void wait_to_be_called(uint64_t calls, unsigned times) {
    struct counter *counter = &called[self->number];
    if (spin_until(counter, calls + 1) <= calls)
        sleep_until(counter, calls + 1, 100000L << (times < 6 ? times : 6));
}

/* Where the schedule branches: follow the decision, or make it. Whether the thread has an event now. */
static bool take_turn(uint32_t point, unsigned times) {
    const struct section *section = at(self->section);
    const uint64_t calls = value_of(&called[self->number]);
    if (atomic_load(&decided) > self->decisions) {
        follow();
        if (self->next->point != NOWHERE)
            await_previous(at(self->section)->previous);
        return self->next->point != NOWHERE;
    }
    const struct option *option = find_option(point);
    uint64_t expected = self->decisions;
    const uint32_t first = option != NULL ? first_in_line() : self->number;
    if (option == NULL || first != self->number ||
        !atomic_compare_exchange_strong(&claimed, &expected, self->decisions + 1)) {
        if (section->standing[self->number] != NOWHERE && section->standing[self->number] != point)
            leave(point, section->standing[self->number]);
        if (first != self->number)
            give_way(first);
        if (atomic_load_explicit(&ticket[self->number], memory_order_relaxed) == 0)
            stand(); /* and look again */
        else
            wait_to_be_called(calls, times);
        return false;
    }
    if (self->latest != self->decisions)
        take_over();
    pass();
    await_previous(section->events);
    if (option->sure) {
        decide(option);
        return self->next->point != NOWHERE;
    }
    self->deciding[0] = mazurka_step[at(option->section)->steps[self->number]];
    self->deciding[0].flags &= OMIT | CONTINUES;
    self->next = self->deciding;
    self->begun = self->base[self->number];
    return true;
}

/* The thread has come to the end of its list and is at `point`: find the list of its next events. */
static void go_on(uint32_t point) {
    uint32_t without_events = 0;
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
        for (unsigned times = 0; !take_turn(point, times) && at(self->section) == section;)
            times++;
    }
    stand_no_more();
}

/* The thread has had the event that decides how to go on; where it arrives tells. */
static void arrive(uint32_t point) {
    const struct section *section = at(self->section);
    const struct option *option = &mazurka_option[section->first_option];
    const uint32_t begin = self->deciding[0].point;
    for (uint32_t i = 0; i < section->options; i++, option++) {
        if (option->thread == self->number && option->begin == begin && option->arrival == point) {
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
    else if (step->flags & PUBLISH)
        publish(self->clock, self->begun + step->clock);
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

/* Something happens that concerns only the thread itself, but where the schedule has something to say. */
void mazurka_pass(uint32_t point) {
    mazurka_before(point, NULL);
    mazurka_after();
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

void mazurka_wait_outside(void) { atomic_fetch_sub(&active, 1); }

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
    *thread = (struct thread){.number = child->thread, .next = nothing + 1, .clock = clock, .patience = MOST_SPINS};
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
    find_reaches();
    areas = aligned_alloc(CACHE_LINE, (2 * (size_t)mazurka_area_size + CACHE_LINE) / CACHE_LINE * CACHE_LINE);
    if (areas == NULL)
        mazurka_stop("not enough memory");
    for (uint32_t area = 0; area < 2; area++)
        memcpy(areas + area * mazurka_area_size, mazurka_constant, mazurka_constants * sizeof *mazurka_constant);
}

int main(int argc, char **argv, char **environment) {
    mazurka_check_arguments(argc, argv, environment);
    int status = mazurka_main(argc, argv, environment);
    mazurka_end_thread(RETURN);
    return status;
}
