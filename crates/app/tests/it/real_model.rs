//! real_model
