// expect: ok
#define _GNU_SOURCE
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int sign(int x) { return (x > 0) - (x < 0); }

int main(void) {
    char buffer[32];
    assert(strlen("") == 0 && strlen("hello") == 5 && strnlen("hello", 3) == 3);
    assert(strcmp(strcpy(buffer, "hello"), "hello") == 0);
    assert(strcmp(strcat(buffer, ", you"), "hello, you") == 0);
    assert(strcmp(strncat(buffer, " there", 2), "hello, you t") == 0);
    memset(buffer, 'x', sizeof buffer);
    strncpy(buffer, "ab", 5);
    assert(memcmp(buffer, "ab\0\0\0xx", 7) == 0);
    assert(stpcpy(buffer, "end") == buffer + 3);
    assert(sign(strcmp("abc", "abd")) == -1 && sign(strcmp("b", "abc")) == 1 && sign(strcmp("a", "ab")) == -1);
    assert(strncmp("abcd", "abxy", 2) == 0 && sign(strcmp("\xff", "a")) == 1 && strcasecmp("HeLLo", "hEllO") == 0);
    const char *text = "find me in here";
    assert(strchr(text, 'm') == text + 5 && strrchr(text, 'e') == text + 14 && strchr(text, 'z') == NULL);
    assert(strchr(text, 0) == text + 15 && strchrnul(text, 'z') == text + 15);
    assert(strstr(text, "in") == text + 1 && strstr(text, "in h") == text + 8 && strstr(text, "no") == NULL);
    assert(strstr(text, "") == text && strspn(text, "dnif") == 4 && strcspn(text, " ") == 4);
    assert(strpbrk(text, "xme") == text + 5 && memchr(text, 'h', 11) == NULL && memchr(text, 'h', 12) == text + 11);
    assert(memrchr(text, 'i', 15) == text + 8);
    char line[] = "  one, two,,three ";
    char *rest, *word = strtok_r(line, " ,", &rest);
    const char *expected[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++, word = strtok_r(NULL, " ,", &rest))
        assert(strcmp(word, expected[i]) == 0);
    assert(word == NULL);
    char *copy = strdup(text), *part = strndup(text, 4);
    assert(copy != text && strcmp(copy, text) == 0 && strcmp(part, "find") == 0);
    free(copy);
    free(part);
    return 0;
}
