/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: open the device by a helper program with the capability for it.
 */
#ifndef TB_HELPER_H
#define TB_HELPER_H

/* Return a descriptor of the device; @flags: O_NONBLOCK or 0.  -errno: there is no helper, this
 * user may not run it, or the kernel refuses */
int tb_helper_open(unsigned int flags);

#endif /* TB_HELPER_H */
