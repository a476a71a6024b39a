/* A deadlock.
 *
 *     mazurka check examples/lock_order.c
 *
 * Money goes from one account to another, and both are locked meanwhile. When two transfers go in opposite directions,
 * each may get its first lock and wait for its second, which the other one holds. The report says who waits for what
 * and who holds it.
 *
 * To repair it, lock in an order that is the same for all, say, the account with the lower number first. Or leave it as
 * it is, and run it only in ways that are proved to be safe:
 *
 *     mazurka schedule examples/lock_order.c
 *     mazurka build examples/lock_order.c --schedule lock_order.schedule.json -o lock_order */
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account current = {PTHREAD_MUTEX_INITIALIZER, 100};

static void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *save(void *unused) {
    transfer(&current, &savings, 10);
    return unused;
}

static void *spend(void *unused) {
    transfer(&savings, &current, 20);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, save, NULL);
    pthread_create(&second, NULL, spend, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
