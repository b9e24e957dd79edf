/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where on a device a request is, by which its events are found together.
 */
#ifndef TRACEBUF_REQUEST_PLACE_H
#define TRACEBUF_REQUEST_PLACE_H

#include <stdint.h>

/*
 * A request without a place, such as a flush, has no sectors.  The kernel says sector 0 of it when
 * it is issued, and -1 when it is complete: -1 here, so that it is no request for sector 0.
 */
static inline uint64_t request_place(uint64_t sector, uint64_t sectors)
{
	return sector || sectors ? sector : UINT64_MAX;
}

#endif /* TRACEBUF_REQUEST_PLACE_H */
