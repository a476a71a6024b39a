/* Kinds of characters, in the C locale. <ctype.h> has macros that look them up in a table, and functions. */
#include <ctype.h>

#define GRAPH (_ISprint | _ISgraph)
#define LETTER (GRAPH | _ISalpha | _ISalnum)
#define LOWER (LETTER | _ISlower)
#define UPPER (LETTER | _ISupper)
#define AT(c) [(c) + 128]
#define RANGE(first, last) [(first) + 128 ...(last) + 128]

/* Indexed from -128 (a signed char) to 255. */
static const unsigned short table[384] = {
    RANGE(0, 8) = _IScntrl,
    AT('\t') = _IScntrl | _ISspace | _ISblank,
    RANGE('\n', '\r') = _IScntrl | _ISspace,
    RANGE(14, 31) = _IScntrl,
    AT(' ') = _ISprint | _ISspace | _ISblank,
    RANGE('!', '/') = GRAPH | _ISpunct,
    RANGE('0', '9') = GRAPH | _ISdigit | _ISxdigit | _ISalnum,
    RANGE(':', '@') = GRAPH | _ISpunct,
    RANGE('A', 'F') = UPPER | _ISxdigit,
    RANGE('G', 'Z') = UPPER,
    RANGE('[', '`') = GRAPH | _ISpunct,
    RANGE('a', 'f') = LOWER | _ISxdigit,
    RANGE('g', 'z') = LOWER,
    RANGE('{', '~') = GRAPH | _ISpunct,
    AT(127) = _IScntrl,
};
static const unsigned short *const middle = table + 128;

const unsigned short **__ctype_b_loc(void) { return (const unsigned short **)&middle; }

static int is(int c, int kind) { return table[c + 128] & kind; }

int(isalnum)(int c) { return is(c, _ISalnum); }
int(isalpha)(int c) { return is(c, _ISalpha); }
int(isblank)(int c) { return is(c, _ISblank); }
int(iscntrl)(int c) { return is(c, _IScntrl); }
int(isdigit)(int c) { return is(c, _ISdigit); }
int(isgraph)(int c) { return is(c, _ISgraph); }
int(islower)(int c) { return is(c, _ISlower); }
int(isprint)(int c) { return is(c, _ISprint); }
int(ispunct)(int c) { return is(c, _ISpunct); }
int(isspace)(int c) { return is(c, _ISspace); }
int(isupper)(int c) { return is(c, _ISupper); }
int(isxdigit)(int c) { return is(c, _ISxdigit); }
int(tolower)(int c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }
int(toupper)(int c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; }
