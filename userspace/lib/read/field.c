// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fields of events, read by their description.  No access leaves the payload, whatever the
 * description or the payload contain.
 */
#include <errno.h>
#include "internal.h"

#define DYNAMIC (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC)

static uint64_t extend(uint64_t value, unsigned int bits)
{
	uint64_t sign = 1ull << (bits - 1);

	return (value ^ sign) - sign;
}

int tb_field_u64(const struct tb_view *view,
		 const struct tb_format_field *field, uint64_t *value)
{
	unsigned int bits = field->width * 8u;

	if (field->flags & (DYNAMIC | TB_FIELD_STRING | TB_FIELD_ARRAY) ||
	    !field->width)
		return -EINVAL;
	if (!tb_read_uint(view->payload, view->length, field->offset,
			  field->width, value))
		return -ERANGE;
	if (field->flags & TB_FIELD_BITS) {
		if (!field->bits || field->bit + field->bits > bits)
			return -EINVAL;
		*value >>= field->bit;
		bits = field->bits;
		if (bits < 64)
			*value &= (1ull << bits) - 1;
	}
	if (field->flags & TB_FIELD_SIGNED && bits < 64)
		*value = extend(*value, bits);
	if (field->flags & TB_FIELD_ONE_BIT && *value)
		*value = *value <= 64 ? 1ull << (*value - 1) : 0;
	return 0;
}

int tb_field_s64(const struct tb_view *view,
		 const struct tb_format_field *field, int64_t *value)
{
	uint64_t number;
	int result = tb_field_u64(view, field, &number);

	if (!result)
		*value = (int64_t)number;
	return result;
}

/* True if fields may be missing at the end, or be empty */
static bool is_short(const struct tb_view *view)
{
	return view->format && view->format->flags & TB_EVENT_SHORT;
}

bool tb_field_is_missing(const struct tb_view *view, const struct tb_format_field *field)
{
	uint64_t word = 1;

	return is_short(view) &&
	       (field->offset > view->length ||
		(field->offset == view->length && !(field->flags & TB_FIELD_ARRAY)) ||
		(field->flags & DYNAMIC &&
		 tb_read_uint(view->payload, view->length, field->offset, 4, &word) && !word));
}

int tb_field_data(const struct tb_view *view,
		  const struct tb_format_field *field,
		  const void **data, size_t *length)
{
	uint64_t word, offset = field->offset, size = field->size;

	if (field->flags & DYNAMIC) {
		if (!tb_read_uint(view->payload, view->length, offset, 4, &word))
			return -ERANGE;
		size = word >> 16;
		if (field->flags & TB_FIELD_REL_LOC) {
			offset += 4 + (word & 0xffff);
		} else if (!word) {
			/* the driver has set no text */
			if (is_short(view))
				return -ERANGE;
			offset = 0;
		} else {
			if ((word & 0xffff) < 8)
				return -ERANGE;
			offset = (word & 0xffff) - 8;
		}
	}
	/* an array ends at the end of the payload */
	if (is_short(view) && field->flags & TB_FIELD_ARRAY && field->width &&
	    offset <= view->length && size > view->length - offset)
		size = (view->length - offset) / field->width * field->width;
	if (offset + size > view->length)
		return -ERANGE;
	*data = (const unsigned char *)view->payload + offset;
	*length = size;
	return 0;
}

int tb_field_str(const struct tb_view *view,
		 const struct tb_format_field *field,
		 const char **text, size_t *length)
{
	const void *data;
	size_t size;
	int result;

	if (!tb_field_is_text(field))
		return -EINVAL;
	result = tb_field_data(view, field, &data, &size);
	if (result < 0)
		return result;
	*text = data;
	*length = strnlen(data, size);
	return 0;
}

int tb_field_count(const struct tb_view *view,
		   const struct tb_format_field *field)
{
	const void *data;
	size_t size;
	int result;

	if (!field->width)
		return -EINVAL;
	if (!(field->flags & (DYNAMIC | TB_FIELD_ARRAY | TB_FIELD_STRING |
			      TB_FIELD_CPUMASK)))
		return 1;
	result = tb_field_data(view, field, &data, &size);
	return result < 0 ? result : (int)(size / field->width);
}

int tb_field_item(const struct tb_view *view,
		  const struct tb_format_field *field, unsigned int index,
		  uint64_t *value)
{
	const void *data;
	size_t size;
	int result;

	if (!field->width)
		return -EINVAL;
	result = tb_field_data(view, field, &data, &size);
	if (result < 0)
		return result;
	if (!tb_read_uint(data, size, (size_t)index * field->width,
			  field->width, value))
		return -ERANGE;
	if (field->flags & TB_FIELD_SIGNED && field->width < 8)
		*value = extend(*value, field->width * 8u);
	return 0;
}
