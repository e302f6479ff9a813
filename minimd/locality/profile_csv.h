/* minimd/locality/profile_csv.h - the values of metrics, launch by launch, from what a profiler
 * printed.
 *
 * Understood are Nsight Compute's CSV, one launch a line with a line of units (--page raw) or one
 * metric a line, and nvprof's summary, whose averages count as one launch.  Everything else the
 * profiler or the program said is passed over: lines before the header, and lines that do not begin
 * with a quote.  Fields may hold commas, line ends and doubled quotes; numbers may have separators
 * between their thousands and scaled units (Kbyte, usecond): values are in bytes, nanoseconds,
 * counts, percent. */
#ifndef PROFILE_CSV_H
#define PROFILE_CSV_H

#include "core/md.h"

MD_BEGIN_C

typedef struct {
  int64_t launches;
  int n;         /* metrics */
  double *value; /* [launches][n]; NaN: not printed, or not a number */
} profile_values;
void profile_values_free(profile_values *values);

/* The values of these metrics.  Launches are numbered as they come.
 * Errors: MD_EIO (no table; a line that is cut off; a quote without its end), MD_ENOMEM. */
md_status profile_csv_read(const char *text, const char *const *metrics, int n,
                           profile_values *out);

MD_END_C
#endif
