/* SPDX-License-Identifier: GPL-2.0-only */
/* A socket's cookie; 0 if it has none yet, because modules cannot generate one. */
#include <linux/sock_diag.h>
#include <net/sock.h>

#define sock_gen_cookie(sk)	((u64)atomic64_read(&(sk)->sk_cookie))
