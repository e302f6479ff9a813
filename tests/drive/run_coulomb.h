/* tests/drive/run_coulomb.h - the Coulomb formula in single precision, for a suite that has it in
 * double: a file knows one precision. */
#ifndef RUN_COULOMB_H
#define RUN_COULOMB_H

/* Force over distance of two unit charges at r, for alpha = 1; *u gets their energy. */
float run_coulomb_single(float r, float *u);
/* The same of near cutoffs (force/coulomb_near.h). */
float run_coulomb_near_single(float r, float *u);

#endif
