/* cachemodel/machine/machine.c - machines that are known, this one, and those of other GPUs. */
#include "cachemodel/machine/machine_impl.h"
#include "core/parse/parse.h"

#include <stdio.h>
#include <string.h>

#define HOST_CACHES "/sys/devices/system/cpu/cpu0/cache"
enum {
  KB = 1024,
  UNIFIED = 256 * KB,     /* L1 and shared memory of a multiprocessor */
  SHARED = 32 * KB,       /* what a launch is given at the least, by counters of an H200 */
  SHARED_MOST = 228 * KB, /* of a multiprocessor */
  REGISTER_UNIT = 256,
  WARP_UNIT = 4 /* a multiprocessor has four parts with registers of their own */
};

void machine_set_shared(machine *m, int64_t bytes)
{
  m->level[0].bytes = UNIFIED - bytes;
}

int64_t machine_carveout(int32_t percent)
{
  static const int64_t sizes[] = {SHARED / KB, 64, 100, 132, 164, 196};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    if (100 * KB * sizes[k] >= (int64_t)SHARED_MOST * percent) return KB * sizes[k];
  return SHARED_MOST;
}

static void make_h200(int64_t shared, machine *out)
{
  *out = (machine){.name = "h200",
                   .kind = MACHINE_GPU,
                   .n_levels = 2,
                   .level = {{0, 16, 128, 32, 1, MACHINE_PLRU, 0},
                             {60 * KB * KB, 16, 128, 32, 2, MACHINE_LRU, 64}},
                   .multiprocessors = 132,
                   .warps = 64,
                   .blocks = 32,
                   .registers = 65536};
  machine_set_shared(out, shared);
}

void machine_gpu(const md_gpu_info *info, machine *out)
{
  make_h200(SHARED, out);
  if (strstr(info->name, "H200")) return;
  snprintf(out->name, sizeof out->name, "%.63s", info->name);
  out->multiprocessors = info->multiprocessors;
  if (info->l2_bytes > 0) out->level[1].bytes = info->l2_bytes;
}

/* The first word of a file of sysfs. */
static bool read_word(const char *folder, int index, const char *name, char word[32])
{
  char path[512];
  snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
  FILE *file = fopen(path, "r");
  const bool found = file && fscanf(file, "%31s", word) == 1;
  if (file) fclose(file);
  return found;
}

/* A number, with K, M or G behind it or nothing. */
static bool read_number(const char *folder, int index, const char *name, int64_t *value)
{
  char word[32];
  if (!read_word(folder, index, name, word)) return false;
  const size_t length = strlen(word);
  const char *const units = "KMG", *const unit = strchr(units, word[length - 1]);
  if (unit) word[length - 1] = '\0';
  if (md_parse_int64(word, 1, (int64_t)1 << 32, value)) return false;
  if (unit) *value <<= 10 * (unit - units + 1);
  return true;
}

md_status machine_host(const char *folder, machine *out)
{
  *out = (machine){.name = "host", .kind = MACHINE_CPU};
  char type[32];
  for (int index = 0; read_word(folder, index, "type", type); index++) {
    int64_t level, bytes, ways, line;
    if (strcmp(type, "Instruction") == 0) continue;
    const bool known = read_number(folder, index, "level", &level) &&
                       read_number(folder, index, "size", &bytes) &&
                       read_number(folder, index, "ways_of_associativity", &ways) &&
                       read_number(folder, index, "coherency_line_size", &line);
    MD_REQUIRE(known && level <= MACHINE_LEVELS_MOST && ways <= bytes / line && line <= 4096,
               MD_EIO, "%s/index%d does not describe a cache's level, size, ways and line", folder,
               index);
    out->level[level - 1] =
        (machine_level){bytes, (int32_t)ways, (int32_t)line, (int32_t)line, 1, MACHINE_LRU, 0};
    if (level > out->n_levels) out->n_levels = (int)level;
  }
  MD_REQUIRE(out->n_levels > 0, MD_EIO,
             "this system does not describe its caches in %s: describe them in a file for "
             "--machine FILE",
             folder);
  for (int k = 0; k < out->n_levels; k++)
    MD_REQUIRE(out->level[k].bytes > 0, MD_EIO, "%s describes no cache of level %d", folder, k + 1);
  for (int k = 0; k < out->n_levels; k++)
    MD_TRY(machine_check_level(out, k));
  return MD_OK;
}

md_status machine_find(const char *text, machine *out)
{
  if (strcmp(text, "host") == 0) return machine_host(HOST_CACHES, out);
  if (strcmp(text, "h200") == 0 || strncmp(text, "h200:", 5) == 0) {
    int64_t shared = SHARED / KB;
    if (text[4] && md_parse_int64(text + 5, 0, SHARED_MOST / KB, &shared))
      return MD_FAIL(MD_EINVAL, "h200:K, the shared memory of a multiprocessor in KB: %s",
                     md_message());
    make_h200(shared * KB, out);
    if (text[4]) snprintf(out->name, sizeof out->name, "h200:%lld", (long long)shared);
    return MD_OK;
  }
  return machine_read(text, out);
}

int32_t machine_resident_warps(const machine *m, int32_t block_size, int32_t registers)
{
  const int32_t warps = (block_size + 31) / 32;
  const int32_t each = (registers * 32 + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
  const int32_t by_registers = m->registers / each / WARP_UNIT * WARP_UNIT;
  int32_t blocks = (by_registers < m->warps ? by_registers : m->warps) / warps;
  if (blocks > m->blocks) blocks = m->blocks;
  return blocks * warps;
}
