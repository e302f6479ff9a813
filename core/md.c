/* core/md.c - messages and exit codes. */
#include "core/md.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[2048] = "no error";

md_status md_fail(md_status code, const char *file, int line, const char *fmt, ...)
{
  char text[sizeof message] = ""; /* the new message may quote the old one */
  va_list args;
  va_start(args, fmt);
  int used = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (used < 0) used = 0;
  for (char *c = text; *c; c++) /* user text may hold line ends: a message is one line */
    if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
  if (code == MD_ECUDA && (size_t)used < sizeof text)
    snprintf(text + used, sizeof text - (size_t)used, " (%s:%d)", file, line);
  memcpy(message, text, sizeof message);
  return code;
}

const char *md_message(void)
{
  return message;
}

int md_exit_code(md_status code)
{
  switch (code) {
  case MD_OK:
    return 0;
  case MD_EINVAL:
  case MD_ECAPACITY:
    return 2;
  case MD_EIO:
    return 3;
  case MD_ENOMEM:
  case MD_ENOGPU:
  case MD_ECUDA:
    return 4;
  case MD_ENUMERIC:
    return 5;
  }
  return 2;
}

int md_word_index(const char *word, const char *const *words, int n)
{
  for (int k = 0; k < n; k++)
    if (strcmp(word, words[k]) == 0) return k;
  return -1;
}
