/* Lets one call of the system fail, or a signal come with it: the n-th that touches files under one directory.

   Loaded before the C library (LD_PRELOAD), so that Python, Rust and C alike call it. A process arms it with faults_arm;
   a process that it forks afterwards has it as it was. Every call that counts is written to a log, with its number. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[4096];
static int wanted, fault, log_to = -1, armed, count;

/* fault: the number of an error, or minus that of a signal; wanted: which call, from 1 on, 0 for none. */
void faults_arm(const char *directory, int number, int what, int log) {
    snprintf(root, sizeof root, "%s/", directory);
    wanted = number, fault = what, log_to = log, count = 0, armed = 1;
}

static int under_root(int folder, const char *path) {
    char whole[8192], place[64];
    if (path[0] != '/') {
        ssize_t length;
        snprintf(place, sizeof place, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        length = syscall(SYS_readlinkat, AT_FDCWD, place, whole, sizeof whole - 1);
        if (length < 0) return 0;
        snprintf(whole + length, sizeof whole - length, "/%s", path);
        path = whole;
    }
    return strncmp(path, root, strlen(root)) == 0;
}

static int descriptor_under_root(int number) {
    char place[64], whole[4096];
    ssize_t length;
    snprintf(place, sizeof place, "/proc/self/fd/%d", number);
    length = syscall(SYS_readlinkat, AT_FDCWD, place, whole, sizeof whole - 1);
    if (length < 0) return 0;
    whole[length] = '\0';
    return strncmp(whole, root, strlen(root)) == 0;
}

/* Whether this call is to fail; errno is set then. */
static int fails(const char *name) {
    char line[64];
    int mine = __sync_add_and_fetch(&count, 1);
    int length = snprintf(line, sizeof line, "%s\n", name);
    if (log_to >= 0 && syscall(SYS_write, log_to, line, length) < 0) return 0;
    if (mine != wanted) return 0;
    if (fault < 0) {
        syscall(SYS_kill, syscall(SYS_getpid), -fault);
        return 0;
    }
    errno = fault;
    return 1;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int writes(int folder, const char *path, int flags) {
    struct stat found;
    if (flags & (O_WRONLY | O_RDWR | O_CREAT)) return 1;
    return strstr(path, ".shoal-") || (fstatat(folder, path, &found, 0) == 0 && S_ISDIR(found.st_mode));
}

#define OPEN(name)                                                                                     \
    int name(const char *path, int flags, ...) {                                                       \
        va_list more;                                                                                  \
        va_start(more, flags);                                                                         \
        mode_t mode = va_arg(more, mode_t);                                                            \
        va_end(more);                                                                                  \
        if (armed && under_root(AT_FDCWD, path) && writes(AT_FDCWD, path, flags) && fails("open")) return -1; \
        return REAL(int, #name, const char *, int, ...)(path, flags, mode);                            \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                   \
    int name(int folder, const char *path, int flags, ...) {                                           \
        va_list more;                                                                                  \
        va_start(more, flags);                                                                         \
        mode_t mode = va_arg(more, mode_t);                                                            \
        va_end(more);                                                                                  \
        if (armed && under_root(folder, path) && writes(folder, path, flags) && fails("open")) return -1; \
        return REAL(int, #name, int, const char *, int, ...)(folder, path, flags, mode);               \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int number, const void *data, size_t size) {
    if (armed && descriptor_under_root(number) && fails("write")) return -1;
    return REAL(ssize_t, "write", int, const void *, size_t)(number, data, size);
}

#define PWRITE(name)                                                                                   \
    ssize_t name(int number, const void *data, size_t size, off_t place) {                             \
        if (armed && descriptor_under_root(number) && fails("write")) return -1;                       \
        return REAL(ssize_t, #name, int, const void *, size_t, off_t)(number, data, size, place);      \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define BY_NUMBER(name)                                                                                \
    int name(int number) {                                                                             \
        if (armed && descriptor_under_root(number) && fails("fsync")) return -1;                       \
        return REAL(int, #name, int)(number);                                                          \
    }
BY_NUMBER(fsync)
BY_NUMBER(fdatasync)

int flock(int number, int how) {
    if (armed && !(how & LOCK_UN) && descriptor_under_root(number) && fails("lock")) return -1;
    return REAL(int, "flock", int, int)(number, how);
}

int rename(const char *from, const char *to) {
    if (armed && under_root(AT_FDCWD, to) && fails("rename")) return -1;
    return REAL(int, "rename", const char *, const char *)(from, to);
}

int renameat(int folder, const char *from, int other, const char *to) {
    if (armed && under_root(other, to) && fails("rename")) return -1;
    return REAL(int, "renameat", int, const char *, int, const char *)(folder, from, other, to);
}

int renameat2(int folder, const char *from, int other, const char *to, unsigned int how) {
    if (armed && under_root(other, to) && fails("rename")) return -1;
    return REAL(int, "renameat2", int, const char *, int, const char *, unsigned int)(folder, from, other, to, how);
}

int link(const char *from, const char *to) {
    if (armed && under_root(AT_FDCWD, to) && fails("link")) return -1;
    return REAL(int, "link", const char *, const char *)(from, to);
}

int linkat(int folder, const char *from, int other, const char *to, int how) {
    if (armed && under_root(other, to) && fails("link")) return -1;
    return REAL(int, "linkat", int, const char *, int, const char *, int)(folder, from, other, to, how);
}

int unlink(const char *path) {
    if (armed && under_root(AT_FDCWD, path) && fails("unlink")) return -1;
    return REAL(int, "unlink", const char *)(path);
}

int rmdir(const char *path) {
    if (armed && under_root(AT_FDCWD, path) && fails("unlink")) return -1;
    return REAL(int, "rmdir", const char *)(path);
}

int unlinkat(int folder, const char *path, int how) {
    if (armed && under_root(folder, path) && fails("unlink")) return -1;
    return REAL(int, "unlinkat", int, const char *, int)(folder, path, how);
}

int mkdir(const char *path, mode_t mode) {
    if (armed && under_root(AT_FDCWD, path) && fails("mkdir")) return -1;
    return REAL(int, "mkdir", const char *, mode_t)(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    if (armed && under_root(folder, path) && fails("mkdir")) return -1;
    return REAL(int, "mkdirat", int, const char *, mode_t)(folder, path, mode);
}
