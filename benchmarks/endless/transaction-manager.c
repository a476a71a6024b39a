/* A transaction manager: N clients move units between three resources in transactions, and a coordinator ends those
 * that take too long, for ever.
 *
 * A transaction is active until its client commits it or somebody aborts it. While it is active, it enlists two
 * resources, one after the other; a resource is enlisted in one transaction at a time, and a client that finds one
 * taken, or empty, aborts. After the commit, the client changes the resources and lets go of them, one after the
 * other. The coordinator may find that the time of a transaction is over whenever it looks at one that is active; then
 * it aborts it.
 *
 * Each transaction and each resource has a lock; that of the transaction is taken first.
 *
 * BROKEN: the client looks whether its transaction is active, but does not say that it is committed. The coordinator
 * may abort it while the resources are being changed.
 *
 * Verdict: correct, that is, who changes a resource has enlisted it, and whenever no resource is enlisted, all units
 * are there; with BROKEN, an assertion fails. */
#include <assert.h>

#include "forever.h"

#ifndef N
#define N 2
#endif

int __VERIFIER_nondet_range(int low, int high);

enum { RESOURCES = 3, NOBODY = -1 };

static struct resource {
    pthread_mutex_t lock;
    int enlisted; /* in whose transaction */
    int units;
} resources[RESOURCES];

static struct transaction {
    pthread_mutex_t lock;
    enum { ABORTED, ACTIVE, COMMITTED } status;
} transactions[N];

static void begin(int me) {
    pthread_mutex_lock(&transactions[me].lock);
    transactions[me].status = ACTIVE;
    pthread_mutex_unlock(&transactions[me].lock);
}

/* Whether the resource is mine now. */
static bool enlist(int me, struct resource *resource, int units) {
    bool done = false;
    pthread_mutex_lock(&transactions[me].lock);
    if (transactions[me].status == ACTIVE) {
        pthread_mutex_lock(&resource->lock);
        if (resource->enlisted == NOBODY && resource->units >= units) {
            resource->enlisted = me;
            done = true;
        }
        pthread_mutex_unlock(&resource->lock);
    }
    pthread_mutex_unlock(&transactions[me].lock);
    return done;
}

/* Whether it is not too late. */
static bool commit(int me) {
    pthread_mutex_lock(&transactions[me].lock);
    bool active = transactions[me].status == ACTIVE;
#ifndef BROKEN
    if (active)
        transactions[me].status = COMMITTED;
#endif
    pthread_mutex_unlock(&transactions[me].lock);
    return active;
}

static void change(int me, struct resource *resource, int units) {
    pthread_mutex_lock(&resource->lock);
    assert(resource->enlisted == me);
    resource->units += units;
    resource->enlisted = NOBODY;
    pthread_mutex_unlock(&resource->lock);
}

/* By its client or by the coordinator. */
static void abort_transaction(int whose) {
    pthread_mutex_lock(&transactions[whose].lock);
    if (transactions[whose].status == ACTIVE) {
        transactions[whose].status = ABORTED;
        for (int r = 0; r < RESOURCES; r++) {
            pthread_mutex_lock(&resources[r].lock);
            if (resources[r].enlisted == whose)
                resources[r].enlisted = NOBODY;
            pthread_mutex_unlock(&resources[r].lock);
        }
    }
    pthread_mutex_unlock(&transactions[whose].lock);
}

static void *move_units(void *argument) {
    int me = (int)(intptr_t)argument;
    forever {
        int from = __VERIFIER_nondet_range(0, RESOURCES - 1), to = (from + 1 + maybe()) % RESOURCES;
        begin(me);
        if (enlist(me, &resources[from], 1) && enlist(me, &resources[to], 0) && commit(me)) {
            change(me, &resources[from], -1);
            change(me, &resources[to], 1);
        } else {
            abort_transaction(me);
        }
    }
    return NULL;
}

static void audit(void) {
    int units = 0;
    bool enlisted = false;
    for (int r = 0; r < RESOURCES; r++)
        pthread_mutex_lock(&resources[r].lock);
    for (int r = 0; r < RESOURCES; r++) {
        units += resources[r].units;
        enlisted |= resources[r].enlisted != NOBODY;
    }
    assert(enlisted || units == RESOURCES);
    for (int r = 0; r < RESOURCES; r++)
        pthread_mutex_unlock(&resources[r].lock);
}

static void *coordinate(void *unused) {
    forever {
        audit();
        abort_transaction(__VERIFIER_nondet_range(0, N - 1));
    }
    return unused;
}

int main(void) {
    for (int r = 0; r < RESOURCES; r++) {
        resources[r].enlisted = NOBODY;
        resources[r].units = 1;
    }
    for (int t = 0; t < N; t++)
        start(move_units, t);
    start(coordinate, N);
    pthread_exit(NULL);
}
