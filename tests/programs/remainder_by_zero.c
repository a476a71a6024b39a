// expect: bug arithmetic
// line: 4
static unsigned bucket(unsigned key, unsigned buckets) {
    return key % buckets;
}

int main(void) { return (int)bucket(7, 0); }
