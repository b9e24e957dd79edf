/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands in for the kernel's where a header of the module is read in user space. */
