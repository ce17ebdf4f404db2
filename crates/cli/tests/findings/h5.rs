//! H5: Rules, variables, roots and models that appear after trust do not count.
