#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A Python program that records what it does, through the plain functions of libtracebuf.

    tracebuf record -d 3 &
    LD_LIBRARY_PATH=build/user samples/user/record.py

Texts are interned by the library; an event that nobody wants costs the call alone.
"""
import contextlib
import ctypes
import threading
import time

lib = ctypes.CDLL("libtracebuf.so.1")
lib.tb_write_counter.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64]
lib.tb_write_begin_flow.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64]
lib.tb_write_instant_flow.argtypes = [
    ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_bool]
for function in (lib.tb_write_begin, lib.tb_write_instant):
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
for function in (lib.tb_write_end, lib.tb_write_mark):
    function.argtypes = [ctypes.c_char_p]
lib.tb_write_enabled.argtypes = [ctypes.c_char_p]
lib.tb_write_enabled.restype = ctypes.c_bool


@contextlib.contextmanager
def slice_of(category, name):
    """What is done inside, as a slice of the thread's track."""
    lib.tb_write_begin(category, name.encode())
    try:
        yield
    finally:
        lib.tb_write_end(category)


def work(number):
    """Some steps, on a thread with a writer of its own."""
    for step in range(20):
        with slice_of(b"python", f"step {step}"):
            lib.tb_write_counter(b"python", f"step of {number}".encode(), step)
            time.sleep(0.001)
    lib.tb_write_instant_flow(b"python", b"finished", number + 1, True)


def main():
    """Starts threads, each in a flow, and waits for them."""
    lib.tb_write_mark(b"the sample begins")
    threads = []
    for number in range(3):
        lib.tb_write_begin_flow(b"python", b"start", number + 1)
        threads.append(threading.Thread(target=work, args=(number,)))
        threads[-1].start()
        lib.tb_write_end(b"python")
    for thread in threads:
        thread.join()
    lib.tb_write_mark(b"the sample ends")


if __name__ == "__main__":
    main()
