/* Records what a program asks of the files below a folder, in the order in which it asks, so that
 * the state after a power failure can be made from any moment of it. Preloaded:
 *   LD_PRELOAD=recorder.so RECORD_FOLDER=/path RECORD_FILE=/path program
 * Each record is one write to a file that is opened for appending, so those of all processes and
 * threads stand in one order: a header of six little-endian 64-bit numbers (kind, length of the
 * path, length of the second path or of the data, offset, 0, 0), the path, the rest. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, CREATE, RENAME, UNLINK, SYNC, MKDIR, LINK };

static const char *folder;
static int record = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static void begin(void) {
  folder = getenv("RECORD_FOLDER");
  const char *file = getenv("RECORD_FILE");
  if (folder && file) record = REAL(open)(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  pthread_once(&once, begin);
  return record >= 0 && strncmp(path, folder, strlen(folder)) == 0;
}

/* The absolute path of a name; of a descriptor by what the kernel knows, renames included. */
static int whole(int at, const char *path, char *out) {
  if (path[0] == '/') return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
  char base[PATH_MAX];
  if (at == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) return 0;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t length = readlink(link, base, sizeof base - 1);
    if (length < 0) return 0;
    base[length] = 0;
  }
  return snprintf(out, PATH_MAX, path[0] ? "%s/%s" : "%s", base, path) < PATH_MAX;
}

static void note(uint64_t kind, const char *path, const void *rest, uint64_t length, uint64_t offset) {
  uint64_t head[6] = {kind, strlen(path), length, offset, 0, 0};
  struct iovec parts[3] = {{head, sizeof head}, {(void *)path, head[1]}, {(void *)rest, length}};
  REAL(writev)(record, parts, 3);
}

static int descriptor_below(int fd, char *path) {
  pthread_once(&once, begin);
  return record >= 0 && fd != record && whole(fd, "", path) && is_below(path);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  char path[PATH_MAX];
  if (!descriptor_below(fd, path)) return REAL(pwrite64)(fd, data, length, offset);
  pthread_mutex_lock(&order);
  ssize_t done = REAL(pwrite64)(fd, data, length, offset);
  int error = errno;
  if (done > 0) note(WRITE, path, data, done, offset);
  pthread_mutex_unlock(&order);
  errno = error;
  return done;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  return pwrite64(fd, data, length, offset);
}

ssize_t write(int fd, const void *data, size_t length) {
  char path[PATH_MAX];
  struct stat64 about;
  if (!descriptor_below(fd, path) || fstat64(fd, &about) || !S_ISREG(about.st_mode))
    return REAL(write)(fd, data, length);
  pthread_mutex_lock(&order);
  ssize_t done = REAL(write)(fd, data, length);
  int error = errno;
  if (done > 0) note(WRITE, path, data, done, lseek64(fd, 0, SEEK_CUR) - done);
  pthread_mutex_unlock(&order);
  errno = error;
  return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  if (!descriptor_below(fd, path)) return REAL(writev)(fd, parts, count);
  ssize_t all = 0;
  for (int i = 0; i < count; i++) {
    ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);
    if (done < 0) return all ? all : done;
    all += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return all;
}

/* Whoever copies inside the kernel is told to use read and write, which are seen. */
ssize_t copy_file_range(int a, off64_t *b, int c, off64_t *d, size_t e, unsigned f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  errno = ENOSYS;
  return -1;
}
ssize_t sendfile64(int out, int in, off64_t *offset, size_t count) {
  char path[PATH_MAX];
  if (!descriptor_below(out, path)) return REAL(sendfile64)(out, in, offset, count);
  errno = EINVAL;
  return -1;
}
ssize_t sendfile(int out, int in, off_t *offset, size_t count) {
  return sendfile64(out, in, (off64_t *)offset, count);
}

int ftruncate64(int fd, off64_t length) {
  char path[PATH_MAX];
  int below = descriptor_below(fd, path);
  pthread_mutex_lock(&order);
  int done = REAL(ftruncate64)(fd, length);
  int error = errno;
  if (below && done == 0) note(TRUNCATE, path, "", 0, length);
  pthread_mutex_unlock(&order);
  errno = error;
  return done;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* Room that is set aside reads as zeros: a file that is at least so long. */
int posix_fallocate64(int fd, off64_t offset, off64_t length) {
  struct stat64 about;
  if (fstat64(fd, &about)) return errno;
  if (about.st_size < offset + length && ftruncate64(fd, offset + length)) return errno;
  return 0;
}
int posix_fallocate(int fd, off_t offset, off_t length) {
  return posix_fallocate64(fd, offset, length);
}

static int synced(int fd, int (*sync)(int)) {
  char path[PATH_MAX];
  int below = descriptor_below(fd, path);
  int done = sync(fd);
  int error = errno;
  if (below && done == 0) note(SYNC, path, "", 0, 0);
  errno = error;
  return done;
}
int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

static int opened(int at, const char *path, int flags, mode_t mode) {
  char all[PATH_MAX];
  int below = (flags & (O_CREAT | O_TRUNC)) && !(flags & O_DIRECTORY) && whole(at, path, all) &&
              is_below(all);
  if (!below) return REAL(openat64)(at, path, flags, mode);
  pthread_mutex_lock(&order);
  struct stat64 about;
  int was_there = fstatat64(at, path, &about, 0) == 0;
  int fd = REAL(openat64)(at, path, flags, mode);
  int error = errno;
  if (fd >= 0 && !was_there) note(CREATE, all, "", 0, 0);
  if (fd >= 0 && was_there && (flags & O_TRUNC)) note(TRUNCATE, all, "", 0, 0);
  pthread_mutex_unlock(&order);
  errno = error;
  return fd;
}

#define MODE                                  \
  mode_t mode = 0;                            \
  if (flags & (O_CREAT | O_TMPFILE)) {        \
    va_list rest;                             \
    va_start(rest, flags);                    \
    mode = va_arg(rest, mode_t);              \
    va_end(rest);                             \
  }
int open(const char *path, int flags, ...) {
  MODE return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE return opened(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags, mode); }

/* Entries of folders: noted if done. */
#define ENTRY(kind, real, from_at, from, to_at, to)                                  \
  char first[PATH_MAX], second[PATH_MAX];                                            \
  int below = whole(from_at, from, first) && whole(to_at, to, second) &&             \
              (is_below(first) || is_below(second));                                 \
  pthread_mutex_lock(&order);                                                        \
  int done = real;                                                                   \
  int error = errno;                                                                 \
  if (below && done == 0) note(kind, first, second, strlen(second), 0);              \
  pthread_mutex_unlock(&order);                                                      \
  errno = error;                                                                     \
  return done;

int rename(const char *from, const char *to) {
  ENTRY(RENAME, REAL(rename)(from, to), AT_FDCWD, from, AT_FDCWD, to)
}
int renameat(int a, const char *from, int b, const char *to) {
  ENTRY(RENAME, REAL(renameat)(a, from, b, to), a, from, b, to)
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  ENTRY(RENAME, REAL(renameat2)(a, from, b, to, flags), a, from, b, to)
}
int link(const char *from, const char *to) {
  ENTRY(LINK, REAL(link)(from, to), AT_FDCWD, from, AT_FDCWD, to)
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
  ENTRY(LINK, REAL(linkat)(a, from, b, to, flags), a, from, b, to)
}
int unlink(const char *path) {
  ENTRY(UNLINK, REAL(unlink)(path), AT_FDCWD, path, AT_FDCWD, path)
}
int unlinkat(int at, const char *path, int flags) {
  ENTRY(UNLINK, REAL(unlinkat)(at, path, flags), at, path, at, path)
}
int rmdir(const char *path) {
  ENTRY(UNLINK, REAL(rmdir)(path), AT_FDCWD, path, AT_FDCWD, path)
}
int mkdir(const char *path, mode_t mode) {
  ENTRY(MKDIR, REAL(mkdir)(path, mode), AT_FDCWD, path, AT_FDCWD, path)
}
int mkdirat(int at, const char *path, mode_t mode) {
  ENTRY(MKDIR, REAL(mkdirat)(at, path, mode), at, path, at, path)
}
