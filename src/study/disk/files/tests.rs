//! Tests of how files are written and read: a file with its final name is always complete.

use super::*;

#[test]
fn of_two_new_files_the_first_stays() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("file");
    assert!(write_new(&path, b"one").unwrap());
    assert!(!write_new(&path, b"two").unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"one");
    write(&path, b"three").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"three");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_file_is_locked_until_it_has_its_name() {
    let place = tempfile::TempDir::new().unwrap();
    let mut staged = Staged::new(&place.path().join("file")).unwrap();
    staged.write(b"all of it").unwrap();
    staged.sync().unwrap();
    let temporary = staged.temporary.clone().unwrap();
    assert_eq!(fs::read(&temporary).unwrap(), b"all of it");
    assert!(File::open(&temporary).unwrap().try_lock().is_err(), "another process would remove it");
    staged.commit().unwrap();
    assert_eq!(fs::read(place.path().join("file")).unwrap(), b"all of it");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "no temporary file is left");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_in_shared_memory_is_a_file() {
    let Ok(place) = tempfile::TempDir::new_in("/dev/shm") else { return };
    let path = place.path().join("x.svg");
    put(&path, b"one").unwrap();
    put(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    let open = ["/dev/stdout", "/dev/fd/3", "/proc/self/fd/1"];
    assert!(open.iter().all(|path| is_open_already(Path::new(path))));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_device_a_device() {
    let place = tempfile::TempDir::new().unwrap();
    let (file, link) = (place.path().join("file"), place.path().join("link"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    put(&link, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let null = place.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &null).unwrap();
    put(&null, b"gone").unwrap();
    assert!(is_device_or_pipe(&null) && fs::symlink_metadata(&null).unwrap().is_symlink());
    // A device is refused as a file of a run, because the files of a run are read to their end or replaced.
    assert!(write(&null, b"gone").unwrap_err().to_string().contains("device"));
    let zero = place.path().join("zero");
    std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
    assert!(read(&zero).unwrap_err().to_string().contains("device"));
    assert!(put(place.path(), b"x").is_err(), "a folder takes no bytes");
}
