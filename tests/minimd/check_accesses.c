/* tests/minimd/check_accesses.c - the model of the CPU's force kernels against the kernels
 * themselves, address by address.
 *
 * valgrind's lackey writes down every access of one launch, in a process of its own that runs this
 * program as `check_accesses kernel ORDER LIST PAIR`: it says where the kernel's arrays lie, and
 * stores to a marker before and behind the launch.  What lies in no array are spills and constants,
 * and of embedded atoms what the force room keeps to itself, which is not compared: what spills
 * displace depends on where the stack lies.  The model must touch the same elements as often, all
 * but one in 1000, and caches that see the true addresses must miss as often as the model says,
 * within a twentieth of a point.  Portable instructions, since valgrind has not all others.
 * cli_counters.sh has every order of full lists, to half a point.
 *
 * The compiler may load a word once more instead of keeping it in a register, a spill as well.  So
 * a structure of four is touched as often as the least of x, y and z; indices, counts and starts,
 * which a launch needs once, count once. */
#include "minimd/counters/valgrind.h"
#include "minimd/locality/locality.h"
#include "minimd/shell/commands.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_caches.h"
#include "tests/test.h"

#include <unistd.h>

static volatile char marker;

enum { WORDS = 4 };
typedef struct {
  list_kernel kernel;                          /* arrays */
  int64_t (*word[LIST_ARRAY_COUNT][2])[WORDS]; /* [count]: loads and stores of each 8 bytes */
  int64_t outside;                             /* accesses that are in no array */
  ref_events events;                           /* of arrays, as one stream */
} accesses;

/* Also for the process under lackey, in which there are no checks.  Rows of different lengths. */
static md_status open_engine(const char *order, const char *list, const char *pair, config **cfg,
                             engine **sim)
{
  char file[64];
  snprintf(file, sizeof file, "/tmp/minimd-accesses-%ld", (long)getpid());
  char *make[] = {"potential", "--knots", "200", "-o", file};
  const bool embedded = strcmp(pair, "eam") == 0;
  static const char *const fixed[] = {"device.backend=cpu", "device.threads=1", "system.cells=4",
                                      "neighbor.every=1", "run.dt=0.05"};
  static const char *const copper[] = {"system.units=metal",      "system.lattice_constant=3.615",
                                       "system.temperature=1600", "run.dt=0.02",
                                       "neighbor.skin=1",         "potential.style=eam"};
  MD_TRY(config_create(cfg));
  for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
    MD_TRY(config_set_pair(*cfg, fixed[k]));
  MD_TRY(config_set(*cfg, "order.curve", order, "test"));
  MD_TRY(config_set(*cfg, "neighbor.list", list, "test"));
  if (embedded) MD_TRY(cmd_potential(5, make));
  for (size_t k = 0; embedded && k < sizeof copper / sizeof *copper; k++)
    MD_TRY(config_set_pair(*cfg, copper[k]));
  if (embedded) MD_TRY(config_set(*cfg, "potential.file", file, "test"));
  md_status status = config_check(*cfg);
  if (!status) status = engine_create(config_get(*cfg), sim);
  if (embedded) unlink(file);
  return status ? status : engine_steps(*sim, 1);
}

/* The process under lackey.  It ends where the launch does: its trace is long enough. */
static md_status launch(const char *order, const char *list, const char *pair)
{
  config *cfg;
  engine *sim;
  list_kernel kernel;
  MD_TRY(open_engine(order, list, pair, &cfg, &sim));
  const list_input in = locality_input(sim);
  MD_TRY(list_kernel_of(&in, &kernel));
  printf("\nmarker %llx\n", (unsigned long long)(uintptr_t)&marker);
  for (int a = 0; a < LIST_ARRAY_COUNT; a++)
    printf("array %d %llx %lld %d\n", a, (unsigned long long)kernel.array[a].base,
           (long long)kernel.array[a].count, (int)kernel.array[a].stride);
  fflush(stdout);
  neighbor_forget_lines(sim->list);
  marker = 1;
  const md_status status = force_compute(sim->fc, sim->atoms, sim->list, NULL);
  marker = 2;
  _exit(status);
}

/* --- What is accessed. */

static accesses make_accesses(const list_kernel *kernel)
{
  accesses a = {.kernel = *kernel};
  for (int k = 0; k < LIST_ARRAY_COUNT; k++)
    for (int store = 0; store < 2; store++)
      a.word[k][store] = calloc((size_t)kernel->array[k].count + 1, sizeof(int64_t[WORDS]));
  return a;
}

static void free_accesses(accesses *a)
{
  for (int k = 0; k < LIST_ARRAY_COUNT; k++)
    for (int store = 0; store < 2; store++)
      free(a->word[k][store]);
  free(a->events.event);
}

static bool holds_fours(const list_array *array)
{
  return array->stride == WORDS * (int)sizeof(double);
}

/* How often element e is loaded, or stored. */
static int64_t touches(const accesses *a, int k, int store, int64_t e)
{
  const int64_t *w = a->word[k][store][e];
  if (!holds_fours(&a->kernel.array[k])) return k == LIST_HOME ? w[0] : w[0] > 0;
  const int64_t least = w[0] < w[1] ? w[0] : w[1];
  return least < w[2] ? least : w[2];
}

static void count(accesses *a, int k, bool load, bool store, uint64_t from, uint64_t bytes)
{
  const list_array *array = &a->kernel.array[k];
  const uint64_t step = holds_fours(array) ? sizeof(double) : (uint64_t)array->stride;
  for (uint64_t at = (from + step - 1) / step * step; at < from + bytes; at += step) {
    const uint64_t e = at / (uint64_t)array->stride, w = at % (uint64_t)array->stride / step;
    a->word[k][0][e][w] += load;
    a->word[k][1][e][w] += store;
  }
}

static void note(accesses *a, bool load, bool store, uint64_t address, int32_t bytes)
{
  bool inside = false;
  for (int k = 0; k < LIST_ARRAY_COUNT && !inside; k++) {
    const list_array *array = &a->kernel.array[k];
    inside = array->count > 0 && address >= array->base && address < list_array_end(array);
    if (inside) count(a, k, load, store, address - array->base, (uint64_t)bytes);
  }
  a->outside += !inside;
  if (!inside) return;
  const ref_event event = {.stream = TRACE_NC,
                           .op = store ? load ? TRACE_UPDATE : TRACE_WRITE : TRACE_READ,
                           .address = address,
                           .bytes = bytes};
  ref_event_note(&a->events, event);
}

static md_status note_request(void *to, const list_request *r)
{
  for (int32_t l = 0; l < r->lanes; l++)
    note(to, r->op != TRACE_WRITE, r->op != TRACE_READ, list_address(r, l), r->bytes);
  return MD_OK;
}

/* What lines say, one after the other. */
typedef struct {
  list_kernel kernel; /* arrays */
  accesses a;
  uint64_t marker;
  int marks; /* stores to it so far */
} reading;

/* An access, ` L 1ffeffe4a8,8`, counts between the first store to the marker and the second. */
static md_status read_line(void *to, const char *line)
{
  reading *r = (reading *)to;
  unsigned long long address;
  long long count;
  int k, bytes; /* of an access, or from an element to the next */
  char kind;
  if (line[0] == 'I' || r->marks == 2) return MD_OK;
  if (line[0] == ' ' && sscanf(line, " %c %llx,%d", &kind, &address, &bytes) == 3) {
    if (kind == 'S' && address == r->marker)
      r->marks++;
    else if (r->marks == 1 && strchr("LSM", kind))
      note(&r->a, kind != 'S', kind != 'L', address, bytes);
  } else if (sscanf(line, "array %d %llx %lld %d", &k, &address, &count, &bytes) == 4) {
    r->kernel.array[k] = (list_array){address, count, bytes};
    if (k == LIST_ARRAY_COUNT - 1) r->a = make_accesses(&r->kernel);
  } else if (sscanf(line, "marker %llx", &address) == 1) {
    r->marker = address;
  }
  return MD_OK;
}

static accesses trace(const char *order, const char *list, const char *pair)
{
  static const char *const lackey[] = {"--tool=lackey", "--trace-mem=yes", "--log-fd=1", NULL};
  char self[4096], *missing;
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  ck_assert_int_gt(length, 0);
  self[length] = '\0';
  char *program[] = {self, "kernel", (char *)order, (char *)list, (char *)pair, NULL};
  reading r = {.marks = 0};
  ck_ok(valgrind_run(lackey, program, read_line, &r, &missing));
  ck_assert_ptr_null(missing);
  ck_assert_int_eq(r.marks, 2);
  return r.a;
}

/* --- Both. */

static int64_t misses(const hierarchy_result *result, int level)
{
  int64_t n = 0;
  for (int s = 0; s < TRACE_STREAM_COUNT; s++)
    n += result->stream[s].level[level].sectors - result->stream[s].level[level].hits;
  return n;
}

/* Returns all touches of the model. */
static int64_t compare_touches(const accesses *true_ones, const accesses *model, const char *name)
{
  int64_t off = 0, all = 0;
  for (int k = 0; k < LIST_PACKED; k++) {
    const list_array *array = &model->kernel.array[k];
    ck_assert_int_eq(true_ones->kernel.array[k].count, array->count);
    ck_assert_int_eq(true_ones->kernel.array[k].stride, array->stride);
    for (int64_t e = 0; e < array->count; e++)
      for (int store = 0; store < 2; store++) {
        const int64_t expected = touches(model, k, store, e);
        all += expected;
        off += llabs(touches(true_ones, k, store, e) - expected);
      }
  }
  ck_assert_int_gt(all, 256 * 50 * 2);
  ck_assert_msg(1000 * off <= all, "%s: %lld of %lld touches of elements differ", name,
                (long long)off, (long long)all);
  return all;
}

/* The second level holds all arrays. */
static const machine caches = {
    .name = "two",
    .kind = MACHINE_CPU,
    .n_levels = 2,
    .level = {{.bytes = 32768, .ways = 8, .line = 64, .sector = 64, .parts = 1},
              {.bytes = 262144, .ways = 16, .line = 64, .sector = 64, .parts = 1}}};

static void compare_misses(const accesses *true_ones, const list_input *in, int64_t all,
                           const char *name)
{
  const hierarchy_options best = hierarchy_default();
  hierarchy_result seen[2], cold, warm;
  list_kernel kernel;
  ck_ok(list_kernel_of(in, &kernel));
  memcpy(kernel.array, true_ones->kernel.array, sizeof kernel.array); /* where those lay */
  ck_ok(hierarchy_run(in, &kernel, &caches, &best, &cold, &warm));
  ref_cpu(&true_ones->events, &caches, 2, seen);
  for (int level = 0; level < 2; level++) {
    const int64_t counted = misses(&seen[1], level), modelled = misses(&warm, level);
    const double points = 100 * (double)(counted - modelled) / (double)all;
    ck_assert(level > 0 || modelled > 1000);
    ck_assert_msg(fabs(points) < 0.05, "%s, level %d: %lld misses, the model says %lld", name,
                  level + 1, (long long)counted, (long long)modelled);
  }
}

static const struct {
  const char *order, *list, *pair;
} cases[] = {{"hilbert", "full", "lj"},
             {"hilbert", "half", "lj"},
             {"hilbert", "full", "eam"},
             {"row", "half", "eam"}};

START_TEST(model_touches_what_the_kernel_does)
{
  const char *order = cases[_i].order, *list = cases[_i].list, *pair = cases[_i].pair;
  char name[64];
  snprintf(name, sizeof name, "%s, %s, %s", order, list, pair);
  config *cfg;
  engine *sim;
  ck_ok(open_engine(order, list, pair, &cfg, &sim));
  const list_input in = locality_input(sim);
  list_kernel kernel;
  ck_ok(list_kernel_of(&in, &kernel));
  accesses model = make_accesses(&kernel), true_ones = trace(order, list, pair);
  ck_ok(list_run(&in, &kernel, kernel.n, note_request, &model));
  ck_assert_int_eq(model.outside, 0);
  const int64_t all = compare_touches(&true_ones, &model, name);
  if (in.reads == LIST_ALIKE) compare_misses(&true_ones, &in, all, name);
  free_accesses(&model);
  free_accesses(&true_ones);
  engine_destroy(sim);
  config_destroy(cfg);
}
END_TEST

int main(int argc, char **argv)
{
  setenv("MINIMD_ISA", "portable", 1);
  if (argc == 5 && strcmp(argv[1], "kernel") == 0) return launch(argv[2], argv[3], argv[4]);
  if (test_needs_cpu()) return 0;
  if (system("command -v valgrind >/dev/null 2>&1") != 0 || getenv("ASAN_OPTIONS")) {
    puts("100%: Checks: 0, Failures: 0, Errors: 0 (there is no valgrind, or a sanitizer is in its "
         "place)");
    return 0;
  }
  Suite *suite = suite_create("accesses");
  TCase *tcase = test_long_case("lackey");
  tcase_add_loop_test(tcase, model_touches_what_the_kernel_does, 0,
                      (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
