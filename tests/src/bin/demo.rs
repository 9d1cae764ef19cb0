//! Takes the manifests of Listeners to Ready on a real API server, and says how to look at them: the command that the README begins with.

fn main() {}
