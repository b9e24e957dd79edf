/* SPDX-License-Identifier: GPL-2.0-only */
/* A function of net/ipv6/route.c that <trace/events/fib6.h> calls: the error of a type of route. */
static inline int ip6_rt_type_to_error(u8 fib6_type)
{
	switch (fib6_type) {
	case RTN_BLACKHOLE:
	case RTN_NAT:
	case RTN_XRESOLVE:
		return -EINVAL;
	case RTN_UNREACHABLE:
		return -EHOSTUNREACH;
	case RTN_PROHIBIT:
		return -EACCES;
	case RTN_THROW:
		return -EAGAIN;
	default:
		return 0;
	}
}
