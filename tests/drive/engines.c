/* tests/drive/engines.c - see engines.h. */
#include "tests/drive/engines.h"
#include "tests/test.h"

config *engines_config(const char *settings)
{
  config *cfg = NULL;
  ck_ok(config_create(&cfg));
  ck_ok(config_set(cfg, "device.backend", md_backend_words[test_backend()], "test"));
  char *copy = strdup(settings), *rest = copy;
  for (char *pair; (pair = strsep(&rest, " "));)
    ck_ok(config_set_pair(cfg, pair));
  free(copy);
  ck_ok(config_check(cfg));
  return cfg;
}
