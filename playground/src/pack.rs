//! Packs a run folder into one file, as tar.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tar::{Builder, Header};

/// Packs all files of `folder` into `archive`, below the folder's name.
pub(crate) fn pack(folder: &Path, archive: &Path) -> Result<(), Box<dyn Error>> {
    let name = folder.file_name().ok_or("a folder to pack")?;
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    let mut tar = Builder::new(fs::File::create(archive)?);
    for path in files {
        let contents = fs::read(&path)?;
        // `append_path` would need the owner of the file, which WebAssembly does not have.
        let mut header = Header::new_gnu();
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(now);
        tar.append_data(&mut header, Path::new(name).join(path.strip_prefix(folder)?), contents.as_slice())?;
    }
    tar.into_inner()?.flush()?;
    Ok(())
}

/// Adds the files of a folder and of its subfolders to `files`, in order of their paths.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
