// expect: ok
// switch with gaps, ranges and fall-through, goto, nested loops, break and continue, Duff's device.
#include <assert.h>

static int classify(int c) {
    switch (c) {
    case 'a':
    case 'e':
        return 1;
    case '0' ... '9':
        c -= '0';
        break;
    case -5:
        c = 100;
        /* fall through */
    case 1000000:
        c++;
        break;
    default:
        return -1;
    }
    return c;
}

static int sparse(unsigned long long x) {
    switch (x) {
    case 0:
        return 0;
    case 1ull << 40:
        return 40;
    case ~0ull:
        return 64;
    }
    return -1;
}

static int copy(const char *from, char *to, int count) {
    int rounds = (count + 3) / 4, done = 0;
    switch (count % 4) {
    case 0:
        do {
            *to++ = *from++, done++;
        case 3:
            *to++ = *from++, done++;
        case 2:
            *to++ = *from++, done++;
        case 1:
            *to++ = *from++, done++;
        } while (--rounds > 0);
    }
    return done;
}

int main(void) {
    assert(classify('e') == 1 && classify('7') == 7 && classify(-5) == 101 && classify(1000000) == 1000001);
    assert(classify('z') == -1 && sparse(1ull << 40) == 40 && sparse(~0ull) == 64 && sparse(3) == -1);
    char to[8] = {0};
    assert(copy("1234567", to, 7) == 7 && to[6] == '7' && to[7] == 0);
    int sum = 0;
    for (int i = 0;; i++) {
        if (i % 2)
            continue;
        for (int j = 0; j < 10; j++) {
            if (j > i)
                break;
            if (sum > 40)
                goto out;
            sum += j;
        }
    }
out:
    assert(sum == 44);
    int n = 27, steps = 0;
    do
        n = n % 2 ? 3 * n + 1 : n / 2, steps++;
    while (n != 1);
    assert(steps == 111);
    return 0;
}
