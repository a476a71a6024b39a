// Instead of UnityDefaultTestRun, which runs each test case of a program with Unity: prints their names, or runs the one
// that is called MAZURKA_TEST_CASE.

#include <stdio.h>
#include <string.h>

void __real_UnityDefaultTestRun(void (*function)(void), const char *name, int line);

void __wrap_UnityDefaultTestRun(void (*function)(void), const char *name, int line) {
#ifdef MAZURKA_TEST_CASE
    if (strcmp(name, MAZURKA_TEST_CASE) == 0) {
        __real_UnityDefaultTestRun(function, name, line);
    }
#else
    printf("mazurka: test case %s\n", name);
#endif
}
