/* tests/drive/run_cases.h - the configurations that every room is tested with. */
#ifndef RUN_CASES_H
#define RUN_CASES_H

#include "core/atoms.h"

typedef struct {
  const char *name;
  md_box box;
  int64_t n;
  double *x;    /* [n][3] */
  double frame; /* > 0: the box is divided into frames no longer than this */
  bool spaced;  /* no two atoms closer than about 0.8: forces make sense */
} run_case;

int run_case_count(void);
/* Case k, its positions rounded to what precision keeps.  Free with run_case_free. */
run_case run_case_make(int k, md_precision precision);
void run_case_free(run_case *c);

/* fcc lattice of reduced density .8442, each atom moved by up to `jitter` along each axis. */
run_case run_case_fcc(const char *name, const int cells[3], const double lo[3], double jitter);

/* Velocities of temperature t with zero sum, from a seed. */
double *run_velocities(int64_t n, double t, uint64_t seed);

/* The atoms of case c in this context; ids 1..n.  v may be NULL. */
md_atoms *run_case_atoms(md_ctx *ctx, const run_case *c, const double *v);

/* Unit roundoff of positions and velocities. */
double run_unit(md_precision precision);
/* The nearest position that precision keeps. */
double run_round(md_precision precision, double x);
/* A neighbouring value in the number type of positions: towards +infinity or -infinity. */
double run_next(md_precision precision, double x, double towards);

/* Everything that describes owned atoms and ghosts, on the host.  Free with run_snapshot_free. */
typedef struct {
  int64_t n, n_ghost;
  double *x;      /* [n + n_ghost][3] */
  double *v, *f;  /* [n][3] */
  int32_t *fixed; /* [n + n_ghost][4], NULL unless mixed */
  int64_t *id;    /* [n] */
  int32_t *image; /* [n][3] */
  int32_t *home, *shift;
} run_snapshot;
run_snapshot run_snapshot_take(const md_atoms *atoms);
void run_snapshot_free(run_snapshot *s);
/* Fails unless x and v of both have the same bits; frees them. */
void run_snapshots_match(run_snapshot state[2]);

/* v *= factor for every atom. */
void run_scale_velocities(md_atoms *atoms, double factor);

/* Put the rows of three doubles of `rows` in the order of ids, which are 1..n in any order. */
void run_by_id(int64_t n, const int64_t *id, double *rows);

#endif
