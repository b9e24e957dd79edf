  a-10  [000] ..... 1.000000: signal_generate: sig=34 errno=1 code
  a-10  [000] ..... 1.000001: ref: put fid 0, refcount 0
  a-10  [000] ..... 1.000002: ref: put fid 1, refcount 1
  a-10  [000] ..... 1.000003: ref: put fid 2, refcount 2
  a-10  [000] ..... 1.000004: ref: put fid 3, refcount 0
  a-10  [000] ..... 1.000005: ref: put fid 4, refcount 1
  a-10  [000] ..... 1.000006: ref: put fid 5, refcount 2
  a-10  [000] ..... 1.000007: ref: put fid 6, refcount 0
  a-10  [000] ..... 1.000008: ref: put fid 7, refcount 1
  a-10  [000] ..... 1.000009: ref: put fid 8, refcount 2
  a-10  [000] ..... 1.000010: ref: put fid 9, refcount 0
  a-10  [000] ..... 1.000011: ref: put fid 10, refcount 1
  a-10  [000] ..... 1.000012: ref: put fid 11, refcount 2
  a-10  [000] ..... 1.000013: ref: put fid 12, refcount 0
  a-10  [000] ..... 1.000014: ref: put fid 13, refcount 1
  a-10  [000] ..... 1.000015: ref: put fid 14, refcount 2
  a-10  [000] ..... 1.000016: ref: put fid 15, refcount 0
  a-10  [000] ..... 1.000017: ref: put fid 16, refcount 1
  a-10  [000] ..... 1.000018: ref: put fid 17, refcount 2
  a-10  [000] ..... 1.000019: ref: put fid 18, refcount 0
  a-10  [000] ..... 1.000020: ref: put fid 19, refcount 1
  a-10  [000] ..... 1.000021: signal_generate: sig=34 errno=2 code
