/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of slab caches, without the fields that only the slab allocator can fill in: the cache's
 * name, the allocated size, and whether the allocation is accounted.
 */
#define TB_OWN_kmem_cache_alloc 1
TB_OWN_CLASS(kmem_cache_alloc,

	TP_PROTO(unsigned long call_site, const void *ptr, struct kmem_cache *s,
		 gfp_t gfp_flags, int node),

	TP_ARGS(call_site, ptr, s, gfp_flags, node),

	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
		__field(size_t, bytes_req)
		__field(unsigned long, gfp_flags)
		__field(int, node)
	),

	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
		__entry->bytes_req = kmem_cache_size(s);
		__entry->gfp_flags = (__force unsigned long)gfp_flags;
		__entry->node = node;
	),

	TP_printk("call_site=%pS ptr=%p bytes_req=%zu gfp_flags=%s node=%d",
		  (void *)__entry->call_site, __entry->ptr, __entry->bytes_req,
		  show_gfp_flags(__entry->gfp_flags), __entry->node)
);

#define TB_OWN_kmem_cache_free 1
TB_OWN_CLASS(kmem_cache_free,

	TP_PROTO(unsigned long call_site, const void *ptr, const struct kmem_cache *s),

	TP_ARGS(call_site, ptr, s),

	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
	),

	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
	),

	TP_printk("call_site=%pS ptr=%p", (void *)__entry->call_site, __entry->ptr)
);
