/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * workqueue_queue_work, without the workqueue's name and the CPU of its pool, which only the
 * kernel's workqueue.c can get.
 */
#define TB_OWN_workqueue_queue_work 1
TB_OWN_CLASS(workqueue_queue_work,

	TP_PROTO(int req_cpu, struct pool_workqueue *pwq,
		 struct work_struct *work),

	TP_ARGS(req_cpu, pwq, work),

	TP_STRUCT__entry(
		__field(void *, work)
		__field(void *, function)
		__field(int, req_cpu)
	),

	TP_fast_assign(
		__entry->work = work;
		__entry->function = work->func;
		__entry->req_cpu = req_cpu;
	),

	TP_printk("work struct=%p function=%ps req_cpu=%d",
		  __entry->work, __entry->function, __entry->req_cpu)
);
