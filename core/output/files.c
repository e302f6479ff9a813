/* core/output/files.c - see files.h. */
#include "core/output/files.h"
#include "core/crc.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

typedef struct claim {
  struct claim *next;
  md_file_use use;
  dev_t device;
  ino_t inode; /* of the file; of its folder where it does not exist yet */
  char *name;  /* in that folder; NULL: the file exists */
  char *path, *what;
} claim;
static claim *claims;

static void free_claim(claim *c)
{
  if (!c) return;
  free(c->name);
  free(c->path);
  free(c->what);
  free(c);
}

void md_file_forget(void)
{
  while (claims) {
    claim *next = claims->next;
    free_claim(claims);
    claims = next;
  }
}

md_status md_file_target(const char *path, char **out)
{
  enum { MOST_LINKS = 40 };
  char text[PATH_MAX], *at = strdup(path);
  *out = NULL;
  for (int links = 0; at && links < MOST_LINKS; links++) {
    const ssize_t length = readlink(at, text, sizeof text - 1);
    if (length < 0) {
      *out = at;
      return MD_OK;
    }
    text[length] = '\0';
    char *next = NULL;
    if (text[0] == '/')
      next = strdup(text);
    else if (asprintf(&next, "%s/%s", dirname(at), text) < 0)
      next = NULL;
    free(at);
    at = next;
  }
  const bool circle = at != NULL;
  free(at);
  MD_REQUIRE(!circle, MD_EIO, "cannot write '%s': %s", path, strerror(ELOOP));
  return MD_FAIL(MD_ENOMEM, "out of memory for a file name");
}

/* Which file a name stands for; *counts is false where it may be used more than once, and where its
 * folder does not exist, which opening it will tell. */
static md_status identify(const char *path, claim *c, bool *counts)
{
  struct stat info;
  *counts = true;
  if (stat(path, &info) == 0) {
    *counts = S_ISREG(info.st_mode);
  } else {
    char *copy = strdup(path), *target = copy ? strdup(path) : NULL;
    if (target) c->name = strdup(basename(target));
    *counts = c->name && stat(dirname(copy), &info) == 0;
    free(target);
    free(copy);
    MD_REQUIRE(c->name, MD_ENOMEM, "out of memory for a file name");
  }
  c->device = info.st_dev;
  c->inode = info.st_ino;
  return MD_OK;
}

static bool same_file(const claim *a, const claim *b)
{
  return a->device == b->device && a->inode == b->inode && !a->name == !b->name &&
         (!a->name || strcmp(a->name, b->name) == 0);
}

static bool exclude(md_file_use a, md_file_use b)
{
  if (a < b) return exclude(b, a);
  return a == MD_FILE_OUTPUT || (a == MD_FILE_CHECKPOINT && b == MD_FILE_INPUT);
}

static md_status add_claim(const char *file, const char *path, md_file_use use, const char *what)
{
  bool counts = false, known = false;
  claim *c = calloc(1, sizeof *c);
  MD_REQUIRE(c, MD_ENOMEM, "out of memory for a file name");
  c->use = use;
  c->path = strdup(path);
  c->what = strdup(what);
  md_status status = c->path && c->what ? identify(file, c, &counts)
                                        : MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  for (const claim *k = claims; k && counts && !status; k = k->next) {
    if (!same_file(k, c)) continue;
    const bool same_use = k->use == use && strcmp(k->what, what) == 0;
    known = known || same_use;
    if (!same_use && exclude(k->use, use))
      status = MD_FAIL(MD_EINVAL,
                       "%s '%s' and %s '%s' are one file: expected one of its own for each that is "
                       "written",
                       k->what, k->path, what, path);
  }
  if (status || !counts || known) {
    free_claim(c);
    return status;
  }
  c->next = claims;
  claims = c;
  return MD_OK;
}

md_status md_file_claim(const char *path, md_file_use use, const char *what)
{
  if (!path || strcmp(path, "-") == 0) return MD_OK;
  if (use == MD_FILE_INPUT || use == MD_FILE_RESTART) return add_claim(path, path, use, what);
  static const char *const endings[] = {"", ".tmp", ".prev"};
  char *target;
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return MD_OK;
  MD_TRY(md_file_target(path, &target));
  md_status status = MD_OK;
  for (int k = 0; k < (use == MD_FILE_CHECKPOINT ? 3 : 2) && !status; k++) {
    char *file;
    if (asprintf(&file, "%s%s", target, endings[k]) < 0)
      status = MD_FAIL(MD_ENOMEM, "out of memory for a file name");
    if (status) break;
    status = add_claim(file, path, use, what);
    free(file);
  }
  free(target);
  return status;
}

/* Whether bytes of this file are there, or come from a process that runs. */
static md_status check_input(int fd, const char *path)
{
  enum { PIPEFS = 0x50495045 };
  struct stat info, other;
  struct statfs system;
  MD_REQUIRE(fstat(fd, &info) == 0, MD_EIO, "cannot read '%s': %s", path, strerror(errno));
  MD_REQUIRE(!S_ISDIR(info.st_mode), MD_EIO, "cannot read '%s': %s", path, strerror(EISDIR));
  if (S_ISREG(info.st_mode)) return MD_OK;
  if (S_ISFIFO(info.st_mode) && fstatfs(fd, &system) == 0 && system.f_type == PIPEFS) return MD_OK;
  if (fstat(STDIN_FILENO, &other) == 0 && other.st_dev == info.st_dev &&
      other.st_ino == info.st_ino)
    return MD_OK;
  return MD_FAIL(MD_EIO, "cannot read '%s': it is a %s: expected a file", path,
                 S_ISFIFO(info.st_mode) ? "named pipe" : "device");
}

/* A stream of a descriptor that was opened without waiting; from now on it waits. */
static md_status make_stream(int fd, const char *path, const char *verb, const char *mode,
                             FILE **out)
{
  const int flags = fcntl(fd, F_GETFL);
  *out = flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 ? fdopen(fd, mode) : NULL;
  MD_REQUIRE(*out, MD_EIO, "cannot %s '%s': %s", verb, path, strerror(errno));
  return MD_OK;
}

md_status md_file_open(const char *path, FILE **out)
{
  *out = NULL;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  MD_REQUIRE(fd >= 0, MD_EIO, "cannot read '%s': %s", path, strerror(errno));
  md_status status = check_input(fd, path);
  if (!status) status = make_stream(fd, path, "read", "r", out);
  if (status) close(fd);
  return status;
}

md_status md_file_read(const char *path, FILE **out)
{
  *out = NULL;
  MD_TRY(md_file_claim(path, MD_FILE_INPUT, "the input"));
  return md_file_open(path, out);
}

md_status md_file_open_device(const char *path, FILE **out)
{
  *out = NULL;
  const int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  MD_REQUIRE(fd >= 0, MD_EIO, "cannot write '%s': %s", path,
             errno == ENXIO ? "nothing reads it" : strerror(errno));
  const md_status status = make_stream(fd, path, "write", "w", out);
  if (status) close(fd);
  return status;
}

md_status md_file_lock(int fd, const char *name, const char *path, bool *named)
{
  struct stat held, there;
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  MD_REQUIRE(locked, MD_EIO, "cannot write '%s': another process is writing it", path);
  *named = fstat(fd, &held) == 0 && stat(name, &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
  return MD_OK;
}

/* A regular file that is written in place, locked. */
static md_status open_grown(const char *path, int flags, FILE **out)
{
  bool named;
  *out = NULL;
  const int fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666);
  MD_REQUIRE(fd >= 0, MD_EIO, "cannot write '%s': %s", path, strerror(errno));
  md_status status = md_file_lock(fd, path, path, &named);
  if (!status) status = make_stream(fd, path, "write", "r+", out);
  if (status) close(fd);
  return status;
}

md_status md_file_begin(const char *path, FILE **out)
{
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return md_file_open_device(path, out);
  MD_TRY(open_grown(path, O_CREAT, out));
  if (ftruncate(fileno(*out), 0) == 0) return MD_OK;
  const md_status status = MD_FAIL(MD_EIO, "cannot write '%s': %s", path, strerror(errno));
  fclose(*out);
  *out = NULL;
  return status;
}

static int64_t tail_begin(int64_t head, int64_t bytes)
{
  const int64_t from = bytes - MD_FILE_TAIL;
  return from > head ? from : head < bytes ? head : bytes;
}

static md_status sum_tail(int fd, const char *path, int64_t head, int64_t bytes, int64_t *crc)
{
  char block[4096];
  uint32_t sum = 0;
  for (int64_t at = tail_begin(head, bytes); at < bytes;) {
    const size_t left = (size_t)(bytes - at);
    const ssize_t got = pread(fd, block, left < sizeof block ? left : sizeof block, at);
    MD_REQUIRE(got > 0, MD_EIO, "cannot read '%s' again: %s", path,
               got < 0 ? strerror(errno) : "it became shorter");
    sum = md_crc32c(sum, block, (size_t)got);
    at += got;
  }
  *crc = sum;
  return MD_OK;
}

md_status md_file_take_mark(FILE *stream, const char *path, int64_t head, md_file_mark *out)
{
  struct stat info;
  *out = (md_file_mark){-1, 0};
  const bool known = fflush(stream) == 0 && fstat(fileno(stream), &info) == 0;
  if (known && !S_ISREG(info.st_mode)) return MD_OK;
  MD_REQUIRE(known && fsync(fileno(stream)) == 0, MD_EIO, "cannot write '%s': %s", path,
             strerror(errno));
  out->bytes = ftello(stream);
  return sum_tail(fileno(stream), path, head, out->bytes, &out->crc);
}

static md_status cut_behind(FILE *stream, const char *path, int64_t head, const md_file_mark *mark)
{
  struct stat info;
  int64_t crc;
  const int fd = fileno(stream);
  MD_REQUIRE(fstat(fd, &info) == 0 && S_ISREG(info.st_mode), MD_EIO,
             "cannot go on writing '%s': expected a regular file; another name begins anew", path);
  MD_REQUIRE(info.st_size >= mark->bytes, MD_EIO,
             "'%s' is shorter than the %lld bytes it had at the checkpoint; another name begins "
             "anew",
             path, (long long)mark->bytes);
  MD_TRY(sum_tail(fd, path, head, mark->bytes, &crc));
  MD_REQUIRE(crc == mark->crc, MD_EIO,
             "'%s' is not the trajectory of the checkpoint: its bytes %lld..%lld have the check "
             "sum %08llx; expected %08llx; it stays as it is; another name begins anew",
             path, (long long)tail_begin(head, mark->bytes), (long long)mark->bytes,
             (unsigned long long)crc, (unsigned long long)mark->crc);
  MD_REQUIRE(ftruncate(fd, mark->bytes) == 0 && fseeko(stream, 0, SEEK_END) == 0, MD_EIO,
             "cannot write '%s': %s", path, strerror(errno));
  return MD_OK;
}

md_status md_file_plan(const char *path, const md_file_mark *mark, const md_file_mark **keep)
{
  struct stat there;
  *keep = mark->bytes >= 0 ? mark : NULL;
  MD_REQUIRE(*keep || stat(path, &there) != 0 || !S_ISREG(there.st_mode), MD_EIO,
             "'%s' was a pipe or a device at the checkpoint and is a file now; another name begins "
             "anew",
             path);
  return MD_OK;
}

md_status md_file_continue(const char *path, int64_t head, const md_file_mark *mark, FILE **out)
{
  MD_TRY(open_grown(path, 0, out));
  const md_status status = cut_behind(*out, path, head, mark);
  if (!status) return MD_OK;
  fclose(*out);
  *out = NULL;
  return status;
}
