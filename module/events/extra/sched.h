/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of NUMA balancing, without the ids of NUMA groups, which modules cannot get. */
#define TB_OWN_sched_move_numa 1
TB_OWN_CLASS(sched_move_numa,

	TP_PROTO(struct task_struct *tsk, int src_cpu, int dst_cpu),

	TP_ARGS(tsk, src_cpu, dst_cpu),

	TP_STRUCT__entry(
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(int, src_cpu)
		__field(int, src_nid)
		__field(int, dst_cpu)
		__field(int, dst_nid)
	),

	TP_fast_assign(
		__entry->pid = task_pid_nr(tsk);
		__entry->tgid = task_tgid_nr(tsk);
		__entry->src_cpu = src_cpu;
		__entry->src_nid = cpu_to_node(src_cpu);
		__entry->dst_cpu = dst_cpu;
		__entry->dst_nid = cpu_to_node(dst_cpu);
	),

	TP_printk("pid=%d tgid=%d src_cpu=%d src_nid=%d dst_cpu=%d dst_nid=%d",
		  __entry->pid, __entry->tgid,
		  __entry->src_cpu, __entry->src_nid,
		  __entry->dst_cpu, __entry->dst_nid)
);

#define TB_OWN_sched_numa_pair_template 1
TB_OWN_CLASS(sched_numa_pair_template,

	TP_PROTO(struct task_struct *src_tsk, int src_cpu,
		 struct task_struct *dst_tsk, int dst_cpu),

	TP_ARGS(src_tsk, src_cpu, dst_tsk, dst_cpu),

	TP_STRUCT__entry(
		__field(pid_t, src_pid)
		__field(pid_t, src_tgid)
		__field(int, src_cpu)
		__field(int, src_nid)
		__field(pid_t, dst_pid)
		__field(pid_t, dst_tgid)
		__field(int, dst_cpu)
		__field(int, dst_nid)
	),

	TP_fast_assign(
		__entry->src_pid = task_pid_nr(src_tsk);
		__entry->src_tgid = task_tgid_nr(src_tsk);
		__entry->src_cpu = src_cpu;
		__entry->src_nid = cpu_to_node(src_cpu);
		__entry->dst_pid = dst_tsk ? task_pid_nr(dst_tsk) : 0;
		__entry->dst_tgid = dst_tsk ? task_tgid_nr(dst_tsk) : 0;
		__entry->dst_cpu = dst_cpu;
		__entry->dst_nid = dst_cpu >= 0 ? cpu_to_node(dst_cpu) : -1;
	),

	TP_printk("src_pid=%d src_tgid=%d src_cpu=%d src_nid=%d dst_pid=%d dst_tgid=%d dst_cpu=%d dst_nid=%d",
		  __entry->src_pid, __entry->src_tgid,
		  __entry->src_cpu, __entry->src_nid,
		  __entry->dst_pid, __entry->dst_tgid,
		  __entry->dst_cpu, __entry->dst_nid)
);
