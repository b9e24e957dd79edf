// SPDX-License-Identifier: GPL-2.0-only
/*
 * The C++ side of test_lib_record.c: the header compiles without a warning, and its objects record.
 */
#include "tracebuf_record.hpp"

namespace {
tracebuf::category work("work"), idle("idle");
struct point {
	int x, y;
};
}

extern "C" void record_by_objects(void);

void record_by_objects(void)
{
	tracebuf::slice outer(work, TRACEBUF_NAME("outer"));
	{
		tracebuf::slice inner(work, TRACEBUF_NAME("inner"), 9);
		tracebuf::slice nobody(idle, TRACEBUF_NAME("nobody"));
	}
	tracebuf::span one(work, TRACEBUF_NAME("one"));
	tracebuf::span moved(std::move(one));

	moved.end();
	tracebuf::instant(work, TRACEBUF_NAME("instant"));
	tracebuf::instant(work, TRACEBUF_NAME("flowing"), 9, true);
	tracebuf::counter(work, TRACEBUF_NAME("integer"), -1);
	tracebuf::counter(work, TRACEBUF_NAME("number"), 1.5);
	tracebuf::event(work, TRACEBUF_NAME("point"), point{ 1, 2 });
	tracebuf::mark("mark");
}

/* One place in the code, several categories */
extern "C" void record_in(tb_category *which);

void record_in(tb_category *which)
{
	tb_instant(tb_here(), which, "cpp");
}
