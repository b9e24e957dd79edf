/* SPDX-License-Identifier: GPL-2.0-only */
/* Types of net/rxrpc that prototypes in <trace/events/rxrpc.h> use. */
typedef u32 rxrpc_seq_t;
typedef u32 rxrpc_serial_t;

/* probes only copy the values, so one enumerator suffices */
enum rxrpc_call_completion { TB_RXRPC_CALL_COMPLETION };
enum rxrpc_congest_mode { TB_RXRPC_CONGEST_MODE };
