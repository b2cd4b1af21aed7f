mod acceptance;
mod affine;
mod algebra;
mod interop;
mod oracle;
mod padded;
mod plans;
mod seeds;
