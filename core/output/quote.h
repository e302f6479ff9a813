/* core/output/quote.h - text of any bytes, such as file names, within JSON and CSV. */
#ifndef QUOTE_H
#define QUOTE_H

#include "core/md.h"
#include <stdio.h>

MD_BEGIN_C

/* A JSON string (RFC 8259): quotes, backslashes and control characters are escaped; a byte that is
 * no part of valid UTF-8 becomes U+FFFD. */
void md_quote_json(FILE *stream, const char *text);

/* A CSV field (RFC 4180): within quotes, which are doubled in it, where it has a comma, a quote or
 * the end of a line; else as it is. */
void md_quote_csv(FILE *stream, const char *text);

MD_END_C
#endif
