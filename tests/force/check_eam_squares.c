/* tests/force/check_eam_squares.c - tables of the GPU in single precision, against r^2. */
#define MD_PREC 0
#include "tests/force/eam_words.h"

int main(void)
{
  return words_main("eam_squares");
}
