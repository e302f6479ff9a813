/* comm/ranks.c - messages of atoms and ghosts, made and read on the CPU (ranks_exchange.c). */
#include "comm/ranks_impl.h"

#include <stdlib.h>
#include <string.h>

static comm_images_fn *const cpu_images[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_images);
static comm_pack_fn *const cpu_pack[MD_PRECISION_COUNT][MD_ISA_COUNT] = SIMD_TABLE(comm_cpu_pack);
static comm_unpack_fn *const cpu_unpack[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_unpack);
static comm_built_fn *const cpu_built[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_built);
#define PICK(ctx, table) table[(ctx)->precision][(ctx)->isa]

static void position(const md_atoms *atoms, int64_t i, double x[3])
{
  for (int d = 0; d < 3; d++)
    x[d] = md_state_size(atoms->ctx->precision) == sizeof(float)
               ? (double)((const float *)atoms->x.data)[4 * i + d]
               : ((const double *)atoms->x.data)[4 * i + d];
}

/* Cells of the owned atoms: of the whole box, or of that of this rank's halo. */
static md_status find_cells(comm *cm, const md_atoms *atoms, bool of_halo)
{
  comm_ranks *ranks = cm->ranks;
  const partition *p = ranks->part;
  const partition_halo *halo = &ranks->halo;
  MD_TRY(md_buffer_reserve(cm->ctx, &ranks->cell, (size_t)atoms->n * sizeof(int32_t), 0));
  const int32_t *image = atoms->image.data;
  int32_t *cell = ranks->cell.data;
#pragma omp parallel for schedule(static) num_threads(cm->ctx->threads)
  for (int64_t i = 0; i < atoms->n; i++) {
    double x[3];
    position(atoms, i, x);
    const int64_t c = partition_cell(p, x, image + 3 * i);
    cell[i] = (int32_t)(of_halo ? partition_halo_cell(p, halo, c) : c);
  }
  return MD_OK;
}

/* An atom that moves house: x, v, id, image. */
static size_t atom_bytes(const md_atoms *atoms)
{
  return 8 * md_state_size(atoms->ctx->precision) + 8 + 12;
}

static size_t name_bytes(const md_atoms *atoms)
{
  (void)atoms;
  return sizeof(ghost_name);
}

/* Copy atom i to `item`, or back. */
static void copy_atom(const md_atoms *atoms, int64_t i, char *item, bool back)
{
  const size_t four = 4 * md_state_size(atoms->ctx->precision);
  char *const part[] = {(char *)atoms->x.data + (size_t)i * four,
                        (char *)atoms->v.data + (size_t)i * four, (char *)atoms->id.data + i * 8,
                        (char *)atoms->image.data + i * 12};
  const size_t bytes[] = {four, four, 8, 12};
  for (int k = 0; k < 4; k++) {
    memcpy(back ? part[k] : item, back ? item : part[k], bytes[k]);
    item += bytes[k];
  }
}

/* Atoms that leave to messages; those that stay close up. */
static md_status pack_leavers(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const int32_t *cell = ranks->cell.data, *owner = ranks->part->owner;
  const size_t bytes = atom_bytes(atoms);
  char *out = ranks->out.data, one[128];
  int64_t kept = 0;
  for (int64_t i = 0; i < atoms->n; i++) {
    const int32_t rank = owner[cell[i]];
    if (rank != world_rank()) {
      copy_atom(atoms, i, out + (size_t)ranks->to_first[rank]++ * bytes, false);
      continue;
    }
    if (kept != i) {
      copy_atom(atoms, i, one, false);
      copy_atom(atoms, kept, one, true);
    }
    kept++;
  }
  for (int r = 0; r < world_count(); r++)
    ranks->to_first[r] -= ranks->to[r];
  return MD_OK;
}

static md_status count_leavers(comm *cm, md_atoms *atoms, double back)
{
  (void)back;
  comm_ranks *ranks = cm->ranks;
  MD_TRY(find_cells(cm, atoms, false));
  const int32_t *cell = ranks->cell.data, *owner = ranks->part->owner;
  for (int64_t i = 0; i < atoms->n; i++)
    ranks->to[owner[cell[i]]] += owner[cell[i]] != world_rank();
  return MD_OK;
}

static md_status take_arrivals(comm *cm, md_atoms *atoms, int64_t arrivals, const void *from)
{
  const size_t bytes = atom_bytes(atoms);
  (void)cm;
  for (int64_t k = 0; k < arrivals; k++)
    copy_atom(atoms, atoms->n + k, (char *)from + (size_t)k * bytes, true);
  return MD_OK;
}

static char *charge_of(const md_atoms *atoms, int64_t i)
{
  return (char *)atoms->x.data + (size_t)(4 * i + 3) * md_state_size(atoms->ctx->precision);
}

/* Atoms of every cell. */
static md_status weigh(comm *cm, const md_atoms *atoms, int64_t *weight)
{
  MD_TRY(find_cells(cm, atoms, false));
  const int32_t *cell = cm->ranks->cell.data;
  for (int64_t i = 0; i < atoms->n; i++)
    weight[cell[i]]++;
  return MD_OK;
}

/* Where the atoms of each target begin in index: those of this rank itself first. */
static md_status count_images(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const partition_halo *halo = &ranks->halo;
  int64_t *taken = realloc(ranks->taken, (size_t)(halo->n_targets + 1) * sizeof *taken);
  MD_REQUIRE(taken, MD_ENOMEM, "out of memory for the neighbours of a rank");
  ranks->taken = taken;
  memset(taken, 0, (size_t)(halo->n_targets + 1) * sizeof *taken);
  MD_TRY(find_cells(cm, atoms, true));
  const int32_t *cell = ranks->cell.data;
  for (int64_t i = 0; i < atoms->n; i++)
    for (int64_t e = halo->first[cell[i]]; e < halo->first[cell[i] + 1]; e++)
      taken[halo->to[e]]++;
  int64_t at = 0;
  for (int own = 1; own >= 0; own--) {
    for (int32_t t = 0; t < halo->n_targets; t++) {
      const int rank = halo->target[t].rank;
      const int64_t count = taken[t];
      if ((rank == world_rank()) != own) continue;
      if (!own) ranks->to[rank] += count;
      taken[t] = at;
      at += count;
    }
    if (own) ranks->n_own = at;
  }
  return md_buffer_reserve(cm->ctx, &ranks->index, (size_t)at * sizeof(int32_t), 0);
}

/* Ghosts of own atoms, and the names of those that other ranks get. */
static md_status name_images(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const partition_halo *halo = &ranks->halo;
  const int32_t *cell = ranks->cell.data, *image = atoms->image.data;
  const int64_t *id = atoms->id.data;
  int32_t *index = ranks->index.data, *home = atoms->home.data, *shift = atoms->shift.data;
  int64_t *ghost_id = atoms->ghost_id.data;
  ghost_name *out = ranks->out.data;
  for (int64_t i = 0; i < atoms->n; i++)
    for (int64_t e = halo->first[cell[i]]; e < halo->first[cell[i] + 1]; e++) {
      const int64_t k = ranks->taken[halo->to[e]]++, sent = k - ranks->n_own;
      const int32_t by = halo->target[halo->to[e]].shift;
      index[k] = (int32_t)i;
      if (sent < 0) {
        home[k] = (int32_t)i, shift[k] = by, ghost_id[k] = id[i];
        continue;
      }
      out[sent] = (ghost_name){id[i], by, md_frame_home(atoms->frames, image + 3 * i, by), ""};
      memcpy(out[sent].charge, charge_of(atoms, i), md_state_size(atoms->ctx->precision));
    }
  return MD_OK;
}

static md_status take_names(comm *cm, md_atoms *atoms, const void *from)
{
  comm_ranks *ranks = cm->ranks;
  const ghost_name *in = from;
  int32_t *home = atoms->home.data, *shift = atoms->shift.data;
  int64_t *ghost_id = atoms->ghost_id.data;
  for (int64_t k = 0, g = ranks->n_own; k < ranks->n_in; k++, g++) {
    home[g] = in[k].home, shift[g] = in[k].shift, ghost_id[g] = in[k].id;
    memcpy(charge_of(atoms, atoms->n + g), in[k].charge, md_state_size(cm->ctx->precision));
  }
  if (atoms->n > 0) PICK(cm->ctx, cpu_built)(atoms);
  return MD_OK;
}

static md_status pack(comm *cm, const md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  PICK(cm->ctx, cpu_pack)(atoms, sent_of(ranks), ranks->n_out, ranks->out.data);
  return MD_OK;
}

static md_status images(comm *cm, md_atoms *atoms)
{
  PICK(cm->ctx, cpu_images)(atoms, cm->ranks->n_own);
  return MD_OK;
}

static md_status unpack(comm *cm, md_atoms *atoms, const void *from)
{
  comm_ranks *ranks = cm->ranks;
  PICK(cm->ctx, cpu_unpack)(atoms, ranks->n_own, ranks->n_in, from);
  return MD_OK;
}

static md_status pack_reals(comm *cm, const void *values)
{
  comm_ranks *ranks = cm->ranks;
  const int32_t *sent = sent_of(ranks);
  const size_t size = md_real_size(cm->ctx->precision);
  for (int64_t k = 0; k < ranks->n_out; k++)
    memcpy((char *)ranks->out.data + (size_t)k * size,
           (const char *)values + (size_t)sent[k] * size, size);
  return MD_OK;
}

static md_status unpack_reals(comm *cm, const md_atoms *atoms, void *values)
{
  comm_ranks *ranks = cm->ranks;
  const size_t size = md_real_size(cm->ctx->precision);
  if (ranks->n_in > 0)
    memcpy((char *)values + (size_t)(atoms->n + ranks->n_own) * size, ranks->in.data,
           (size_t)ranks->n_in * size);
  return MD_OK;
}

const ranks_backend ranks_on_cpu = {atom_bytes,  name_bytes,   weigh,         count_leavers,
                                    NULL,        pack_leavers, take_arrivals, count_images,
                                    name_images, take_names,   pack,          images,
                                    unpack,      NULL,         pack_reals,    unpack_reals};
