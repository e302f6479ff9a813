/* tests/hostile/fuzz.c - see fuzz.h. */
#include "tests/hostile/fuzz.h"
#include "core/crc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_need(bool good, const char *what)
{
  if (good) return;
  fprintf(stderr, "%s; the last message: %s\n", what, md_message());
  abort();
}

md_status fuzz_told(md_status status)
{
  fuzz_need(!status || (*md_message() && !strchr(md_message(), '\n')), "a failure without a line");
  return status;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
  static char path[64];
  static int fd = -1;
  if (fd < 0) {
    fd = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  }
  fuzz_need(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size,
            "memfd");
  return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);
  fuzz_need(text != NULL, "malloc");
  memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

static uint64_t number(const uint8_t *data, int bytes)
{
  uint64_t value = 0;
  memcpy(&value, data, (size_t)bytes);
  return value;
}

static void seal(uint8_t *at, uint32_t sum)
{
  memcpy(at, &sum, sizeof sum);
}

/* Make the check sums of a file of sections right, so that what lies behind them is read. */
void fuzz_seal_sections(uint8_t *data, size_t size)
{
  if (size < 16) return;
  seal(data + 12, md_crc32c(0, data, 12));
  for (size_t at = 16; size - at >= 24;) {
    const uint64_t bytes = number(data + at + 8, 8), left = size - at - 24;
    if (bytes <= left) seal(data + at + 4, md_crc32c(0, data + at + 24, bytes));
    seal(data + at + 16, md_crc32c(0, data + at, 16));
    if (bytes > left) return;
    at += 24 + bytes;
  }
}

/* Likewise those of the blocks of a trace. */
void fuzz_seal_trace(uint8_t *data, size_t size)
{
  if (size < 16) return;
  seal(data + 12, md_crc32c(0, data, 12));
  for (size_t at = 16; size - at >= 16;) {
    const uint64_t bytes = number(data + at + 8, 4);
    if (bytes > size - at - 16) return;
    seal(data + at + 12, md_crc32c(md_crc32c(0, data + at, 12), data + at + 16, bytes));
    at += 16 + bytes;
  }
}

bool fuzz_read(const fuzz_target *target, const uint8_t *data, size_t size)
{
  const bool good = target->read(data, size);
  if (!target->seal) return good;
  uint8_t *sealed = (uint8_t *)fuzz_text(data, size);
  target->seal(sealed, size);
  if (memcmp(sealed, data, size) != 0) (void)target->read(sealed, size);
  free(sealed);
  return good;
}

const fuzz_target *fuzz_target_at(int k)
{
  const fuzz_target *all[] = {fuzz_readers, fuzz_commands};
  for (size_t kind = 0; kind < 2; kind++)
    for (const fuzz_target *t = all[kind]; t->name; t++)
      if (k-- == 0) return t;
  return NULL;
}
