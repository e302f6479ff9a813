/* minimd/config/config_types.c - the settings species, lj.pairs and lj.mix as types of the engine,
 * and types as these settings. */
#include "minimd/config/config_impl.h"
#include "core/parse/parse.h"
#include "engine/system/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a key of a group may be; words > 0: so many strings, 0: a number. */
typedef struct {
  const char *key;
  int words;
  double min, max;
  bool open; /* min itself is out of range */
} field;
enum { SPECIES_NAME, SPECIES_MASS, SPECIES_CHARGE, SPECIES_FRACTION, SPECIES_FIELDS };
static const field of_species[SPECIES_FIELDS] = {[SPECIES_NAME] = {"name", 1, 0, 0, false},
                                                 [SPECIES_MASS] = {"mass", 0, 0, 1e9, true},
                                                 [SPECIES_CHARGE] = {"charge", 0, -1e6, 1e6, false},
                                                 [SPECIES_FRACTION] = {"fraction", 0, 0, 1, false}};
enum { PAIR_TYPES, PAIR_EPSILON, PAIR_SIGMA, PAIR_CUTOFF, PAIR_FIELDS };
static const field of_pairs[PAIR_FIELDS] = {[PAIR_TYPES] = {"types", 2, 0, 0, false},
                                            [PAIR_EPSILON] = {"epsilon", 0, 0, 1e9, true},
                                            [PAIR_SIGMA] = {"sigma", 0, 0, 1e6, true},
                                            [PAIR_CUTOFF] = {"cutoff", 0, 0, 1e6, true}};
enum { FIELDS = 4 };
_Static_assert((int)SPECIES_FIELDS == FIELDS && (int)PAIR_FIELDS == FIELDS, "one room for both");

/* One group as it is read. */
typedef struct {
  bool given[FIELDS];
  double number[FIELDS];
  char word[CONFIG_ITEM_WORDS][ENGINE_NAME];
} record;

typedef struct {
  const field *fields;
  record *records;
  int n, room;
} record_list;

static md_status set_field(const field *f, int k, const config_item *item, record *to)
{
  MD_REQUIRE(!to->given[k], MD_EINVAL, "'%s' appears twice", item->key);
  to->given[k] = true;
  if (f->words) {
    MD_REQUIRE(item->quoted && item->n_words == f->words, MD_EINVAL, "%s: expected %s", item->key,
               f->words == 1 ? "a string" : "[ \"A\", \"B\" ], two names of species");
    memcpy(to->word, item->word, sizeof to->word);
    return MD_OK;
  }
  MD_REQUIRE(!item->quoted, MD_EINVAL, "%s: expected a number", item->key);
  MD_TRY(md_parse_double(item->word[0], &to->number[k]));
  const double value = to->number[k];
  MD_REQUIRE((f->open ? value > f->min : value >= f->min) && value <= f->max, MD_EINVAL,
             "%s: expected a number %s %g and <= %g, not %s", item->key,
             f->open ? ">" : ">=", f->min, f->max, item->word[0]);
  return MD_OK;
}

/* A config_item_fn. */
static md_status add_item(void *list_of, int group, const config_item *item)
{
  record_list *list = list_of;
  const char *keys[FIELDS];
  for (int k = 0; k < FIELDS; k++)
    keys[k] = list->fields[k].key;
  if (group >= list->room) {
    const int room = 2 * group + 8;
    record *more = realloc(list->records, (size_t)room * sizeof *more);
    MD_REQUIRE(more, MD_ENOMEM, "out of memory for a list");
    memset(more + list->room, 0, (size_t)(room - list->room) * sizeof *more);
    list->records = more;
    list->room = room;
  }
  const int k = md_word_index(item->key, keys, FIELDS);
  if (k >= 0) return set_field(&list->fields[k], k, item, &list->records[group]);
  return MD_FAIL(MD_EINVAL, "unknown key '%s': expected %s, %s, %s or %s", item->key, keys[0],
                 keys[1], keys[2], keys[3]);
}

/* free(out->records), also after a failure. */
static md_status read_list(const char *text, const field *fields, record_list *out)
{
  *out = (record_list){.fields = fields};
  MD_TRY(config_records(text, add_item, out, &out->n));
  for (int k = 0; k < out->n; k++) /* a group may be empty */
    MD_REQUIRE(k < out->room && out->records[k].given[0], MD_EINVAL, "expected %s in each group",
               fields[0].key);
  return MD_OK;
}

md_status config_check_records(const char *key, const char *text, int *groups)
{
  record_list list;
  const md_status status = read_list(text, strcmp(key, "species") ? of_pairs : of_species, &list);
  *groups = list.n;
  free(list.records);
  return status;
}

/* Fractions are given to all, and make 1, or to none, which then share alike. */
static md_status share(const config *cfg, const record_list *list, engine_types *types)
{
  const engine_spec *spec = config_get(cfg);
  const char *origin = config_origin(cfg, "species");
  const bool halves = engine_has_sublattices(spec->lattice) && !spec->read;
  int given = 0;
  double sum = 0;
  for (int t = 0; t < types->n; t++) {
    const bool has = list->records[t].given[SPECIES_FRACTION];
    types->species[t].fraction = has ? list->records[t].number[SPECIES_FRACTION] : 1.0 / types->n;
    given += has;
    sum += types->species[t].fraction;
    MD_REQUIRE(
        !has || !halves || types->n == 1 || types->species[t].fraction == 0.5, MD_EINVAL,
        "%s: species: a fraction of %g: expected 0.5, or none, on this lattice, where each of "
        "two species has a sublattice",
        origin, types->species[t].fraction);
  }
  MD_REQUIRE(!halves || types->n <= 2, MD_EINVAL,
             "%s: %d species: expected two on this lattice, which has two sublattices", origin,
             types->n);
  MD_REQUIRE(
      given == 0 || !spec->read, MD_EINVAL,
      "%s: species: a fraction has no meaning with system.read (%s): the file holds the atoms",
      origin, config_origin(cfg, "system.read"));
  MD_REQUIRE((given == 0 || given == types->n) && fabs(sum - 1) < 1e-9, MD_EINVAL,
             "%s: species: expected fractions for all or for none, that make 1, not %g", origin,
             sum);
  return MD_OK;
}

static md_status add_species(const config *cfg, const record_list *list, engine_types *types)
{
  for (int t = 0; t < types->n; t++) {
    const record *from = &list->records[t];
    engine_species *to = &types->species[t];
    MD_REQUIRE(engine_types_find(types, from->word[0]) < 0, MD_EINVAL,
               "%s: species: two have the name '%s'", config_origin(cfg, "species"), from->word[0]);
    snprintf(to->name, sizeof to->name, "%s", from->word[0]);
    to->mass = from->given[SPECIES_MASS] ? from->number[SPECIES_MASS] : 1;
    to->charge = from->number[SPECIES_CHARGE];
  }
  return share(cfg, list, types);
}

static md_status add_pairs(const config *cfg, const record_list *list, engine_types *types)
{
  const engine_spec *spec = config_get(cfg);
  const force_lj usual = {spec->epsilon, spec->sigma, spec->cutoff};
  engine_given *given = malloc((size_t)(list->n + 1) * sizeof *given);
  MD_REQUIRE(given, MD_ENOMEM, "out of memory for pairs");
  md_status status = MD_OK;
  for (int k = 0; k < list->n && !status; k++) {
    const record *from = &list->records[k];
    int32_t type[2];
    for (int s = 0; s < 2; s++) {
      type[s] = engine_types_find(types, from->word[s]);
      if (type[s] < 0)
        status = MD_FAIL(MD_EINVAL, "%s: lj.pairs: no species has the name '%s'",
                         config_origin(cfg, "lj.pairs"), from->word[s]);
    }
    const bool both = from->given[PAIR_EPSILON] && from->given[PAIR_SIGMA];
    if (!status && !both)
      status = MD_FAIL(MD_EINVAL, "%s: lj.pairs: expected epsilon and sigma of \"%s\", \"%s\"",
                       config_origin(cfg, "lj.pairs"), from->word[0], from->word[1]);
    given[k] =
        (engine_given){type[0],
                       type[1],
                       {from->number[PAIR_EPSILON], from->number[PAIR_SIGMA],
                        from->given[PAIR_CUTOFF] ? from->number[PAIR_CUTOFF] : spec->cutoff}};
    for (int m = 0; m < k && !status; m++)
      if ((given[m].i == type[0] && given[m].j == type[1]) ||
          (given[m].i == type[1] && given[m].j == type[0]))
        status = MD_FAIL(MD_EINVAL, "%s: lj.pairs: \"%s\", \"%s\" appears twice",
                         config_origin(cfg, "lj.pairs"), from->word[0], from->word[1]);
  }
  if (!status) engine_types_mix(types, config_all(cfg)->kinds.mix, &usual, given, list->n);
  free(given);
  return status;
}

static md_status fill(const config *cfg, engine_types *out)
{
  const config_kinds *kinds = &config_all(cfg)->kinds;
  record_list list;
  md_status status = read_list(kinds->species, of_species, &list);
  if (!status) status = engine_types_create(list.n, out);
  if (!status) status = add_species(cfg, &list, out);
  free(list.records);
  MD_TRY(status);
  list = (record_list){.fields = of_pairs};
  if (kinds->pairs) status = read_list(kinds->pairs, of_pairs, &list);
  if (!status) status = add_pairs(cfg, &list, out);
  free(list.records);
  return status;
}

md_status config_make_types(const config *cfg, engine_types *out)
{
  static const char *const refused[] = {"system.mass", "system.charges"};
  const config_kinds *kinds = &config_all(cfg)->kinds;
  *out = (engine_types){0};
  MD_REQUIRE(kinds->species || !kinds->pairs, MD_EINVAL,
             "%s: lj.pairs: expected species beside them", config_origin(cfg, "lj.pairs"));
  if (!kinds->species) return MD_OK;
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
    MD_REQUIRE(config_is_default(cfg, refused[k]), MD_EINVAL,
               "%s: %s has no meaning beside species (%s), which have their own",
               config_origin(cfg, refused[k]), refused[k], config_origin(cfg, "species"));
  const md_status status = fill(cfg, out);
  if (status) engine_types_free(out);
  return status;
}

md_status config_file_types(const config *cfg, engine_types *out)
{
  *out = (engine_types){0};
  const char *path = config_get(cfg)->read;
  return path && access(path, R_OK) == 0 ? system_read_types(path, out) : MD_OK;
}

static void put_number(FILE *list, const char *key, double value)
{
  char text[CONFIG_NUMBER_SIZE];
  config_number_write(value, text, sizeof text);
  fprintf(list, " %s = %s;", key, text);
}

/* Put a list of groups that was written to a stream. */
static md_status put_list(config *cfg, const char *path, int line, const char *key, FILE *list,
                          char **text)
{
  const bool whole = list && fclose(list) == 0 && *text;
  const md_status status = whole ? config_put(cfg, path, line, key, CONFIG_GROUPS, *text)
                                 : MD_FAIL(MD_ENOMEM, "out of memory for %s", key);
  free(*text);
  return status;
}

md_status config_put_species(config *cfg, const char *path, int line, const engine_types *types)
{
  char *text = NULL;
  size_t size;
  FILE *list = open_memstream(&text, &size);
  for (int32_t t = 0; list && t < types->n; t++) {
    const engine_species *of = &types->species[t];
    fprintf(list, "%s { name = \"%s\";", t ? "," : "(", of->name);
    if (of->mass > 0) put_number(list, "mass", of->mass);
    if (of->charge != 0) put_number(list, "charge", of->charge);
    if (of->fraction >= 0) put_number(list, "fraction", of->fraction);
    fputs(t == types->n - 1 ? " } )" : " }", list);
  }
  return put_list(cfg, path, line, "species", list, &text);
}

md_status config_put_pairs(config *cfg, const char *path, int line, const engine_types *types)
{
  if (!(engine_types_most(types).epsilon > 0)) return MD_OK;
  char *text = NULL;
  size_t size;
  FILE *list = open_memstream(&text, &size);
  int count = 0;
  for (int32_t i = 0; list && i < types->n; i++)
    for (int32_t j = i; j < types->n; j++) {
      const force_lj *pair = &types->pairs[i * types->n + j];
      if (!(pair->epsilon > 0)) continue;
      fprintf(list, "%s { types = [ \"%s\", \"%s\" ];", count++ ? "," : "(", types->species[i].name,
              types->species[j].name);
      put_number(list, "epsilon", pair->epsilon);
      put_number(list, "sigma", pair->sigma);
      if (pair->r_cut > 0) put_number(list, "cutoff", pair->r_cut);
      fputs(" }", list);
    }
  if (list) fputs(" )", list);
  return put_list(cfg, path, line, "lj.pairs", list, &text);
}
