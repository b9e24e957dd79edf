/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of fs/afs/afs.h that prototypes in <trace/events/afs.h> use.  Modules cannot get them, nor
 * those of the other files here: test_formats.sh compares the sizes and offsets of all fields with
 * the kernel's.
 */
typedef u64 afs_volid_t;
typedef u64 afs_vnodeid_t;
typedef u64 afs_dataversion_t;

/* identifies a file in the protocol */
struct afs_fid {
	afs_volid_t	vid;
	afs_vnodeid_t	vnode;
	u32		vnode_hi;
	u32		unique;
};

/* probes only copy the values, so one enumerator suffices */
enum afs_call_state { TB_AFS_CALL_STATE };
enum afs_lock_state { TB_AFS_LOCK_STATE };
