/* minimd/stokes/mobility_observe.h - `minimd mobility --observe`: what a suspension does as a
 * whole, measured with many right-hand sides. */
#ifndef MOBILITY_OBSERVE_H
#define MOBILITY_OBSERVE_H

#include "minimd/stokes/mobility_request.h"

MD_BEGIN_C

/* Measure with these spheres, on the host, and print a row for each observable and wave.
 * Errors: those of stokes_response_create and stokes_response_ask. */
md_status mobility_observe(const mobility_request *asked, md_ctx *ctx,
                           const stokes_packing *spheres, FILE *stream);

MD_END_C
#endif
