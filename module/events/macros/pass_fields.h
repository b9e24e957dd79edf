/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass 3 of passes.h: the elements of an event as struct tb_field_def.
 *
 * The kernel's own stage makes struct trace_event_fields, which has no offsets and differs between
 * versions.  Here the compiler knows the structure already (tb_raw), and computes the offsets.
 */

#define TB_OFFSET(member) \
	(offsetof(typeof(*tb_raw), member) - sizeof(struct trace_entry))
#define TB_SIGN(_type)		(is_signed_type(_type) ? TB_FIELD_SIGNED : 0)

#define TB_FIELD(_type, _item, _flags)					\
	{ .name = #_item, .type = #_type, .offset = TB_OFFSET(_item),	\
	  .size = sizeof(_type), .flags = (_flags) },
#define TB_DYNAMIC(_type, _item, _member, _flags)			\
	{ .name = #_item, .type = _type, .offset = TB_OFFSET(_member),	\
	  .size = sizeof(u32), .flags = (_flags) },

#undef __field
#define __field(type, item)		TB_FIELD(type, item, TB_SIGN(type))
#undef __field_ext
#define __field_ext(type, item, filter)	TB_FIELD(type, item, TB_SIGN(type))
#undef __field_struct
#define __field_struct(type, item)	TB_FIELD(type, item, 0)
#undef __field_struct_ext
#define __field_struct_ext(type, item, filter) TB_FIELD(type, item, 0)

#undef __array
#define __array(_type, _item, _len)					\
	{ .name = #_item, .type = #_type, .offset = TB_OFFSET(_item),	\
	  .size = sizeof(_type) * (_len), .count = (_len),		\
	  .flags = TB_FIELD_ARRAY | TB_SIGN(_type) },

#undef __dynamic_array
#define __dynamic_array(_type, _item, _len)				\
	TB_DYNAMIC(#_type, _item, __data_loc_##_item,			\
		   TB_FIELD_DATA_LOC | TB_SIGN(_type))
#undef __string
#define __string(item, src)		__dynamic_array(char, item, -1)
#undef __string_len
#define __string_len(item, src, len)	__dynamic_array(char, item, -1)
#undef __vstring
#define __vstring(item, fmt, ap)	__dynamic_array(char, item, -1)
#undef __bitmask
#define __bitmask(item, nr_bits)	__dynamic_array(unsigned long, item, -1)
#undef __cpumask
#define __cpumask(_item)						\
	TB_DYNAMIC("cpumask_t", _item, __data_loc_##_item,		\
		   TB_FIELD_DATA_LOC | TB_FIELD_CPUMASK)
#undef __sockaddr
#define __sockaddr(item, len)		__dynamic_array(u8, item, len)

#undef __rel_dynamic_array
#define __rel_dynamic_array(_type, _item, _len)				\
	TB_DYNAMIC(#_type, _item, __rel_loc_##_item,			\
		   TB_FIELD_REL_LOC | TB_SIGN(_type))
#undef __rel_string
#define __rel_string(item, src)		__rel_dynamic_array(char, item, -1)
#undef __rel_string_len
#define __rel_string_len(item, src, len) __rel_dynamic_array(char, item, -1)
#undef __rel_bitmask
#define __rel_bitmask(item, nr_bits) \
	__rel_dynamic_array(unsigned long, item, -1)
#undef __rel_cpumask
#define __rel_cpumask(_item)						\
	TB_DYNAMIC("cpumask_t", _item, __rel_loc_##_item,		\
		   TB_FIELD_REL_LOC | TB_FIELD_CPUMASK)
#undef __rel_sockaddr
#define __rel_sockaddr(item, len)	__rel_dynamic_array(u8, item, len)
