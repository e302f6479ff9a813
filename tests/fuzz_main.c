/* tests/fuzz_main.c - what libFuzzer calls; FUZZ_TARGET names the target. */
#include "tests/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const fuzz_target *target;
  const char *name = getenv("FUZZ_TARGET");
  const fuzz_target *all;
  for (int n = fuzz_targets(&all), k = 0; !target && k < n; k++)
    if (name && strcmp(all[k].name, name) == 0) target = &all[k];
  if (!target) {
    fputs("FUZZ_TARGET names no target of tests/fuzz.c\n", stderr);
    exit(1);
  }
  (void)target->read(data, size);
  return 0;
}
