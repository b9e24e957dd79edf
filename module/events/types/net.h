/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces netdev_drivername(), which modules cannot call. */
#include <linux/netdevice.h>

static inline const char *tb_netdev_drivername(const struct net_device *dev)
{
	const struct device *parent = dev->dev.parent;

	return parent && parent->driver && parent->driver->name ? parent->driver->name : "";
}

#define netdev_drivername	tb_netdev_drivername
