/* tests/drive/run_lists.h - a neighbour list on the host, and what it means. */
#ifndef RUN_LISTS_H
#define RUN_LISTS_H

#include "comm/comm.h"
#include "neighbor/neighbor.h"
#include "tests/drive/run_cases.h"

/* Atoms of a case, comm and an empty list. */
typedef struct {
  md_ctx *ctx;
  md_atoms *atoms;
  comm *cm;
  neighbor_list *list;
  neighbor_spec spec;
} run_near;
run_near run_near_open(md_precision precision, int threads, const neighbor_spec *spec,
                       const run_case *c);
void run_near_close(run_near *near);
/* Migrate, sort, borders, build. */
void run_near_rebuild(run_near *near);

/* Give the atoms, in their present order, one of n types each, by turns with gaps. */
void run_near_types(run_near *near, int32_t n);

/* A full list in Hilbert order with bins of `bins` times r_list. */
neighbor_spec run_near_spec(double r_list, double bins);
/* The i-th way to list pairs: full, half with newton, half without, and on the GPU by tiles.  The
 * first RUN_TRACED have slices. */
enum { RUN_TRACED = 3 };
#define RUN_LISTS run_lists()
int run_lists(void);
void run_set_list(neighbor_spec *spec, int i);
/* The k-th ordering, with its options, around and around. */
ordering run_order(int k);

/* The arrays of a view, read from the backend; those of tiles, checked on the way, turned into rows
 * one behind the other.  Free with run_list_free. */
typedef struct {
  neighbor_view view; /* its pointers point at host memory owned here */
  int64_t n_slots;
} run_list;
run_list run_list_read(md_ctx *ctx, const neighbor_list *list);
void run_list_free(run_list *list);
bool run_list_equal(const run_list *a, const run_list *b);

/* Atom i feels the image of atom j that is shifted by `shift`: what a list makes forces do. */
typedef struct {
  int32_t i, j, shift;
} run_action;

/* Check the shape of a list (slices, padding, counts, which pairs a half list may hold once and
 * which twice) and spread it out into directed actions, sorted by i, j, shift; *n gets their
 * number.  i and j are ids - 1.  `name` goes into failure messages. */
run_action *run_list_actions(const run_list *list, const run_snapshot *atoms, int64_t *n,
                             const char *name);

#endif
