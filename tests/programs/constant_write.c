// expect: bug memory
// line: 6
// String literals are not to be written to.
int main(void) {
    char *text = "text";
    text[0] = 'T';
    return 0;
}
