/* tests/drive/configs.h - one configuration, and what tests say about it. */
#ifndef CONFIGS_H
#define CONFIGS_H

#include "minimd/config/config.h"

/* Fixture: cfg holds the defaults, files may be written. */
extern config *cfg;
void configs_begin(void);
void configs_end(void);

/* A value as text, until the next call. */
const char *configs_value(const config *from, const char *key);
/* Every value of both, as text, or fail. */
void configs_same(const config *a, const config *b);
/* The last message is one line and holds the words; input is shown if not. */
void configs_message(const char *words, const char *input);
/* Read text as an input into cfg: the status must be this, and the message hold the words. */
void configs_read(const char *text, md_status status, const char *words);

#endif
