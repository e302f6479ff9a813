/* tests/hostile/fuzz.h - everything that takes untrusted bytes behind one kind of entry point: each
 * reader alone, and whole commands, from the bytes to one step.
 *
 * `make fuzz` lets libFuzzer find inputs for each target; check_corpus replays those in
 * tests/corpus/NAME through the same functions. */
#ifndef FUZZ_H
#define FUZZ_H

#include "core/md.h"

typedef struct {
  const char *name; /* those of commands begin with command_ */
  /* Whether the bytes are taken; aborts when a promise is broken. */
  bool (*read)(const uint8_t *data, size_t size);
  /* Makes the check sums within right, so that what lies behind them is read; NULL: has none. */
  void (*seal)(uint8_t *data, size_t size);
} fuzz_target;

/* Each ends with a row without a name. */
extern const fuzz_target fuzz_readers[], fuzz_commands[];

/* The k-th of all targets, NULL beyond the last. */
const fuzz_target *fuzz_target_at(int k);

/* The bytes as they are, then with right check sums; whether they were good as they are. */
bool fuzz_read(const fuzz_target *target, const uint8_t *data, size_t size);

/* For targets: abort unless good; a failure says something, in one line. */
void fuzz_need(bool good, const char *what);
md_status fuzz_told(md_status status);
/* A file in memory with these bytes; its path, of which there is one at a time. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* The same bytes as text, to be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Check sums of a file of sections (engine/checkpoint/sections.h); of a trace
 * (cachemodel/trace/trace_file.h). */
void fuzz_seal_sections(uint8_t *data, size_t size);
void fuzz_seal_trace(uint8_t *data, size_t size);

#endif
