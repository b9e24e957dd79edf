/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Open the device by a helper that has the capability for it.
 */
#ifndef TB_HELPER_H
#define TB_HELPER_H

/* Return the open device; @flags: O_NONBLOCK or 0.  -errno: there is no helper, this user may not
 * run it, or the kernel refuses the device to it, too */
int tb_helper_open(unsigned int flags);

#endif /* TB_HELPER_H */
