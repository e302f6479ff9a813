/* tests/drive/files.h - files that a test reads, in a folder that is removed after it. */
#ifndef FILES_H
#define FILES_H

#include <stddef.h>

/* Fixture: tcase_add_checked_fixture(tc, files_begin, files_end). */
void files_begin(void);
void files_end(void);

/* Path of a file of that name; valid until files_end. */
const char *files_path(const char *name);
/* Write it and return its path. */
const char *files_write(const char *name, const void *data, size_t size);
const char *files_text(const char *name, const char *text);

/* text with its first `old`, which it must have, replaced; until the next call. */
const char *files_edit(const char *text, const char *old, const char *new);

/* A copy of text in which one byte, chosen by the seed, is replaced, or its end cut off. */
char *files_mutate(const char *text, unsigned seed);

#endif
