/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures that ioctls take from user space and give back.
 */
#ifndef TB_ARGUMENT_H
#define TB_ARGUMENT_H

#include <linux/string.h>
#include <linux/uaccess.h>

/* reserved fields all zero? */
static inline bool tb_argument_is_zero(const void *words, size_t bytes)
{
	return !memchr_inv(words, 0, bytes);
}

/*
 * The structure of a command, as large as the caller knows it: one of a later
 * version must have nothing but zeros where we know nothing; there is none of
 * an earlier version than this one.
 */
static inline int tb_argument_get(void *to, size_t known, const void __user *arg, size_t size)
{
	return size < known ? -EINVAL : copy_struct_from_user(to, known, arg, size);
}

static inline int tb_argument_put(void __user *arg, size_t size, const void *from, size_t known)
{
	size_t n = min(size, known);

	return copy_to_user(arg, from, n) || clear_user(arg + n, size - n) ? -EFAULT : 0;
}

#endif /* TB_ARGUMENT_H */
