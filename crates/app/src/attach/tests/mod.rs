//! The screen without a terminal: what is seen, and what keys do.

mod keys;
mod seen;
