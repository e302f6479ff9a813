# packaging/library.mk - libraries for other programs: what is in them, and where all of minimd is installed.

# What incompatible versions of libminimd are told apart by.
SOVERSION := 1
# The headers of libminimd.  packaging/libminimd.map lists what they declare: all that the library exports.
LIB_HEADERS := core/md.h core/context.h core/buffer.h ordering/ordering.h ordering/stencil.h cachemodel/cachemodel.h \
               spread/spread.h spread/pme.h stokes/pairs/pairs.h stokes/matrix/matrix.h
LIB_MAP   := packaging/libminimd.map
LIB_NAMES := $(shell sed -n 's/^    \([a-z0-9_]*\);$$/\1/p' $(LIB_MAP))
SHARED    := $(BUILD)/lib/libminimd.so.$(SOVERSION)
STATIC    := $(BUILD)/lib/libminimd.a
LIB_NEEDS  = $(FFTW_LIBS) $(CUDA_LIBS) -lpthread -lm
# The spreading library alone, for programs that need no more.
SPREAD_LIB     := $(BUILD)/libminimd_spread.a
SPREAD_OBJ     := $(filter $(BUILD)/obj/core/% $(BUILD)/obj/ordering/% $(BUILD)/obj/spread/%,$(OBJ))
SPREAD_HEADERS := spread/spread.h spread/pme.h core/context.h core/md.h

.PHONY: lib install install-spread uninstall
lib: $(SHARED) $(STATIC)

# Both hold what the exported names need, and no other name is seen: those of a program cannot collide with ours.  In the
# static one that takes kernels without unique symbols (NVFLAGS) and templates out of the groups that linkers merge by name.
$(SHARED): $(LIB) $(LIB_MAP)
	@mkdir -p $(@D)
	$(call quiet,LD )$(CC) $(CFLAGS) -shared -fopenmp -o $@ $(LIB_NAMES:%=-Wl,-u,%) -Wl,--version-script=$(LIB_MAP) \
	  -Wl,-soname,$(@F) -Wl,-z,defs $(LIB) $(LIB_NEEDS)
	@ln -sf $(@F) $(@D)/libminimd.so
$(STATIC): $(LIB) $(LIB_MAP)
	@mkdir -p $(@D)
	@rm -f $@
	$(call quiet,AR )$(CC) -r -nostdlib -Wl,--force-group-allocation -o $(@D)/minimd.o $(LIB_NAMES:%=-Wl,-u,%) $(LIB)
	@objcopy $(LIB_NAMES:%=-G %) $(@D)/minimd.o
	@ar rcs $@ $(@D)/minimd.o
$(SPREAD_LIB): $(SPREAD_OBJ)
	@rm -f $@
	$(call quiet,AR )ar rcs $@ $^

# Where things go.  PREFIX may have spaces, and what is installed may be moved: its files name each other relatively.
LIBDIR ?= lib
TO      = $(DESTDIR)$(PREFIX)
UP     := $(shell echo '$(LIBDIR)' | sed 's|[^/][^/]*|..|g')
NUMBER := $(shell echo '$(RELEASE)' | sed 's/^\([0-9.]*\).*/\1/')
fill    = sed -e 's|@UP@|$(UP)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@VERSION@|$(NUMBER)|g' \
          -e 's|@MAJOR@|$(firstword $(subst ., ,$(NUMBER)))|g' -e 's|@SOVERSION@|$(SOVERSION)|g' -e 's|@CC@|$(CC)|g' -e 's|@LIBS@|$(LIB_NEEDS)|g' \
          -e 's|@FEATURES@|ordering cachemodel spread gspmv$(if $(FFTW), pme)$(if $(NVCC), gpu)|g'
# Headers of package $(1), its pkg-config and CMake files.
define install_package
	for h in $(2); do install -D -m 644 $$h "$(TO)/include/$(1)/$$h" || exit 1; done
	install -d "$(TO)/$(LIBDIR)/pkgconfig" "$(TO)/$(LIBDIR)/cmake/$(1)"
	$(fill) packaging/$(1).pc.in >"$(TO)/$(LIBDIR)/pkgconfig/$(1).pc"
	$(fill) packaging/$(1)-config.cmake.in >"$(TO)/$(LIBDIR)/cmake/$(1)/$(1)-config.cmake"
	$(fill) packaging/version.cmake.in >"$(TO)/$(LIBDIR)/cmake/$(1)/$(1)-config-version.cmake"
endef
install-spread: $(SPREAD_LIB)
	install -D -m 644 $(SPREAD_LIB) "$(TO)/$(LIBDIR)/libminimd_spread.a"
	$(call install_package,minimd_spread,$(SPREAD_HEADERS))
install-lib: $(SHARED) $(STATIC)
	install -D -m 644 $(STATIC) "$(TO)/$(LIBDIR)/libminimd.a"
	install -D -m 755 $(SHARED) "$(TO)/$(LIBDIR)/$(notdir $(SHARED))"
	ln -sf $(notdir $(SHARED)) "$(TO)/$(LIBDIR)/libminimd.so"
	$(call install_package,minimd,$(LIB_HEADERS))
install: all install-lib install-spread
	install -D -m 755 $(BUILD)/minimd "$(TO)/bin/minimd"
	install -D -m 644 docs/minimd.1 "$(TO)/share/man/man1/minimd.1"
	install -D -m 644 docs/minimd.bash "$(TO)/share/bash-completion/completions/minimd"
	install -D -m 644 docs/minimd.zsh "$(TO)/share/zsh/site-functions/_minimd"
	install -D -m 644 docs/minimd.fish "$(TO)/share/fish/vendor_completions.d/minimd.fish"
	install -d "$(TO)/share/minimd"
	install -m 644 inputs/* "$(TO)/share/minimd"
uninstall:
	cd "$(TO)" && rm -rf bin/minimd share/minimd share/man/man1/minimd.1 share/bash-completion/completions/minimd \
	  share/zsh/site-functions/_minimd share/fish/vendor_completions.d/minimd.fish include/minimd include/minimd_spread
	cd "$(TO)/$(LIBDIR)" && rm -rf libminimd.so libminimd.so.$(SOVERSION) libminimd.a libminimd_spread.a pkgconfig/minimd.pc \
	  pkgconfig/minimd_spread.pc cmake/minimd cmake/minimd_spread
