/* tests/drive/configs.c - see configs.h. */
#include "tests/drive/configs.h"
#include "tests/drive/files.h"
#include "tests/test.h"

config *cfg;

void configs_begin(void)
{
  files_begin();
  ck_ok(config_create(&cfg));
}

void configs_end(void)
{
  config_destroy(cfg);
  files_end();
}

const char *configs_value(const config *from, const char *key)
{
  static char text[CONFIG_TEXT_SIZE];
  ck_ok(config_format_value(from, key, text, sizeof text));
  return text;
}

void configs_same(const config *a, const config *b)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  for (int k = 0; k < n; k++) {
    char *text = strdup(configs_value(a, entries[k].key));
    ck_assert_msg(strcmp(text, configs_value(b, entries[k].key)) == 0, "%s: %s and %s",
                  entries[k].key, text, configs_value(b, entries[k].key));
    free(text);
  }
}

void configs_message(const char *words, const char *input)
{
  ck_assert_msg(strstr(md_message(), words), "'%s': no '%s' in '%s'", input, words, md_message());
  ck_assert_msg(!strchr(md_message(), '\n'), "more than one line: %s", md_message());
}

void configs_read(const char *text, md_status status, const char *words)
{
  const md_status got = config_read(cfg, files_text("a.in", text), CONFIG_FORMAT_AUTO);
  ck_assert_msg(got == status, "'%s': status %d: %s", text, (int)got, md_message());
  if (status) configs_message(words, text);
}
