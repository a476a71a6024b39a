/* Locales: there is the C locale, which all others would be variants of. */
#define _GNU_SOURCE
#include <ctype.h>
#include <locale.h>
#include <stddef.h>
#include <string.h>

static struct __locale_struct c_locale;

locale_t newlocale(int categories, const char *name, locale_t base) {
    (void)categories;
    (void)base;
    if (strcmp(name, "C") != 0 && strcmp(name, "POSIX") != 0 && name[0] != '\0')
        return NULL;
    c_locale.__ctype_b = *__ctype_b_loc();
    return &c_locale;
}

locale_t duplocale(locale_t locale) { return locale; }

void freelocale(locale_t locale) { (void)locale; }

/* Which one a thread uses makes no difference. */
locale_t uselocale(locale_t locale) {
    (void)locale;
    return LC_GLOBAL_LOCALE;
}

int tolower_l(int c, locale_t locale) {
    (void)locale;
    return tolower(c);
}

int toupper_l(int c, locale_t locale) {
    (void)locale;
    return toupper(c);
}
