"""The faults that real machines have, as tests: each harness also has to catch a writer that is wrong on purpose."""
