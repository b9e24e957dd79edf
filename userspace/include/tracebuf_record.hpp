// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libtracebuf, recording, for C++17: objects over tracebuf_record.h.  Header only.
 *
 *	static tracebuf::category work("work");
 *
 *	void load()
 *	{
 *		tracebuf::slice slice(work, TRACEBUF_NAME("load"));
 *		...
 *		tracebuf::counter(work, TRACEBUF_NAME("bytes"), bytes);
 *	}
 *
 * All record into the calling thread's writer (tb_here()); nothing throws.  A name is a constant of
 * its place in the program; its category may be another one each time.
 */
#ifndef TRACEBUF_RECORD_HPP
#define TRACEBUF_RECORD_HPP

#include <string_view>
#include <type_traits>
#include <utility>
#include "tracebuf_record.h"

namespace tracebuf {

/// A category; of static storage duration.
class category {
public:
	explicit constexpr category(const char *name) noexcept : c_(TB_CATEGORY_INIT(name)) {}
	category(const category &) = delete;
	category &operator=(const category &) = delete;

	/// Would an event be recorded now?  Two loads, if nobody wants it.
	bool enabled() noexcept
	{
		return tb_category_open(&c_) && tb_category_enabled(&c_, tb_here());
	}

	/// For the functions of tracebuf_record.h.
	tb_category *get() noexcept { return &c_; }

private:
	tb_category c_;
};

/// A name at one place in the program; see TRACEBUF_NAME().
class name {
public:
	explicit constexpr name(const char *text) noexcept : n_(TB_NAME_INIT(text, nullptr)) {}

	tb_name *in(category &c) noexcept { return tb_name_in(&n_, c.get()); }

private:
	tb_name n_;
};

/// The name @text, a constant, of this place.
#define TRACEBUF_NAME(text) \
	([]() noexcept -> ::tracebuf::name & { \
		static ::tracebuf::name tracebuf_name_(text); \
		return tracebuf_name_; \
	}())

/// A slice of the thread's track, from here to the end of the scope.
class slice {
public:
	slice(category &c, name &n) noexcept
	{
		if (!c.enabled())
			return;
		begun(c);
		tb_put_begin(writer_, n.in(c));
	}

	/// A flow goes through it: @flow is not 0, and the same wherever it goes.
	slice(category &c, name &n, uint64_t flow) noexcept
	{
		if (!c.enabled())
			return;
		begun(c);
		tb_put_begin_flow(writer_, n.in(c), flow);
	}

	/// Ends it if its beginning was recorded, whether or not the category is wanted by now.
	~slice()
	{
		if (writer_)
			tb_put_end_of(writer_, category_);
	}

	slice(const slice &) = delete;
	slice &operator=(const slice &) = delete;

private:
	void begun(category &c) noexcept
	{
		writer_ = tb_here();
		category_ = c.get();
	}

	tb_writer *writer_ = nullptr;
	tb_category *category_ = nullptr;
};

/// A slice in one record, which may end in any order, but on its thread.
class span {
public:
	span(category &c, name &n, uint64_t flow = 0) noexcept
	{
		if (c.enabled())
			slice_ = tb_slice_begin(tb_here(), n.in(c), flow);
	}
	span(span &&other) noexcept : slice_(other.slice_) { other.slice_.writer = nullptr; }
	span(const span &) = delete;
	span &operator=(const span &) = delete;
	~span() { end(); }

	/// Ends it now.
	void end() noexcept { tb_slice_end(&slice_); }

private:
	tb_slice slice_ = {};
};

/// Something happened.
inline void instant(category &c, name &n) noexcept
{
	if (c.enabled())
		tb_put_instant(tb_here(), n.in(c));
}

/// In a flow, which ends here if it is the @last.
inline void instant(category &c, name &n, uint64_t flow, bool last = false) noexcept
{
	if (c.enabled())
		tb_put_instant_flow(tb_here(), n.in(c), flow, last);
}

/// A counter has this value, an integer or not.
template <typename T> void counter(category &c, name &n, T value) noexcept
{
	static_assert(std::is_arithmetic_v<T>, "a counter is a number");
	if (!c.enabled())
		return;
	if constexpr (std::is_floating_point_v<T>)
		tb_put_counter_double(tb_here(), n.in(c), static_cast<double>(value));
	else
		tb_put_counter(tb_here(), n.in(c), static_cast<int64_t>(value));
}

/// An event with data that can be copied as bytes.
template <typename T> void event(category &c, name &n, const T &data) noexcept
{
	static_assert(std::is_trivially_copyable_v<T>, "it is recorded as bytes");
	if (c.enabled())
		tb_put_event(tb_here(), n.in(c), &data, sizeof(data));
}

/// A text for humans.
inline void mark(std::string_view text) noexcept
{
	tb_put_mark(tb_here(), text.data(), text.size());
}

} // namespace tracebuf

#endif // TRACEBUF_RECORD_HPP
