// Seeded bugs. `NVDLA_BUG(name) declares bug_name, which is 1 for a whole simulation that
// was started with +bug=name, and 0 in any other; nvdla_bug_names.v lists the names.
`ifndef NVDLA_BUGS_VH
`define NVDLA_BUGS_VH
`define NVDLA_BUG(bug) wire bug_``bug; nvdla_bug #(.NAME(`"bug`")) seeded_``bug (.on(bug_``bug));
`endif
