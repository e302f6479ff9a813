/* minimd/run/dump.c - see dump.h.  Frames of text are made line by line; a .dcd is made of Fortran
 * records, each between two counts of its bytes. */
#include "minimd/run/dump.h"
#include "comm/world.h"
#include "engine/system/system.h"
#include "minimd/run/atoms_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dump {
  FILE *stream;
  char *path;
  int format;
  int32_t every;
  int64_t n, frames;
  int64_t first; /* .dcd only: step of the first frame; those to come are `every` apart */
  double *x, *v; /* [n][3] */
  double *q;     /* [n], or NULL without charges */
  uint8_t *type; /* [n] */
  int64_t *id, *by_id;
  int32_t *image; /* [n][3] */
  float *axis;    /* [n], .dcd only */
};

typedef md_status frame_fn(dump *to, const engine *sim);
static frame_fn write_xyz, write_lammpstrj, write_dcd;
static const struct {
  const char *ending;
  frame_fn *write;
} formats[] = {{".xyz", write_xyz}, {".lammpstrj", write_lammpstrj}, {".dcd", write_dcd}};
enum { N_FORMATS = sizeof formats / sizeof *formats, DCD = 2 };

static int format_of(const char *path)
{
  const size_t length = strlen(path);
  for (int k = 0; k < N_FORMATS; k++) {
    const size_t ending = strlen(formats[k].ending);
    if (length > ending && strcmp(path + length - ending, formats[k].ending) == 0) return k;
  }
  return -1;
}

md_status dump_check(const char *path)
{
  MD_REQUIRE(format_of(path) >= 0, MD_EINVAL,
             "output.dump = \"%s\": expected a name that ends in .xyz, .lammpstrj or .dcd", path);
  return MD_OK;
}

/* by_id[k]: where the atom with the k-th smallest id lies.  Ids are all different; most often they
 * are 1..n. */
static void rank_ids(dump *to)
{
  bool counted = true;
  for (int64_t i = 0; i < to->n; i++)
    counted = counted && to->id[i] >= 1 && to->id[i] <= to->n;
  if (!counted) {
    system_sort_ids(to->n, to->id, to->by_id);
    return;
  }
  for (int64_t i = 0; i < to->n; i++)
    to->by_id[to->id[i] - 1] = i;
}

/* The last column of an atom's line, if there are charges. */
static void end_line(dump *to, int64_t i)
{
  if (to->q) fprintf(to->stream, " %.17g", to->q[i]);
  fputc('\n', to->stream);
}

static atoms_text text_of(const dump *to, const engine *sim)
{
  return (atoms_text){.spec = sim->spec,
                      .box = engine_box(sim),
                      .n = to->n,
                      .x = to->x,
                      .v = to->v,
                      .q = to->q,
                      .type = to->type,
                      .id = to->id,
                      .image = to->image,
                      .mass = sim->mass,
                      .step = sim->step};
}

static md_status write_xyz(dump *to, const engine *sim)
{
  const atoms_text atoms = text_of(to, sim);
  atoms_text_xyz(&atoms, to->by_id, to->stream);
  return MD_OK;
}

static md_status write_lammpstrj(dump *to, const engine *sim)
{
  const atoms_text atoms = text_of(to, sim);
  const md_box box = atoms.box;
  fprintf(to->stream,
          "ITEM: TIMESTEP\n%" PRId64 "\nITEM: NUMBER OF ATOMS\n%" PRId64
          "\nITEM: BOX BOUNDS pp pp pp\n",
          sim->step, to->n);
  for (int d = 0; d < 3; d++)
    fprintf(to->stream, "%.17g %.17g\n", box.lo[d], box.hi[d]);
  fprintf(to->stream, "ITEM: ATOMS id type x y z vx vy vz ix iy iz%s%s\n",
          sim->spec->types ? " element" : "", to->q ? " q" : "");
  for (int64_t k = 0; k < to->n; k++) {
    const int64_t i = to->by_id[k];
    const double *x = &to->x[3 * i], *v = &to->v[3 * i];
    const int32_t *image = &to->image[3 * i];
    fprintf(to->stream, "%" PRId64 " %d %.17g %.17g %.17g %.17g %.17g %.17g %d %d %d", to->id[i],
            to->type[i] + 1, x[0], x[1], x[2], v[0], v[1], v[2], image[0], image[1], image[2]);
    if (sim->spec->types) fprintf(to->stream, " %s", atoms_text_name(&atoms, i));
    end_line(to, i);
  }
  return MD_OK;
}

static void put_record(dump *to, const void *data, size_t bytes)
{
  const uint32_t count = (uint32_t)bytes;
  fwrite(&count, sizeof count, 1, to->stream);
  fwrite(data, 1, bytes, to->stream);
  fwrite(&count, sizeof count, 1, to->stream);
}

/* Bytes of the header, and where in it the numbers of frames, of the first step and of
 * steps stand. */
enum { DCD_HEAD = 196, DCD_FRAMES_AT = 8, DCD_FIRST_AT = 12, DCD_STEPS_AT = 20 };

static int64_t dcd_frame_bytes(int64_t n)
{
  return 6 * 8 + 8 + 3 * (4 * n + 8);
}

/* The header alone says which steps the frames are of. */
static void set_dcd_steps(dump *to, const engine *sim, int32_t every)
{
  const int64_t left = sim->spec->steps - sim->step;
  to->every = every > 0 ? every : left < 1 ? 1 : left < INT32_MAX ? (int32_t)left : INT32_MAX;
  to->first = every > 0 ? (sim->step + every - 1) / every * every : sim->step;
}

static void write_dcd_head(dump *to, const engine *sim)
{
  const float dt = (float)sim->spec->dt;
  const int32_t n = (int32_t)to->n;
  int32_t control[21] = {0};
  memcpy(control, "CORD", 4);
  control[2] = to->first > INT32_MAX ? INT32_MAX : (int32_t)to->first;
  control[3] = to->every;
  memcpy(&control[10], &dt, sizeof dt);
  control[11] = 1;  /* frames have a unit cell */
  control[20] = 24; /* the layout is that of CHARMM 24 */
  char title[4 + 80] = {1, 0, 0, 0};
  snprintf(title + 4, 80, "%-79s", "minimd");
  title[83] = ' ';
  put_record(to, control, sizeof control);
  put_record(to, title, sizeof title);
  put_record(to, &n, sizeof n);
}

/* A frame counts once it is whole. */
static md_status count_dcd_frames(dump *to)
{
  const int32_t frames = (int32_t)to->frames, steps = (int32_t)(to->frames * to->every);
  const int file = fileno(to->stream);
  const bool good = fflush(to->stream) == 0 &&
                    pwrite(file, &frames, sizeof frames, DCD_FRAMES_AT) == sizeof frames &&
                    pwrite(file, &steps, sizeof steps, DCD_STEPS_AT) == sizeof steps;
  MD_REQUIRE(good, MD_EIO, "cannot write '%s': %s", to->path, strerror(errno));
  return MD_OK;
}

/* A step between frames, as where a run is stopped, has no place in the file. */
static md_status write_dcd(dump *to, const engine *sim)
{
  if (sim->step < to->first || (sim->step - to->first) % to->every != 0) return MD_OK;
  const md_box *box = &sim->atoms->box;
  /* a, gamma, b, beta, alpha, c */
  const double cell[6] = {box->hi[0] - box->lo[0], 90, box->hi[1] - box->lo[1], 90, 90,
                          box->hi[2] - box->lo[2]};
  put_record(to, cell, sizeof cell);
  for (int d = 0; d < 3; d++) {
    for (int64_t k = 0; k < to->n; k++)
      to->axis[k] = (float)to->x[3 * to->by_id[k] + d];
    put_record(to, to->axis, (size_t)to->n * sizeof(float));
  }
  to->frames++;
  return count_dcd_frames(to);
}

md_status dump_frame(dump *to, const engine *sim)
{
  MD_TRY(engine_get(sim, to->x, to->v, to->q, to->type, to->id, to->image));
  if (world_rank() > 0) return MD_OK;
  rank_ids(to);
  MD_TRY(formats[to->format].write(to, sim));
  const bool good = fflush(to->stream) == 0 && !ferror(to->stream);
  MD_REQUIRE(good, MD_EIO, "cannot write '%s': %s", to->path, strerror(errno));
  return MD_OK;
}

/* What changes while a trajectory grows: the head of a .dcd counts frames. */
static int64_t changing(const dump *to)
{
  return to->format == DCD ? DCD_HEAD : 0;
}

md_status dump_mark(const dump *to, md_file_mark *out)
{
  if (world_rank() > 0) return MD_OK;
  return md_file_take_mark(to->stream, to->path, changing(to), out);
}

static md_status reserve(dump *to, bool charges)
{
  const size_t n = (size_t)(to->n > 0 ? to->n : 1);
  to->x = malloc(3 * n * sizeof(double));
  to->v = malloc(3 * n * sizeof(double));
  to->q = charges ? malloc(n * sizeof(double)) : NULL;
  to->type = malloc(n * sizeof(uint8_t));
  to->id = malloc(n * sizeof(int64_t));
  to->by_id = malloc(n * sizeof(int64_t));
  to->image = malloc(3 * n * sizeof(int32_t));
  to->axis = malloc(n * sizeof(float));
  const bool good = to->path && to->x && to->v && (to->q || !charges) && to->type && to->id &&
                    to->by_id && to->image && to->axis;
  MD_REQUIRE(good, MD_ENOMEM, "out of memory for frames of %lld atoms", (long long)to->n);
  return MD_OK;
}

static md_status reopen(dump *to, const md_file_mark *keep)
{
  const int64_t frames = keep->bytes - DCD_HEAD;
  MD_REQUIRE(to->format != DCD || (frames >= 0 && frames % dcd_frame_bytes(to->n) == 0), MD_EIO,
             "'%s': %lld bytes are not frames of %lld atoms; another name begins anew", to->path,
             (long long)keep->bytes, (long long)to->n);
  MD_TRY(md_file_continue(to->path, changing(to), keep, &to->stream));
  if (to->format != DCD) return MD_OK;
  int32_t steps[2]; /* of the first frame; between two */
  MD_REQUIRE(pread(fileno(to->stream), steps, sizeof steps, DCD_FIRST_AT) == sizeof steps &&
                 steps[0] >= 0 && steps[1] >= 1,
             MD_EIO, "'%s' does not begin as a trajectory", to->path);
  to->first = steps[0];
  to->every = steps[1];
  to->frames = frames / dcd_frame_bytes(to->n);
  return count_dcd_frames(to);
}

static md_status start(dump *to, const engine *sim, const md_file_mark *keep)
{
  MD_TRY(reserve(to, sim->mesh != NULL));
  MD_REQUIRE(to->format != DCD || to->n <= INT32_MAX / 4, MD_ECAPACITY,
             "'%s': a .dcd holds at most %d atoms, not %lld", to->path, INT32_MAX / 4,
             (long long)to->n);
  if (keep) return reopen(to, keep);
  MD_TRY(md_file_begin(to->path, &to->stream));
  if (to->format == DCD) write_dcd_head(to, sim);
  return MD_OK;
}

md_status dump_open(const char *path, const engine *sim, const md_file_mark *keep, int32_t every,
                    dump **out)
{
  *out = NULL;
  MD_TRY(dump_check(path));
  dump *to = calloc(1, sizeof *to);
  MD_REQUIRE(to, MD_ENOMEM, "out of memory for a trajectory");
  to->path = strdup(path);
  to->format = format_of(path);
  set_dcd_steps(to, sim, every);
  to->n = sim->atoms->n_total;
  const md_status status = world_rank() == 0 ? start(to, sim, keep) : MD_OK;
  if (status)
    dump_close(to);
  else
    *out = to;
  return status;
}

md_status dump_close(dump *to)
{
  if (!to) return MD_OK;
  md_status status = MD_OK;
  if (to->stream && fclose(to->stream) != 0)
    status = MD_FAIL(MD_EIO, "cannot write '%s': %s", to->path, strerror(errno));
  free(to->path);
  free(to->x);
  free(to->v);
  free(to->q);
  free(to->type);
  free(to->id);
  free(to->by_id);
  free(to->image);
  free(to->axis);
  free(to);
  return status;
}
