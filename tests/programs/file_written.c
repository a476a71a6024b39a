// expect: ok
// What is written to a file is there to be read, by its name and by descriptors that share a position.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
    char text[16] = "";
    struct stat status;
    FILE *file = fopen("notes", "w");
    assert(file && fprintf(file, "%d %s\n", 7, "seven") == 8 && fputs("abc", file) >= 0 && fputc('d', file) == 'd');
    assert(fclose(file) == 0 && stat("notes", &status) == 0 && status.st_size == 12);
    int number = 0;
    file = fopen("notes", "r+");
    assert(fscanf(file, "%d %15s", &number, text) == 2 && number == 7 && strcmp(text, "seven") == 0);
    assert(fseek(file, -4, SEEK_END) == 0 && fread(text, 1, 16, file) == 4 && feof(file) && memcmp(text, "abcd", 4) == 0);
    rewind(file);
    assert(fgetc(file) == '7' && ungetc('8', file) == '8' && fgetc(file) == '8' && ftell(file) == 1);
    fclose(file);
    int one = open("notes", O_RDWR | O_APPEND), other = dup(one);
    assert(one > 2 && write(one, "end", 3) == 3 && lseek(other, 0, SEEK_CUR) == 15);
    assert(lseek(other, 12, SEEK_SET) == 12 && read(one, text, 16) == 3 && read(one, text, 16) == 0);
    close(one);
    assert(read(one, text, 1) == -1 && errno == EBADF && unlink("notes") == 0);
    assert(lseek(other, 0, SEEK_SET) == 0 && read(other, text, 1) == 1 && close(other) == 0);
    assert(fopen("notes", "r") == NULL && errno == ENOENT);
    return 0;
}
