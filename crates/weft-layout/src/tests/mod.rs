mod acceptance;
mod algebra;
mod cute;
mod interop;
mod oracle;
mod plans;
mod seeds;
