/* tests/fuzz.h - every reader of untrusted bytes behind one kind of entry point.
 *
 * `make fuzz` lets libFuzzer find inputs for each; check_corpus replays those in tests/corpus/NAME
 * through the same functions. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *name;
  /* Whether the reader takes these bytes; aborts when it breaks a promise. */
  bool (*read)(const uint8_t *data, size_t size);
} fuzz_target;

/* n targets. */
int fuzz_targets(const fuzz_target **out);

#endif
