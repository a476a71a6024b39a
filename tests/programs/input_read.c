// expect: ok
// check: --stdin=parts/lines.txt
// Two threads read from the same input: each line goes to one of them.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int lines;

static void *run(void *unused) {
    char text[32];
    if (fgets(text, sizeof text, stdin)) {
        assert(strcmp(text, "second line\n") == 0 || strcmp(text, "last\n") == 0);
        __atomic_fetch_add(&lines, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}

int main(void) {
    int number;
    char word[8], *line = NULL;
    size_t size = 0;
    double fraction;
    pthread_t thread;
    assert(scanf("%d %7s %lf", &number, word, &fraction) == 3);
    assert(number == 42 && strcmp(word, "hello") == 0 && fraction == 3.25 && getchar() == '\n');
    pthread_create(&thread, NULL, run, NULL);
    run(NULL);
    pthread_join(thread, NULL);
    assert(lines == 2 && getline(&line, &size, stdin) == -1 && feof(stdin) && getchar() == EOF);
    return 0;
}
