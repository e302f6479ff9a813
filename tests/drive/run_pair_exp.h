/* tests/drive/run_pair_exp.h - the exponential of pairs on the CPU in single precision, for a suite
 * that has it in double: a file knows one precision. */
#ifndef RUN_PAIR_EXP_H
#define RUN_PAIR_EXP_H

/* exp(-y), y >= 0. */
float run_pair_exp_single(float y);

#endif
