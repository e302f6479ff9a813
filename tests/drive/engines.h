/* tests/drive/engines.h - configurations for whole runs. */
#ifndef ENGINES_H
#define ENGINES_H

#include "minimd/config/config.h"

/* Defaults on the backend under test, then settings: key=value, separated by spaces; checked. */
config *engines_config(const char *settings);

#endif
