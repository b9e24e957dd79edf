// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of timers and tasklets on a CPU, see functions.h.  The end of a function names the
 * timer or tasklet; those that began after it have ended, too, and their ends are missing.
 */
#include "functions.h"

bool functions_take(struct functions *functions, const struct plan *plan,
		    const struct tb_view *view, uint64_t ns, uint64_t *begin, uint64_t *address)
{
	unsigned int at = functions->count;
	uint64_t object, function;
	bool has, has_function;

	if (view->kind == TB_VIEW_LOST)
		functions->count = 0;
	if (!plan || (plan->role != ROLE_FUNCTION && plan->role != ROLE_FUNCTION_EXIT))
		return false;
	object = (uint64_t)plan_number(view, plan->fields[FUNCTION_OBJECT], &has);
	if (plan->role == ROLE_FUNCTION) {
		function = (uint64_t)plan_number(view, plan->fields[FUNCTION_ADDRESS],
						 &has_function);
		if (!has || !has_function || at == FUNCTIONS_NESTED)
			return false;
		functions->open[at].begin = ns;
		functions->open[at].object = object;
		functions->open[at].address = function;
		functions->count++;
		return false;
	}
	while (at && functions->open[at - 1].object != object)
		at--;
	if (!has || !at)
		return false;
	functions->count = at - 1;
	*begin = functions->open[at - 1].begin;
	*address = functions->open[at - 1].address;
	return true;
}
