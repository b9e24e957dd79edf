// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf-open - open /dev/tracebuf for a caller without CAP_PERFMON
 *
 * The only program that the packages give the capability to; members of the group tracebuf may run
 * it.  It reads nothing: it opens the device, passes the open file over the socket that is its
 * standard input, and exits.  libtracebuf calls it where the kernel refuses the device
 * (lib/control/helper.c).  So no program that parses files, or loads plugins, has the capability.
 *
 * Exit status: 0, or the errno of the call that failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

int main(void)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int fd = open("/dev/tracebuf", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno;
	memset(&control, 0, sizeof(control));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(0, &message, MSG_NOSIGNAL) == 1 ? 0 : errno;
}
