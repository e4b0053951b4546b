//! Nothing of its own: the benchmarks of this package are in `benches/`, and `cargo xtask bench functions` runs them.
