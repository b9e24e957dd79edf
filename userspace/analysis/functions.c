// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of timers and tasklets on a CPU, see functions.h.  The end of a function names the
 * timer or tasklet.  Functions that began after it have ended, too: their ends are missing.  If a
 * function begins again, its first end is missing.  If more are open than the kernel nests, some
 * ends are missing, and all of them are forgotten.
 */
#include "functions.h"

/* Return the index of the open function of @object, or the number of open ones if it has none */
static unsigned int at_object(const struct functions *functions, uint64_t object)
{
	unsigned int at = 0;

	while (at < functions->count && functions->open[at].object != object)
		at++;
	return at;
}

bool functions_take(struct functions *functions, const struct plan *plan,
		    const struct tb_view *view, uint64_t ns, uint64_t *begin, uint64_t *address)
{
	uint64_t object, function;
	bool has, has_function;
	unsigned int at;

	if (view->kind == TB_VIEW_LOST)
		functions->count = 0;
	if (!plan || (plan->role != ROLE_FUNCTION && plan->role != ROLE_FUNCTION_EXIT))
		return false;
	object = (uint64_t)plan_number(view, plan->fields[FUNCTION_OBJECT], &has);
	if (plan->role == ROLE_FUNCTION) {
		function = (uint64_t)plan_number(view, plan->fields[FUNCTION_ADDRESS],
						 &has_function);
		if (!has || !has_function)
			return false;
		at = at_object(functions, object);
		if (at == FUNCTIONS_NESTED)
			at = 0;
		functions->open[at].begin = ns;
		functions->open[at].object = object;
		functions->open[at].address = function;
		functions->count = at + 1;
		return false;
	}
	at = at_object(functions, object);
	if (!has || at == functions->count)
		return false;
	functions->count = at;
	*begin = functions->open[at].begin;
	*address = functions->open[at].address;
	return true;
}
