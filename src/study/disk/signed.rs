//! The signature of a run folder: the names of its files, and what a valid signature shows.

use serde::Serialize;

/// Name of the file with the hashes of all files of a signed folder, as `sha256sum` writes them.
pub const HASHES: &str = "SHA256SUMS";
/// Name of the file with the signature of `SHA256SUMS`, as `ssh-keygen -Y sign` writes it.
pub const SIGNATURE: &str = "SHA256SUMS.sig";
/// The purpose of the signature, the argument of `ssh-keygen -n`: a signature for another purpose does not count.
pub const NAMESPACE: &str = "subrosa-run";

/// A valid signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Signed {
    /// Number of files that the signature covers.
    pub files: u64,
    /// Fingerprint of the key, as `ssh-keygen -l` prints it.
    pub fingerprint: String,
    /// The comment of the key, which anybody can change; often the address of its owner.
    pub comment: String,
}
