/* tests/ref/ref_blocks.c - see ref_blocks.h. */
#include "tests/ref/ref_blocks.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"

#include <stdlib.h>

bool ref_is_alone(int n, int i, int j)
{
  (void)n;
  return i == j;
}

bool ref_is_full(int n, int i, int j)
{
  (void)n, (void)i, (void)j;
  return true;
}

bool ref_is_curve(int n, int i, int j)
{
  const int away = abs(i - j);
  return away < 4 || n - away < 3 || j == i * 7 % n;
}

bool ref_is_one_sided(int n, int i, int j)
{
  (void)n;
  return j >= i && j < i + 9;
}

bool ref_is_uneven(int n, int i, int j)
{
  return i == n / 3 || i == n / 3 + 1 ? j % 2 == i % 2 : i % 5 && j == n - 1 - i;
}

bool ref_is_none(int n, int i, int j)
{
  (void)n, (void)i, (void)j;
  return false;
}

stokes_blocks ref_blocks(int n, ref_pattern *has)
{
  stokes_blocks b = {n, 0, ref_alloc(n + 1, 8), ref_alloc((int64_t)n * n, 4), NULL};
  for (int i = 0; i < n; i++) {
    b.start[i] = b.n_blocks;
    for (int j = 0; j < n; j++)
      if (has(n, i, j)) b.column[b.n_blocks++] = j;
  }
  b.start[n] = b.n_blocks;
  b.block = ref_vector(9 * b.n_blocks + 1, 10);
  return b;
}
