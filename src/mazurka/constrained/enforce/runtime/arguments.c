/* What the program was proved for: certain arguments, an empty environment, inputs within the ranges that it states. Started
 * or supplied with something else, it says so and stops, unless it is told to go on. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scheduler.h"

enum { EXIT_NOT_PROVED = 72 };

/* Made with the tables. The first argument is the name of the program; -1 arguments: it does not look at them. */
extern const int mazurka_argument_count;
extern const char *const mazurka_argument[];
extern const int mazurka_reads_environment; /* by a parameter of main */

static void list(const char *const *arguments, int count) {
    if (count <= 1)
        fprintf(stderr, " no arguments");
    for (int i = 1; i < count; i++)
        fprintf(stderr, " \"%s\"", arguments[i]);
}

/* The message has begun; here is its end. */
static void stop_unless_told(void) {
    const char *anyway = getenv("MAZURKA_ANYWAY");
    const bool goes_on = anyway != NULL && strcmp(anyway, "1") == 0;
    fprintf(stderr, goes_on ? "; it goes on, and nothing is guaranteed\n" : "; MAZURKA_ANYWAY=1 lets it go on\n");
    if (!goes_on) {
        fflush(stdout);
        _exit(EXIT_NOT_PROVED);
    }
}

static bool has_expected(int argc, char **argv) {
    if (argc != mazurka_argument_count)
        return false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], mazurka_argument[i]) != 0)
            return false;
    return true;
}

/* Its name is also the one that it was proved with. */
void mazurka_check_arguments(int argc, char **argv, char **environment) {
    if (mazurka_reads_environment && environment[0] != NULL) {
        fprintf(stderr, "mazurka: the schedule is proved for an empty environment");
        stop_unless_told();
    }
    if (mazurka_argument_count < 0)
        return;
    if (has_expected(argc, argv)) {
        char *name = strdup(mazurka_argument[0]);
        if (name == NULL)
            mazurka_stop("not enough memory");
        argv[0] = name;
        return;
    }
    fprintf(stderr, "mazurka: the schedule is proved for");
    list(mazurka_argument, mazurka_argument_count);
    fprintf(stderr, ", not for");
    list((const char *const *)argv, argc);
    stop_unless_told();
}

char *mazurka_assumed_getenv(const char *name) {
    char *value = getenv(name);
    if (value != NULL) {
        fprintf(stderr, "mazurka: the schedule is proved for an environment without %s", name);
        stop_unless_told();
    }
    return value;
}

int __VERIFIER_nondet_range(int low, int high);

int mazurka_assumed___VERIFIER_nondet_range(int low, int high) {
    const int value = __VERIFIER_nondet_range(low, high);
    if (value < low || value > high) {
        fprintf(stderr, "mazurka: the schedule is proved for inputs from %d to %d, not for %d", low, high, value);
        stop_unless_told();
    }
    return value;
}
