mod acceptance;
mod algebra;
mod interop;
mod oracle;
mod plans;
mod seeds;
