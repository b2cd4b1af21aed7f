mod acceptance;
mod affine;
mod algebra;
mod interop;
mod oracle;
mod plans;
mod seeds;
