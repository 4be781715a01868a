//! Draws to a picture: what pixel shaders ask for, what vertices are made of, what fixed functions
//! do behind them.

mod counters;
mod counts;
mod draws;
mod edges;
mod fetch;
mod harness;
mod interpolator;
mod known;
mod outputs;
mod windower;
