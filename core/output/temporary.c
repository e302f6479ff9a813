/* core/output/temporary.c - the files under temporary names that outputs are written to
 * (output.h). */
#include "core/output/files.h"
#include "core/output/output_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Temporary files that exist.  A signal may end the program in any thread while one is made,
 * renamed or removed: whoever changes the list holds `busy`, and no signal interrupts it. */
typedef struct temporary {
  struct temporary *next;
  const char *name;
} temporary;
static temporary *temporaries;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void enter(sigset_t *was)
{
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, was);
  while (atomic_flag_test_and_set(&busy)) {
  }
}

static void leave(const sigset_t *was)
{
  atomic_flag_clear(&busy);
  pthread_sigmask(SIG_SETMASK, was, NULL);
}

void md_output_abandon_all(void)
{
  while (atomic_flag_test_and_set(&busy)) {
  }
  for (const temporary *t = temporaries; t; t = t->next)
    unlink(t->name);
}

static void forget(const char *name)
{
  temporary **at = &temporaries;
  while (*at && (*at)->name != name)
    at = &(*at)->next;
  if (!*at) return;
  temporary *gone = *at;
  *at = gone->next;
  free(gone);
}

/* Remove what a killed process left under the temporary name.  Nothing else is: a file that is no
 * regular one, that has a second name or another owner was put there by somebody else. */
static md_status remove_left(const md_output *out)
{
  struct stat info;
  bool named = false;
  const int fd = open(out->temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return MD_OK;
  const bool ours = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_nlink <= 1 && info.st_uid == geteuid();
  md_status status = MD_OK;
  if (!ours)
    status = MD_FAIL(MD_EIO, "cannot write '%s': '%s' is in the way", out->path, out->temporary);
  if (!status) status = md_file_lock(fd, out->temporary, out->path, &named);
  if (!status && named && unlink(out->temporary) != 0)
    status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(errno));
  if (fd >= 0) close(fd);
  return status;
}

/* Open a new file under the temporary name and put that on the list, or neither; *fd is -1 where
 * the name is taken. */
static md_status make_temporary(const md_output *out, mode_t modes, int *fd)
{
  sigset_t was;
  temporary *entry = malloc(sizeof *entry);
  MD_REQUIRE(entry, MD_ENOMEM, "out of memory for a file name");
  enter(&was);
  *fd = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, modes);
  const int error = *fd < 0 ? errno : 0;
  if (!error) {
    *entry = (temporary){temporaries, out->temporary};
    temporaries = entry;
  }
  leave(&was);
  if (error) free(entry);
  MD_REQUIRE(!error || error == EEXIST, MD_EIO, "cannot write '%s': %s", out->path,
             strerror(error));
  return MD_OK;
}

/* It is ours alone, if nobody took it for one that was left before it was locked. */
static md_status lock_temporary(const md_output *out, int *fd)
{
  sigset_t was;
  bool named = false;
  const md_status status = md_file_lock(*fd, out->temporary, out->path, &named);
  if (!status && named) return MD_OK;
  enter(&was);
  forget(out->temporary);
  leave(&was);
  close(*fd);
  *fd = -1;
  return status;
}

void output_remove_temporary(const md_output *out)
{
  sigset_t was;
  enter(&was);
  unlink(out->temporary);
  forget(out->temporary);
  leave(&was);
}

md_status output_open_temporary(md_output *out)
{
  int fd = -1;
  md_status status = MD_OK;
  struct stat old;
  const bool replaces = stat(out->target, &old) == 0;
  const mode_t modes = replaces ? old.st_mode & 0777 : 0666; /* who may not read it never may */
  MD_REQUIRE(!replaces || access(out->target, W_OK) == 0, MD_EIO, "cannot write '%s': %s",
             out->path, strerror(errno));
  if (asprintf(&out->temporary, "%s.tmp", out->target) < 0) {
    out->temporary = NULL;
    return MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  }
  while (!status && fd < 0) {
    status = make_temporary(out, modes, &fd);
    if (!status) status = fd < 0 ? remove_left(out) : lock_temporary(out, &fd);
  }
  if (fd < 0) return status;
  const bool moded = !replaces || fchmod(fd, modes) == 0; /* those that the umask took away */
  if (!moded || !(out->stream = fdopen(fd, "w")))
    status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(errno));
  if (!status) return MD_OK;
  output_remove_temporary(out);
  close(fd);
  return status;
}

bool output_replace(const md_output *out)
{
  sigset_t was;
  enter(&was);
  const bool good = rename(out->temporary, out->target) == 0;
  const int error = errno;
  if (good) forget(out->temporary);
  leave(&was);
  errno = error;
  return good;
}
