/* tests/ref/ref.c - direct sums over all pairs and all periodic images. */
#include "tests/ref/ref.h"
#include "tests/test.h"

void *ref_alloc(int64_t n, size_t size)
{
  void *memory = calloc(n > 0 ? (size_t)n : 1, size);
  ck_assert_ptr_nonnull(memory);
  return memory;
}

double ref_uniform(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void pairs_add(ref_pairs *pairs, const ref_pair *pair)
{
  if (pairs->n == pairs->room) {
    pairs->room = pairs->room ? 2 * pairs->room : 1024;
    pairs->pair = realloc(pairs->pair, (size_t)pairs->room * sizeof *pair);
    ck_assert_ptr_nonnull(pairs->pair);
  }
  pairs->pair[pairs->n++] = *pair;
}

/* All images of j within r_max of i. */
static void pairs_of(ref_pairs *pairs, const md_box *box, const double *x, int32_t i, int32_t j,
                     double r_max)
{
  long double edge[3], d[3];
  int low[3], high[3];
  for (int k = 0; k < 3; k++) {
    edge[k] = (long double)box->hi[k] - box->lo[k];
    d[k] = (long double)x[3 * i + k] - x[3 * j + k];
    low[k] = (int)ceill((d[k] - r_max) / edge[k]);
    high[k] = (int)floorl((d[k] + r_max) / edge[k]);
  }
  for (int a = low[0]; a <= high[0]; a++)
    for (int b = low[1]; b <= high[1]; b++)
      for (int c = low[2]; c <= high[2]; c++) {
        if (i == j && a == 0 && b == 0 && c == 0) continue;
        ref_pair p = {.i = i, .j = j, .shift = md_shift_pack(a, b, c)};
        p.d[0] = d[0] - a * edge[0], p.d[1] = d[1] - b * edge[1], p.d[2] = d[2] - c * edge[2];
        p.r = sqrtl(p.d[0] * p.d[0] + p.d[1] * p.d[1] + p.d[2] * p.d[2]);
        if (p.r < r_max) pairs_add(pairs, &p);
      }
}

static int pair_compare(const void *a, const void *b)
{
  const ref_pair *p = a, *q = b;
  if (p->i != q->i) return p->i < q->i ? -1 : 1;
  if (p->j != q->j) return p->j < q->j ? -1 : 1;
  return (p->shift > q->shift) - (p->shift < q->shift);
}

ref_pairs ref_pairs_find(const md_box *box, int64_t n, const double *x, double r_max)
{
  ref_pairs pairs = {0};
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      pairs_of(&pairs, box, x, i, j, r_max);
  if (pairs.n > 0) qsort(pairs.pair, (size_t)pairs.n, sizeof *pairs.pair, pair_compare);
  return pairs;
}

void ref_pairs_free(ref_pairs *pairs)
{
  free(pairs->pair);
  *pairs = (ref_pairs){0};
}

ref_lj ref_lj_pair(const force_spec *spec, long double r)
{
  ref_lj lj = {0};
  if (r >= spec->r_cut) return lj;
  const long double e = spec->epsilon, s = spec->sigma, c = spec->r_cut;
  const long double a = powl(s / r, 6), ac = powl(s / c, 6);
  const long double u_cut = 4 * e * (ac * ac - ac), f_cut = 24 * e * (2 * ac * ac - ac) / c;
  lj.u = 4 * e * (a * a - a), lj.u_terms = 4 * e * (a * a + a);
  lj.f = 24 * e * (2 * a * a - a) / r, lj.f_terms = 24 * e * (2 * a * a + a) / r;
  lj.stiff = 24 * e * (26 * a * a + 7 * a) / (r * r) + lj.f_terms / r;
  if (spec->shift == FORCE_SHIFT_NONE) return lj;
  lj.u -= u_cut, lj.u_terms += fabsl(u_cut);
  if (spec->shift == FORCE_SHIFT_ENERGY) return lj;
  lj.u += (r - c) * f_cut, lj.u_terms += (r + c) * fabsl(f_cut);
  lj.f -= f_cut, lj.f_terms += fabsl(f_cut);
  return lj;
}

/* How near to a cutoff a rounded distance may fall either way. */
static long double near_of(const ref_exactness *exact, long double c)
{
  return 4 * (exact->step + exact->unit * c);
}

ref_forces ref_forces_of_types(const ref_types *types, const ref_exactness *exact,
                               const md_box *box, int64_t n, const double *x)
{
  long double reach = 0;
  for (int t = 0; t < types->n * types->n; t++)
    reach = fmaxl(reach, types->table[t].r_cut);
  ref_pairs pairs = ref_pairs_find(box, n, x, (double)(reach + near_of(exact, reach)));
  ref_forces out = {.f = ref_alloc(3 * n, sizeof(double)), .slack = ref_alloc(n, sizeof(double))};
  long double *f = ref_alloc(3 * n, sizeof *f), u = 0, w = 0;
  for (int64_t k = 0; k < pairs.n; k++) {
    const ref_pair *p = &pairs.pair[k];
    const force_spec *spec = &types->table[types->type[p->i] * types->n + types->type[p->j]];
    const ref_lj lj = ref_lj_pair(spec, p->r);
    const long double c = spec->r_cut;
    for (int d = 0; d < 3; d++)
      f[3 * p->i + d] += lj.f * p->d[d] / p->r;
    u += lj.u / 2, w += lj.f * p->r / 2;
    out.u_scale += (double)lj.u_terms / 2, out.w_scale += (double)(lj.f_terms * p->r) / 2;
    const long double off = exact->step + exact->unit * p->r;
    out.slack[p->i] += (double)(2 * lj.stiff * off + 10 * lj.f_terms * exact->unit);
    if (fabsl(p->r - c) > near_of(exact, c)) continue;
    const ref_lj edge = ref_lj_pair(spec, c * (1 - 1e-15L));
    out.slack[p->i] += (double)fabsl(edge.f);
    out.u_jump += (double)fabsl(edge.u) / 2, out.w_jump += (double)fabsl(edge.f * c) / 2;
  }
  out.energy = (double)u, out.virial = (double)w;
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++)
      out.f[3 * i + d] = (double)f[3 * i + d];
    out.f_max = fmax(out.f_max, (double)hypotl(hypotl(f[3 * i], f[3 * i + 1]), f[3 * i + 2]));
  }
  free(f);
  ref_pairs_free(&pairs);
  return out;
}

ref_forces ref_forces_find(const force_spec *spec, const ref_exactness *exact, const md_box *box,
                           int64_t n, const double *x)
{
  uint8_t *alike = ref_alloc(n, 1);
  memset(alike, 0, (size_t)n);
  const ref_types types = {1, spec, alike};
  const ref_forces out = ref_forces_of_types(&types, exact, box, n, x);
  free(alike);
  return out;
}

void ref_forces_free(ref_forces *forces)
{
  free(forces->f);
  free(forces->slack);
  *forces = (ref_forces){0};
}

uint32_t ref_crc32c(const unsigned char *data, size_t bytes)
{
  uint32_t crc = 0xffffffff;
  for (size_t k = 0; k < 8 * bytes; k++) {
    const uint32_t bit = (data[k / 8] >> k % 8 ^ crc) & 1;
    crc = crc >> 1 ^ (bit ? 0x82f63b78 : 0);
  }
  return ~crc;
}
