/* core/library.h - shared libraries that are loaded when they are first needed, so that programs
 * start without them and run where they are not installed. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "core/md.h"

MD_BEGIN_C

/* Load `file` and write the addresses of its symbols names[n] to *places[n]; it stays loaded.
 * need: the beginning of the message when it is not there. Errors: MD_EINVAL (no such library, with
 * what the linker says; a symbol that it has not). */
md_status md_library_open(const char *file, const char *need, size_t n, const char *const *names,
                          void **const *places);

MD_END_C
#endif
