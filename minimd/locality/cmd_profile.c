/* minimd/locality/cmd_profile.c - `minimd profile`: hardware counters of the GPU's force kernel
 * beside what the model of caches predicts, for each ordering and list: [AK] Table 4 and Figs. 18,
 * 21-25.
 *
 * The profiler runs this program again with --times, which lets every case launch its kernel
 * between md_profiler on and off: launch k of case c is number c * launches + k of the profiler's
 * table. Counters come first, so that the GPU is the profiler's alone. */
#include "core/parse/parse.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/plot.h"
#include "minimd/locality/cmd_profile.h"
#include "minimd/locality/profile_print.h"
#include "minimd/shell/settings.h"
#include "engine/system/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const profile_switch_words[] = {"off", "on"};

/* The command line's lists, which the cases' words point into. */
typedef struct {
  char **orders, **lists, **steps;
  int n_orders, n_lists, n_steps;
} case_words;

typedef struct {
  profile_job job;
  case_words words;
  profile_report report;
  profile_replay replay;
  bool times;
} request;

static void make_table(option *known)
{
  settings_table(known);
  known[SETTINGS_ORDER].value = "LIST";
  known[SETTINGS_LIST].value = "LIST";
  known[AT] = (option){"at", 0, "LIST", "look at the kernel after these steps (the run's last)"};
  known[LAUNCHES] = (option){"launches", 0, "N", "of each kernel (3); the median is printed"};
  known[CACHES] = (option){"caches", 0, "LIST",
                           "warm: as the launch before left them, cold: empty (warm,cold)"};
  known[COUNTERS] = (option){"counters", 0, "on|off", "run under the profiler (on)"};
  known[MODEL] = (option){"model", 0, "on|off", "predict with the model of caches (on)"};
  known[REPLAY] = (option){"replay", 0, "application|kernel",
                           "how ncu repeats what it counts with warm caches (application);\n"
                           "kernel is quicker and disturbs the L2"};
  known[MACHINE] = (option){"machine", 0, "h200[:K]|FILE",
                            "whose caches are modelled (this GPU's, or an H200's; of the\n"
                            "CPU's kernel host, or a CPU in FILE)"};
  known[WITH] = (option){"with", 0, "perf|cachegrind|model",
                         "CPU: the processor's counters (perf), or valgrind's cachegrind on\n"
                         "portable instructions, or the model alone"};
  known[ADDRESSES] = (option){"addresses", 0, NULL,
                              "with cachegrind: the kernel's arrays also address by address, by\n"
                              "valgrind's lackey (for 1000 atoms half a minute or more); with\n"
                              "--times: only say where they lie, and launch, for other tracers"};
  known[TIMES] = (option){"times", 0, NULL, "only time the force computation of each case"};
  known[FORMAT] = (option)OPTION_FORMAT;
  known[OUTPUT] = (option)OPTION_OUTPUT;
  known[PLOT] = (option)OPTION_PLOT;
  known[QUIET] = (option)OPTION_QUIET;
}

/* One case for each list, order and step, every pair of list and order a valid configuration. */
static md_status make_cases(profile_job *job, config *cfg, const case_words *words)
{
  const int lists = words->lists ? words->n_lists : 1;
  job->n_variants = lists * words->n_orders;
  job->n_steps = words->steps ? words->n_steps : 1;
  job->cases = calloc((size_t)(job->n_variants * job->n_steps), sizeof *job->cases);
  MD_REQUIRE(job->cases, MD_ENOMEM, "out of memory for %d cases", job->n_variants * job->n_steps);
  int64_t atoms;
  md_box box;
  engine_choice choice;
  MD_TRY(system_size(config_get(cfg), &atoms, &box));
  for (int k = 0; k < job->n_variants * job->n_steps; k++) {
    profile_case *c = &job->cases[k];
    const int v = k / job->n_steps, s = k % job->n_steps;
    c->order = words->orders[v % words->n_orders];
    c->atoms = atoms;
    c->step = config_get(cfg)->steps;
    c->shared = -1;
    if (words->steps)
      MD_TRY(options_blame(job->opts, AT,
                           md_parse_int64(words->steps[s], 0, 1000000000000, &c->step)));
    MD_REQUIRE(s == 0 || c->step > c[-1].step, MD_EINVAL, "--at: %s does not come after %s",
               words->steps[s], words->steps[s - 1]);
    MD_TRY(config_set(cfg, "order.curve", c->order, "--order"));
    if (words->lists)
      MD_TRY(config_set(cfg, "neighbor.list", words->lists[v / words->n_orders], "--list"));
    MD_TRY(config_check(cfg));
    MD_TRY(locality_choose(cfg, &choice));
    c->kind = choice.list;
    c->list = neighbor_list_words[c->kind];
  }
  return MD_OK;
}

md_status profile_read_caches(const options *opts, bool wanted[PROFILE_CACHES_COUNT])
{
  const char *text = options_value(opts, CACHES);
  char **words = NULL;
  int n = 0;
  MD_TRY(md_parse_list(text ? text : "warm,cold", "--caches", &words, &n));
  md_status status = MD_OK;
  for (int k = 0; k < n && !status; k++) {
    int caches = 0;
    status = options_blame(
        opts, CACHES, md_parse_word(words[k], profile_caches_words, PROFILE_CACHES_COUNT, &caches));
    if (!status) wanted[caches] = true;
  }
  free(words);
  return status;
}

/* The machine that is modelled and the tool that counts. */
static md_status read_machine(request *r)
{
  profile_job *job = &r->job;
  const char *name = options_value(job->opts, MACHINE);
  md_gpu_info gpu = {0};
  const bool here = md_gpu_available() && md_gpu_describe(&gpu) == MD_OK;
  r->report.tool = here && gpu.capability < 70 ? PROFILE_NVPROF : PROFILE_NCU;
  job->m_given = name != NULL;
  if (!name && here)
    machine_gpu(&gpu, &job->m);
  else
    MD_TRY(options_blame(job->opts, MACHINE, machine_find(name ? name : "h200", &job->m)));
  MD_REQUIRE(job->m.kind == MACHINE_GPU, MD_EINVAL,
             "--machine: the kernel of a GPU is looked at, and %s is a cpu", job->m.name);
  return MD_OK;
}

static md_status read_request(request *r, config *cfg)
{
  profile_job *job = &r->job;
  case_words *words = &r->words;
  const options *opts = job->opts;
  const char *orders = options_value(opts, SETTINGS_ORDER), *at = options_value(opts, AT);
  const char *lists = options_value(opts, SETTINGS_LIST), *picture = options_value(opts, PLOT);
  int format = OPTIONS_FORMAT_TABLE, counters = 1, model = 1, replay = PROFILE_APPLICATION;
  job->launches = 3;
  r->times = options_value(opts, TIMES);
  job->lists = 1u << SETTINGS_ORDER | 1u << SETTINGS_LIST;
  job->quiet = options_value(opts, QUIET);
  MD_TRY(options_read_format(opts, FORMAT, &format));
  MD_TRY(options_word(opts, COUNTERS, profile_switch_words, 2, &counters));
  MD_TRY(options_word(opts, MODEL, profile_switch_words, 2, &model));
  MD_TRY(options_word(opts, REPLAY, profile_replay_words, PROFILE_REPLAY_COUNT, &replay));
  MD_TRY(options_integer(opts, LAUNCHES, 1, 10000, &job->launches));
  if (picture) MD_TRY(plot_check(picture));
  MD_TRY(profile_read_caches(opts, r->report.caches));
  MD_TRY(read_machine(r));
  MD_TRY(md_parse_list(orders ? orders : "row,morton,hilbert", "--order", &words->orders,
                       &words->n_orders));
  if (lists) MD_TRY(md_parse_list(lists, "--list", &words->lists, &words->n_lists));
  if (at) MD_TRY(md_parse_list(at, "--at", &words->steps, &words->n_steps));
  MD_TRY(settings_read(cfg, opts, job->lists));
  MD_REQUIRE(!config_get(cfg)->deterministic, MD_EINVAL,
             "the deterministic kernels are not modelled: device.deterministic must be false");
  MD_REQUIRE(config_get(cfg)->pair == ENGINE_PAIR_LJ || counters == 0 || r->times, MD_EINVAL,
             "%s: potential.style = \"eam\": two kernels in place of the one that is counted: "
             "expected --counters off",
             config_origin(cfg, "potential.style"));
  r->report.format = (options_format)format;
  r->report.measured = counters == 1 && config_get(cfg)->backend != ENGINE_BACKEND_CPU;
  r->report.modelled = model == 1;
  r->replay = (profile_replay)replay;
  return make_cases(job, cfg, words);
}

/* --- The profiler's command */

typedef struct {
  char **word; /* [n], NULL behind the last */
  int n;
} arguments;

static md_status add_argument(arguments *a, const char *format, const char *first,
                              const char *second)
{
  char **more = realloc(a->word, (size_t)(a->n + 2) * sizeof *more);
  if (more) a->word = more;
  MD_REQUIRE(more && asprintf(&a->word[a->n], format, first, second) >= 0, MD_ENOMEM,
             "out of memory for a command");
  a->word[++a->n] = NULL;
  return MD_OK;
}

static void free_arguments(arguments *a)
{
  for (int k = 0; k < a->n; k++)
    free(a->word[k]);
  free(a->word);
}

/* This program, to launch the kernels of every case, or of one variant alone. */
static md_status make_arguments(const request *r, int variant, arguments *a)
{
  const options *opts = r->job.opts;
  const char *list = options_value(opts, SETTINGS_LIST), *at = options_value(opts, AT);
  const char *order = options_value(opts, SETTINGS_ORDER);
  char self[4096], launches[32];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  MD_REQUIRE(length > 0, MD_EIO, "cannot find this program's file: %s", strerror(errno));
  self[length] = '\0';
  snprintf(launches, sizeof launches, "%lld", (long long)r->job.launches);
  if (variant >= 0) {
    order = r->job.cases[variant * r->job.n_steps].order;
    list = r->job.cases[variant * r->job.n_steps].list;
  }
  MD_TRY(add_argument(a, "%s", self, NULL));
  MD_TRY(add_argument(a, "profile", NULL, NULL));
  for (int k = 0; k < opts->n_found; k++) {
    const option *o = &opts->table[opts->found[k].index];
    const bool listed =
        opts->found[k].index == SETTINGS_ORDER || opts->found[k].index == SETTINGS_LIST;
    if (opts->found[k].index < SETTINGS_COUNT && !listed)
      MD_TRY(add_argument(a, o->value ? "--%s=%s" : "--%s", o->name, opts->found[k].value));
  }
  if (order) MD_TRY(add_argument(a, "--order=%s", order, NULL));
  if (list) MD_TRY(add_argument(a, "--list=%s", list, NULL));
  if (at) MD_TRY(add_argument(a, "--at=%s", at, NULL));
  MD_TRY(add_argument(a, "--launches=%s", launches, NULL));
  static const char *const fixed[] = {"--backend=gpu", "--times", "--quiet", "--output=/dev/null"};
  for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
    MD_TRY(add_argument(a, "%s", fixed[k], NULL));
  return MD_OK;
}

/* Counters of every case or of one variant; *missing as profile_child's. */
static md_status count_once(request *r, profile_caches caches, int variant, profile_values *values,
                            char **missing)
{
  arguments program = {0};
  md_status status = make_arguments(r, variant, &program);
  const profile_run run = {r->report.tool, caches, r->replay, &r->report.metrics, program.word};
  const int64_t cases = (int64_t)r->job.n_steps * (variant < 0 ? r->job.n_variants : 1);
  const int64_t expected = r->report.tool == PROFILE_NCU ? cases * r->job.launches : 1;
  if (!status) status = profile_child(&run, values, missing);
  if (!status && !*missing && values->launches != expected) {
    status =
        MD_FAIL(MD_EIO, "%s printed %lld launches, not the %lld that were made",
                profile_tool_words[run.tool], (long long)values->launches, (long long)expected);
    profile_values_free(values);
  }
  free_arguments(&program);
  return status;
}

/* nvprof averages over the launches of a kernel, so that it sees one case at a time. */
static md_status count_caches(request *r, profile_caches caches, char **missing)
{
  const bool apart = r->report.tool == PROFILE_NVPROF;
  const int n = apart ? r->job.n_variants : 1;
  MD_REQUIRE(!apart || r->job.n_steps == 1, MD_EINVAL, "--at: one step at a time with nvprof");
  r->report.values[caches] = calloc((size_t)n, sizeof *r->report.values[caches]);
  MD_REQUIRE(r->report.values[caches], MD_ENOMEM, "out of memory for %d profiles", n);
  for (int v = 0; v < n && !*missing; v++)
    MD_TRY(count_once(r, caches, apart ? v : -1, &r->report.values[caches][v], missing));
  return MD_OK;
}

static md_status count_all(request *r)
{
  char *missing = NULL;
  md_status status = profile_metrics_of(r->report.tool, &r->report.metrics);
  for (int c = 0; c < PROFILE_CACHES_COUNT && !status && !missing; c++)
    if (r->report.caches[c]) status = count_caches(r, (profile_caches)c, &missing);
  if (!status && missing) {
    fprintf(stderr, "minimd: warning: no counters: %s\n", missing);
    r->report.measured = false;
  }
  free(missing);
  if (!status && r->report.measured) profile_report_shared(&r->report, &r->job);
  return status;
}

static md_status look(request *r)
{
  if (r->times) return profile_time(&r->job);
  if (r->report.measured) MD_TRY(count_all(r));
  MD_REQUIRE(r->report.measured || r->report.modelled, MD_EINVAL,
             "without counters and without the model there is nothing to print");
  return r->report.modelled ? profile_model_all(&r->job) : MD_OK;
}

static md_status answer(request *r, config *cfg)
{
  const options *opts = r->job.opts;
  if (profile_wants_cpu(opts)) return profile_answer_cpu(opts, cfg);
  const char *picture = options_value(opts, PLOT);
  md_output out;
  MD_TRY(read_request(r, cfg));
  MD_TRY(md_output_open(options_value(opts, OUTPUT), &out));
  const md_status status = look(r);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  (r->times ? profile_print_times : profile_print)(&r->report, &r->job, out.stream);
  MD_TRY(md_output_close(&out));
  return picture && !r->times ? profile_plot(&r->report, &r->job, picture) : MD_OK;
}

static void release(request *r)
{
  profile_report_free(&r->report, &r->job);
  free(r->job.cases);
  free(r->words.orders);
  free(r->words.lists);
  free(r->words.steps);
}

md_status cmd_profile(int argc, char **argv)
{
  option known[N_OPTIONS];
  make_table(known);
  options opts;
  config *cfg = NULL;
  request r = {.job.opts = &opts};
  md_status status = options_parse(known, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(
        stdout, "minimd profile -i FILE --order LIST [--list LIST] [options]",
        "Hardware counters of the GPU's force kernel (Nsight Compute) beside the model of\n"
        "its caches; with --backend cpu those of one thread of the CPU's (perf_event_open, or\n"
        "cachegrind).  Without counters, the model alone.",
        known, N_OPTIONS);
  } else if (!status) {
    status = config_create(&cfg);
    r.job.cfg = cfg;
    if (!status) status = answer(&r, cfg);
  }
  release(&r);
  config_destroy(cfg);
  options_free(&opts);
  return status;
}
