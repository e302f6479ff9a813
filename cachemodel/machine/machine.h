/* cachemodel/machine/machine.h - the caches of a machine, as the hierarchy model sees them.
 *
 * h200       NVIDIA H200: 132 multiprocessors; L1 what shared memory leaves of 256 KB; lines of 128
 *            bytes in sectors of 32, 16 ways, victims that were not used lately (as counters say:
 *            misses of orders that fit are more, of those that do not are fewer than with LRU;
 *            docs/decisions/18); L2 of 60 MB in two halves, each for its own multiprocessors, which
 *            reads memory 64 bytes at a time (cudaLimitMaxL2FetchGranularity's default; DRAM
 *            counters of random order agree)
 * h200:K     the same with K KB of each multiprocessor set apart as shared memory (32)
 * host       the data caches of this machine's first processor, as Linux describes them
 * FILE       libconfig, for example
 *              name = "H200"; kind = "gpu"; multiprocessors = 132;
 *              warps = 64; blocks = 32; registers = 65536;      # of a multiprocessor, at most
 *              levels = (
 *                { bytes = 229376; ways = 16; line = 128; sector = 32; policy = "plru"; },
 *                { bytes = 62914560; ways = 16; line = 128; sector = 32; parts = 2;
 *                  fetch = 64; } );
 *            A GPU has two levels.  A CPU has name, kind = "cpu" and any number of levels, nearest
 *            first; sector is the line, parts 1, policy "lru" and fetch the sector when not
 *            given. */
#ifndef MACHINE_H
#define MACHINE_H

#include "core/context.h"

MD_BEGIN_C

#define MACHINE_KINDS(X) X(CPU, "cpu") X(GPU, "gpu")
/* Which line of a set is replaced.  lru: that whose last access is the oldest; plru: the first that
 * was not accessed since all others were (a bit for each line, bit-PLRU). */
#define MACHINE_POLICIES(X) X(LRU, "lru") X(PLRU, "plru")
#define MD_ENUM_(name, word) MACHINE_##name,
typedef enum { MACHINE_KINDS(MD_ENUM_) MACHINE_KIND_COUNT } machine_kind;
typedef enum { MACHINE_POLICIES(MD_ENUM_) MACHINE_POLICY_COUNT } machine_policy;
#undef MD_ENUM_
extern const char *const machine_kind_words[MACHINE_KIND_COUNT];
extern const char *const machine_policy_words[MACHINE_POLICY_COUNT];

typedef struct {
  int64_t bytes; /* of one multiprocessor (GPU, first level), else of all parts together */
  int32_t ways, line, sector; /* lines in a set; bytes of a line and of its sectors */
  int32_t parts;
  machine_policy policy;
  int32_t fetch; /* bytes that memory gives the last level of a GPU at a time; 0: a sector */
} machine_level;

/* More levels than any machine has; a description with more is refused. */
enum { MACHINE_LEVELS_MOST = 8 };

typedef struct {
  char name[64];
  machine_kind kind;
  int n_levels;
  machine_level level[MACHINE_LEVELS_MOST];
  /* GPU: multiprocessors, and what one of them holds at most. */
  int32_t multiprocessors, warps, blocks, registers;
} machine;

/* Errors: MD_EINVAL (no such word and no such file; file, key and what was expected), MD_EIO. */
md_status machine_find(const char *text, machine *out);

/* The caches below /sys/devices/system/cpu/cpu0/cache, or below another folder of that form.
 * Errors: MD_EIO (not described there). */
md_status machine_host(const char *folder, machine *out);

/* A GPU that is not described otherwise: an H200 with this one's name, number of multiprocessors
 * and size of L2. */
void machine_gpu(const md_gpu_info *info, machine *out);

/* Leave so much of each multiprocessor of a GPU to shared memory: the first level gets the rest. */
void machine_set_shared(machine *m, int64_t bytes);
/* What a preferred carve-out of so many percent of the greatest shared memory takes [B]: the least
 * that the hardware can set apart, or more. */
int64_t machine_carveout(int32_t percent);

/* Warps that one multiprocessor holds of a kernel with this many threads in a block and registers
 * in a thread, by the rules of compute capability 7 to 9 (registers in units of 256 a warp); 0 when
 * a block does not fit. */
int32_t machine_resident_warps(const machine *m, int32_t block_size, int32_t registers);

MD_END_C
#endif
