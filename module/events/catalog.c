// SPDX-License-Identifier: GPL-2.0-only
/*
 * The catalog of events: collect the definitions of all units, number them, find their tracepoints,
 * attach probes.  Callers: select/, recording/, other modules, in process context.  Locks:
 * tb_events_lock to change the catalog; tb_events_srcu to read definitions.
 *
 * An event keeps its number, the index into one table, when its module goes: the number has one
 * meaning in all recordings.  Events live as long as this module, so reading their names needs no
 * lock.  Definitions and tracepoints may go: read a definition only under tb_events_srcu; only
 * functions that attach probes use the tracepoint.
 */
#include <linux/glob.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/stringhash.h>

#include "../machine/compat.h"
#include "../provider/provider.h"
#include "catalog.h"

/* two ids for each event, and 14 bits for an id */
#define TB_EVENTS_MAX	((TB_HEAD_ID(~0u) + 1 - TB_EV_FIRST) / 2)

/* one byte for each unit, so that sizeof() is the number of units */
#define TB_UNIT(name)	u8 name
struct tb_unit_count {
#include "units.h"
};

#undef TB_UNIT

static struct tb_unit tb_units[sizeof(struct tb_unit_count)];

/* a loaded module that has tracepoints */
struct tb_tp_module {
	struct list_head list;
	struct module *mod;
};

/* protects changes of the table, its hash and its tracepoints */
static DEFINE_MUTEX(tb_events_lock);
/* protects readers of definitions */
DEFINE_SRCU(tb_events_srcu);

static const struct tb_events_hooks *tb_events_hooks;
static struct tb_event **tb_events;
static unsigned int tb_nr_events;
static DEFINE_HASHTABLE(tb_events_by_name, 10);
static LIST_HEAD(tb_tp_modules);

static u32 tb_name_hash(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

/* ---- read ------------------------------------------------------------- */

/* Return the number of events, including absent ones, which never decreases.  Any context. */
unsigned int tb_events_count(void)
{
	/* pairs with the release in tb_event_new() */
	return smp_load_acquire(&tb_nr_events);
}

/*
 * Return an event by its number, which may be from user space; NULL if there is no such event.  Any
 * context.
 */
struct tb_event *tb_event_by_index(unsigned int index)
{
	unsigned int count = tb_events_count();

	return index < count ? tb_events[array_index_nospec(index, count)] : NULL;
}

struct tb_tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void tb_tracepoint_compare(struct tracepoint *tp, void *data)
{
	struct tb_tracepoint_search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/* Return a tracepoint of the kernel itself, or NULL.  The catalog need not have its event. */
struct tracepoint *tb_events_tracepoint(const char *name)
{
	struct tb_tracepoint_search search = { .name = name };

	for_each_kernel_tracepoint(tb_tracepoint_compare, &search);
	return search.found;
}

/*
 * Return true if an event matches "system", "system:event", "event" or "all", with '*' and '?'.
 * Any context.
 */
bool tb_event_matches(const struct tb_event *e, const char *pattern)
{
	char full[2 * TB_NAME_MAX];

	if (!strcmp(pattern, "all"))
		return true;
	if (!strchr(pattern, ':'))
		return glob_match(pattern, e->system) || glob_match(pattern, e->name);

	/* names have no colon, so the pattern's colon matches only the one added here */
	snprintf(full, sizeof(full), "%s:%s", e->system, e->name);
	return glob_match(pattern, full);
}

/*
 * Return the description of one form of an event, and its size in @bytes.  @compact: the compact
 * form, or the only form of a simple event.  The first call makes it: ERR_PTR(-ENOMEM), or
 * ERR_PTR(-ENOENT) if the definition is gone.  It stays until module exit, because recordings may
 * have the event then.
 */
const void *tb_event_description(struct tb_event *e, bool compact, u32 *bytes)
{
	int token = srcu_read_lock(&tb_events_srcu);
	struct tb_event_desc *desc;
	/* pairs with the exchange below */
	void *kept = smp_load_acquire(&e->desc[compact]);
	u16 id = TB_EV_FIRST + 2 * e->index + compact;
	size_t size;

	if (!kept) {
		const struct tb_event_def *def = READ_ONCE(e->def);

		if (!def) {
			kept = ERR_PTR(-ENOENT);
			goto leave;
		}
		size = tb_event_describe(def, compact ? e->compact : NULL, id, NULL, 0);
		desc = kvmalloc(size, TB_GFP);
		if (!desc) {
			kept = ERR_PTR(-ENOMEM);
			goto leave;
		}
		tb_event_describe(def, compact ? e->compact : NULL, id, desc, size);
		/* all makers store the same size, because a definition has one description */
		WRITE_ONCE(e->desc_bytes[compact], size);
		/* write the contents first: pairs with the acquires above and in tb_panic_text() */
		kept = cmpxchg(&e->desc[compact], NULL, desc);
		if (kept)
			kvfree(desc);	/* another task has stored the same description */
		else
			kept = desc;
	}
	*bytes = READ_ONCE(e->desc_bytes[compact]);
leave:
	srcu_read_unlock(&tb_events_srcu, token);
	return kept;
}

/* ---- attach ----------------------------------------------------------- */

/**
 * tb_event_attach() - attach the probe of an event
 * @p: probe of an event and a provider
 * @compact: record the compact form, if the event has one
 *
 * An attached probe keeps its form: it would miss events while it is attached in the other form.
 *
 * Context: process, under the lock of the provider.
 * Return: 0; -ENOENT the event is absent; other errors of tracepoint_probe_register().  After an
 * error the probe is detached.
 */
int tb_event_attach(struct tb_probe *p, bool compact)
{
	int token = srcu_read_lock(&tb_events_srcu);
	struct tb_event *e = p->event;
	struct tracepoint *tp = READ_ONCE(e->tp);
	struct tracebuf_source *source = READ_ONCE(e->source);
	const struct tb_event_def *def = READ_ONCE(e->def);
	void *probe;
	int ret = 0;

	lockdep_assert_held(&p->provider->lock);
	compact = e->simple || (compact && e->compact);
	if (!def || (!tp && !source)) {
		tb_event_detach(p);
		ret = -ENOENT;
		goto leave;
	}
	if (p->attached)
		goto leave;
	probe = source ? source : compact ? e->compact->probe : def->probe;
	p->wide = def->probe;
	p->owner = def->unit->owner;
	ret = source ? tb_source_attach(source, p) : tracepoint_probe_register(tp, probe, p);
	if (!ret) {
		p->tp = source ? NULL : tp;
		p->attached = probe;
	}
leave:
	srcu_read_unlock(&tb_events_srcu, token);
	return ret;
}

/*
 * Detach the probe of an event, if it is attached.  It may still be running: see
 * tb_tracepoint_synchronize().
 */
void tb_event_detach(struct tb_probe *p)
{
	lockdep_assert_held(&p->provider->lock);
	if (!p->attached)
		return;
	if (p->tp)
		tracepoint_probe_unregister(p->tp, p->attached, p);
	else
		tb_source_detach(p->attached, p);
	p->tp = NULL;
	p->attached = NULL;
}

/* ---- tracepoints ------------------------------------------------------ */

/* Store the tracepoint in the events of its name. */
static void tb_events_resolve(struct tracepoint *tp, void *unused)
{
	struct tb_event *e;

	lockdep_assert_held(&tb_events_lock);
	/*
	 * The name decides about the prototype: tracepoints are global variables with their names,
	 * so two of the kernel's source tree cannot share one.  See tb_tp_module_coming().
	 */
	hash_for_each_possible(tb_events_by_name, e, by_name, tb_name_hash(tp->name))
		if (!strcmp(e->name, tp->name) && e->def && !e->def->source && !e->def->unit->going)
			WRITE_ONCE(e->tp, tp);
}

/* Store the tracepoints of a module in the events of their names, or remove them there. */
static void tb_events_resolve_module(struct module *mod, bool there)
{
	struct tb_event *e;
	unsigned int i;

	lockdep_assert_held(&tb_events_lock);
	for (i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (there) {
			tb_events_resolve(tp, NULL);
			continue;
		}
		hash_for_each_possible(tb_events_by_name, e, by_name, tb_name_hash(tp->name))
			if (e->tp == tp)
				WRITE_ONCE(e->tp, NULL);
	}
}

static void tb_tp_module_coming(struct module *mod)
{
	struct tb_tp_module *m;

	/* probes fit the kernel's headers: an out-of-tree tracepoint may have other arguments */
	if (mod->taints & BIT(TAINT_OOT_MODULE))
		return;
	m = kmalloc(sizeof(*m), TB_GFP);
	if (!m) {
		pr_warn("tracebuf: no memory: events of module %s are not recorded\n", mod->name);
		return;
	}
	m->mod = mod;
	mutex_lock(&tb_events_lock);
	list_add_tail(&m->list, &tb_tp_modules);
	tb_events_resolve_module(mod, true);
	mutex_unlock(&tb_events_lock);
}

static bool tb_tp_module_going(struct module *mod)
{
	struct tb_tp_module *m, *found = NULL;

	mutex_lock(&tb_events_lock);
	list_for_each_entry(m, &tb_tp_modules, list)
		if (m->mod == mod)
			found = m;
	if (found) {
		list_del(&found->list);
		tb_events_resolve_module(mod, false);
	}
	mutex_unlock(&tb_events_lock);
	kfree(found);
	return found;
}

static int tb_tp_module_notify(struct notifier_block *self, unsigned long what, void *data)
{
	struct tp_module *tp_mod = data;

	if (what == MODULE_STATE_COMING)
		tb_tp_module_coming(tp_mod->mod);
	else if (what != MODULE_STATE_GOING || !tb_tp_module_going(tp_mod->mod))
		return NOTIFY_OK;
	/* on return no probe is attached to a module that is going */
	tb_events_hooks->changed();
	return NOTIFY_OK;
}

static struct notifier_block tb_tp_module_nb = {
	.notifier_call = tb_tp_module_notify,
};

/* ---- add and remove --------------------------------------------------- */

/* Return true if @def may reuse the number of @e: no recording describes @e in another way. */
static bool tb_event_same(const struct tb_event *e, const struct tb_event_def *def)
{
	u16 id = tb_event_id(e);
	size_t size;
	void *desc;
	bool same;

	if (strcmp(e->system, def->system) || strcmp(e->name, def->name) ||
	    e->simple != def->simple)
		return false;
	if (!e->desc[e->simple])
		return !e->desc[!e->simple];
	size = tb_event_describe(def, NULL, id, NULL, 0);
	if (size != e->desc_bytes[e->simple])
		return false;
	desc = kvmalloc(size, TB_GFP);
	if (!desc)
		return false;
	tb_event_describe(def, NULL, id, desc, size);
	same = !memcmp(desc, e->desc[e->simple], size);
	kvfree(desc);
	return same;
}

/*
 * Events of the scheduler occur in one thread and concern another, for example a thread that wakes
 * up.  Find the fields with the id of the other thread by their names.
 */
static void tb_event_find_about(struct tb_test *about, const struct tb_field_def *f)
{
	unsigned int n = 0;

	for (; f->name && n < TB_ABOUT_MAX; f++) {
		/* only numbers: filters read numbers of all sizes */
		if (f->flags & (TB_FIELD_ARRAY | TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
			continue;
		if (strcmp(f->name, "pid") && strcmp(f->name, "next_pid") &&
		    strcmp(f->name, "child_pid"))
			continue;
		about[n].source = TB_TEST_FIELD;
		about[n].offset = f->offset;
		about[n].size = f->size;
		about[n].bit = f->bit;
		about[n].bits = f->bits;
		n++;
	}
}

static struct tb_event *tb_event_new(const struct tb_event_def *def)
{
	struct tb_event *e;

	lockdep_assert_held(&tb_events_lock);
	if (tb_nr_events == TB_EVENTS_MAX)
		return ERR_PTR(-EOVERFLOW);
	e = kzalloc(sizeof(*e), TB_GFP);
	if (!e)
		return ERR_PTR(-ENOMEM);
	strscpy(e->system, def->system, sizeof(e->system));
	strscpy(e->name, def->name, sizeof(e->name));
	e->index = tb_nr_events;
	e->simple = def->simple;
	/* only for tracepoints: an event of another module may have the same name */
	e->compact = def->source ? NULL : tb_compact_find(def);
	if (!strcmp(e->system, "sched"))
		tb_event_find_about(e->about, def->fields);
	tb_events[tb_nr_events] = e;
	hash_add(tb_events_by_name, &e->by_name, tb_name_hash(e->name));
	/* write the event before the number: pairs with the acquire in tb_events_count() */
	smp_store_release(&tb_nr_events, tb_nr_events + 1);
	return e;
}

static int tb_event_add(const struct tb_event_def *def)
{
	struct tb_event *e;
	int err;

	lockdep_assert_held(&tb_events_lock);
	hash_for_each_possible(tb_events_by_name, e, by_name, tb_name_hash(def->name)) {
		if (e->def && !strcmp(e->system, def->system) && !strcmp(e->name, def->name))
			return -EEXIST;
		/* an event that comes back with other fields gets a new number */
		if (!e->def && tb_event_same(e, def))
			goto found;
	}
	e = tb_event_new(def);
	if (IS_ERR(e))
		return PTR_ERR(e);
found:
	err = tb_events_hooks->added(e);
	if (err)
		return err;
	/* contents before pointers: pairs with the dependent loads of readers of e->def */
	smp_store_release(&e->def, def);
	smp_store_release(&e->source, def->source); /* ... and of e->source */
	return 0;
}

/*
 * Make the events of some units absent: tb_event_attach() then attaches no probe to them.  @forget:
 * their definitions go, too.
 */
static void tb_units_hide(struct tb_unit *units, unsigned int n, bool forget)
{
	unsigned int i;

	mutex_lock(&tb_events_lock);
	for (i = 0; i < n; i++)
		units[i].going = true;
	for (i = 0; i < tb_nr_events; i++) {
		struct tb_event *e = tb_events[i];

		if (!e->def || e->def->unit < units || e->def->unit >= units + n)
			continue;
		WRITE_ONCE(e->tp, NULL);
		WRITE_ONCE(e->source, NULL);
		if (forget)
			WRITE_ONCE(e->def, NULL);
	}
	mutex_unlock(&tb_events_lock);
}

/* Remove the events of @n units.  Recordings go on without these events. */
void tb_units_unregister(struct tb_unit *units, unsigned int n)
{
	tb_units_hide(units, n, false);
	tb_events_hooks->changed();
	tb_units_hide(units, n, true);
	/* wait for readers of the definitions, and for running probes */
	synchronize_srcu(&tb_events_srcu);
	tb_tracepoint_synchronize();
}
EXPORT_SYMBOL_GPL(tb_units_unregister);

/*
 * Add the events of @n units; @owner: the module of their probes.  Events that were registered
 * before, and are still selected, are recorded at once.  Return 0; -ENOMEM; -EEXIST: an event of
 * that name exists; -EOVERFLOW: no ids are left.
 */
int tb_units_register(struct tb_unit *units, unsigned int n, struct module *owner)
{
	struct tb_event_def *def;
	struct tb_tp_module *m;
	unsigned int i;
	int err = 0;

	mutex_lock(&tb_events_lock);
	for (i = 0; i < n && !err; i++) {
		units[i].owner = owner;
		units[i].going = false;
		list_for_each_entry(def, &units[i].events, list) {
			def->unit = &units[i];
			err = tb_event_add(def);
			if (err)
				break;
		}
	}
	if (!err) {
		for_each_kernel_tracepoint(tb_events_resolve, NULL);
		list_for_each_entry(m, &tb_tp_modules, list)
			tb_events_resolve_module(m->mod, true);
	}
	mutex_unlock(&tb_events_lock);
	if (err)
		tb_units_unregister(units, n);
	else
		tb_events_hooks->changed();
	return err;
}
EXPORT_SYMBOL_GPL(tb_units_register);

/* Set up the catalog.  @hooks: called when events come and go. */
int __init tb_events_init(const struct tb_events_hooks *hooks)
{
	struct tb_unit *unit = tb_units;
	unsigned int i;
	int err;

	tb_events_hooks = hooks;
	tb_events = kvcalloc(TB_EVENTS_MAX, sizeof(*tb_events), TB_GFP);
	if (!tb_events)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(tb_units); i++) {
		INIT_LIST_HEAD(&tb_units[i].events);
		INIT_LIST_HEAD(&tb_units[i].evals);
	}
#define TB_UNIT(name)	tb_unit_init_##name(unit++)
#include "units.h"
#undef TB_UNIT
	err = tb_units_register(tb_units, ARRAY_SIZE(tb_units), THIS_MODULE);
	/* also calls the notifier for modules that are loaded already */
	if (!err)
		err = register_tracepoint_module_notifier(&tb_tp_module_nb);
	if (err)
		tb_events_exit();
	return err;
}

/* Free the catalog, also after a failed init; no probe is attached. */
void tb_events_exit(void)
{
	struct tb_tp_module *m, *next;
	unsigned int i;

	unregister_tracepoint_module_notifier(&tb_tp_module_nb);
	list_for_each_entry_safe(m, next, &tb_tp_modules, list) {
		list_del(&m->list);
		kfree(m);
	}
	for (i = 0; i < tb_nr_events; i++) {
		kvfree(tb_events[i]->desc[0]);
		kvfree(tb_events[i]->desc[1]);
		kfree(rcu_dereference_protected(tb_events[i]->handlers, true));
		kfree(tb_events[i]);
	}
	kvfree(tb_events);
}
