/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * List the classes and events of a header, with their lines.  scripts/build-module runs only the
 * preprocessor, with this file in place of passes.h, and reads the output.
 */
#include <linux/trace_events.h>
#include <linux/kconfig.h>

#include "kinds.h"

#define TB_CLASS(call, ...)
#define TB_EVENT(call, ...)
#define TB_EVENT_PRINT(call, ...)
#define TB_EVAL(text, a)
#include TB_HEADER

#define TRACE_HEADER_MULTI_READ

/* list also the events that the unit leaves out */
#undef TB_PICK
#define TB_PICK(macro, a, b)	TB_CAT(macro, 0, 0)

#undef TB_CLASS
#define TB_CLASS(call, proto, args, ...)				\
	tb_survey_class #call __stringify(proto) __stringify(args)
#undef TB_EVENT
#define TB_EVENT(template, call, ...)					\
	tb_survey_event #template #call __stringify(TRACE_SYSTEM)
#undef TB_EVENT_PRINT
#define TB_EVENT_PRINT(template, call, ...)				\
	tb_survey_event #template #call __stringify(TRACE_SYSTEM)
#undef TB_EVAL
#define TB_EVAL(text, a)			tb_survey_eval text

#include "read.h"
