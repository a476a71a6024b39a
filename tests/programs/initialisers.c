// expect: ok
// Static data with addresses in it, designated and nested, tentative and of other files' kind.
#include <assert.h>
#include <string.h>

struct item {
    const char *name;
    int *target;
    int (*action)(int);
    struct item *next;
};

static int values[3] = {[2] = 9, [0] = 4};
static int negate(int x) { return -x; }
static struct item second = {.name = "second", .target = &values[2]};
static struct item first = {"first", values + 1, negate, &second};
static struct item *const list[2] = {[1] = &first};
static char text[] = "text";
static char sized[8] = "abc";
static const char *inside = &text[2];
static long double_word = -3;
static const double real = 0.25;
int tentative;

int main(void) {
    assert(values[0] == 4 && values[1] == 0 && *first.next->target == 9 && list[0] == NULL);
    assert(list[1]->action(5) == -5 && list[1]->next == &second && second.action == NULL);
    *list[1]->target = 7;
    assert(values[1] == 7 && strcmp(inside, "xt") == 0 && sizeof text == 5 && sized[7] == 0);
    assert(double_word == -3 && real == 0.25 && tentative == 0);
    assert(strcmp(first.name, "first") == 0);
    return 0;
}
