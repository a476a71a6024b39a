// expect: bug memory
// message: no label
int main(int count, char **words) {
    static void *targets[3] = {&&one, &&two};
    void *target = targets[count + 1];
    goto *target;
one:
    return 1;
two:
    return 2;
}
