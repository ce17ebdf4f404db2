//! M3: The trust preview shows everything that trust switches on.
