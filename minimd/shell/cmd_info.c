/* minimd/shell/cmd_info.c - `minimd info`: what this build has, what this machine offers, what is
 * missing. */
#include "cachemodel/trace/trace_file.h"
#include "comm/world.h"
#include "core/output/output.h"
#include "core/hardware/processors.h"
#include "core/output/quote.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/options.h"
#include "minimd/shell/provenance.h"
#include "spread/pme.h"
#include "stokes/solver/solver.h"

#include <stdio.h>
#include <stdlib.h>

enum { FORMAT, OUTPUT, N_OPTIONS };

typedef struct {
  const char *what;
  char value[512];
} fact;
enum { N_FACTS = 14 };

static bool installed(const char *program)
{
  char line[64];
  snprintf(line, sizeof line, "command -v %s >/dev/null 2>&1", program);
  return system(line) == 0;
}

static int gather(fact *facts)
{
  int n = 0;
#define FACT(name, ...)                                                                            \
  do {                                                                                             \
    facts[n].what = (name);                                                                        \
    snprintf(facts[n].value, sizeof facts[n].value, __VA_ARGS__);                                  \
    n++;                                                                                           \
  } while (0)
  char cpu[256];
  md_cpu_name(cpu, sizeof cpu);
  FACT("version", "%s", md_version());
  FACT("commit", "%s", provenance_commit());
  FACT("compiler", "%s", provenance_compiler());
  FACT("cuda", "%s%s", provenance_cuda(), provenance_cuda_arch());
  FACT("cpu", "%s", cpu);
  FACT("processors", "%d", md_processors());
  FACT("isa", "%s", md_isa_words[md_isa_detect()]);
  md_gpu_info gpu;
  if (md_gpu_check() == MD_OK && md_gpu_describe(&gpu) == MD_OK) {
    FACT("gpu", "%s, sm_%d, %d multiprocessors, %.1f GB (%.1f free), driver CUDA %s", gpu.name,
         gpu.capability, gpu.multiprocessors, (double)gpu.memory_total / 1e9,
         (double)gpu.memory_free / 1e9, gpu.driver);
  } else {
    FACT("gpu", "none: %s; --backend gpu is off", md_message());
  }
  FACT("fftw", "%s",
       pme_has_fftw() ? "found" : "not found: PME on the CPU is off (Debian package libfftw3-dev)");
  FACT("lapack", "%s",
       stokes_dense_available()
           ? "found"
           : "not found: block solvers are off (Debian packages liblapacke-dev libopenblas-dev)");
  FACT("mpi", "%s", world_library());
  FACT("zlib", "%s",
       trace_reads_gzip() ? "found"
                          : "not found: compressed traces are off (Debian package zlib1g-dev)");
  FACT("gnuplot", "%s",
       installed("gnuplot") ? "found" : "not found: --plot is off (Debian package gnuplot-nox)");
  FACT("valgrind", "%s",
       installed("valgrind")
           ? "found"
           : "not found: `profile --with cachegrind` is off (Debian package valgrind)");
#undef FACT
  return n;
}

md_status cmd_info(int argc, char **argv)
{
  static const option table[N_OPTIONS] = {OPTION_FORMAT, OPTION_OUTPUT};
  options opts;
  int format = OPTIONS_FORMAT_TABLE;
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd info", "What this build and this machine can do.", table,
                 N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status) status = options_read_format(&opts, FORMAT, &format);
  md_output out = {0};
  if (!status) status = md_output_open(options_value(&opts, OUTPUT), &out);
  options_free(&opts);
  if (status) return status;
  fact facts[N_FACTS];
  const int n = gather(facts);
  md_json json;
  if (format == OPTIONS_FORMAT_JSON) {
    md_json_begin(&json, out.stream);
    md_json_integer(&json, "schema", OPTIONS_JSON_SCHEMA);
  }
  if (format == OPTIONS_FORMAT_CSV) fputs("what,value\n", out.stream);
  for (int k = 0; k < n; k++) {
    if (format == OPTIONS_FORMAT_JSON)
      md_json_string(&json, facts[k].what, facts[k].value);
    else if (format == OPTIONS_FORMAT_TABLE)
      fprintf(out.stream, "%-12s %s\n", facts[k].what, facts[k].value);
    else {
      fprintf(out.stream, "%s,", facts[k].what);
      md_quote_csv(out.stream, facts[k].value);
      fputc('\n', out.stream);
    }
  }
  if (format == OPTIONS_FORMAT_JSON) md_json_end(&json);
  return md_output_close(&out);
}
