/* neighbor/neighbor.h - which atoms are near which?
 *
 * Atoms are binned on a regular grid over the box, its frames apart, and its ghosts, sorted along a
 * curve through the bins (ordering/), and listed: row i holds every j with |x_i - x_j| < r_list.
 *   full  j in the row of i and i in the row of j
 *   half  each pair once.  Two owned atoms: in the row of one of them.  An owned atom and a ghost:
 *         newton on, in one of the two rows that see the pair (GPU: where the ghost's shift is
 *         positive; CPU: that of the atom which lies first along axis 0), and the force goes to the
 *         ghost's home as well; newton off, in both rows, each for itself; and so where the ghost
 *         is of another rank's atom.
 *   tile  the pairs of full, on the GPU: 256 rows that follow each other share one halo, and a row
 *         holds 16-bit offsets into it (neighbor_tiles).  On the CPU the layout of full, which is
 *         built by tiles and read by vectors of rows, is used.
 * Distances decide in the state precision, so that every backend and instruction set lists the same
 * pairs: a run that lets atoms move more than half the skin between builds depends on exactly which
 * they are.  In a box of several frames positions are rounded in one space of all frames first, and
 * the list reaches as much further as that may cost.  [AK] section 4. */
#ifndef NEIGHBOR_H
#define NEIGHBOR_H

#include "core/atoms.h"
#include "ordering/ordering.h"

MD_BEGIN_C

#define NEIGHBOR_LISTS(X) X(FULL, "full") X(HALF, "half") X(TILE, "tile")
/* block: all bins within r_list along each axis.
 * sphere: only those whose nearest point is within. */
#define NEIGHBOR_STENCILS(X) X(BLOCK, "block") X(SPHERE, "sphere")
#define MD_ENUM_(name, word) NEIGHBOR_##name,
typedef enum { NEIGHBOR_LISTS(MD_ENUM_) NEIGHBOR_LIST_COUNT } neighbor_kind;
typedef enum { NEIGHBOR_STENCILS(MD_ENUM_) NEIGHBOR_STENCIL_COUNT } neighbor_stencil;
#undef MD_ENUM_
extern const char *const neighbor_list_words[NEIGHBOR_LIST_COUNT];
extern const char *const neighbor_stencil_words[NEIGHBOR_STENCIL_COUNT];

/* A list by tiles of at most 2^18 atoms along a Morton or Hilbert curve, which jump otherwise, has
 * as many bins along each axis as the power of two nearest to what bin_size makes. */
typedef struct {
  neighbor_kind kind;
  neighbor_stencil stencil;
  bool newton;     /* half lists across ghosts */
  double r_list;   /* cutoff + skin > 0 [sigma] */
  double bin_size; /* a bin is at least this long along each axis, > 0 [sigma] */
  ordering order;  /* of bins, and so of atoms */
} neighbor_spec;

/* Lists by tiles.  Tile t has the rows t * rows ... of which the last tile may have fewer.  Its
 * halo are the atoms and ghosts that some row of it holds (and some more), in one pass or several:
 * entry e of pass p, 0 <= e < h.count = m, is atom halo[h.start + e], where h = halos[t * passes +
 * p]; behind them, from m rounded up to a multiple of `banks`, lie `banks` entries far from
 * everything. Lane l of warp w = t * rows / 32 + ... has, for pass after pass, the groups of 8
 * entries of its row that c = groups[w * passes + p] holds, and, while c.next > 0, of c =
 * groups[c.next], each entry e * 16 in 16 bits:
 *     list[((c.start + group) * 32 + l) * 8 ...], 0 <= group < c.count
 * Every tile takes what it needs of halo and list, in any order.  Entries of a group are arranged
 * such that lanes that read shared memory together read from different banks; entries of no atom
 * are far ones. */
enum {
  NEIGHBOR_TILE_ROWS = 256,
  NEIGHBOR_TILE_GROUP = 8,
  NEIGHBOR_TILE_BANKS = 8, /* of shared memory, of entries of 16 bytes; and far ones of a halo */
};
typedef struct {
  int64_t start;
  int32_t count;
  union {
    int32_t next; /* of groups */
    int32_t last; /* of halos: the largest entry; 0 of an empty one */
  };
} neighbor_piece;
typedef struct {
  int32_t rows, passes; /* of a tile; of the tile that needs most */
  int32_t most;         /* no pass has more entries, its far ones counted */
  const neighbor_piece *halos, *groups;
  const int32_t *halo;
  const void *list; /* uint16_t */
  /* Entries of halo; groups of list; of groups, further ones counted. */
  int64_t n_halo, n_list, n_pieces;
  /* Until neighbor_settle: on the device, not 0 where the list did not fit its room and so is
   * none. */
  const int32_t *unfit;
} neighbor_tiles;

/* A list as force kernels read it.  Rows are grouped in slices of `width` rows; entry k of row r is
 *     nbr[start[r / width] + (int64_t)k * width + r % width],   0 <= k < count[r]
 * so that a warp (width 32) or a vector (width = lanes) reads neighbouring words, and width 1 is
 * CSR. Arrays lie on the backend.  An entry is the index of an owned atom (< n) or a ghost (n + g).
 */
typedef struct {
  neighbor_kind kind;
  bool newton;
  int64_t n_rows;
  int32_t width;
  const int64_t *start;  /* [ceil(n_rows / width) + 1] */
  const int32_t *nbr;    /* slots beyond count[r] hold the row's own atom */
  const int32_t *count;  /* [n_rows] */
  const int32_t *atom;   /* [n_rows] the atom of a row; NULL: row r is atom r */
  const int32_t *shared; /* CPU half lists, [n_rows]: the first shared[r] entries also act on j */
  const int64_t *chunk;  /* CPU half lists, [n_chunks + 1]: the rows of each chunk */
  int32_t n_chunks;
  /* CPU half lists: ghosts that shared entries of chunk c may name, those of its rows' atoms, are
   * ghost[ghost_start[c]] ... ghost[ghost_start[c + 1] - 1], each 0 <= g < n_ghost, ascending. */
  const int32_t *ghost;
  const int32_t *ghost_start; /* [n_chunks + 1] */
  int64_t n_entries;          /* sum of count */
  int32_t max_count;
  int64_t n_ghost; /* ghosts at the build */
  double r_list;
  const neighbor_tiles *tiles; /* kind tile; start and nbr are NULL then */
  /* CPU, or NULL: cache lines of 64 bytes of coordinates, counted from the first atom's, to
   * prefetch while slice s is computed: line[line_start[s]] ... line[line_start[s + 1] - 1].  Each
   * line that a slice reads is listed, in the slice or before it, unless that was done for rows a
   * little before. */
  const int64_t *line_start; /* [ceil(n_rows / width) + 1] */
  const int32_t *line;
} neighbor_view;

/* Chunks of a CPU half list are ranges of rows that may run at the same time.  A pair whose atoms
 * (a ghost stands for its home) lie in one chunk is listed once and acts on both, unless it is a
 * ghost without newton; it is among the first shared[r] entries of its row.  Any other pair is
 * listed in the rows of both atoms and acts on the row's own atom only. */

typedef struct neighbor_list neighbor_list;

/* Make an empty list; its view has kind full where tile was asked for on the CPU.  *out is NULL on
 * failure; free with neighbor_destroy (NULL is allowed).
 * Errors: MD_EINVAL (r_list or bin_size not > 0), MD_ENOMEM. */
md_status neighbor_create(md_ctx *ctx, const neighbor_spec *spec, neighbor_list **out);
void neighbor_destroy(neighbor_list *list);

/* Reorder the owned atoms (x, v, id, image; not f) along the curve; drops the ghosts.  Positions
 * must be wrapped.  Stable: atoms of one bin keep their order.  Does nothing for the ordering
 * `none`. */
md_status neighbor_sort(neighbor_list *list, md_atoms *atoms);

/* Bin owned atoms and ghosts and build the list.  Needs ghosts up to r_list (comm_borders).
 * Memory grows to what is needed, nothing is truncated; the same atoms give the same list.  Full
 * lists in a deterministic context hold each row's neighbours in an order that depends
 * on positions and ids alone, not on the order of atoms or on ranks.
 * Errors: MD_EINVAL (ghosts do not reach r_list), MD_ECAPACITY (2^31 bins or more), MD_ENOMEM,
 * MD_ECUDA; the list is then empty. */
md_status neighbor_build(neighbor_list *list, const md_atoms *atoms);

/* The same, but a GPU is not waited for: where the list may not fit the room that the last one had,
 * which is rare, neighbor_settle finds out.  Until then counts and totals of the view are unknown,
 * and only kernels that look at tiles.unfit may read it. */
md_status neighbor_build_early(neighbor_list *list, const md_atoms *atoms);
/* Wait for such a build and finish it; after neighbor_build there is nothing to do.  *again (or
 * NULL): kernels found tiles.unfit, did nothing, and have to be launched once more.  The atoms are
 * those of the build, unmoved.  Errors: as neighbor_build. */
md_status neighbor_settle(neighbor_list *list, bool *again);
bool neighbor_settled(const neighbor_list *list);

const neighbor_view *neighbor_list_view(const neighbor_list *list);

/* Forces from this list, until it is built again, prefetch no lines and do not read which: what
 * counts accesses where prefetches do nothing (valgrind) then sees the model's arrays alone. */
void neighbor_forget_lines(neighbor_list *list);

/* The bins of the last build: n bins along each axis including the margin of ghosts, the bin at the
 * owned part's lo being margin.  The owned part of one of several ranks begins at bin `first` of
 * the `whole` that the box has, whose corner is lo: a position has one bin on all ranks. */
typedef struct {
  int32_t n[3], margin[3];
  double lo[3], side[3]; /* corner of what owned atoms fill; edge of a bin [sigma] */
  int32_t first[3], whole[3];
} neighbor_grid;
const neighbor_grid *neighbor_list_grid(const neighbor_list *list);

/* Positions of owned atoms and ghosts in one space, where frames follow each other gap[d] apart
 * around the middle of the box (core/atoms.h): state4 [n + n_ghost] on the backend.  A ghost stays
 * beside the frame that it belongs to.  gap NULL: positions in the box.  Errors: MD_ENOMEM,
 * MD_ECUDA. */
md_status neighbor_unfold(const md_atoms *atoms, const double gap[3], md_buffer *to);

/* Where the last build had atoms and ghosts: what its grid's bins were made from. */
const void *neighbor_list_positions(const neighbor_list *list, const md_atoms *atoms);

/* A tile of a liquid at this density has about so many entries of a halo, a little more than was
 * measured. */
double neighbor_tile_halo(const neighbor_spec *spec, double density);

/* Bytes of a list of n atoms and their ghosts in a box with these edges with these settings, for a
 * pre-flight check. */
double neighbor_memory(const md_ctx *ctx, const neighbor_spec *spec, double n, double ghosts,
                       const double edge[3]);

MD_END_C
#endif
