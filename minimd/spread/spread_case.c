/* minimd/spread/spread_case.c - see spread_case.h.  Random numbers are a hash of seed and index, so
 * that threads need no order. */
#include "minimd/spread/spread_case.h"
#include "core/sizes.h"
#include "core/parse/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOBS = 16 };

#define WORD(name, word) word,
const char *const spread_distribution_words[SPREAD_CASE_COUNT] = {SPREAD_DISTRIBUTIONS(WORD)};
#undef WORD

void spread_case_free(spread_case *particles)
{
  free(particles->x);
  free(particles->q);
  *particles = (spread_case){0};
}

/* Uniform in 0..1, below 1: item `at` of stream `stream`. */
static double draw(uint64_t seed, uint64_t stream, uint64_t at)
{
  uint64_t z = (seed * 64 + stream) * 0x9e3779b97f4a7c15 + at * 0xd1b54a32d192ed03;
  for (int round = 0; round < 2; round++) {
    z = (z ^ z >> 32) * 0xd6e8feb86659fd93;
    z ^= z >> 32;
  }
  return (double)(z >> 11) * 0x1p-53;
}

static md_status reserve(int64_t n, int32_t vectors, spread_case *out)
{
  const double bytes = 8.0 * (double)n * (3.0 + vectors);
  const double present = (double)md_memory_free();
  *out = (spread_case){.n = n};
  MD_REQUIRE(bytes <= present, MD_ENOMEM,
             "%lld particles with %d charges take %.1f GB, but %.1f GB are free", (long long)n,
             vectors, bytes / 1e9, present / 1e9);
  out->x = malloc((size_t)n * 3 * sizeof *out->x + 1);
  out->q = malloc((size_t)n * (size_t)vectors * sizeof *out->q + 1);
  if (out->x && out->q) return MD_OK;
  spread_case_free(out);
  return MD_FAIL(MD_ENOMEM, "out of memory: %.1f GB asked for", bytes / 1e9);
}

/* Coordinate of particle i along an axis, in box edges. */
static double coordinate(spread_distribution distribution, int64_t i, int axis, int64_t edge,
                         uint64_t seed)
{
  const uint64_t stream = 4 * (uint64_t)axis, at = (uint64_t)i;
  if (distribution == SPREAD_CASE_LATTICE) {
    const int64_t site[3] = {i / edge / edge, i / edge % edge, i % edge};
    return ((double)site[axis] + 0.25) / (double)edge;
  }
  const double u = draw(seed, stream, at);
  if (distribution == SPREAD_CASE_UNIFORM) return u;
  const double spread = u + draw(seed, stream + 1, at) + draw(seed, stream + 2, at) - 1.5;
  return draw(seed, stream + 3, at % BLOBS) + 0.1 * spread;
}

static double round_to(bool narrow, double value)
{
  return narrow ? (double)(float)value : value;
}

static void draw_charges(md_precision precision, int threads, int32_t vectors, uint64_t seed,
                         spread_case *out)
{
  const int64_t count = out->n * vectors;
#pragma omp parallel for num_threads(threads)
  for (int64_t k = 0; k < count; k++)
    out->q[k] = round_to(precision != MD_DOUBLE,
                         2 * draw(seed, 16 + (uint64_t)(k / out->n), (uint64_t)(k % out->n)) - 1);
}

md_status spread_case_make(const spread_spec *spec, md_precision precision, int threads,
                           spread_distribution distribution, int64_t n, uint64_t seed,
                           spread_case *out)
{
  const int64_t edge = (int64_t)ceil(cbrt((double)n));
  MD_TRY(reserve(n, spec->vectors, out));
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < n; i++)
    for (int a = 0; a < 3; a++) {
      const double u = coordinate(distribution, i, a, edge, seed);
      out->x[3 * i + a] =
          round_to(precision == MD_SINGLE, spec->lo[a] + u * (spec->hi[a] - spec->lo[a]));
    }
  draw_charges(precision, threads, spec->vectors, seed, out);
  return MD_OK;
}

/* The next line that holds more than a comment, split; *words is 0 at the end of the file. */
static md_status next_particle(md_text *in, int *words)
{
  char *line;
  do {
    MD_TRY(md_text_next(in, &line));
    *words = 0;
    if (!line) return MD_OK;
    line[strcspn(line, "#")] = '\0';
    MD_TRY(md_text_split(in, line, words));
  } while (*words == 0);
  return MD_OK;
}

static md_status read_particle(const md_text *in, int words, int64_t i, md_precision precision,
                               spread_case *out)
{
  static const char *const axes[] = {"x", "y", "z"};
  char what[64];
  for (int k = 0; k < words; k++) {
    double value;
    snprintf(what, sizeof what, "particle %lld, %s", (long long)i, k < 3 ? axes[k] : "charge");
    MD_TRY(md_text_double(in, what, in->words[k], &value));
    if (k < 3)
      out->x[3 * i + k] = round_to(precision == MD_SINGLE, value);
    else
      out->q[(k - 3) * out->n + i] = round_to(precision != MD_DOUBLE, value);
  }
  return MD_OK;
}

/* Particles in the file, and columns, the same on each line. */
static md_status count_particles(md_text *in, int32_t vectors, int64_t *n, int *columns)
{
  int words;
  *n = 0;
  *columns = 3;
  MD_TRY(next_particle(in, &words));
  for (; words; ++*n) {
    if (*n == 0) *columns = words;
    if (words != *columns || (words != 3 && words != 3 + vectors))
      return md_text_fail(in,
                          "particle %lld has %d columns: expected x y z, or x y z and %d charge%s, "
                          "on every line",
                          (long long)*n, words, vectors, vectors == 1 ? "" : "s");
    MD_TRY(next_particle(in, &words));
  }
  return MD_OK;
}

static md_status read_particles(md_text *in, const spread_spec *spec, md_precision precision,
                                int threads, uint64_t seed, spread_case *out)
{
  int64_t n;
  int columns, words;
  MD_TRY(count_particles(in, spec->vectors, &n, &columns));
  if (n == 0) return md_text_fail(in, "the file holds no particles: expected lines of x y z");
  MD_TRY(reserve(n, spec->vectors, out));
  md_text_rewind(in);
  for (int64_t i = 0; i < n; i++) {
    MD_TRY(next_particle(in, &words));
    if (words != columns) return md_text_fail(in, "the file changed while it was read");
    MD_TRY(read_particle(in, words, i, precision, out));
  }
  if (columns == 3) draw_charges(precision, threads, spec->vectors, seed, out);
  return MD_OK;
}

md_status spread_case_read(const spread_spec *spec, md_precision precision, int threads,
                           const char *path, uint64_t seed, spread_case *out)
{
  md_text in;
  *out = (spread_case){0};
  MD_TRY(md_text_open(path, &in));
  const md_status status = read_particles(&in, spec, precision, threads, seed, out);
  md_text_close(&in);
  if (status) spread_case_free(out);
  return status;
}
