/* core/library.c - loading libraries. */
#include "core/library.h"

#include <dlfcn.h>

md_status md_library_open(const char *file, const char *need, size_t n, const char *const *names,
                          void **const *places)
{
  void *opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  MD_REQUIRE(opened, MD_EINVAL, "%s: %s", need, dlerror());
  for (size_t k = 0; k < n; k++) {
    *places[k] = dlsym(opened, names[k]);
    MD_REQUIRE(*places[k], MD_EINVAL, "%s has no %s", file, names[k]);
  }
  return MD_OK;
}
