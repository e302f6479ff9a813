/* force/force_impl.h - what a backend provides to force.c. */
#ifndef FORCE_IMPL_H
#define FORCE_IMPL_H

#include "core/simd.h"
#include "force/coulomb.h"
#include "force/eam/eam.h"
#include "force/force.h"
#include "force/lj.h"

MD_BEGIN_C

/* GPU: neighbours of a row whose coordinates a thread asks for at a time, by the width of a real;
 * cachemodel/kernel/ has the same numbers. */
enum { FORCE_FULL_BATCH = 8, FORCE_FULL_BATCH_WIDE = 4, FORCE_HALF_BATCH = 4 };

/* Functions of embedded atoms in packed words (eam_pair.h): of 8 bytes against r^2 in single and
 * mixed precision; of 16 bytes against r in double. */
enum { EAM_PACKED_FUNCTIONS = 3, EAM_PACKED_MOST = 384, EAM_PACKED_ROW = 128 };
typedef struct {
  float line, middle, curve; /* of a place in a word, a power of two; where its middle is then; of
                                curvatures */
} eam_units;
/* A coefficient as a whole number of units: the lowest bits of a double of which these are the
 * upper 32, and what the double is for 0. */
typedef struct {
  uint32_t high;
  double zero;
} eam_bits;
typedef struct {
  eam_bits line, curve;
} eam_wide_units;
typedef struct {
  int32_t first, end; /* words of each function that there are: first .. end - 1; in float r^2 in
                         these units from which on there are words and at the cutoff, as bits of a
                         float; end 0: none */
  double per;         /* steps by unit of r; in float units of r^2 */
  eam_units units[EAM_PACKED_FUNCTIONS];
  eam_wide_units wide[EAM_PACKED_FUNCTIONS];
} eam_packing;

/* Atoms of several types. */
typedef struct {
  int32_t n;          /* 0: they are alike, and all else is empty */
  lj_constants *pair; /* [n][n] */
  md_buffer force;    /* real [n][n][4]: r_cut^2, lj1, lj2, f_shift */
  md_buffer energy;   /* real [n][n][4]: lj3, lj4, u_shift, 0 */
  md_buffer type;     /* uint8 [n + n_ghost] of the atoms */
  md_buffer values;   /* several processes: real [n + n_ghost], types as they travel */
} force_types;

struct force {
  md_ctx *ctx;
  force_spec spec;
  lj_constants lj;
  coulomb_constants coulomb;
  md_buffer partial; /* accum [blocks or chunks][2]: energy and virial before the last sum */
  md_buffer exact;   /* exact_sum [parts][2]: the same without rounding */
  md_buffer fixed;   /* int64 [n][4] and the largest force: deterministic half lists on the GPU */
  md_buffer packed;  /* coordinates repacked: double on the GPU, or with F' beside them */
  md_buffer charge;  /* real [n + n_ghost]: charges repacked */
  force_types types;
  const eam_potential *eam; /* NULL: Lennard-Jones */
  int64_t beyond;           /* densities beyond the table of F, since the first computation */
  md_buffer density_knots;  /* real [knots][4]: coefficients of rho (eam_curve) */
  md_buffer force_knots;    /* real [knots][8]: those of -r phi / step^3, then of -rho' / step^2 */
                            /* GPU, single, mixed: words of 16 bytes, [eam_words] of rho; those of
                               eam_words.c of the other functions, one after the other */
  md_buffer embed_knots;    /* GPU: double [knots][4]: F */
  eam_packing packing;      /* GPU: */
  md_buffer tile_words;     /* its words (eam_words.c) */
  md_buffer beyond_now;     /* GPU: the count of which `beyond` is what was read last */
  md_buffer near;           /* int32: the list's entries within the cutoff now, in its slices */
  md_buffer near_count;     /* int32 [slices][2][width]: how many of each row; of them shared */
  md_buffer squeezed;       /* GPU, lists by tiles: uint4 [n + n_ghost] (tile_squeezed_gpu.h) */
  md_buffer close;          /* GPU, lists by tiles: uint8 [n], see eam_tables */
  md_buffer density, slope; /* real [n], CPU [n + n_ghost]; [n + n_ghost]: rho_i, F'(rho_i) */
  force_fill_fn *fill;      /* values of ghosts of other processes, or NULL */
  void *fill_arg;
  md_buffer x_new,
      coord_new;           /* state4, coord4: positions to come, as large as those of the atoms */
  md_buffer order;         /* GPU: tiles at a border of a rank first */
  bool order_turn;         /* which of its counts are in use */
  md_buffer tiles_near[2]; /* GPU: bits of tiles near each; those of the list to come are zero */
  bool near_turn;          /* which of them are in use */
  md_buffer tiles_done;    /* GPU: bits of tiles that are done, of each step */
};

/* Everything a kernel reads and writes; pointers on the backend. */
typedef struct {
  const force *fc;
  md_ctx *ctx;
  const void *coord;           /* coord4 [n + n_ghost] */
  const void *x;               /* state4 [n + n_ghost], charges in w */
  void *f;                     /* real4 [n]; CPU [n + n_ghost], ghosts' of half lists */
  const int32_t *home, *shift; /* [n_ghost] */
  const int32_t *first;        /* [n + 1], GPU */
  void *v;                     /* state4 [n] */
  double kick, drift;          /* force_advance */
  int32_t steps;
  double edge[3], middle[3]; /* of a frame */
  int64_t n, n_ghost;
  double coord_scale;
  const neighbor_view *list;
  lj_constants lj;          /* of several types those of the first with itself */
  const force_types *types; /* NULL: atoms are alike */
  coulomb_constants coulomb;
  force_tally *tally; /* NULL: forces only */
  const md_mail *mail;
} force_job;

lj_constants force_constants(const force_lj *pair, const force_spec *spec);
/* The types of spec->pairs; types->n stays 0 without.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status force_types_create(force *fc, const force_spec *spec);
void force_types_free(force *fc);

/* Embedded atoms (eam_pair.h): steps of r^2 up to the cutoff, in single and mixed precision; words
 * of each function. */
enum { EAM_SQUARES = 512 };
int64_t eam_words(const force *fc, const eam_potential *eam);
/* The tables of a GPU, and of the CPU unless in double.  Errors: those of force_set_eam. */
md_status eam_set_words(force *fc, const eam_potential *eam);
/* Functions against r^2: rho, -phi'/r, -rho'/r, phi. */
typedef enum {
  EAM_OF_DENSITY,
  EAM_OF_PAIR,
  EAM_OF_SLOPE,
  EAM_OF_ENERGY,
  EAM_FUNCTIONS
} eam_function;
double eam_of_square(const eam_potential *eam, eam_function which, double r_sq);
/* Words of 8 bytes that a function has. */
int32_t eam_pack_words(const eam_packing *packing, eam_function which);
/* Pack the first EAM_PACKED_FUNCTIONS of them to words[function][EAM_PACKED_MOST][2]. */
void eam_pack(const eam_potential *eam, uint32_t *words, eam_packing *out);
/* The same in double to words[function][n][4], n = eam_wide_words(), 0 where there are none. */
int32_t eam_wide_words(const eam_potential *eam);
void eam_pack_wide(const eam_potential *eam, uint32_t *words, eam_packing *out);
/* n numbers to *out in the precision of pairs, which takes their place in `values` as well. */
md_status eam_write_reals(md_ctx *ctx, double *values, size_t n, md_buffer *out);
md_status eam_no_memory(size_t knots);

typedef md_status force_fn(force *fc, const force_job *job);
SIMD_DECLARE(force_fn, force_cpu_full);
SIMD_DECLARE(force_fn, force_cpu_half);
SIMD_DECLARE(force_fn, eam_cpu_full);
SIMD_DECLARE(force_fn, eam_cpu_half);
PREC_DECLARE(force_fn, force_gpu_full);
PREC_DECLARE(force_fn, force_gpu_half);
PREC_DECLARE(force_fn, force_gpu_tile);
PREC_DECLARE(force_fn, force_gpu_tile_advance);
PREC_DECLARE(force_fn, eam_gpu_full);
PREC_DECLARE(force_fn, eam_gpu_tile);
PREC_DECLARE(force_fn, eam_gpu_tile_advance);
/* Types of atoms and of ghosts that have a home; with values [n + n_ghost], reals, the atoms' there
 * too.  Then those of the other ghosts, from values that have been filled. */
typedef md_status force_take_fn(const md_atoms *atoms, uint8_t *type, void *values);
PREC_DECLARE(force_take_fn, force_gpu_take_types);
PREC_DECLARE(force_take_fn, force_gpu_take_filled);

MD_END_C
#endif
