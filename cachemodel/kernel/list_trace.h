/* cachemodel/kernel/list_trace.h - the memory accesses of the force kernels, from the neighbour
 * lists that they read.
 *
 * A request is what one memory instruction does for the active threads of a warp or the lanes of a
 * vector.  A kernel is the arrays it touches and the program that touches them:
 *
 * gpu  (force/force_*_gpu.prec.cu) a warp of 32 rows.  Lengths, starts and own coordinates; then
 *      batches: so many indices, and the positions behind them.  Doubles are packed as x, y and z
 *      alone, and take two loads.
 *      Full lists end in a batch one shorter, in which threads without a neighbour read their own
 *      atom, and store the force.  Half lists run all threads to the warp's longest row, those
 *      without a neighbour on their own atom; each pair within the cutoff makes a reduction on the
 *      neighbour's force (a ghost's at its home; none without newton), at the end one on the own.
 *      A reduction takes 16 bytes at once; of doubles, four threads do each other's in turn, three
 *      components of one atom at a time.
 *      This is the instance that computes forces only, without linear force shift, not
 *      deterministic.
 * cpu  (force/force_cpu.prec.c) a vector of rows, slice after slice as one thread runs through all:
 *      for each entry the indices, the coordinates behind them and, half lists, the forces on them,
 *      those that are not shared on the row's own atom.  These forces are zero first, and at the
 *      end of a chunk those on its ghosts are added to those on their homes.
 *
 * Atoms of several types: both read the type of each neighbour, a byte, beside its position.  The
 * GPU's then reads the constants of the two types, behind the batch (stream `other`): 16 bytes of a
 * table of structures of four reals, of doubles two times 16; of a half list before it reduces.
 * Embedded atoms: two passes over the rows (eam_full_gpu, eam_cpu), densities and F' of them, then
 * forces, which read F' of each neighbour.  gpu: no batch is shorter, threads without a neighbour
 * read their own atom.  cpu: the first pass also writes down which entries are near, and both walk
 * along these; the second reads coordinates that were copied with F' beside them.
 *
 * None has what charges add, tables of functions, on a CPU tables of pairs, or on a GPU F' of
 * ghosts.
 *
 * The GPU's kernel is modelled on a machine without GPU from a full list of the CPU: rows are atoms
 * in memory order in slices of 32, a row's entries are in the order of bins (row-major number in
 * the grid with its margin, k fastest) and within a bin in the order of atoms, owned before ghosts;
 * of a full list, entries of a half list are those that the GPU's builder keeps
 * (neighbor/gpu/walk_gpu.h). [AK] section 6.2. */
#ifndef LIST_TRACE_H
#define LIST_TRACE_H

#include "cachemodel/trace/trace_file.h"
#include "neighbor/neighbor.h"

MD_BEGIN_C

enum { LIST_WARP = 32 };

/* COORD is coord4 of atoms.  PACKED: x and y of doubles as the GPU packs them, z being Z; of
 * embedded atoms on a CPU coordinates with F' beside them.  SLOPE is F'.  PAIR holds constants of
 * two types.  ATOM, SHARED, GHOST, DENSITY, NEAR, NEAR_COUNT: CPU; PAIR: GPU. */
#define LIST_ARRAYS(X)                                                                             \
  X(COORD)                                                                                         \
  X(FORCE)                                                                                         \
  X(NBR)                                                                                           \
  X(COUNT)                                                                                         \
  X(START)                                                                                         \
  X(HOME)                                                                                          \
  X(ATOM)                                                                                          \
  X(SHARED) X(GHOST) X(PACKED) X(Z) X(TYPE) X(SLOPE) X(DENSITY) X(NEAR) X(NEAR_COUNT) X(PAIR)
#define MD_ENUM_(name) LIST_##name,
typedef enum { LIST_ARRAYS(MD_ENUM_) LIST_ARRAY_COUNT } list_array_name;
#undef MD_ENUM_

typedef struct {
  uint64_t base;
  int64_t count;  /* elements */
  int32_t stride; /* bytes of one */
} list_array;
static inline uint64_t list_array_end(const list_array *a)
{
  return a->base + (uint64_t)(a->count * a->stride);
}

/* What pairs depend on, beside coordinates. */
typedef enum { LIST_ALIKE, LIST_TYPED, LIST_EMBEDDED } list_reads;
typedef enum { LIST_PASS_DENSITIES, LIST_PASS_FORCES } list_pass;

typedef struct {
  bool gpu; /* which program */
  list_reads reads;
  list_pass pass; /* which of its passes; DENSITIES: of embedded atoms */
  md_precision precision;
  neighbor_kind kind;
  bool newton;
  int32_t lanes;     /* of a warp or vector */
  int32_t batch;     /* GPU: indices that a thread reads at a time */
  int32_t registers; /* GPU: of a thread, as compiled for sm_90 */
  int32_t types;     /* of atoms */
  int64_t n, n_ghost;
  list_array array[LIST_ARRAY_COUNT];
} list_kernel;

/* One instruction: index[lanes] are element numbers of an array at `base`. */
typedef struct {
  trace_stream stream;
  trace_op op;
  uint64_t base;
  int32_t stride, offset, bytes; /* of elements; of the part accessed within an element */
  int32_t lanes;                 /* elements */
  int32_t threads;               /* that share an element */
  const int32_t *index;
  bool again;   /* the elements of the request before this one, another part of each */
  bool no_keep; /* the instruction asks the first level not to keep the data (hierarchy.h) */
} list_request;
typedef md_status list_sink(void *to, const list_request *request);

static inline uint64_t list_address(const list_request *r, int32_t lane)
{
  return r->base + (uint64_t)((int64_t)r->index[lane] * r->stride + r->offset);
}

/* A list and its atoms, both of one context, as they are between neighbor_build and the next. */
typedef struct {
  const md_atoms *atoms;
  const neighbor_list *list;
  double r_cut;      /* half lists: pairs beyond it do not act */
  const void *built; /* state4 [n + n_ghost] of the CPU: neighbor_list_positions at the build, which
                        list_kernel_gpu's rows need; NULL: atoms have not moved since */
  list_reads reads;
  /* Half lists of several types: beyond which pairs of types a and b do not act, at
   * cutoff[(a * n_types + b) * step]; NULL: r_cut. */
  const double *cutoff;
  int32_t step;
} list_input;

/* The first pass of a kernel, or the only one. */
static inline list_pass list_first_pass(const list_kernel *kernel)
{
  return kernel->reads == LIST_EMBEDDED ? LIST_PASS_DENSITIES : LIST_PASS_FORCES;
}

/* The kernel that reads this list, addresses as the arrays lie in memory; from PACKED on, which no
 * other room sees, as if they lay behind all others.
 * Errors: MD_EINVAL (an empty list). */
md_status list_kernel_of(const list_input *in, list_kernel *out);
/* The GPU's kernel for a list of this kind, from a full list of the CPU; addresses as
 * list_kernel_compact gives.  Errors: MD_EINVAL (not a full list of the CPU, or the GPU has no such
 * kernel: half lists of embedded atoms). */
md_status list_kernel_gpu(const list_input *in, neighbor_kind kind, bool newton, list_kernel *out);
/* Addresses without the gaps between the arrays, from 2 MB on.  A GPU's arrays begin at multiples
 * of 2 MB, plus their address modulo 256.  The CPU's keep their address modulo 4 KB; one that is a
 * multiple of 2 MB stays one. */
void list_kernel_compact(list_kernel *kernel);

/* --- The GPU's kernel, warp by warp */

/* 32 rows of a list in host memory: entry k of row r is nbr[k * LIST_WARP + r]. */
typedef struct {
  int64_t first; /* row */
  int32_t rows, longest;
  int64_t start;            /* of the slice in the array nbr */
  int32_t count[LIST_WARP]; /* 0 beyond the last row */
  int32_t *nbr;             /* [longest][LIST_WARP] */
  int32_t *home;            /* half lists: the same with a ghost's home in its place */
  uint32_t *acts; /* half lists: bit r of acts[k] says whether the pair acts on the neighbour */
  uint8_t *type;  /* atoms of several types: of what nbr has */
  int32_t room;   /* of these arrays, in k */
  uint8_t own_type[LIST_WARP]; /* then: of the rows; beyond the last that of atom 0 */
} list_slice;
void list_slice_free(list_slice *slice);

/* The slices of a kernel in their order, from the GPU's own list or made from the CPU's. */
typedef struct list_slices list_slices;
/* Errors: MD_EINVAL (as list_kernel_gpu), MD_ENOMEM. */
md_status list_slices_open(const list_input *in, const list_kernel *kernel, list_slices **out);
void list_slices_close(list_slices *slices); /* NULL is allowed */
/* The next slice; rows = 0 when there is none.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status list_slices_next(list_slices *slices, list_slice *out);
void list_slices_rewind(list_slices *slices);

/* A warp that runs through its slice.  A turn issues what belongs together: lengths, starts and own
 * coordinates; the indices of one batch; the positions of one of its entries, behind the last of
 * them also what the batch reduces or the row stores.  *done after the last.  Errors: those of the
 * sink. */
typedef struct {
  list_slice slice;
  int32_t next; /* k of the batch at hand; -1: has not begun */
  int32_t part; /* of the batch that comes next: 0 the indices, 1, 2, ... an entry's positions */
} list_warp;
/* Whether the next turn can follow this one before any data has come: more positions of a batch. */
static inline bool list_warp_ready(const list_warp *warp)
{
  return warp->part > 1;
}
md_status list_warp_turn(const list_kernel *kernel, list_warp *warp, list_sink *sink, void *to,
                         bool *done);

/* --- The whole kernel */

/* All requests of kernel->pass: of the GPU's kernel warp after warp; of the CPU's in the order of
 * rows, of at most `rows` rows.  Errors: those of the sink, MD_ENOMEM, MD_ECUDA. */
md_status list_run_pass(const list_input *in, const list_kernel *kernel, int64_t rows,
                        list_sink *sink, void *to);
/* Those of all passes. */
md_status list_run(const list_input *in, const list_kernel *kernel, int64_t rows, list_sink *sink,
                   void *to);

/* Record them; addresses as the arrays lie in memory.  Errors: MD_EIO, and those above. */
md_status list_record(const list_input *in, trace_writer *to);

/* --- Figures that need no machine */

/* Averages over the first `rows` rows of a list, rounded up to whole slices of 32: distinct sectors
 * of 32 bytes among the coordinates behind entry k of a slice's rows (what a warp requests), and
 * distinct lines of 64 bytes among those behind all entries of one row. */
typedef struct {
  double sectors_per_request, lines_per_row;
  int64_t rows;
} list_figures;
/* Errors: MD_EINVAL (an empty list), MD_ENOMEM, MD_ECUDA. */
md_status list_measure(const list_input *in, int64_t rows, list_figures *out);

MD_END_C
#endif
