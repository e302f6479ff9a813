/* minimd/run/dump.c - see dump.h.  A frame is a head, and windows of atoms by rising id.  Frames of
 * text are made line by line; a .dcd is made of Fortran records, each between two counts of its
 * bytes, of which every window adds to three. */
#include "minimd/run/dump.h"
#include "comm/world.h"
#include "engine/system/system.h"
#include "engine/windows.h"
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
  /* this rank's atoms, for which there is room */
  int64_t room;
  bool charged;
  double *x, *v; /* [room][3] */
  double *q;     /* [room], or NULL without charges */
  uint8_t *type; /* [room] */
  int64_t *id, *by_id;
  int32_t *image; /* [room][3] */
};

/* Of a frame the head, then the atoms of a window, in their order, `done` of which there were
 * before. */
typedef void head_fn(dump *to, const atoms_text *atoms);
typedef void window_fn(dump *to, const atoms_text *atoms, int64_t done);
static head_fn begin_xyz, begin_lammpstrj, begin_dcd;
static window_fn put_xyz, put_lammpstrj, put_dcd;
static const struct {
  const char *ending;
  head_fn *begin;
  window_fn *put;
} formats[] = {{".xyz", begin_xyz, put_xyz},
               {".lammpstrj", begin_lammpstrj, put_lammpstrj},
               {".dcd", begin_dcd, put_dcd}};
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

static void begin_xyz(dump *to, const atoms_text *atoms)
{
  atoms_text_xyz_head(atoms, to->stream);
}

static void put_xyz(dump *to, const atoms_text *atoms, int64_t done)
{
  (void)done;
  atoms_text_xyz_rows(atoms, NULL, to->stream);
}

static void begin_lammpstrj(dump *to, const atoms_text *atoms)
{
  const md_box box = atoms->box;
  fprintf(to->stream,
          "ITEM: TIMESTEP\n%" PRId64 "\nITEM: NUMBER OF ATOMS\n%" PRId64
          "\nITEM: BOX BOUNDS pp pp pp\n",
          atoms->step, to->n);
  for (int d = 0; d < 3; d++)
    fprintf(to->stream, "%.17g %.17g\n", box.lo[d], box.hi[d]);
  fprintf(to->stream, "ITEM: ATOMS id type x y z vx vy vz ix iy iz%s%s\n",
          atoms->spec->types ? " element" : "", atoms->q ? " q" : "");
}

static void put_lammpstrj(dump *to, const atoms_text *atoms, int64_t done)
{
  (void)done;
  for (int64_t i = 0; i < atoms->n; i++) {
    const double *x = &atoms->x[3 * i], *v = &atoms->v[3 * i];
    const int32_t *image = &atoms->image[3 * i];
    fprintf(to->stream, "%" PRId64 " %d %.17g %.17g %.17g %.17g %.17g %.17g %d %d %d", atoms->id[i],
            atoms->type[i] + 1, x[0], x[1], x[2], v[0], v[1], v[2], image[0], image[1], image[2]);
    if (atoms->spec->types) fprintf(to->stream, " %s", atoms_text_name(atoms, i));
    if (atoms->q) fprintf(to->stream, " %.17g", atoms->q[i]);
    fputc('\n', to->stream);
  }
}

static void put_count(dump *to, size_t bytes)
{
  const uint32_t count = (uint32_t)bytes;
  fwrite(&count, sizeof count, 1, to->stream);
}

static void put_record(dump *to, const void *data, size_t bytes)
{
  put_count(to, bytes);
  fwrite(data, 1, bytes, to->stream);
  put_count(to, bytes);
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
static bool has_place(const dump *to, int64_t step)
{
  return to->format != DCD || (step >= to->first && (step - to->first) % to->every == 0);
}

static void begin_dcd(dump *to, const atoms_text *atoms)
{
  const md_box *box = &atoms->box;
  /* a, gamma, b, beta, alpha, c */
  const double cell[6] = {box->hi[0] - box->lo[0], 90, box->hi[1] - box->lo[1], 90, 90,
                          box->hi[2] - box->lo[2]};
  put_record(to, cell, sizeof cell);
}

static void put_floats(dump *to, const atoms_text *atoms, int d)
{
  float block[1024];
  const int64_t most = sizeof block / sizeof *block;
  for (int64_t at = 0; at < atoms->n; at += most) {
    const int64_t n = atoms->n - at < most ? atoms->n - at : most;
    for (int64_t i = 0; i < n; i++)
      block[i] = (float)atoms->x[3 * (at + i) + d];
    fwrite(block, sizeof *block, (size_t)n, to->stream);
  }
}

/* The stream is where x of these atoms belongs, and then where x of the next do; behind the last
 * atoms, at the end of the frame. */
static void put_dcd(dump *to, const atoms_text *atoms, int64_t done)
{
  const int64_t n = to->n, record = 4 * n + 8, part = 4 * atoms->n;
  const bool first = done == 0, last = done + atoms->n == n;
  for (int d = 0; d < 3; d++) {
    if (first) put_count(to, (size_t)(4 * n));
    put_floats(to, atoms, d);
    if (last) put_count(to, (size_t)(4 * n));
    const int64_t written = part + 4 * first + 4 * last;
    if (d < 2 && written < record) fseeko(to->stream, record - written, SEEK_CUR);
  }
  if (!last) fseeko(to->stream, -2 * record, SEEK_CUR);
}

static void forget_atoms(dump *to)
{
  free(to->x);
  free(to->v);
  free(to->q);
  free(to->type);
  free(to->id);
  free(to->by_id);
  free(to->image);
  to->room = 0;
}

static md_status reserve(dump *to, int64_t n)
{
  if (n < to->room) return MD_OK;
  forget_atoms(to);
  const size_t room = (size_t)(n + n / 8 + 1); /* atoms come and go */
  to->x = malloc(3 * room * sizeof(double));
  to->v = malloc(3 * room * sizeof(double));
  to->q = to->charged ? malloc(room * sizeof(double)) : NULL;
  to->type = malloc(room * sizeof(uint8_t));
  to->id = malloc(room * sizeof(int64_t));
  to->by_id = malloc(room * sizeof(int64_t));
  to->image = malloc(3 * room * sizeof(int32_t));
  const bool good =
      to->x && to->v && (to->q || !to->charged) && to->type && to->id && to->by_id && to->image;
  MD_REQUIRE(good, MD_ENOMEM, "out of memory for frames of %lld atoms", (long long)to->n);
  to->room = (int64_t)room;
  return MD_OK;
}

/* What this rank's atoms are now. */
static md_status take_atoms(dump *to, const engine *sim)
{
  MD_TRY(reserve(to, sim->atoms->n));
  MD_TRY(engine_get(sim, to->x, to->v, to->q, to->type, to->id, to->image));
  system_sort_ids(sim->atoms->n, to->id, to->by_id);
  return MD_OK;
}

static void put_windows(dump *to, const engine *sim, engine_windows *w)
{
  atoms_text atoms = {.spec = sim->spec,
                      .box = engine_box(sim),
                      .n = to->n,
                      .q = to->q,
                      .mass = sim->mass,
                      .step = sim->step};
  const bool writes = world_rank() == 0;
  if (writes) formats[to->format].begin(to, &atoms);
  for (int64_t k = 0, done = 0; k < w->count; k++, done += atoms.n) {
    engine_windows_get(w, k);
    atoms.n = w->n;
    atoms.id = w->rows[0], atoms.x = w->rows[1], atoms.v = w->rows[2];
    atoms.image = w->rows[3], atoms.type = w->rows[4];
    atoms.q = to->q ? w->rows[5] : NULL;
    if (writes) formats[to->format].put(to, &atoms, done);
  }
}

md_status dump_frame(dump *to, const engine *sim)
{
  if (!has_place(to, sim->step)) return MD_OK;
  MD_TRY(world_agree(take_atoms(to, sim)));
  const engine_column column[] = {{to->id, 8},     {to->x, 24},   {to->v, 24},
                                  {to->image, 12}, {to->type, 1}, {to->q, 8}};
  engine_windows w;
  const md_status status = engine_windows_open(engine_window(sim->spec), sim->atoms->n, to->by_id,
                                               to->q ? 6 : 5, column, &w);
  if (!status) put_windows(to, sim, &w);
  engine_windows_close(&w);
  if (status || world_rank() > 0) return status;
  if (to->format == DCD) {
    to->frames++; /* a frame counts once it is whole */
    MD_TRY(count_dcd_frames(to));
  }
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
  MD_REQUIRE(to->path, MD_ENOMEM, "out of memory for a file name");
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
  to->charged = sim->mesh != NULL;
  const md_status status = world_agree(world_rank() == 0 ? start(to, sim, keep) : MD_OK);
  if (!status) world_broadcast(&to->first, sizeof to->first);
  if (!status) world_broadcast(&to->every, sizeof to->every);
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
  forget_atoms(to);
  free(to);
  return status;
}
