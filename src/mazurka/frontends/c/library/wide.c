/* Wide characters, as far as they are only numbers. (The C++ library searches arrays of `int` by `wmemchr`, too.) */
#include <wchar.h>

size_t wcslen(const wchar_t *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

wchar_t *wmemchr(const wchar_t *array, wchar_t wanted, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (array[i] == wanted)
            return (wchar_t *)&array[i];
    return NULL;
}

int wmemcmp(const wchar_t *left, const wchar_t *right, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

int wcscmp(const wchar_t *left, const wchar_t *right) {
    size_t i = 0;
    while (left[i] && left[i] == right[i])
        i++;
    return left[i] == right[i] ? 0 : left[i] < right[i] ? -1 : 1;
}

wchar_t *wmemcpy(wchar_t *restrict target, const wchar_t *restrict source, size_t count) {
    for (size_t i = 0; i < count; i++)
        target[i] = source[i];
    return target;
}

wchar_t *wmemmove(wchar_t *target, const wchar_t *source, size_t count) {
    if (target <= source)
        return wmemcpy(target, source, count);
    for (size_t i = count; i > 0; i--)
        target[i - 1] = source[i - 1];
    return target;
}

wchar_t *wmemset(wchar_t *target, wchar_t value, size_t count) {
    for (size_t i = 0; i < count; i++)
        target[i] = value;
    return target;
}
