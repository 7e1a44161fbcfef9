"""`make bench`: how long the compiler and its executables take, as medians and as ratios to their goals."""
