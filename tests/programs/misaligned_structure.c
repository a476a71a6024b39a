// expect: bug memory
// line: 17
// message: misaligned
// A packed structure may lie anywhere; what points into it has to know that.
struct __attribute__((packed)) record {
    char tag;
    int value;
};
struct plain {
    int value;
};

int main(void) {
    struct record record = {'a', 3};
    int sum = record.value;
    struct plain *plain = (struct plain *)(void *)((char *)&record + 1);
    sum += plain->value;
    return sum == 0;
}
