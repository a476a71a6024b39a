/* A program schedule as tables: what `tables.py` writes and `scheduler.c` follows.
 *
 * Events of each thread are numbered by its clock: the n-th event of a thread is done when its clock is at least n. */
#ifndef MAZURKA_SCHEDULE_H
#define MAZURKA_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* Where an event can be: an instruction or a call of the program, or one of these. */
enum { NOWHERE, RETURN, FIRST_POINT };
static const uint32_t ELSEWHERE = UINT32_MAX; /* where no thread has an event */

/* Before an event, the clock of `thread` must have come this far, counted from where it is when the section begins. */
struct wait {
    uint32_t thread;
    int32_t clock;
};

enum {
    PUBLISH = 1,    /* somebody waits for this event */
    REDIRECT = 2,   /* it touches the thread's area instead */
    LATE = 4,       /* it goes on after its instruction: it is over when the thread arrives at its next event */
    SETTLE = 8,     /* the event before it was late */
    OMIT = 16,      /* the schedule does what the operation is for */
    CONTINUES = 32, /* the operation goes on with a second event */
};

/* One event of one thread in a section. The code that is woven into the program knows this layout. */
struct step {
    uint32_t point; /* NOWHERE ends the list */
    uint16_t flags;
    uint16_t waits;
    uint32_t first_wait;
    int32_t redirect; /* where in the area */
    uint32_t clock;   /* of its thread after it, counted from the beginning of the section */
};

/* A way to go on from the end of a section: `thread` has its event at `begin`. If it is not `sure` by that, then the thread
 * arrives at `arrival` after it. */
struct option {
    uint32_t thread;
    uint32_t begin;
    uint32_t arrival;
    uint32_t section;
    bool sure;
};

/* A section, after another one: waits are for events of both. All events before those are over. */
struct section {
    uint32_t first_option, options;
    const uint32_t *events;   /* for each thread, how many events it has here */
    const uint32_t *previous; /* the same of the section before */
    const uint32_t *steps;    /* for each thread, where its list begins */
    const uint32_t *standing; /* for each thread, the point where it is after the section; NOWHERE: not known */
};

struct point {
    const char *place, *what;
    uint64_t threads; /* which threads have events here, as bits */
    bool always;      /* an event even before the first thread is created */
};

struct child {
    uint32_t parent, number, thread; /* the number-th thread that `parent` creates */
};

/* At a line of the program, the thread is at `point` if it has come there by the calls that `context` stands for. */
struct context {
    uint32_t line, point;
    uint64_t context;
};

extern const uint32_t mazurka_threads, mazurka_sections, mazurka_children, mazurka_area_size, mazurka_constants,
    mazurka_contexts;
extern const char *const mazurka_thread_names[];
extern const struct child mazurka_child[];
extern const struct point mazurka_point[]; /* from FIRST_POINT on */
extern const struct step mazurka_step[];
extern const struct wait mazurka_wait[];
extern const struct option mazurka_option[];
extern const struct section mazurka_section[]; /* section 0 has no events: executions begin at its end */
extern const struct context mazurka_context_table[];
extern const uint64_t mazurka_constant[];      /* the first words of each area */

#endif
