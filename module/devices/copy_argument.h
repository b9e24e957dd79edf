/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copying the structures of ioctls from and to user space, which may know another size.  What is in
 * them the files of the two devices check.
 */
#ifndef TB_DEVICES_COPY_ARGUMENT_H
#define TB_DEVICES_COPY_ARGUMENT_H

#include <linux/string.h>
#include <linux/uaccess.h>

/* Return true if reserved fields are all zero. */
static inline bool tb_argument_is_zero(const void *words, size_t bytes)
{
	return !memchr_inv(words, 0, bytes);
}

/*
 * Copies a structure of @size bytes from user space; the kernel knows @known bytes of it.  A larger
 * one, of a later ABI, must have only zeros behind these.  A smaller one is wrong: no earlier ABI
 * exists.
 */
static inline int tb_argument_get(void *to, size_t known, const void __user *arg, size_t size)
{
	return size < known ? -EINVAL : copy_struct_from_user(to, known, arg, size);
}

/* Copies a structure to user space, and clears what the kernel does not know of it. */
static inline int tb_argument_put(void __user *arg, size_t size, const void *from, size_t known)
{
	size_t n = min(size, known);

	return copy_to_user(arg, from, n) || clear_user(arg + n, size - n) ? -EFAULT : 0;
}

#endif /* TB_DEVICES_COPY_ARGUMENT_H */
