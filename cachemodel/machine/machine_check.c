/* cachemodel/machine/machine_check.c - kinds of machines, and caches that the models can hold. */
#include "cachemodel/machine/machine_impl.h"

#define WORD(name, word) word,
const char *const machine_kind_words[MACHINE_KIND_COUNT] = {MACHINE_KINDS(WORD)};
const char *const machine_policy_words[MACHINE_POLICY_COUNT] = {MACHINE_POLICIES(WORD)};
#undef WORD

static bool is_power_of_two(int32_t n)
{
  return n > 0 && (n & (n - 1)) == 0;
}

md_status machine_check_level(const machine *m, int k)
{
  const machine_level *l = &m->level[k];
  MD_REQUIRE(is_power_of_two(l->line) && is_power_of_two(l->sector) && l->sector <= l->line &&
                 l->line / l->sector <= 8 && l->line >= 32,
             MD_EINVAL,
             "%s, level %d: lines of %d bytes in sectors of %d: expected powers of two, lines of "
             "32 bytes or more and at most 8 sectors",
             m->name, k + 1, l->line, l->sector);
  MD_REQUIRE(l->bytes / l->parts / l->line >= l->ways, MD_EINVAL,
             "%s, level %d: %lld bytes in %d parts do not hold %d lines of %d bytes", m->name,
             k + 1, (long long)l->bytes, l->parts, l->ways, l->line);
  MD_REQUIRE(l->line == m->level[0].line && l->sector == m->level[0].sector, MD_EINVAL,
             "%s, level %d: expected lines and sectors as in level 1", m->name, k + 1);
  MD_REQUIRE(l->parts == 1 || (m->kind == MACHINE_GPU && k == 1), MD_EINVAL,
             "%s, level %d: only the second level of a GPU has parts", m->name, k + 1);
  MD_REQUIRE(l->fetch == 0 || (m->kind == MACHINE_GPU && k == 1), MD_EINVAL,
             "%s, level %d: only the second level of a GPU has fetch", m->name, k + 1);
  MD_REQUIRE(l->fetch == 0 ||
                 (is_power_of_two(l->fetch) && l->fetch >= l->sector && l->fetch <= l->line),
             MD_EINVAL, "%s, level %d: fetch of %d bytes: expected a power of two in %d..%d",
             m->name, k + 1, l->fetch, l->sector, l->line);
  return MD_OK;
}
