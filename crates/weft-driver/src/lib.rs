//! weft-driver
