/* core/output/quote.c - see quote.h. */
#include "core/output/quote.h"

#include <string.h>

/* Bytes of the UTF-8 character that begins here, 0: none does.  Neither longer than needed, nor a
 * surrogate, nor beyond U+10FFFF. */
static int utf8_length(const unsigned char *c)
{
  const int length = c[0] < 0x80                    ? 1
                     : c[0] >= 0xc2 && c[0] <= 0xdf ? 2
                     : (c[0] & 0xf0) == 0xe0        ? 3
                     : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4
                                                    : 0;
  for (int k = 1; k < length; k++)
    if ((c[k] & 0xc0) != 0x80) return 0;
  const bool bad = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
                   (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90);
  return bad ? 0 : length;
}

void md_quote_json(FILE *stream, const char *text)
{
  fputc('"', stream);
  for (const unsigned char *c = (const unsigned char *)text; *c;) {
    const int length = utf8_length(c);
    if (length == 0)
      fputs("\\ufffd", stream);
    else if (*c == '"' || *c == '\\')
      fprintf(stream, "\\%c", *c);
    else if (*c < 0x20 || *c == 0x7f)
      fprintf(stream, "\\u%04x", *c);
    else
      fwrite(c, 1, (size_t)length, stream);
    c += length ? length : 1;
  }
  fputc('"', stream);
}

void md_quote_csv(FILE *stream, const char *text)
{
  if (!strpbrk(text, ",\"\r\n")) {
    fputs(text, stream);
    return;
  }
  fputc('"', stream);
  for (; *text; text++) {
    if (*text == '"') fputc('"', stream);
    fputc(*text, stream);
  }
  fputc('"', stream);
}
