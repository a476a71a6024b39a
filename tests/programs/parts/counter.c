#include "counter.h"

static int value;
const int counter_limit = 10;

void counter_increment(void) {
    if (value < counter_limit)
        value++;
}

int counter_get(void) { return value; }
