/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces rpc_proc_name() and svc_proc_name(), which modules cannot call. */
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc.h>

static inline const char *tb_rpc_proc_name(const struct rpc_task *task)
{
	const struct rpc_procinfo *proc = task->tk_msg.rpc_proc;

	return proc ? proc->p_name ?: "NULL" : "no proc";
}

static inline const char *tb_svc_proc_name(const struct svc_rqst *rqstp)
{
	return rqstp && rqstp->rq_procinfo ? rqstp->rq_procinfo->pc_name : "unknown";
}

#define rpc_proc_name	tb_rpc_proc_name
#define svc_proc_name	tb_svc_proc_name

/* rpc_task_timeout() is in another module, which tracebuf_events.ko must not depend on */
static inline unsigned long tb_rpc_task_timeout(const struct rpc_task *task)
{
	unsigned long timeout = READ_ONCE(task->tk_timeout), now = jiffies;

	return timeout && time_before(now, timeout) ? timeout - now : 0;
}

#define rpc_task_timeout	tb_rpc_task_timeout
