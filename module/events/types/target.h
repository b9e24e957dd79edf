/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The size of a SCSI command, by its group.  The kernel's table is in another module, which
 * tracebuf_events.ko must not depend on.
 */
#include <scsi/scsi_common.h>

static inline unsigned int tb_scsi_command_size(const unsigned char *cmnd)
{
	static const unsigned char sizes[8] = { 6, 10, 10, 12, 16, 12, 10, 10 };

	return cmnd[0] == VARIABLE_LENGTH_CMD ? scsi_varlen_cdb_length(cmnd) :
						sizes[(cmnd[0] >> 5) & 7];
}

#define scsi_command_size(cmnd)	tb_scsi_command_size(cmnd)
