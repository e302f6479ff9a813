/* tests/force/check_eam_words.c - tables of the GPU in double. */
#define MD_PREC 2
#include "tests/force/eam_words.h"

int main(void)
{
  return words_main("eam_words");
}
