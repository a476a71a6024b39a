/* What each thread knows of exceptions (src/mazurka/frontends/c/translate/exceptions.py). */
#ifndef MAZURKA_UNWINDING_H
#define MAZURKA_UNWINDING_H

/* What a landing pad handles: a number above 0 and a type, or null, which stands for all; a number below 0 and the
 * types, each with a number above 0, that are not handled. 0 ends both. */
struct mazurka_clause {
    long selector;
    const void *types;
};

/* A call under way whose landing pad handles exceptions, and the next one outwards. */
struct mazurka_handler {
    const struct mazurka_handler *outer;
    const struct mazurka_clause *clauses;
};

extern __thread void *__mazurka_in_flight;
extern __thread const struct mazurka_handler *__mazurka_handlers;

#endif
