# SPDX-License-Identifier: GPL-2.0-only
#
# tracebuf: module, library and tool.
#
#   make                    everything, the module for the running kernel
#   make module KDIR=...    the module for another kernel's headers
#   make samples KDIR=...   examples of drivers that use it, in build/RELEASE-samples
#   make tools              library and tool, in build/user
#   make install            library, tool, headers, man pages: PREFIX=/usr/local DESTDIR=
#   make modules_install    both modules, for the kernel of KDIR
#   make check              scripts/check
#   make bench              scripts/bench
#   make clean
#
# Objects go to build/, the modules to build/RELEASE/tracebuf.ko and tracebuf_events.ko; what is captured of
# which header is in coverage.txt there.

KDIR    ?= /lib/modules/$(shell uname -r)/build
PREFIX  ?= /usr/local
DESTDIR ?=

RELEASE  = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
OUT      = $(CURDIR)/build/$(RELEASE)
# whose programs go with the headers, where Debian's say so: scripts/build-module looks into objects
TOOLS_OF = $(shell sed -n 's/^override CROSS_COMPILE = \([^$$]*\)$$/\1/p' $(KDIR)/.kernelvariables 2>/dev/null)
ifneq ($(TOOLS_OF),)
export CROSS_COMPILE ?= $(TOOLS_OF)
endif
# without vmlinux there is no BTF to make for the module
KMAKE    = $(MAKE) -C $(KDIR) M=$(OUT) CONFIG_DEBUG_INFO_BTF_MODULES=
SOURCES  = Kbuild module include uapi
# headers of tracepoints whose events are in tracebuf.ko; the others' are in tracebuf_events.ko
CORE     = sched irq syscalls task timer workqueue power signal
# which there are to be: all, or those of tracebuf.ko only
HEADERS  = all

.PHONY: all module guest-module dkms torture samples tools install modules_install check bench clean

all: module tools

# kbuild puts objects beside the sources: it gets a copy of them
module guest-module:
	@test -n "$(RELEASE)" || { echo "make: no kernel headers in KDIR=$(KDIR);" \
		"install linux-headers-$$(uname -r) or name another KDIR" >&2; exit 2; }
	@mkdir -p $(OUT)
	@cp -pr $(SOURCES) $(OUT)/
	+@scripts/build-module $(OUT) $(KDIR) "$(CORE)" $(HEADERS) $(KMAKE) $(KFLAGS)

# for dkms.conf, which must know where they will be
dkms:
	$(MAKE) guest-module OUT=$(CURDIR)/build/dkms

# modules that tests load in guests, with the tracebuf.ko that selftests/torture wants; in a folder of
# their own
torture:
	@mkdir -p $(OUT)-torture/selftests/vm
	@cp -pr selftests/torture $(OUT)-torture/selftests/
	@cp -pr selftests/vm/kernel $(OUT)-torture/selftests/vm/
	$(MAKE) guest-module OUT=$(OUT)-torture HEADERS=core KFLAGS="$(KFLAGS) TB_TORTURE=y"

# built as a driver of somebody else is: from the headers and Module.symvers
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
