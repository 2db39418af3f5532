//! Signs a run folder with an OpenSSH key, and checks the signature of a folder. The hashes of all files are signed in the
//! format of `ssh-keygen -Y sign`, so that `ssh-keygen -Y verify` and `sha256sum -c` can check a folder without this
//! program.

use crate::study::disk::files;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::hashes::Hashes;
use crate::study::disk::sign_error::SignError;
use crate::study::disk::signed::{HASHES, NAMESPACE, SIGNATURE, Signed};
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};
use std::path::Path;

/// The word before the key in every form of an ed25519 public key.
const KIND: &str = "ssh-ed25519 ";

/// Signs all files of a folder with the OpenSSH private key in the file `key`. If the key has a passphrase, `passphrase` is
/// called to get it; the error of `passphrase` is the reason why it cannot return the passphrase.
///
/// # Errors
/// [`SignError`].
pub fn sign(
    folder: &RunFolder,
    key: &Path,
    passphrase: &dyn Fn() -> std::io::Result<String>,
) -> Result<Signed, SignError> {
    let bad = |reason: String| SignError::Key { path: key.to_owned(), reason };
    let text = files::read(key)?;
    if text.trim_start().starts_with(KIND) {
        return Err(bad("this is the public key: name the private one, its file without .pub".to_owned()));
    }
    let make = "an ed25519 key of OpenSSH is needed; `ssh-keygen -t ed25519 -f FILE` makes one";
    let secret = PrivateKey::from_openssh(&text)
        .map_err(|error| bad(format!("no private key of OpenSSH: {error} ({make})")))?;
    if secret.algorithm() != Algorithm::Ed25519 {
        return Err(bad(format!("a key of another kind, {} ({make})", secret.algorithm())));
    }
    let secret = if secret.is_encrypted() {
        let words = passphrase().map_err(|error| bad(format!("the key has a passphrase: {error}")))?;
        secret.decrypt(words).map_err(|_| bad("the passphrase is wrong".to_owned()))?
    } else {
        secret
    };
    let hashes = Hashes::of(folder.path(), &[HASHES, SIGNATURE])?;
    let listed = hashes.text();
    let signature = secret
        .sign(NAMESPACE, HashAlg::Sha512, listed.as_bytes())
        .and_then(|signature| signature.to_pem(LineEnding::LF))
        .map_err(|error| bad(format!("it cannot sign: {error} ({make})")))?;
    files::write(&folder.file(HASHES), listed.as_bytes())?;
    files::write(&folder.file(SIGNATURE), signature.as_bytes())?;
    Ok(signed(&hashes, secret.public_key()))
}

/// Checks that a folder was signed with the private key that belongs to one of the public keys in the file `keys`, and that
/// the folder's files are those that were signed. Each line of `keys` may have a public key, as in a `.pub` file, in
/// `authorized_keys` or in `allowed_signers`; only ed25519 keys are read.
///
/// # Errors
/// [`SignError`].
pub fn signed_by(folder: &RunFolder, keys: &Path) -> Result<Signed, SignError> {
    let bad = |reason: &str| SignError::Key { path: keys.to_owned(), reason: reason.to_owned() };
    let text = files::read(keys)?;
    if text.contains("PRIVATE KEY-----") {
        return Err(bad("this is a private key: name the public one, its file with .pub"));
    }
    let known: Vec<PublicKey> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| PublicKey::from_openssh(line[line.find(KIND)?..].trim()).ok())
        .collect();
    if known.is_empty() {
        return Err(bad("no public key of the kind ssh-ed25519 (name the file that its author published)"));
    }
    let damaged =
        |name: &str, reason: &str| SignError::Damaged { path: folder.file(name), reason: reason.to_owned() };
    let Some(signature) = files::read_if_there(&folder.file(SIGNATURE))? else {
        return Err(SignError::Unsigned(folder.file(SIGNATURE)));
    };
    let signature =
        SshSig::from_pem(signature).map_err(|_| damaged(SIGNATURE, "not a signature of OpenSSH"))?;
    if signature.namespace() != NAMESPACE {
        return Err(damaged(SIGNATURE, "a signature of something other than a run folder"));
    }
    let print = |key: &PublicKey| key.fingerprint(HashAlg::Sha256).to_string();
    let Some(key) = known.iter().find(|key| key.key_data() == signature.public_key()) else {
        let found = signature.public_key().fingerprint(HashAlg::Sha256).to_string();
        return Err(SignError::OtherKey { found, expected: known.iter().map(print).collect() });
    };
    let Some(listed) = files::read_if_there(&folder.file(HASHES))? else {
        return Err(SignError::Unsigned(folder.file(HASHES)));
    };
    key.verify(NAMESPACE, listed.as_bytes(), &signature)
        .map_err(|_| damaged(HASHES, "this is not the text that was signed"))?;
    let listed = Hashes::read(&listed).ok_or_else(|| damaged(HASHES, "a line is not a hash and a name"))?;
    let changes = listed.changes(&Hashes::of(folder.path(), &[HASHES, SIGNATURE])?);
    if changes.is_empty() { Ok(signed(&listed, key)) } else { Err(SignError::Changed(changes)) }
}

fn signed(hashes: &Hashes, key: &PublicKey) -> Signed {
    Signed {
        files: hashes.count(),
        fingerprint: key.fingerprint(HashAlg::Sha256).to_string(),
        comment: key.comment().to_owned(),
    }
}
