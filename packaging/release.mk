# packaging/release.mk - a release: the archive of its sources, Debian packages, pages of the headers.

DIST := minimd-$(RELEASE)
.PHONY: dist deb docs-api
# What is committed, with version and commit filled in by git.  The same bytes from the same commit: git gives files the
# commit's time, gzip notes none.
dist:
	@test -z "$$(git status --porcelain 2>/dev/null)" || echo 'dist: what is not committed is left out' >&2
	@mkdir -p $(BUILD)/dist
	git archive --format=tar --prefix=$(DIST)/ HEAD | gzip -9 -n >$(BUILD)/dist/$(DIST).tar.gz
	cd $(BUILD)/dist && sha256sum $(DIST).tar.gz >$(DIST).tar.gz.sha256 && cat $(DIST).tar.gz.sha256

# Packages of the program, the libraries and the Python package, from the archive: $(BUILD)/deb/*.deb.
deb: dist
	sh packaging/deb.sh $(BUILD)/dist/$(DIST).tar.gz $(BUILD)/deb

# docs/api/index.html, from the headers of the library as they are.  Every function must have a comment, and what a
# comment names must be there.
API ?= docs/api
export_api = API='$(API)' HEADERS='$(LIB_HEADERS)' RELEASE='$(RELEASE)'
docs-api:
	@command -v doxygen >/dev/null 2>&1 || { echo 'docs-api needs doxygen' >&2; exit 1; }
	@rm -rf $(API)
	@mkdir -p $(BUILD)
	$(export_api) doxygen packaging/Doxyfile
	@{ cat packaging/Doxyfile; echo EXTRACT_ALL=NO; echo GENERATE_HTML=NO; echo WARN_AS_ERROR=NO; } | \
	  $(export_api) doxygen - 2>$(BUILD)/docs-api.log
	@! grep -E '\(function\)|param' $(BUILD)/docs-api.log

help::
	@echo 'make lib        libminimd.so and libminimd.a for other programs: $(BUILD)/lib'
	@echo 'make install    to PREFIX=$(PREFIX), libraries in LIBDIR=$(LIBDIR)    (uninstall, clean, format)'
	@echo 'make docs-api   pages of the headers of the libraries: docs/api (Doxygen)'
	@echo 'make dist       an archive of what is committed: $(BUILD)/dist    (make deb: Debian packages of it)'
