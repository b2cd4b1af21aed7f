mod acceptance;
mod algebra;
mod families;
mod interop;
mod oracle;
mod plans;
