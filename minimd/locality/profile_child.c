/* minimd/locality/profile_child.c - see profile_child.h. */
#include "minimd/locality/profile_child.h"
#include "core/context.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORD(name, word) word,
const char *const profile_tool_words[PROFILE_TOOL_COUNT] = {PROFILE_TOOLS(WORD)};
const char *const profile_caches_words[PROFILE_CACHES_COUNT] = {PROFILE_CACHES(WORD)};
const char *const profile_replay_words[PROFILE_REPLAY_COUNT] = {PROFILE_REPLAYS(WORD)};
#undef WORD

/* Nsight Compute's word for a pattern, and the pattern. */
enum { REGEX = 6 };
static const char kernels[] = "regex:^(full|half)_.*";

static const char no_permission[] =
    "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM).  Run as root or "
    "with "
    "CAP_SYS_ADMIN (in a container: --cap-add=SYS_ADMIN); or let everybody read them: put the line "
    "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file below /etc/modprobe.d, "
    "rebuild the initial RAM disk where the distribution keeps one (update-initramfs -u), and "
    "reboot; see https://developer.nvidia.com/ERR_NVGPUCTRPERM";
static const char no_tool[] =
    "%s is not on the PATH: it comes with the CUDA Toolkit (usually in /usr/local/cuda/bin) and as "
    "a package of its own (NVIDIA Nsight Compute)";

extern char **environ;

/* Everything in a file, from its beginning; a 0 at its end. */
static md_status read_all(FILE *file, char **text)
{
  const long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  MD_REQUIRE(bytes >= 0, MD_EIO, "cannot read what the profiler printed: %s", strerror(errno));
  rewind(file);
  *text = malloc((size_t)bytes + 1);
  MD_REQUIRE(*text, MD_ENOMEM, "out of memory: %ld bytes of a profile", bytes);
  (*text)[fread(*text, 1, (size_t)bytes, file)] = '\0';
  return MD_OK;
}

/* Both streams of a command in one file; *code as the shell counts, 0 where it was not found. */
static md_status run_command(char *const *argv, FILE *file, int *code, bool *found)
{
  posix_spawn_file_actions_t actions;
  pid_t pid;
  setenv("LC_ALL", "C", 1);
  MD_REQUIRE(posix_spawn_file_actions_init(&actions) == 0, MD_ENOMEM, "out of memory for a child");
  posix_spawn_file_actions_adddup2(&actions, fileno(file), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(file), STDERR_FILENO);
  fflush(NULL);
  const int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  *code = 0;
  *found = error != ENOENT;
  if (!*found) return MD_OK;
  MD_REQUIRE(error == 0, MD_ENOGPU, "cannot start %s: %s", argv[0], strerror(error));
  int ended;
  while (waitpid(pid, &ended, 0) < 0)
    MD_REQUIRE(errno == EINTR, MD_ENOGPU, "lost %s: %s", argv[0], strerror(errno));
  *code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return MD_OK;
}

/* A copy of what follows `mark` on the first line that holds it, or NULL. */
static char *line_behind(const char *text, const char *mark)
{
  const char *at = strstr(text, mark);
  if (!at) return NULL;
  at += strlen(mark);
  return strndup(at, strcspn(at, "\r\n"));
}

static md_status status_of(int code)
{
  switch (code) {
  case 2:
    return MD_EINVAL;
  case 3:
    return MD_EIO;
  case 5:
    return MD_ENUMERIC;
  default:
    return MD_ENOGPU;
  }
}

/* A profile that cannot be: the program's own error, or the profiler's. */
static md_status judge(const char *tool, const char *text, int code, char **missing)
{
  if (strstr(text, "ERR_NVGPUCTRPERM")) {
    *missing = strdup(no_permission);
    MD_REQUIRE(*missing, MD_ENOMEM, "out of memory for a message");
    return MD_OK;
  }
  char *said = line_behind(text, "minimd: error: ");
  if (said) {
    char *number = line_behind(text, "application returned an error code (");
    const md_status status = status_of(number ? atoi(number) : code);
    free(number);
    if (status == MD_ENOGPU && !md_gpu_available()) {
      *missing = said;
      return MD_OK;
    }
    md_fail(status, __FILE__, __LINE__, "%s", said);
    free(said);
    return status;
  }
  if (code == 0) return MD_OK;
  said = line_behind(text, "==ERROR== ");
  const md_status status = code > 128 ? MD_FAIL(MD_ENOGPU, "%s was ended by signal %d%s%s", tool,
                                                code - 128, said ? ": " : "", said ? said : "")
                                      : MD_FAIL(MD_ENOGPU, "%s failed with exit code %d%s%s", tool,
                                                code, said ? ": " : "", said ? said : "");
  free(said);
  return status;
}

/* The profiler's part of the command; returns the number of arguments. */
static int tool_arguments(const profile_run *run, const char *metrics, const char **argv)
{
  const bool cold = run->caches == PROFILE_COLD;
  const char *const ncu[] = {"ncu",
                             "--csv",
                             "--page",
                             "raw",
                             "--print-units",
                             "base",
                             "--clock-control",
                             "none",
                             "--cache-control",
                             cold ? "all" : "none",
                             "--replay-mode",
                             profile_replay_words[cold ? PROFILE_KERNEL : run->replay],
                             "--profile-from-start",
                             "off",
                             "--kernel-name",
                             kernels,
                             "--metrics",
                             metrics};
  const char *const nvprof[] = {"nvprof",    "--csv",     "--profile-from-start",
                                "off",       "--kernels", kernels + REGEX,
                                "--metrics", metrics};
  const bool is_ncu = run->tool == PROFILE_NCU;
  const size_t bytes = is_ncu ? sizeof ncu : sizeof nvprof;
  memcpy(argv, is_ncu ? ncu : nvprof, bytes);
  return (int)(bytes / sizeof *argv);
}

enum { TOOL_ARGUMENTS = 32 };

/* "a,b,c"; free it. */
static char *join(const profile_metrics *metrics)
{
  size_t bytes = 1;
  for (int k = 0; k < metrics->n; k++)
    bytes += strlen(metrics->name[k]) + 1;
  char *text = malloc(bytes), *to = text;
  if (!text) return NULL;
  for (int k = 0; k < metrics->n; k++)
    to += sprintf(to, "%s%s", k ? "," : "", metrics->name[k]);
  return text;
}

/* All that the profiler and the program printed. */
static md_status capture(const profile_run *run, char **text, int *code, bool *found)
{
  int n = 0;
  while (run->program[n])
    n++;
  char *metrics = join(run->metrics);
  const char **argv = calloc((size_t)(TOOL_ARGUMENTS + n + 1), sizeof *argv);
  FILE *file = tmpfile();
  md_status status = MD_OK;
  if (!metrics || !argv)
    status = MD_FAIL(MD_ENOMEM, "out of memory for a command");
  else if (!file)
    status = MD_FAIL(MD_EIO, "cannot make a temporary file: %s", strerror(errno));
  if (!status) {
    const int first = tool_arguments(run, metrics, argv);
    memcpy(argv + first, run->program, (size_t)n * sizeof *argv);
    status = run_command((char *const *)(uintptr_t)argv, file, code, found);
  }
  if (!status) status = read_all(file, text);
  if (file) fclose(file);
  free(argv);
  free(metrics);
  return status;
}

md_status profile_child(const profile_run *run, profile_values *values, char **missing)
{
  const char *tool = profile_tool_words[run->tool];
  char *text = NULL;
  int code = 0;
  bool found = true;
  *values = (profile_values){0};
  *missing = NULL;
  md_status status = capture(run, &text, &code, &found);
  if (!status && !found && asprintf(missing, no_tool, tool) < 0)
    status = MD_FAIL(MD_ENOMEM, "out of memory for a message");
  if (!status && found) status = judge(tool, text, code, missing);
  if (!status && found && !*missing)
    status =
        profile_csv_read(text, (const char *const *)run->metrics->name, run->metrics->n, values);
  free(text);
  return status;
}
