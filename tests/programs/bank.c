// expect: bug assertion
// line: 37
// Each access is protected, the sum is not.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};
static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};

static void add(struct account *account, int amount) {
    pthread_mutex_lock(&account->lock);
    account->balance += amount;
    pthread_mutex_unlock(&account->lock);
}

static int get(struct account *account) {
    pthread_mutex_lock(&account->lock);
    int balance = account->balance;
    pthread_mutex_unlock(&account->lock);
    return balance;
}

static void *transfer(void *unused) {
    add(&accounts[0], -30);
    add(&accounts[1], 30);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, transfer, NULL);
    int total = get(&accounts[0]) + get(&accounts[1]);
    assert(total == 200);
    pthread_join(thread, NULL);
    return 0;
}
