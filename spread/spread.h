/* spread/spread.h - charges of particles onto a regular periodic mesh, and mesh values back.
 *
 * The mesh has K1 x K2 x K3 points in an orthorhombic box; point (i, j, k) lies at
 * lo + (i, j, k) * edge / K and at number (i * K2 + j) * K3 + k of an array.  A particle at
 * u = (x - lo) K / edge adds q w1 w2 w3 to p x p x p points, where w is the cardinal B-spline of
 * order p along each axis: floor(u) + j receives M_p(u - floor(u) + p - 1 - j), j = 0..p-1,
 * periodically.  The weights of a particle add up to 1.
 *
 *     mesh = S q                spreading          spread_charges
 *     value = S^T mesh          interpolation      spread_interpolate
 *
 * A plan holds what depends on the positions only, so that it pays for many spreadings:
 *
 *     spread_create -> spread_set_positions -> spread_charges ... spread_interpolate ...
 *
 * Arrays lie on the context's backend (device pointers on the GPU) in its number types:
 *   state  positions: float in single, double in mixed and double precision
 *   real   charges, mesh, values: float in single and mixed, double in double precision
 * [Guo]. */
#ifndef SPREAD_H
#define SPREAD_H

#include "core/context.h"

MD_BEGIN_C

/* Names of [Guo]; coloured is its multicolouring, tiled is ours. */
#define SPREAD_METHODS(X)                                                                          \
  X(AUTO, "auto", "chosen from positions, mesh, order, vectors, repeats")                          \
  X(PARTICLE, "particle", "each particle adds to its mesh points, atomically")                     \
  X(GATHER, "gather", "GPU: one particle a mesh point, the others by particle")                    \
  X(SINGLE, "single", "sparse matrix, a compressed row for each mesh point")                       \
  X(GROUP, "group", "GPU: sparse matrix, rows in padded groups")                                   \
  X(HYBRID, "hybrid", "GPU: sparse matrix, rows of one width and a list of the rest")              \
  X(COLOURED, "coloured", "CPU: blocks of one colour share no mesh point")                         \
  X(TILED, "tiled", "sorted blocks (CPU) or pencils (GPU), nothing atomic inside")

#define MD_ENUM_(name, word, help) SPREAD_##name,
typedef enum { SPREAD_METHODS(MD_ENUM_) SPREAD_METHOD_COUNT } spread_method;
#undef MD_ENUM_
extern const char *const spread_method_words[SPREAD_METHOD_COUNT];

enum { SPREAD_ORDER_MIN = 2, SPREAD_ORDER_MAX = 10 };

/* Zero means: the default of each. */
typedef struct {
  int32_t lanes;        /* GPU particle: threads a particle, 1 or order; default: order, and groups
                         * of near particles are summed in boxes first */
  bool sorted;          /* GPU particle: sort by mesh cell first */
  bool stores;          /* GPU particle: store where it would add, to measure what atomic additions
                         * cost; the mesh is wrong */
  int32_t compute_unit; /* GPU single: lanes a row, 1 2 4 8 16; default the largest power of two
                         * within order^3 n / points, clamped to 1..16 */
  bool shared_sum;      /* GPU single: lanes add up in shared memory, not by shuffles */
  int32_t group;        /* GPU group: rows a group, a multiple of 8 in 8..512; default 64 */
  int64_t part;         /* particles in one structure, <= 2^30 (default); more make several */
} spread_tuning;

typedef struct {
  double lo[3], hi[3]; /* the box, hi > lo [length] */
  int32_t mesh[3];     /* K1, K2, K3, each >= order; fewer than 2^32 points in all */
  int32_t order;       /* p of the B-splines, SPREAD_ORDER_MIN..MAX */
  spread_method method;
  int32_t vectors; /* V >= 1 charges of a particle are spread onto V meshes at once */
  int32_t repeats; /* spreadings of one set of positions, weighed by auto; 0: one */
  /* Whether a particle's charges, values and gradients lie together: [n][vectors], not
   * [vectors][n]. */
  bool by_particle;
  /* Whether gradients are interpolated as often as charges are spread, beside other forces: weighed
   * by auto, nothing else. */
  bool interpolates;
  spread_tuning tuning;
} spread_spec;

typedef struct {
  spread_method method;   /* the one in use; never auto after spread_set_positions */
  const char *reason;     /* why, one sentence; lives as long as the plan */
  int64_t particles;      /* of the last spread_set_positions */
  double per_point;       /* contributions a mesh point, p^3 n / points (ASM in [Guo]) */
  double build_s;         /* duration of the last spread_set_positions [s] */
  int64_t bytes;          /* memory the plan holds */
  int64_t floor_bytes;    /* what no method can avoid moving in one spreading: positions, charges
                           * and mesh once */
  int32_t compute_unit;   /* single: lanes a row */
  int64_t overflow;       /* gather: particles that found their mesh point taken */
  int64_t width, spilled; /* hybrid: entries a row, entries in the list;
                           * group: width 0, slots that pad rows */
} spread_report;

typedef struct spread_plan spread_plan;

/* Whether spread_create would refuse the spec, without allocating anything.  Errors: MD_EINVAL and
 * MD_ECAPACITY, as spread_create. */
md_status spread_check(const spread_spec *spec, md_backend backend, bool deterministic);

/* *out is NULL on failure; free with spread_destroy (NULL is allowed).  A deterministic context
 * makes results bit-identical from run to run on the same device: by fixed orders of all sums.
 * Errors: MD_EINVAL (box, mesh smaller than the order, order, vectors, tuning; a method that the
 * backend lacks; particle and gather on a GPU in a deterministic context), MD_ECAPACITY (2^32 mesh
 * points or more), MD_ENOMEM. */
md_status spread_create(md_ctx *ctx, const spread_spec *spec, spread_plan **out);
void spread_destroy(spread_plan *plan);

/* Build for n particles; coordinate a of particle i is x[i * stride + a], state.  Anywhere in
 * space: positions are wrapped.  x is not kept.  Cost: a pass or a sort, or for single, group and
 * hybrid p^3 n entries of memory; where that decides, auto on a GPU looks at x when it is called
 * first and when there are a tenth more or fewer than it looked at.  Waits until it is done.
 * Errors: MD_EINVAL (n < 0, stride < 3, a position that is NaN, infinite or beyond 2^50 boxes, with
 * its index: the plan is unchanged), MD_ENOMEM (with the bytes needed, before they are asked for;
 * the plan is then empty), MD_ECUDA. */
md_status spread_set_positions(spread_plan *plan, int64_t n, const void *x, int64_t stride);

/* How many vectors the calls below take from now on, 1..spec.vectors, as at first.
 * Errors: MD_EINVAL. */
md_status spread_use(spread_plan *plan, int32_t vectors);

/* mesh [vectors][K1][K2][K3] = S q, q [vectors][n] or [n][vectors], both real.  mesh is
 * overwritten.  On the GPU the call returns once the work is queued in the context's stream. */
md_status spread_charges(spread_plan *plan, const void *q, void *mesh);

/* value [vectors][n] = S^T mesh, real; gradient [vectors][n][3] = d value / d x, real [1/length];
 * or [n][vectors] and [n][vectors][3].  Either may be NULL. */
md_status spread_interpolate(spread_plan *plan, const void *mesh, void *value, void *gradient);

/* What the plan is and does. */
void spread_describe(const spread_plan *plan, spread_report *out);

/* cuSPARSE's product with the matrix of a plan of method single on the GPU, to measure beside ours:
 * mesh = S q, one vector, for the positions of the last spread_set_positions; the plan must outlive
 * it.  Errors: MD_EINVAL (another plan; no cuSPARSE), MD_ECAPACITY (2^31 entries or more),
 * MD_ENOMEM, MD_ECUDA. */
typedef struct spread_peer spread_peer;
md_status spread_peer_create(spread_plan *plan, void *mesh, spread_peer **out);
md_status spread_peer_charges(spread_peer *peer, const void *q);
void spread_peer_destroy(spread_peer *peer); /* NULL is allowed */

/* True when the method exists on the backend; when a deterministic context may use it there. */
bool spread_method_on(spread_method method, md_backend backend);
bool spread_method_ordered(spread_method method, md_backend backend);

MD_END_C
#endif
