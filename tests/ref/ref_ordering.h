/* tests/ref/ref_ordering.h - keys bit by bit and files of tables, for the suites of orderings. */
#ifndef REF_ORDERING_H
#define REF_ORDERING_H

#include "ordering/ordering.h"
#include "tests/test.h"

#include <stdio.h>

static inline ordering parsed(const char *text)
{
  ordering order;
  ck_ok(ordering_parse(text, &order));
  return order;
}

/* The Hilbert curve's 12 states, from the oracle. */
static int ref_digit[12][8], ref_next[12][8];

static inline FILE *oracle(const char *name)
{
  char path[128], head[512];
  snprintf(path, sizeof path, "tests/oracle/%s", name);
  FILE *file = fopen(path, "r");
  ck_assert_msg(file && fgets(head, sizeof head, file), "%s", path);
  return file;
}

static inline void read_states(void)
{
  FILE *file = oracle("hilbert_states.csv");
  int s, o, d, n, rows = 0;
  while (fscanf(file, "%d,%d,%d,%d", &s, &o, &d, &n) == 4) {
    ref_digit[s][o] = d, ref_next[s][o] = n;
    rows++;
  }
  fclose(file);
  ck_assert_int_eq(rows, 96);
}

static inline uint64_t ref_octree_key(ordering_kind kind, int levels, const int32_t c[3])
{
  uint64_t key = 0;
  int state = 0;
  for (int bit = levels - 1; bit >= 0; bit--) {
    const int b[3] = {c[0] >> bit & 1, c[1] >> bit & 1, c[2] >> bit & 1};
    const int octant = 4 * b[0] + 2 * b[1] + b[2];
    if (kind == ORDERING_MORTON) key = 8 * key + (uint64_t)octant;
    if (kind == ORDERING_MORTON_KJI) key = 8 * key + (uint64_t)(4 * b[2] + 2 * b[1] + b[0]);
    if (kind == ORDERING_HILBERT) {
      key = 8 * key + (uint64_t)ref_digit[state][octant];
      state = ref_next[state][octant];
    }
  }
  return key;
}

#endif
