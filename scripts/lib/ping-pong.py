#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A byte that goes to and fro between two processes through two pipes."""
import os

there, back = os.pipe(), os.pipe()
first = os.fork() == 0
end_in, end_out = (there[0], back[1]) if first else (back[0], there[1])
if first:
    os.write(end_out, b"x")
while os.read(end_in, 1):
    os.write(end_out, b"x")
