# SPDX-License-Identifier: GPL-2.0-only
#
# Man pages and completions, made from what the tool says with -h and from the headers' comments.
# Included by userspace/Makefile. The tool is run for it: where it cannot be (a build for another
# processor), MAN_TOOL= names one that can.

MAN_TOOL ?= $(TOOL)
MAN      := $(OUT)/man
SCDOC    ?= scdoc
COMPLETE := $(OUT)/completions

.PHONY: man completions install-man
man: $(MAN)/.made
completions: $(COMPLETE)/.made

$(MAN)/.made: $(if $(filter $(TOOL),$(MAN_TOOL)),$(TOOL)) $(ROOT)/scripts/man $(ROOT)/scripts/lib/tool_help.py \
		$(wildcard $(ROOT)/docs/man/*.scd) $(ROOT)/userspace/include/tracebuf.h \
		$(ROOT)/userspace/include/tracebuf_record.h
	@command -v $(SCDOC) >/dev/null || { echo "scdoc (Debian: scdoc) is missing: run scripts/setup" >&2; exit 2; }
	@rm -rf $(MAN)
	$(call SAY,MAN ,$(MAN))
	$(Q)$(ROOT)/scripts/man $(MAN_TOOL) $(MAN)
	$(Q)for page in $(MAN)/*.scd; do \
		$(SCDOC) <$$page >$${page%.scd} || { echo "in $$page" >&2; exit 1; }; \
		rm $$page; \
	done
	@touch $@

$(COMPLETE)/.made: $(if $(filter $(TOOL),$(MAN_TOOL)),$(TOOL)) $(ROOT)/scripts/completions \
		$(ROOT)/scripts/lib/tool_help.py
	$(call SAY,GEN ,$(COMPLETE))
	$(Q)$(ROOT)/scripts/completions $(MAN_TOOL) $(COMPLETE)
	@touch $@

install-man: man completions
	for section in 1 3 4 5; do \
		install -d $(DESTDIR)$(PREFIX)/share/man/man$$section; \
		install -m 644 $(MAN)/*.$$section $(DESTDIR)$(PREFIX)/share/man/man$$section/ || exit; \
	done
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 644 $(COMPLETE)/tracebuf.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tracebuf
	install -m 644 $(COMPLETE)/_tracebuf $(DESTDIR)$(PREFIX)/share/zsh/site-functions/
	install -m 644 $(COMPLETE)/tracebuf.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/

# without scdoc there are none: a machine that only builds and installs need not have it
ifneq ($(shell command -v $(SCDOC)),)
install: install-man
endif
