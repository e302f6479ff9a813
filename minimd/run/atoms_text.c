/* minimd/run/atoms_text.c - see atoms_text.h. */
#include "minimd/run/atoms_text.h"

#include <inttypes.h>

/* Where nobody gave a name, that of the argon that such a fluid is like. */
const char *atoms_text_name(const atoms_text *atoms, int64_t i)
{
  const engine_types *types = atoms->spec->types;
  return types ? types->species[atoms->type ? atoms->type[i] : 0].name : "Ar";
}

static int64_t place(const int64_t *order, int64_t k)
{
  return order ? order[k] : k;
}

static int64_t id_of(const atoms_text *atoms, int64_t i)
{
  return atoms->id ? atoms->id[i] : i + 1;
}

static void put_row(FILE *stream, const double row[3])
{
  fprintf(stream, " %.17g %.17g %.17g", row[0], row[1], row[2]);
}

void atoms_text_xyz_head(const atoms_text *atoms, FILE *stream)
{
  const md_box *box = &atoms->box;
  fprintf(stream,
          "%" PRId64 "\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Origin=\"%.17g %.17g %.17g\" "
          "Properties=species:S:1:pos:R:3:velo:R:3:id:I:1%s pbc=\"T T T\" Step=%" PRId64
          " Time=%.17g\n",
          atoms->n, box->hi[0] - box->lo[0], box->hi[1] - box->lo[1], box->hi[2] - box->lo[2],
          box->lo[0], box->lo[1], box->lo[2], atoms->q ? ":charge:R:1" : "", atoms->step,
          (double)atoms->step * atoms->spec->dt);
}

void atoms_text_xyz_rows(const atoms_text *atoms, const int64_t *order, FILE *stream)
{
  for (int64_t k = 0; k < atoms->n; k++) {
    const int64_t i = place(order, k);
    fputs(atoms_text_name(atoms, i), stream);
    put_row(stream, &atoms->x[3 * i]);
    put_row(stream, &atoms->v[3 * i]);
    fprintf(stream, " %" PRId64, id_of(atoms, i));
    if (atoms->q) fprintf(stream, " %.17g", atoms->q[i]);
    fputc('\n', stream);
  }
}

void atoms_text_xyz(const atoms_text *atoms, const int64_t *order, FILE *stream)
{
  atoms_text_xyz_head(atoms, stream);
  atoms_text_xyz_rows(atoms, order, stream);
}

static void put_head(const atoms_text *atoms, FILE *stream)
{
  const engine_spec *spec = atoms->spec;
  const md_box *box = &atoms->box;
  fprintf(stream, "LAMMPS data file by minimd, units = %s\n\n%" PRId64 " atoms\n%d atom types\n\n",
          spec->units == ENGINE_UNITS_METAL ? "metal" : "lj", atoms->n, engine_kinds(spec));
  for (int d = 0; d < 3; d++)
    fprintf(stream, "%.17g %.17g %clo %chi\n", box->lo[d], box->hi[d], 'x' + d, 'x' + d);
  fputs("\nMasses\n\n", stream);
  if (!spec->types) fprintf(stream, "1 %.17g\n", atoms->mass);
  for (int32_t t = 0; spec->types && t < spec->types->n; t++)
    fprintf(stream, "%d %.17g # %s\n", t + 1, spec->types->species[t].mass,
            spec->types->species[t].name);
}

void atoms_text_data(const atoms_text *atoms, const int64_t *order, FILE *stream)
{
  put_head(atoms, stream);
  fprintf(stream, "\nAtoms # %s\n\n", atoms->q ? "charge" : "atomic");
  for (int64_t k = 0; k < atoms->n; k++) {
    const int64_t i = place(order, k);
    const int32_t *image = atoms->image ? &atoms->image[3 * i] : (const int32_t[3]){0};
    fprintf(stream, "%" PRId64 " %d", id_of(atoms, i), atoms->type ? atoms->type[i] + 1 : 1);
    if (atoms->q) fprintf(stream, " %.17g", atoms->q[i]);
    put_row(stream, &atoms->x[3 * i]);
    fprintf(stream, " %d %d %d\n", image[0], image[1], image[2]);
  }
  fputs("\nVelocities\n\n", stream);
  for (int64_t k = 0; k < atoms->n; k++) {
    const int64_t i = place(order, k);
    fprintf(stream, "%" PRId64, id_of(atoms, i));
    put_row(stream, &atoms->v[3 * i]);
    fputc('\n', stream);
  }
}
