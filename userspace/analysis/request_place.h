/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place of a request on a device, which identifies it in block events.
 */
#ifndef TRACEBUF_REQUEST_PLACE_H
#define TRACEBUF_REQUEST_PLACE_H

#include <stdint.h>

/*
 * A request without a place, such as a flush, has no sectors.  The kernel gives it sector 0 when it
 * is issued, and -1 when it is complete.  Return -1 for both: sector 0 may have another request.
 */
static inline uint64_t request_place(uint64_t sector, uint64_t sectors)
{
	return sector || sectors ? sector : UINT64_MAX;
}

#endif /* TRACEBUF_REQUEST_PLACE_H */
