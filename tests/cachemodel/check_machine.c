/* tests/cachemodel/check_machine.c - machine descriptions: known ones, those of files, those of the
 * system. */
#include "cachemodel/machine/machine.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
  snprintf(folder, sizeof folder, "/tmp/minimd-machine-%ld", (long)getpid());
  ck_assert_int_eq(mkdir(folder, 0700), 0);
}

static void remove_folder(void)
{
  char command[96];
  snprintf(command, sizeof command, "rm -r %s", folder);
  ck_assert_int_eq(system(command), 0);
}

/* A file below the folder; returns its path, valid until the next call. */
static const char *write_file(const char *name, const char *text)
{
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
  return path;
}

START_TEST(h200_is_known)
{
  machine m;
  ck_ok(machine_find("h200", &m));
  ck_assert(m.kind == MACHINE_GPU && m.n_levels == 2 && m.multiprocessors == 132);
  ck_assert_int_eq(m.level[0].bytes, 224 * 1024);
  ck_assert(m.level[0].policy == MACHINE_PLRU && m.level[1].policy == MACHINE_LRU);
  ck_assert(m.level[0].line == 128 && m.level[0].sector == 32 && m.level[0].ways == 16);
  ck_assert(m.level[1].bytes == 60 << 20 && m.level[1].parts == 2);
  ck_ok(machine_find("h200:228", &m)); /* 28 KB are left */
  ck_assert_str_eq(m.name, "h200:228");
  ck_assert_int_eq(m.level[0].bytes, 28 * 1024);
  static const char *const bad[] = {"h200:", "h200:-1", "h200:229", "h200:x", "h2000", "", "H200"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    ck_assert_int_eq(machine_find(bad[k], &m), MD_EINVAL);
  ck_assert_int_eq(machine_find("/", &m), MD_EIO);
}
END_TEST

/* Shared memory of compute capability 9.0: 32, 64, 100, 132, 164, 196 or 228 KB; 0, 8 and 16 KB,
 * which it has as well, are given to no launch. */
START_TEST(carveouts_are_rounded_up)
{
  static const int percent[] = {1, 3, 4, 7, 8, 14, 15, 28, 29, 43, 44, 57, 58, 71, 72, 85, 86, 100};
  static const int kb[] = {32,  32,  32,  32,  32,  32,  64,  64,  100,
                           100, 132, 132, 164, 164, 196, 196, 228, 228};
  machine m, h200;
  for (size_t k = 0; k < sizeof percent / sizeof *percent; k++)
    ck_assert_int_eq(machine_carveout(percent[k]), 1024 * kb[k]);
  ck_ok(machine_find("h200", &m));
  ck_ok(machine_find("h200:132", &h200));
  machine_set_shared(&m, 132 * 1024);
  ck_assert_int_eq(m.level[0].bytes, h200.level[0].bytes);
}
END_TEST

/* Occupancy as NVIDIA's calculator gives it for compute capability 9.0. */
START_TEST(resident_warps_follow_the_rules)
{
  static const struct {
    int block, registers, warps;
  } cases[] = {{128, 32, 64}, {128, 33, 48},  {128, 40, 48},  {128, 48, 40}, {256, 56, 32},
               {256, 60, 32}, {1024, 64, 32}, {1024, 40, 32}, {32, 32, 32},  {1024, 65, 0},
               {96, 40, 48},  {640, 64, 20},  {512, 255, 0},  {97, 32, 64},  {127, 40, 48}};
  machine m;
  ck_ok(machine_find("h200", &m));
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    ck_assert_int_eq(machine_resident_warps(&m, cases[k].block, cases[k].registers),
                     cases[k].warps);
}
END_TEST

START_TEST(other_gpus_are_scaled)
{
  machine m;
  const md_gpu_info other = {
      .name = "NVIDIA A100", .capability = 80, .multiprocessors = 108, .l2_bytes = 40 << 20};
  machine_gpu(&other, &m);
  ck_assert_str_eq(m.name, "NVIDIA A100");
  ck_assert(m.multiprocessors == 108 && m.level[1].bytes == 40 << 20 && m.level[1].parts == 2);
  const md_gpu_info same = {.name = "NVIDIA H200", .multiprocessors = 132, .l2_bytes = 50 << 20};
  machine_gpu(&same, &m);
  ck_assert_int_eq(m.level[1].bytes, 60 << 20);
  const md_gpu_info unknown = {.name = "NVIDIA X", .multiprocessors = 4};
  machine_gpu(&unknown, &m);
  ck_assert_int_eq(m.level[1].bytes, 60 << 20);
}
END_TEST

static const char gpu_text[] =
    "# a \"comment\"\n/* @, \"\n12345678901234567890 */ name = /* \" */ \"toy\"; // \"@\n kind = "
    "\"gpu\"; "
    "multiprocessors = 2; warps = 8;\n"
    "levels = ( { bytes = 4096; ways = 4; line = 128; sector = 32; policy = \"plru\"; },\n"
    "           { bytes = 1048576; ways = 8; line = 128; sector = 32; parts = 2; fetch = 64; } "
    ");\n";
static const char cpu_text[] =
    "name = \"old\"; kind = \"cpu\";\n"
    "levels = ( { bytes = 32768; ways = 8; line = 64; }, { bytes = 4294967296L; ways = 16; "
    "line = 64; } );\n";

START_TEST(files_are_read)
{
  machine m;
  ck_ok(machine_find(write_file("gpu", gpu_text), &m));
  ck_assert_str_eq(m.name, "toy");
  ck_assert(m.kind == MACHINE_GPU && m.multiprocessors == 2 && m.warps == 8 && m.blocks == 32);
  ck_assert(m.level[0].bytes == 4096 && m.level[0].ways == 4 && m.level[0].parts == 1);
  ck_assert(m.level[1].bytes == 1 << 20 && m.level[1].parts == 2 && m.level[1].sector == 32);
  ck_assert(m.level[0].policy == MACHINE_PLRU && m.level[1].policy == MACHINE_LRU);
  ck_assert(m.level[0].fetch == 0 && m.level[1].fetch == 64);
  ck_ok(machine_find(write_file("cpu", cpu_text), &m));
  ck_assert(m.kind == MACHINE_CPU && m.n_levels == 2 && m.level[1].sector == 64);
  ck_assert_int_eq(m.level[1].bytes, (int64_t)1 << 32);
}
END_TEST

/* Replace the first `from` of the text by `to` and expect a message that says `why`. */
static void refused(const char *text, const char *from, const char *to, const char *why)
{
  char changed[1024];
  machine m;
  const char *at = strstr(text, from);
  ck_assert_ptr_nonnull(at);
  snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  const char *path = write_file("bad", changed);
  ck_assert_msg(machine_find(path, &m) == MD_EINVAL, "%s: accepted", to);
  ck_assert_msg(strstr(md_message(), why), "no '%s' in: %s", why, md_message());
}

START_TEST(bad_files_are_refused)
{
  refused(gpu_text, "4096", "0", "1..");
  refused(gpu_text, "4096", "-4096", "1..");
  refused(gpu_text, "4096", "4096.0", "integer");
  refused(gpu_text, "4096", "\"4096\"", "integer");
  refused(gpu_text, "4096", "4294967296", "must end in L");
  refused(gpu_text, "4096", "256", "hold 4 lines");
  refused(gpu_text, "ways = 4", "ways = 4; way = 4", "did you mean 'ways'");
  refused(gpu_text, "ways = 4;", "", "'ways' is missing");
  refused(gpu_text, "line = 128", "line = 96", "powers of two");
  refused(gpu_text, "line = 128", "line = 64", "level 2");
  refused(gpu_text, "sector = 32", "sector = 8", "8 sectors");
  refused(gpu_text, "parts = 2", "parts = 3", "1..2");
  refused(gpu_text, "\"plru\"", "\"plrv\"", "did you mean 'plru'");
  refused(gpu_text, "\"plru\"", "30", "expected policy = \"...\"");
  refused(gpu_text, "fetch = 64", "fetch = 48", "power of two in 32..128");
  refused(gpu_text, "fetch = 64", "fetch = 16", "power of two in 32..128");
  refused(gpu_text, "fetch = 64", "fetch = 256", "power of two in 32..128");
  refused(gpu_text, "policy = \"plru\"", "fetch = 64", "only the second level");
  refused(gpu_text, "\"gpu\"", "\"gpus\"", "kind");
  refused(gpu_text, "\"toy\"", "\"\"", "name");
  refused(gpu_text, "\"toy\"", "\"a,b\"", "name");
  refused(gpu_text, "multiprocessors = 2;", "", "multiprocessors");
  refused(gpu_text, "multiprocessors", "multiprocesors", "did you mean 'multiprocessors'");
  refused(gpu_text, "{ bytes = 4096; ways = 4; line = 128; sector = 32; policy = \"plru\"; },", "",
          "two levels");
  refused(gpu_text, "levels = (", "levels = [", "syntax");
  refused(gpu_text, "levels", "level", "did you mean 'levels'");
  refused(gpu_text, "name", "@include \"/dev/zero\"\nname", "@include");
  refused(cpu_text, "name", "multiprocessors = 3; name", "unknown key");
  refused(cpu_text, "line = 64; }, {", "line = 64; parts = 2; }, {", "parts");
  refused(cpu_text, "line = 64", "line = 16", "32 bytes or more");
  refused(cpu_text, "line = 64; } );", "line = 64; }, {}, {}, {}, {}, {}, {}, {} );",
          "9 levels of caches: expected 1..8");
  refused(cpu_text, "( { bytes = 32768; ways = 8; line = 64; }, {", "( 7, {", "expected levels");
}
END_TEST

START_TEST(long_files_are_refused)
{
  enum { MOST = 64 << 10 };
  machine m;
  char *text = malloc(MOST + 3);
  for (int more = 0; more < 3; more++) { /* a comment fills the file */
    memset(text, '#', MOST + (size_t)more);
    memcpy(text, cpu_text, sizeof cpu_text - 1);
    text[MOST + more - 1] = '\n';
    text[MOST + more] = '\0';
    const char *path = write_file("long", text);
    ck_assert_int_eq(machine_find(path, &m), more ? MD_EINVAL : MD_OK);
    if (more) ck_assert_msg(strstr(md_message(), "longer than 65536 bytes"), "%s", md_message());
  }
  free(text);
}
END_TEST

static void write_cache(int index, const char *level, const char *type, const char *size,
                        const char *ways)
{
  const struct {
    const char *name, *text;
  } files[] = {{"level", level},
               {"type", type},
               {"size", size},
               {"ways_of_associativity", ways},
               {"coherency_line_size", "64"}};
  char path[128];
  snprintf(path, sizeof path, "%s/index%d", folder, index);
  ck_assert_int_eq(mkdir(path, 0700), 0);
  for (int k = 0; k < 5; k++) {
    snprintf(path, sizeof path, "index%d/%s", index, files[k].name);
    write_file(path, files[k].text);
  }
}

START_TEST(the_system_is_read)
{
  machine m;
  ck_assert_int_eq(machine_host(folder, &m), MD_EIO);
  write_cache(0, "1\n", "Data\n", "48K\n", "12\n");
  write_cache(1, "1\n", "Instruction\n", "32K\n", "8\n");
  ck_ok(machine_host(folder, &m));
  ck_assert_int_eq(m.n_levels, 1);
  write_cache(2, "2\n", "Unified\n", "2M\n", "16\n");
  ck_ok(machine_host(folder, &m));
  ck_assert(m.kind == MACHINE_CPU && m.n_levels == 2);
  ck_assert(m.level[0].bytes == 48 << 10 && m.level[0].ways == 12 && m.level[0].line == 64);
  ck_assert(m.level[1].bytes == 2 << 20 && m.level[1].ways == 16);
  write_cache(3, "1\n", "Data\n", "48K\n", "12\n"); /* of another core, behind the last level */
  ck_ok(machine_host(folder, &m));
  ck_assert(m.n_levels == 2 && m.level[1].bytes == 2 << 20);
  write_cache(4, "4\n", "Unified\n", "32M\n", "16\n");
  ck_assert_int_eq(machine_host(folder, &m), MD_EIO); /* no third level */
  ck_assert_ptr_nonnull(strstr(md_message(), "level 3"));
  write_cache(5, "3\n", "Unified\n", "1K\n", "32\n"); /* 16 lines */
  ck_assert_int_eq(machine_host(folder, &m), MD_EIO);
  ck_assert_ptr_nonnull(strstr(md_message(), "index5"));
  write_cache(6, "3\n", "Unified\n", "32X\n", "16\n");
  ck_assert_int_eq(machine_host(folder, &m), MD_EIO);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("machine");
  TCase *tcase = tcase_create("descriptions");
  tcase_add_checked_fixture(tcase, make_folder, remove_folder);
  tcase_add_test(tcase, h200_is_known);
  tcase_add_test(tcase, carveouts_are_rounded_up);
  tcase_add_test(tcase, resident_warps_follow_the_rules);
  tcase_add_test(tcase, other_gpus_are_scaled);
  tcase_add_test(tcase, files_are_read);
  tcase_add_test(tcase, bad_files_are_refused);
  tcase_add_test(tcase, long_files_are_refused);
  tcase_add_test(tcase, the_system_is_read);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
