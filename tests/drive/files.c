/* tests/drive/files.c - see files.h. */
#include "tests/drive/files.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/minimd-test-XXXXXX", pattern[sizeof folder];
static char *paths[64];
static int n_paths;

static void need(int good, const char *what)
{
  if (good) return;
  perror(what);
  abort();
}

void files_begin(void)
{
  if (!pattern[0]) memcpy(pattern, folder, sizeof folder);
  memcpy(folder, pattern, sizeof folder);
  need(mkdtemp(folder) != NULL, "mkdtemp");
}

static int drop(const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
  (void)info, (void)kind, (void)ftw;
  return remove(path);
}

void files_end(void)
{
  while (n_paths > 0)
    free(paths[--n_paths]);
  nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

const char *files_path(const char *name)
{
  char *path;
  need(asprintf(&path, "%s/%s", folder, name) >= 0, "asprintf");
  for (int k = 0; k < n_paths; k++)
    if (strcmp(paths[k], path) == 0) {
      free(path);
      return paths[k];
    }
  need(n_paths < (int)(sizeof paths / sizeof *paths), "more than 64 file names in one test");
  return paths[n_paths++] = path;
}

const char *files_write(const char *name, const void *data, size_t size)
{
  const char *path = files_path(name);
  FILE *file = fopen(path, "w");
  need(file != NULL, path);
  need(fwrite(data, 1, size, file) == size, path);
  need(fclose(file) == 0, path);
  return path;
}

const char *files_text(const char *name, const char *text)
{
  return files_write(name, text, strlen(text));
}

const char *files_edit(const char *text, const char *old, const char *new)
{
  static char *edited;
  const char *at = strstr(text, old);
  need(at != NULL, old);
  free(edited);
  need(asprintf(&edited, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) >= 0, old);
  return edited;
}

char *files_mutate(const char *text, unsigned seed)
{
  static const char replacement[] = "\"#{}()[];:=.,-+0 9\n\t$&@e\\x/*\x01\xff";
  const size_t length = strlen(text);
  char *copy = strdup(text);
  need(copy != NULL, "strdup");
  const unsigned mix = seed * 2654435761u;
  const size_t at = (mix >> 8) % length;
  copy[at] = seed % 8 ? replacement[mix % (sizeof replacement - 1)] : '\0';
  return copy;
}
