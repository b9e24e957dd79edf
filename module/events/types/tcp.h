/* SPDX-License-Identifier: GPL-2.0-only */
/* The cookie of a socket, or 0 if it has none yet: modules cannot generate it. */
#include <linux/sock_diag.h>
#include <net/sock.h>

#define sock_gen_cookie(sk)	((u64)atomic64_read(&(sk)->sk_cookie))
