"""Speed of internals on fixed workloads, for `riverboat bench`."""
