/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copy the structures of ioctls from and to programs, which may know another size of a structure.
 * The callers, the files of the two devices, check the contents.  Process context.
 */
#ifndef TB_DEVICES_COPY_ARGUMENT_H
#define TB_DEVICES_COPY_ARGUMENT_H

#include <linux/string.h>
#include <linux/uaccess.h>

static inline bool tb_argument_is_zero(const void *words, size_t bytes)
{
	return !memchr_inv(words, 0, bytes);
}

/*
 * Copy a structure of @size bytes from user space.  The kernel knows @known bytes; a larger
 * structure, of a later ABI, must have only zeros after them.  A smaller structure is an error,
 * because no earlier ABI exists.
 */
static inline int tb_argument_get(void *to, size_t known, const void __user *arg, size_t size)
{
	return size < known ? -EINVAL : copy_struct_from_user(to, known, arg, size);
}

/* Copy a structure to user space, and clear the bytes that the kernel does not know. */
static inline int tb_argument_put(void __user *arg, size_t size, const void *from, size_t known)
{
	size_t n = min(size, known);

	return copy_to_user(arg, from, n) || clear_user(arg + n, size - n) ? -EFAULT : 0;
}

#endif /* TB_DEVICES_COPY_ARGUMENT_H */
