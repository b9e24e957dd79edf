/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes packed frames, for tests.
 */
#ifndef TEST_LIB_PACK_H
#define TEST_LIB_PACK_H

#include <stddef.h>
#include "lib/pack/column.h"
#include "test_lib_fixture.h"

/* Correct the checksums of a frame of @bytes bytes, so that a reader believes changed ones */
static inline void sign(unsigned char *frame, size_t bytes)
{
	struct tb_pack_frame header;

	memcpy(&header, frame, sizeof(header));
	header.check = pack_crc(0, frame + sizeof(header), bytes - sizeof(header));
	header.header_check = pack_crc(0, &header, offsetof(struct tb_pack_frame, header_check));
	memcpy(frame, &header, sizeof(header));
}

#endif /* TEST_LIB_PACK_H */
