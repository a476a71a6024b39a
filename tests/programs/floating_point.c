// expect: ok
#include <assert.h>
#include <float.h>
#include <math.h>

static double average(const float *numbers, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += numbers[i];
    return sum / count;
}

int main(void) {
    volatile double a = 0.1, b = 0.2, zero = 0;
    assert(a + b != 0.3 && a + b > 0.3 && (float)a + (float)b == 0.3f);
    assert(a * 10 == 1.0 && b / a == 2 && -a < 0 && a - b == -0.1);
    volatile double inf = 1 / zero, nan = zero / zero;
    assert(inf > DBL_MAX && nan != nan && !(nan < 1) && !(nan >= 1) && -inf < 0);
    volatile double x = -2.75;
    assert((int)x == -2 && (unsigned char)-x == 2 && (long)(x * 1e12) == -2750000000000);
    volatile unsigned long big = 1ul << 63;
    volatile int negative = -3;
    assert((double)big == 9223372036854775808.0 && (unsigned long)(double)big == big && (float)negative == -3);
    float numbers[] = {1.5f, 2.5f, 4};
    assert(average(numbers, 3) == 8.0 / 3);
    assert(fabs(x) == 2.75 && floor(x) == -3 && ceil(x) == -2 && trunc(x) == -2 && sqrt(6.25) == 2.5);
    volatile float f = 16777216;
    assert(f + 1 == f && !x == 0 && (x ? 1 : 0));
    return 0;
}
