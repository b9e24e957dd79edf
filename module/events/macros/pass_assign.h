/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass 5 of passes.h: fill in dynamic fields.
 *
 * The kernel's own macros rely on the size of the source, or compute it a second time.  If a string
 * has grown since the probe reserved room for it, they write beyond the event, into the next event
 * of the ring.  These macros write no more than the reserved bytes, and clear the rest.
 */
#ifndef TB_MACROS_PASS_ASSIGN_H
#define TB_MACROS_PASS_ASSIGN_H

static inline void tb_assign_bytes(void *dst, const void *src, size_t len, size_t room)
{
	if (len > room)
		len = room;
	memcpy(dst, src, len);
	memset(dst + len, 0, room - len);
}

/* Copy a string of at most @len bytes, and terminate it. */
static inline void tb_assign_text(char *dst, const char *src, size_t len, size_t room)
{
	if (!room)
		return;
	if (!src) {
		src = "(null)";
		len = min_t(size_t, len, strlen(src));
	}
	tb_assign_bytes(dst, src, min(len, room - 1), room - 1);
	dst[room - 1] = '\0';
}

static inline void tb_assign_string(char *dst, const char *src, size_t room)
{
	if (room)
		strscpy_pad(dst, src ?: "(null)", room);
}

static inline __printf(3, 0) void tb_assign_vstr(char *dst, size_t room, const char *fmt,
							  va_list *va)
{
	va_list args;
	int len;

	va_copy(args, *va);
	len = vscnprintf(dst, room, fmt, args);
	va_end(args);
	memset(dst + len, 0, room - len);
}

#endif /* TB_MACROS_PASS_ASSIGN_H */

/* since 6.10 an earlier stage keeps the source; before, the header passes it again */
#define TB_ASSIGN_PICK(dst, src, macro, ...)	macro
#define TB_ASSIGN_KEPT(dst)						\
	tb_assign_text(__get_str(dst), __data_offsets.dst##_ptr_,	\
		       __get_dynamic_array_len(dst),			\
		       __get_dynamic_array_len(dst));
#define TB_ASSIGN_SOURCE(dst, src)					\
	tb_assign_string(__get_str(dst), (const char *)(src),		\
			 __get_dynamic_array_len(dst));
#define TB_ASSIGN_REL_KEPT(dst)						\
	tb_assign_text(__get_rel_str(dst), __data_offsets.dst##_ptr_,	\
		       __get_rel_dynamic_array_len(dst),		\
		       __get_rel_dynamic_array_len(dst));
#define TB_ASSIGN_REL_SOURCE(dst, src)					\
	tb_assign_string(__get_rel_str(dst), (const char *)(src),	\
			 __get_rel_dynamic_array_len(dst));

#undef __assign_str
#define __assign_str(dst, ...)						\
	TB_ASSIGN_PICK(dst, ##__VA_ARGS__, TB_ASSIGN_SOURCE,		\
		       TB_ASSIGN_KEPT, -)(dst, ##__VA_ARGS__)
#undef __assign_rel_str
#define __assign_rel_str(dst, ...)					\
	TB_ASSIGN_PICK(dst, ##__VA_ARGS__, TB_ASSIGN_REL_SOURCE,	\
		       TB_ASSIGN_REL_KEPT, -)(dst, ##__VA_ARGS__)

#undef __assign_str_len
#define __assign_str_len(dst, src, len)					\
	tb_assign_text(__get_str(dst), src, len, __get_dynamic_array_len(dst))
#undef __assign_rel_str_len
#define __assign_rel_str_len(dst, src, len)				\
	tb_assign_text(__get_rel_str(dst), src, len,			\
		       __get_rel_dynamic_array_len(dst))

#undef __assign_vstr
#define __assign_vstr(dst, fmt, va)					\
	tb_assign_vstr(__get_str(dst), __get_dynamic_array_len(dst), fmt, va)

#undef __assign_bitmask
#define __assign_bitmask(dst, src, nr_bits)				\
	tb_assign_bytes(__get_bitmask(dst), src,			\
			__bitmask_size_in_bytes(nr_bits),		\
			__get_dynamic_array_len(dst))
#undef __assign_rel_bitmask
#define __assign_rel_bitmask(dst, src, nr_bits)				\
	tb_assign_bytes(__get_rel_bitmask(dst), src,			\
			__bitmask_size_in_bytes(nr_bits),		\
			__get_rel_dynamic_array_len(dst))

#undef __assign_sockaddr
#define __assign_sockaddr(dst, src, len)				\
	tb_assign_bytes(__get_dynamic_array(dst), src, len,		\
			__get_dynamic_array_len(dst))
#undef __assign_rel_sockaddr
#define __assign_rel_sockaddr(dst, src, len)				\
	tb_assign_bytes(__get_rel_dynamic_array(dst), src, len,		\
			__get_rel_dynamic_array_len(dst))
