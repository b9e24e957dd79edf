# SPDX-License-Identifier: GPL-2.0-only
#
# tracebuf: module, library and tool.
#
#   make                    everything, the module for the running kernel
#   make module KDIR=...    the module for another kernel's headers
#   make samples KDIR=...   examples of drivers that use tracebuf, in build/RELEASE-samples
#   make tools              library and tool, in build/user
#   make install            library, tool, headers, man pages: PREFIX=/usr/local DESTDIR=
#   make modules_install    both modules, for the kernel of KDIR
#   make check              scripts/check
#   make bench              scripts/bench
#   make clean
#
# Objects go to build/, the modules to build/RELEASE/tracebuf.ko and tracebuf_events.ko.
# coverage.txt there says which events of which header they capture.

KDIR    ?= /lib/modules/$(shell uname -r)/build
PREFIX  ?= /usr/local
DESTDIR ?=

RELEASE  = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
OUT      = $(CURDIR)/build/$(RELEASE)
# the tool chain that Debian's headers name: scripts/build-module uses its nm and objdump
TOOLS_OF = $(shell sed -n 's/^override CROSS_COMPILE = \([^$$]*\)$$/\1/p' $(KDIR)/.kernelvariables 2>/dev/null)
ifneq ($(TOOLS_OF),)
export CROSS_COMPILE ?= $(TOOLS_OF)
endif
# kbuild could make BTF for the module only with vmlinux
KMAKE    = $(MAKE) -C $(KDIR) M=$(OUT) CONFIG_DEBUG_INFO_BTF_MODULES=
SOURCES  = Kbuild module include uapi
# headers whose events are in tracebuf.ko; those of all other headers are in tracebuf_events.ko
CORE     = sched irq syscalls task timer workqueue power signal
# which headers to compile: all, or core for those of tracebuf.ko only
HEADERS  = all

.PHONY: all module guest-module dkms torture samples tools install modules_install check bench clean

all: module tools

# builds a copy, because kbuild writes objects beside the sources
module guest-module:
	@test -n "$(RELEASE)" || { echo "make: no kernel headers in KDIR=$(KDIR);" \
		"install linux-headers-$$(uname -r) or name another KDIR" >&2; exit 2; }
	@mkdir -p $(OUT)
	@cp -pr $(SOURCES) $(OUT)/
	+@scripts/build-module $(OUT) $(KDIR) "$(CORE)" $(HEADERS) $(KMAKE) $(KFLAGS)

# for dkms.conf, which needs a fixed path of the modules
dkms:
	$(MAKE) guest-module OUT=$(CURDIR)/build/dkms

# modules that tests load in guests, and a tracebuf.ko with counters for them, in an own folder
torture:
	@mkdir -p $(OUT)-torture/selftests/vm
	@cp -pr selftests/torture $(OUT)-torture/selftests/
	@cp -pr selftests/vm/kernel $(OUT)-torture/selftests/vm/
	$(MAKE) guest-module OUT=$(OUT)-torture HEADERS=core KFLAGS="$(KFLAGS) TB_TORTURE=y"

# built as drivers outside of this repository are: from the headers and Module.symvers
samples: guest-module
	@mkdir -p $(OUT)-samples
	@cp -pr samples/. include uapi $(OUT)-samples/
	$(MAKE) -C $(KDIR) M=$(OUT)-samples KBUILD_EXTRA_SYMBOLS=$(OUT)/Module.symvers \
		CONFIG_DEBUG_INFO_BTF_MODULES= $(KFLAGS) modules

modules_install: module
	$(KMAKE) INSTALL_MOD_PATH=$(DESTDIR) modules_install

tools:
	$(MAKE) -C userspace all

install: tools
	$(MAKE) -C userspace install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

check:
	scripts/check

bench:
	scripts/bench

clean:
	rm -rf build
