/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes of commands by group, without the module that has the kernel's table. */
#include <scsi/scsi_common.h>

static const unsigned char tb_scsi_command_size_tbl[8] = { 6, 10, 10, 12, 16, 12, 10, 10 };

#define scsi_command_size_tbl	tb_scsi_command_size_tbl
