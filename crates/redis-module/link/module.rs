//! The build script of the modules: what the linker has to know.

#![expect(
    clippy::print_stdout,
    reason = "it is how a build script speaks to cargo"
)]

fn main() {
    // A signal handler that others have chained themselves to has to stay, whatever unloads it.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    }
}
