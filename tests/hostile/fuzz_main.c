/* tests/hostile/fuzz_main.c - what libFuzzer calls; FUZZ_TARGET names the target. */
#include "tests/hostile/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const fuzz_target *target;
  const char *name = getenv("FUZZ_TARGET");
  for (int k = 0; !target; k++) {
    const fuzz_target *one = fuzz_target_at(k);
    if (!one) {
      fputs("FUZZ_TARGET names no target of tests/fuzz_*.c\n", stderr);
      exit(1);
    }
    if (name && strcmp(one->name, name) == 0) target = one;
  }
  (void)fuzz_read(target, data, size);
  return 0;
}
