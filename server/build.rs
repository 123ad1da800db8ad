//! Migrations are embedded; cargo has to notice new ones.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
