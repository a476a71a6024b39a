/* Files, in memory: at the start there are none. Pipes and event counters are files without a name.
 *
 * A descriptor stands for an open file, which several descriptors may share (dup). Standard output and error are always
 * 1 and 2; what is printed there is captured. Each operation is one step; reading from a pipe waits for something to
 * read or for the last writer to close it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cancelling.h"
#include "files.h"

enum { MOST_FILES = 64, PIPE_ROOM = 65536 };

struct content {
    char *name; /* null: it has none, or not any more */
    char *bytes;
    size_t size, room;
    unsigned opened;
    struct content *next; /* among those with a name */
};

struct pipe {
    struct content content;
    unsigned readers, writers;
};

enum kind { INPUT, OUTPUT, FILE_, READ_END, WRITE_END, EVENTS };

struct open_file {
    enum kind kind;
    int flags;
    unsigned descriptors;
    size_t offset;
    uint64_t count; /* of events */
    void *object;
};

static struct content *named;
static struct open_file standard[3] = {
    {INPUT, O_RDONLY, 1, 0, 0, NULL}, {OUTPUT, O_WRONLY, 1, 0, 0, NULL}, {OUTPUT, O_WRONLY, 1, 0, 0, NULL}};
static struct open_file *open_files[MOST_FILES] = {&standard[0], &standard[1], &standard[2]};

extern const long __mazurka_input_size;
extern const char __mazurka_input[];

static int failed(int error) {
    errno = error;
    return -1;
}

/* -------------------------------------------------------------------------- in sections: names and contents */

/* Every system has devices and the like: that there is none would be wrong. */
static _Bool is_of_system(const char *name) {
    return (strncmp(name, "/dev/", 5) == 0 && strncmp(name, "/dev/shm/", 9) != 0) || strncmp(name, "/proc/", 6) == 0 ||
           strncmp(name, "/sys/", 5) == 0;
}

static struct content *find(const char *name) {
    struct content *found = named;
    if (is_of_system(name))
        __mazurka_fail("limit", "what is in /dev, /proc and /sys, such as a device for random numbers, is not modelled");
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    return found;
}

static void unlink_content(struct content *content) {
    struct content **link = &named;
    while (*link != content)
        link = &(*link)->next;
    *link = content->next;
    __mazurka_free(content->name);
    content->name = NULL;
}

static void free_if_unused(struct content *content) {
    if (content->name || content->opened)
        return;
    __mazurka_free(content->bytes);
    __mazurka_free(content);
}

static char *copy_of(const char *name) {
    char *copy = __mazurka_allocate(strlen(name) + 1, 0);
    return strcpy(copy, name);
}

static struct content *make_content(const char *name) {
    struct content *content = __mazurka_allocate(sizeof *content, 1);
    if (name) {
        content->name = copy_of(name);
        content->next = named;
        named = content;
    }
    return content;
}

static void reserve(struct content *content, size_t size) {
    if (size <= content->room)
        return;
    size_t room = size < 64 ? 64 : 2 * size;
    char *bytes = __mazurka_allocate(room, 1);
    for (size_t i = 0; i < content->size; i++)
        bytes[i] = content->bytes[i];
    __mazurka_free(content->bytes);
    content->bytes = bytes;
    content->room = room;
}

static void put(struct content *content, size_t at, const char *from, size_t size) {
    reserve(content, at + size);
    for (; content->size < at; content->size++)
        content->bytes[content->size] = 0;
    for (size_t i = 0; i < size; i++)
        content->bytes[at + i] = from[i];
    if (at + size > content->size)
        content->size = at + size;
}

/* ---------------------------------------------------------------------------------- in sections: descriptors */

static struct open_file *opened(int descriptor) {
    return descriptor >= 0 && descriptor < MOST_FILES ? open_files[descriptor] : NULL;
}

/* The least one that is free. */
static int new_descriptor(struct open_file *file, int least) {
    for (int descriptor = least; descriptor < MOST_FILES; descriptor++)
        if (!open_files[descriptor]) {
            open_files[descriptor] = file;
            file->descriptors++;
            return descriptor;
        }
    __mazurka_fail("limit", "more than 64 open files are not supported");
}

static struct open_file *make_open(enum kind kind, int flags, void *object) {
    struct open_file *file = __mazurka_allocate(sizeof *file, 1);
    file->kind = kind;
    file->flags = flags;
    file->object = object;
    return file;
}

static int close_descriptor(int descriptor) {
    struct open_file *file = opened(descriptor);
    if (!file)
        return EBADF;
    open_files[descriptor] = NULL;
    if (--file->descriptors || file->kind == INPUT || file->kind == OUTPUT)
        return 0;
    if (file->kind == FILE_) {
        struct content *content = file->object;
        content->opened--;
        free_if_unused(content);
    } else if (file->kind != EVENTS) {
        struct pipe *pipe = file->object;
        if (file->kind == READ_END)
            pipe->readers--;
        else
            pipe->writers--;
        if (!pipe->readers && !pipe->writers) {
            __mazurka_free(pipe->content.bytes);
            __mazurka_free(pipe);
        }
    }
    __mazurka_free(file);
    return 0;
}

/* ---------------------------------------------------------------------------------------- reading and writing */

static long read_bytes(const char *bytes, size_t size, size_t *offset, char *to, size_t wanted) {
    size_t left = *offset < size ? size - *offset : 0, count = wanted < left ? wanted : left;
    for (size_t i = 0; i < count; i++)
        to[i] = bytes[*offset + i];
    *offset += count;
    return (long)count;
}

/* In `read`; a stream is read in a section of its own, out of which no thread can go. */
static _Thread_local _Bool is_cancellable;

static long read_pipe(struct open_file *file, char *to, size_t wanted, int *error) {
    struct pipe *pipe = file->object;
    struct content *content = &pipe->content;
    _Bool ready = content->size > 0 || pipe->writers == 0;
    if (__mazurka_named("pthread_cancel")) {
        if (is_cancellable && __mazurka_cancelled_in_section(ready)) {
            *error = ECANCELED;
            return -1;
        }
    }
    if (!ready && (file->flags & O_NONBLOCK)) {
        *error = EAGAIN;
        return -1;
    }
    __mazurka_await(ready, "data in a pipe", pipe, NULL);
    size_t offset = 0;
    long count = read_bytes(content->bytes, content->size, &offset, to, wanted);
    for (size_t i = (size_t)count; i < content->size; i++)
        content->bytes[i - (size_t)count] = content->bytes[i];
    content->size -= (size_t)count;
    return count;
}

static long read_events(struct open_file *file, char *to, size_t wanted, int *error) {
    if (wanted < 8 || (file->count == 0 && (file->flags & O_NONBLOCK))) {
        *error = wanted < 8 ? EINVAL : EAGAIN;
        return -1;
    }
    uint64_t count = file->count;
    __mazurka_await(count > 0, "an event", file, NULL);
    uint64_t taken = file->flags & EFD_SEMAPHORE ? 1 : count;
    file->count = count - taken;
    __builtin_memcpy(to, &taken, 8);
    return 8;
}

long __mazurka_read(int descriptor, void *to, size_t size) {
    long result = -1;
    int error = 0;
    __mazurka_atomic_begin();
    struct open_file *file = opened(descriptor);
    if (!file || (file->kind == FILE_ && (file->flags & O_ACCMODE) == O_WRONLY) || file->kind == OUTPUT ||
        file->kind == WRITE_END)
        error = EBADF;
    else if (file->kind == INPUT) {
        if (__mazurka_input_size < 0)
            __mazurka_fail("limit", "the program reads its standard input; say what is in it with --stdin FILE");
        result = read_bytes(__mazurka_input, (size_t)__mazurka_input_size, &file->offset, to, size);
    } else if (file->kind == FILE_) {
        struct content *content = file->object;
        result = read_bytes(content->bytes, content->size, &file->offset, to, size);
    } else if (file->kind == READ_END) {
        result = read_pipe(file, to, size, &error);
    } else {
        result = read_events(file, to, size, &error);
    }
    __mazurka_atomic_end();
    return error ? failed(error) : result;
}

ssize_t read(int descriptor, void *to, size_t size) {
    CANCELLATION_POINT();
    is_cancellable = 1;
    long result = __mazurka_read(descriptor, to, size);
    is_cancellable = 0;
    if (result == -1 && errno == ECANCELED)
        __mazurka_end_cancelled();
    return result;
}

static long write_pipe(struct open_file *file, const char *from, size_t size, int *error) {
    struct pipe *pipe = file->object;
    if (pipe->readers == 0) {
        *error = EPIPE;
        return -1;
    }
    if (size > PIPE_ROOM)
        __mazurka_fail("limit", "more than 65536 bytes at once are not supported in a pipe");
    _Bool ready = pipe->content.size + size <= PIPE_ROOM;
    if (!ready && (file->flags & O_NONBLOCK)) {
        *error = EAGAIN;
        return -1;
    }
    __mazurka_await(ready, "room in a pipe", pipe, NULL);
    put(&pipe->content, pipe->content.size, from, size);
    return (long)size;
}

static long write_events(struct open_file *file, const char *from, size_t size, int *error) {
    uint64_t added = UINT64_MAX;
    if (size >= 8)
        __builtin_memcpy(&added, from, 8);
    if (added == UINT64_MAX) {
        *error = EINVAL;
        return -1;
    }
    _Bool ready = file->count <= UINT64_MAX - 1 - added;
    if (!ready && (file->flags & O_NONBLOCK)) {
        *error = EAGAIN;
        return -1;
    }
    __mazurka_await(ready, "room in an event counter", file, NULL);
    file->count += added;
    return 8;
}

long __mazurka_write(int descriptor, const void *from, size_t size) {
    long result = -1;
    int error = 0;
    __mazurka_atomic_begin();
    struct open_file *file = opened(descriptor);
    if (!file || (file->kind == FILE_ && (file->flags & O_ACCMODE) == O_RDONLY) || file->kind == INPUT ||
        file->kind == READ_END) {
        error = EBADF;
    } else if (file->kind == FILE_) {
        struct content *content = file->object;
        if (file->flags & O_APPEND)
            file->offset = content->size;
        put(content, file->offset, from, size);
        file->offset += size;
        result = (long)size;
    } else if (file->kind == WRITE_END) {
        result = write_pipe(file, from, size, &error);
    } else if (file->kind == EVENTS) {
        result = write_events(file, from, size, &error);
    }
    __mazurka_atomic_end();
    if (error == EPIPE)
        raise(SIGPIPE);
    return error ? failed(error) : result;
}

/* ------------------------------------------------------------------------------------------ opening and closing */

int open(const char *name, int flags, ...) {
    int result = -1, error = 0;
    __mazurka_atomic_begin();
    struct content *content = find(name);
    if (!content && !(flags & O_CREAT)) {
        error = ENOENT;
    } else if (content && (flags & O_CREAT) && (flags & O_EXCL)) {
        error = EEXIST;
    } else {
        if (!content)
            content = make_content(name);
        if ((flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY)
            content->size = 0;
        content->opened++;
        result = new_descriptor(make_open(FILE_, flags, content), 0);
    }
    __mazurka_atomic_end();
    return error ? failed(error) : result;
}

int open64(const char *name, int flags, ...) { return open(name, flags, 0); }

int creat(const char *name, mode_t mode) {
    (void)mode;
    return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0);
}

int close(int descriptor) {
    __mazurka_atomic_begin();
    int error = close_descriptor(descriptor);
    __mazurka_atomic_end();
    return error ? failed(error) : 0;
}

int dup(int descriptor) {
    int result = -1;
    __mazurka_atomic_begin();
    struct open_file *file = opened(descriptor);
    if (file)
        result = new_descriptor(file, 0);
    __mazurka_atomic_end();
    return file ? result : failed(EBADF);
}

int dup2(int from, int to) {
    if (is_output(to) && from != to)
        __mazurka_fail("limit", "redirecting the standard output is not supported");
    __mazurka_atomic_begin();
    struct open_file *file = opened(from);
    _Bool fits = file && to >= 0 && to < MOST_FILES;
    if (fits && from != to) {
        close_descriptor(to);
        open_files[to] = file;
        file->descriptors++;
    }
    __mazurka_atomic_end();
    return fits ? to : failed(EBADF);
}

int pipe2(int ends[2], int flags) {
    __mazurka_atomic_begin();
    struct pipe *pipe = __mazurka_allocate(sizeof *pipe, 1);
    pipe->readers = pipe->writers = 1;
    int one = new_descriptor(make_open(READ_END, flags, pipe), 0);
    int other = new_descriptor(make_open(WRITE_END, flags, pipe), 0);
    __mazurka_atomic_end();
    ends[0] = one;
    ends[1] = other;
    return 0;
}

int pipe(int ends[2]) { return pipe2(ends, 0); }

int eventfd(unsigned count, int flags) {
    __mazurka_atomic_begin();
    struct open_file *file = make_open(EVENTS, flags, NULL);
    file->count = count;
    int result = new_descriptor(file, 0);
    __mazurka_atomic_end();
    return result;
}

int eventfd_read(int descriptor, eventfd_t *value) { return __mazurka_read(descriptor, value, 8) == 8 ? 0 : -1; }

int eventfd_write(int descriptor, eventfd_t value) { return __mazurka_write(descriptor, &value, 8) == 8 ? 0 : -1; }

int fcntl(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    int argument = command == F_SETFL || command == F_DUPFD ? va_arg(list, int) : 0;
    va_end(list);
    int result = -1;
    __mazurka_atomic_begin();
    struct open_file *file = opened(descriptor);
    if (file) {
        switch (command) {
        case F_GETFL:
            result = file->flags;
            break;
        case F_SETFL:
            file->flags = (file->flags & ~(O_NONBLOCK | O_APPEND)) | (argument & (O_NONBLOCK | O_APPEND));
            result = 0;
            break;
        case F_GETFD:
        case F_SETFD:
            result = 0;
            break;
        case F_DUPFD:
            result = new_descriptor(file, argument);
            break;
        default:
            __mazurka_fail("limit", "only F_GETFL, F_SETFL, F_GETFD, F_SETFD and F_DUPFD are modelled of fcntl");
        }
    }
    __mazurka_atomic_end();
    return file ? result : failed(EBADF);
}

off_t lseek(int descriptor, off_t offset, int from) {
    int error = 0;
    off_t result = -1;
    __mazurka_atomic_begin();
    struct open_file *file = opened(descriptor);
    if (!file) {
        error = EBADF;
    } else if (file->kind != FILE_ && file->kind != INPUT) {
        error = ESPIPE;
    } else {
        off_t size = file->kind == INPUT ? __mazurka_input_size : (off_t)((struct content *)file->object)->size;
        result = offset + (from == SEEK_END ? size : from == SEEK_CUR ? (off_t)file->offset : 0);
        if (result < 0)
            error = EINVAL;
        else
            file->offset = (size_t)result;
    }
    __mazurka_atomic_end();
    return error ? failed(error) : result;
}

int ftruncate(int descriptor, off_t size) {
    __mazurka_atomic_begin();
    struct open_file *file = opened(descriptor);
    _Bool fits = file && file->kind == FILE_ && size >= 0;
    if (fits) {
        struct content *content = file->object;
        if ((size_t)size > content->size)
            put(content, (size_t)size, NULL, 0);
        content->size = (size_t)size;
    }
    __mazurka_atomic_end();
    return fits ? 0 : failed(EINVAL);
}

int fsync(int descriptor) {
    (void)descriptor;
    return 0;
}

int unlink(const char *name) {
    __mazurka_atomic_begin();
    struct content *content = find(name);
    if (content) {
        unlink_content(content);
        free_if_unused(content);
    }
    __mazurka_atomic_end();
    return content ? 0 : failed(ENOENT);
}

int remove(const char *name) { return unlink(name); }

int rename(const char *from, const char *to) {
    __mazurka_atomic_begin();
    struct content *content = find(from), *other = find(to);
    if (content && content != other) {
        if (other) {
            unlink_content(other);
            free_if_unused(other);
        }
        __mazurka_free(content->name);
        content->name = copy_of(to);
    }
    __mazurka_atomic_end();
    return content ? 0 : failed(ENOENT);
}

int access(const char *name, int mode) {
    (void)mode;
    __mazurka_atomic_begin();
    struct content *content = find(name);
    __mazurka_atomic_end();
    return content ? 0 : failed(ENOENT);
}

static int status_of(const struct content *content, struct stat *status) {
    struct stat nothing = {0};
    *status = nothing;
    status->st_mode = S_IFREG | 0644;
    status->st_size = content ? (off_t)content->size : 0;
    status->st_nlink = 1;
    return 0;
}

int fstat(int descriptor, struct stat *status) {
    __mazurka_atomic_begin();
    struct open_file *file = opened(descriptor);
    if (file)
        status_of(file->kind == FILE_ ? file->object : NULL, status);
    __mazurka_atomic_end();
    return file ? 0 : failed(EBADF);
}

int stat(const char *name, struct stat *status) {
    __mazurka_atomic_begin();
    struct content *content = find(name);
    if (content)
        status_of(content, status);
    __mazurka_atomic_end();
    return content ? 0 : failed(ENOENT);
}

int isatty(int descriptor) {
    (void)descriptor;
    return failed(ENOTTY) + 1;
}
