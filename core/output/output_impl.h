/* core/output/output_impl.h - what output.c and temporary.c share. */
#ifndef OUTPUT_IMPL_H
#define OUTPUT_IMPL_H

#include "core/output/output.h"

/* Open out->stream under a new name beside out->target, locked, with the modes of the file that it
 * will replace.  Errors: MD_EIO, MD_ENOMEM. */
md_status output_open_temporary(md_output *out);
/* Remove it. */
void output_remove_temporary(const md_output *out);
/* Give it the name of its target; false leaves errno. */
bool output_replace(const md_output *out);

#endif
