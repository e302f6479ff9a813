/* minimd/locality/cmd_profile_cpu.c - `minimd profile --backend cpu`: its options
 * (minimd/counters/profile_cpu.h). */
#include "core/parse/parse.h"
#include "minimd/counters/profile_cpu.h"
#include "minimd/locality/cmd_profile.h"

#include <stdlib.h>
#include <string.h>

bool profile_wants_cpu(const options *opts)
{
  const char *backend = options_value(opts, SETTINGS_BACKEND);
  return options_value(opts, WITH) || options_value(opts, ADDRESSES) ||
         (backend && strcmp(backend, "cpu") == 0);
}

static md_status read_request(const options *opts, config *cfg, profile_cpu_job *cpu)
{
  const char *orders = options_value(opts, SETTINGS_ORDER), *name = options_value(opts, MACHINE);
  const char *lists = options_value(opts, SETTINGS_LIST),
             *backend = options_value(opts, SETTINGS_BACKEND);
  int format = OPTIONS_FORMAT_TABLE, with = PROFILE_WITH_PERF, counters = 1, model = 1;
  bool caches[PROFILE_CACHES_COUNT] = {false};
  MD_TRY(options_read_format(opts, FORMAT, &format));
  MD_TRY(options_word(opts, WITH, profile_with_words, PROFILE_WITH_COUNT, &with));
  MD_TRY(options_word(opts, COUNTERS, profile_switch_words, 2, &counters));
  MD_TRY(options_word(opts, MODEL, profile_switch_words, 2, &model));
  MD_TRY(options_integer(opts, LAUNCHES, 1, 10000, &cpu->launches));
  MD_REQUIRE(!backend || strcmp(backend, "gpu") != 0, MD_EINVAL,
             "--with %s: counts the CPU's kernel, not that of --backend gpu",
             profile_with_words[with]);
  MD_REQUIRE(!options_value(opts, AT) && !options_value(opts, REPLAY) && !options_value(opts, PLOT),
             MD_EINVAL, "--at, --replay and --plot are for the GPU's kernel");
  MD_TRY(profile_read_caches(opts, caches));
  MD_TRY(options_blame(opts, MACHINE, machine_find(name ? name : "host", &cpu->m)));
  MD_REQUIRE(cpu->m.kind == MACHINE_CPU, MD_EINVAL,
             "--machine: the kernel of a CPU is looked at, and %s is a GPU", cpu->m.name);
  if (with == PROFILE_WITH_CACHEGRIND) cachegrind_machine(&cpu->m, &cpu->m);
  MD_TRY(md_parse_list(orders ? orders : "row,morton,hilbert", "--order", &cpu->orders,
                       &cpu->n_orders));
  if (lists) MD_TRY(md_parse_list(lists, "--list", &cpu->lists, &cpu->n_lists));
  MD_TRY(settings_read(cfg, opts, cpu->listed));
  MD_REQUIRE(with != PROFILE_WITH_CACHEGRIND || config_get(cfg)->pair == ENGINE_PAIR_LJ, MD_EINVAL,
             "%s: potential.style = \"eam\": cachegrind counts the pass of forces only: expected "
             "--with perf or model",
             config_origin(cfg, "potential.style"));
  cpu->warm = caches[PROFILE_WARM];
  cpu->cold = caches[PROFILE_COLD] && with != PROFILE_WITH_CACHEGRIND;
  cpu->with = counters ? (profile_with)with : PROFILE_WITH_MODEL;
  cpu->model = model;
  cpu->times = options_value(opts, TIMES);
  cpu->addresses = options_value(opts, ADDRESSES);
  MD_REQUIRE(!cpu->addresses || cpu->times || (cpu->with == PROFILE_WITH_CACHEGRIND && model),
             MD_EINVAL, "--addresses: expected --with cachegrind and the model, or --times");
  cpu->format = (options_format)format;
  return MD_OK;
}

md_status profile_answer_cpu(const options *opts, config *cfg)
{
  profile_cpu_job cpu = {.opts = opts,
                         .cfg = cfg,
                         .launches = 3,
                         .listed = 1u << SETTINGS_ORDER | 1u << SETTINGS_LIST};
  md_output out;
  md_status status = read_request(opts, cfg, &cpu);
  if (!status) status = md_output_open(options_value(opts, OUTPUT), &out);
  if (!status) {
    status = profile_cpu(&cpu, out.stream);
    if (status)
      md_output_discard(&out);
    else
      status = md_output_close(&out);
  }
  free(cpu.orders);
  free(cpu.lists);
  return status;
}
