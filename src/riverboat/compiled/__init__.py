"""How loops are compiled and cached, and the building blocks of compiled loops: SIMD, atomics, random numbers."""
