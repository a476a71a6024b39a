// expect: bug memory
// line: 13
// message: misaligned access: 4 bytes at offset 1
// check: --no-alignment
// That the structure is packed excuses plain accesses to its members, but no atomic ones: they would be torn.
struct __attribute__((packed)) message {
    char kind;
    int references;
};

int main(void) {
    struct message message = {'a', 1};
    return __atomic_fetch_sub(&message.references, 1, __ATOMIC_ACQ_REL) - 1;
}
