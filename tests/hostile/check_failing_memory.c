/* tests/hostile/check_failing_memory.c - the k-th allocation of a small run of each command fails,
 * for every k up to 200 and some beyond (under AddressSanitizer for one in three): one line on
 * standard error, exit code 4 (or the whole answer, where the memory was not needed), no crash;
 * under AddressSanitizer no leak either.
 *
 * Each try is a process of its own.  On the GPU the k-th cudaMalloc fails instead; there all tries
 * share one process, since a CUDA context takes long to make, and device memory is counted. */
#include "tests/hostile/failing_memory.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVERY = 200, BEYOND = 40 };

/* Command lines; words in braces are files of the test's folder, made by the first lines. */
static const char *const setup[] = {
    ("pack --threads 1 --particles 60 --radii inputs/radii.two --occupancy 0.1 --sweeps 1 -o "
     "{spheres.xyz}"),
    ("--threads 1 --cells 4 --steps 3 --dump {atoms.xyz} --checkpoint {saved} --trace {trace} "
     "--set system.temperature=0.7"),
    "gspmv --threads 1 --matrix mat1 --rows 2000 --vectors 1 --repeat 1 --write {m.mtx} -o {x}",
};
static const char *const host_cases[] = {
    "--threads 1 --cells 5 --steps 3 --thermo 1 --list full",
    ("--threads 1 --cells 5 --steps 3 --rebuild check --list half --precision mixed --format json "
     "-o {out}"),
    ("--threads 1 --cells 5 --steps 2 --list half --newton off --order hybrid:hilbert/row:2 "
     "--precision single"),
    ("--threads 1 --cells 4 --steps 4 --dump {d.xyz} --dump-every 1 --checkpoint {c} "
     "--checkpoint-every 2"),
    "--threads 1 --cells 4 --steps 2 --dump {d.dcd} --trace {t}",
    "--threads 1 --restart {saved} --steps 6",
    "--threads 1 -i inputs/in.lj.lammps --cells 4 --steps 2",
    "--threads 1 -i inputs/in.lj.minimd --cells 4 --steps 2 --set lj.shift=force",
    "--threads 1 -i inputs/in.read --steps 2",
    "--threads 1 -i inputs/in.nacl --cells 4 --steps 1",
    "--threads 1 --set system.read={atoms.xyz} --steps 1 --check",
    "ordering --order hilbert,hybrid:row/morton:2,random --size 6 --stencil sphere:1 --offsets",
    "cachemodel --order row,hilbert --size 6 --stencil block:1 --line 2 --capacity all",
    "cachemodel --order random --size 12 --stencil block:1 --line 2 --capacity all",
    "cachemodel --order row --size 6 --stencil block:1 --line 2 --levels exclusive:8/2,16/4/fifo",
    "cachemodel --threads 1 -i inputs/in.lj --cells 5 --steps 1 --order row,hilbert --machine host",
    "cachemodel --trace {trace} --line-bytes 64 --capacity 8,64",
    "compare --threads 1 --cells 5 --steps 2 --order row,hilbert --repeat 2",
    ("spread --threads 1 --particles 50 --mesh 8 --order 4 --method all --repeat 1 --check "
     "--vectors 2"),
    "stokes --threads 1 -i {spheres.xyz} --steps 2 --rhs 2 --algorithm mrhs",
    "stokes --threads 1 -i {spheres.xyz} --steps 1 --algorithm original --method cholesky",
    ("stokes --threads 1 -i {spheres.xyz} --steps 1 --rhs 2 --root lanczos --preconditioner jacobi "
     "--trajectory {s.xyz}"),
    "gspmv --threads 1 --matrix {m.mtx} --vectors 1,3 --repeat 1 --write {n.mtx}",
    "gspmv --map",
    ("pack --threads 1 --particles 60 --radii inputs/radii.two --occupancy 0.1 --sweeps 1 -o "
     "{p.xyz}"),
    "convert -i inputs/in.lj.lammps -o {in}",
    "convert --threads 1 -i inputs/in.kob-andersen --cells 3 --to data --order hilbert -o {in}",
    "--threads 1 -i tests/corpus/lammps/in.types --check",
    "--threads 1 --set system.read=tests/corpus/atoms/types.data --check",
    "config --list --format json",
    "docs --form bash",
};
static const char *const device_cases[] = {
    "--threads 1 --cells 5 --steps 3 --thermo 1 --list full",
    "--threads 1 --cells 5 --steps 3 --list half --precision mixed --rebuild check",
    "--threads 1 --cells 5 --steps 3 --list half --deterministic",
    "--threads 1 --cells 8 --steps 3 --list tile --precision single",
    "--threads 1 -i inputs/in.nacl --cells 4 --steps 1",
    "--threads 1 --restart {saved} --steps 6",
    ("spread --threads 1 --particles 50 --mesh 8 --order 4 --method all --repeat 1 --check "
     "--vectors 2"),
    "stokes --threads 1 -i {spheres.xyz} --steps 2 --rhs 2 --algorithm mrhs",
    "gspmv --threads 1 --matrix {m.mtx} --vectors 2 --repeat 1",
};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* What was written to standard error since the last call. */
static void errors(char *text, size_t size)
{
  fflush(stderr);
  const off_t length = lseek(STDERR_FILENO, 0, SEEK_CUR);
  const ssize_t got = pread(STDERR_FILENO, text, size - 1, 0);
  text[got > 0 ? got : 0] = '\0';
  if (length > 0 && (ftruncate(STDERR_FILENO, 0) || lseek(STDERR_FILENO, 0, SEEK_SET) < 0)) abort();
}

/* One try; 0 if it went as it should, else what is wrong goes to the report. */
static int try_one(const char *line, failing_where where, long k, bool on, FILE *report)
{
  char said[4096];
  failing_set(where, k, on);
  const int code = failing_start(line, where == FAILING_DEVICE);
  failing_set(where, 0, false);
  errors(said, sizeof said);
  const char *error = strstr(said, "minimd: error: ");
  const bool clean = code == 0 ? !error
                               : code == 4 && error && strstr(error, "memory") &&
                                     !strstr(error + 1, "minimd: error: ");
  const long live = failing_device_live();
  if (clean && live == 0) return 0;
  fprintf(report, "%s: call %ld%s: exit %d, %ld device allocations left: %s\n", line, k,
          on ? " and all after it" : "", code, live, said);
  return 1;
}

typedef struct {
  long first, last, stride;
  bool on;
} range;

/* Tries in a process of its own; the number of calls of a run without failures when last is 0. */
static long try_range(const char *line, failing_where where, range r)
{
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  FILE *noise = tmpfile();
  ck_assert_ptr_nonnull(noise);
  const pid_t child = fork();
  if (child == 0) {
    FILE *report = fdopen(ends[1], "w");
    if (!report || !freopen("/dev/null", "w", stdout)) _exit(99);
    dup2(fileno(noise), STDERR_FILENO);
    int bad = 0;
    if (r.last == 0) {
      failing_set(where, 0, false);
      bad = failing_start(line, where == FAILING_DEVICE);
      fprintf(report, "%ld", failing_calls(where));
    }
    for (long k = r.first; k <= r.last; k += r.stride)
      bad |= try_one(line, where, k, r.on, report);
    fclose(report);
    exit(bad ? 98 : 0);
  }
  ck_assert_int_gt(child, 0);
  close(ends[1]);
  char text[8192] = "", said[8192] = "";
  FILE *report = fdopen(ends[0], "r");
  (void)!fread(text, 1, sizeof text - 1, report);
  fclose(report);
  int state = 0;
  waitpid(child, &state, 0);
  rewind(noise);
  (void)!fread(said, 1, sizeof said - 1, noise);
  fclose(noise);
  ck_assert_msg(WIFEXITED(state) && WEXITSTATUS(state) == 0, "%s, calls %ld to %ld: %s %d: %s%s",
                line, r.first, r.last, WIFEXITED(state) ? "exit" : "signal",
                WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state), text, said);
  return atol(text);
}

static void make_files(void)
{
  files_begin();
  for (int k = 0; k < COUNT(setup); k++)
    (void)try_range(setup[k], FAILING_HOST, (range){1, 0, 1, false});
}

START_TEST(host_memory_fails)
{
  const char *line = host_cases[_i];
  const long calls = try_range(line, FAILING_HOST, (range){1, 0, 1, false});
  ck_assert_int_gt(calls, 0);
  const long stride = calls > EVERY + BEYOND ? (calls - EVERY) / BEYOND : 1;
  /* One in a few where a try takes long: `spread` measures the memory's speed, and looking for
   * leaks stops the process. */
  const long first = (strncmp(line, "spread", 6) == 0 ? 4 : 1) * (getenv("ASAN_OPTIONS") ? 8 : 1);
  for (long k = 1; k <= calls; k += k < EVERY ? first : stride)
    (void)try_range(line, FAILING_HOST, (range){k, k, 1, false});
  for (long k = 1; k <= calls; k += 1 + calls / 12) /* nothing is left from the k-th on */
    (void)try_range(line, FAILING_HOST, (range){k, k, 1, true});
}
END_TEST

START_TEST(device_memory_fails)
{
  const char *line = device_cases[_i];
  const long calls = try_range(line, FAILING_DEVICE, (range){1, 0, 1, false});
  ck_assert_int_gt(calls, 0);
  const long stride = calls > EVERY + BEYOND ? (calls - EVERY) / BEYOND : 1;
  (void)try_range(line, FAILING_DEVICE, (range){1, calls < EVERY ? calls : EVERY, 1, false});
  if (calls > EVERY) (void)try_range(line, FAILING_DEVICE, (range){EVERY, calls, stride, false});
  (void)try_range(line, FAILING_DEVICE, (range){1, calls, 1 + calls / 12, true});
}
END_TEST

int main(void)
{
  setenv("OMP_WAIT_POLICY", "passive", 0); /* lest main starts this suite in place of the program */
  Suite *suite = suite_create("failing memory");
  TCase *tries = tcase_create("tries");
  tcase_add_unchecked_fixture(tries, make_files, files_end);
  tcase_set_timeout(tries, 300);
  if (test_backend() == MD_GPU)
    tcase_add_loop_test(tries, device_memory_fails, 0, COUNT(device_cases));
  else
    tcase_add_loop_test(tries, host_memory_fails, 0, COUNT(host_cases));
  suite_add_tcase(suite, tries);
  return test_main(suite);
}
