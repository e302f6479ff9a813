/* core/version.c - compiled with MD_VERSION by the Makefile. */
#include "core/md.h"

const char *md_version(void)
{
  return MD_VERSION;
}
