/* core/sizes.c - memory that is free, as Linux tells it. */
#include "core/sizes.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t lesser(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The number behind `key` at the beginning of a line of a file, or of the file where key is empty;
 * -1: there is none, also where the word `max` stands in its place. */
static int64_t number_in(const char *path, const char *key)
{
  FILE *file = fopen(path, "r");
  char line[256];
  long long number = -1;
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file))
    found =
        strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lld", &number) == 1;
  if (file) fclose(file);
  return found && number >= 0 ? number : -1;
}

/* Where a version of control groups keeps its numbers. */
typedef struct {
  const char *mount, *limit, *used, *cached;
} group_files;
static const group_files v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                               "memory.usage_in_bytes", "total_inactive_file "};
static const group_files v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "};

/* What one group leaves; pages of files that are used no longer give way. */
static int64_t left_by(const char *folder, const group_files *files)
{
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", folder, files->limit);
  const int64_t limit = number_in(path, "");
  snprintf(path, sizeof path, "%s/%s", folder, files->used);
  const int64_t used = number_in(path, "");
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  const int64_t cached = number_in(path, files->cached);
  if (limit < 0) return INT64_MAX;
  const int64_t held = (used > 0 ? used : 0) - (cached > 0 ? cached : 0);
  if (held <= 0) return limit;
  return limit > held ? limit - held : 0;
}

/* The least that a group and those around it leave.  A group that is not to be seen, as within a
 * container, has its limit in the root. */
static int64_t left_within(const char *root, const group_files *files, const char *group)
{
  char folder[PATH_MAX];
  const int length = snprintf(folder, sizeof folder, "%s%s%s", root, files->mount, group);
  const size_t mount = strlen(root) + strlen(files->mount);
  int64_t left = INT64_MAX;
  if (length < 0 || (size_t)length >= sizeof folder) return left;
  for (;;) {
    left = lesser(left, left_by(folder, files));
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= mount || !slash) return left;
    *slash = '\0';
    if (strlen(folder) < mount) return left;
  }
}

/* "memory" among words between commas. */
static bool holds_memory(const char *words)
{
  for (const char *word = words; *word; word += *word == ',')
    if (strncmp(word, "memory", 6) == 0 && (word[6] == ',' || word[6] == '\0'))
      return true;
    else
      word += strcspn(word, ",");
  return false;
}

/* Each line of proc/self/cgroup: number:controllers:path, of version 2 0::path. */
static int64_t left_by_groups(const char *root)
{
  char path[PATH_MAX], line[PATH_MAX + 256];
  int64_t left = INT64_MAX;
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *words = strchr(line, ':'), *group = words ? strchr(words + 1, ':') : NULL;
    if (!group) continue;
    *words++ = *group++ = '\0';
    if (strcmp(line, "0") == 0 && *words == '\0')
      left = lesser(left, left_within(root, &v2, group));
    if (holds_memory(words)) left = lesser(left, left_within(root, &v1, group));
  }
  if (file) fclose(file);
  return left;
}

int64_t md_memory_free_in(const char *root)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  const int64_t kilobytes = number_in(path, "MemAvailable:");
  const int64_t machine = kilobytes < 0 ? INT64_MAX : md_size_times(kilobytes, 1024);
  return lesser(machine, left_by_groups(root));
}

/* What `ulimit -v` leaves of addresses. */
static int64_t left_of_addresses(void)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
  const int64_t pages = number_in("/proc/self/statm", "");
  const int64_t held = pages < 0 ? 0 : md_size_times(pages, sysconf(_SC_PAGESIZE));
  const int64_t most = limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
  return most > held ? most - held : 0;
}

int64_t md_memory_free(void)
{
  return lesser(md_memory_free_in(""), left_of_addresses());
}
