//! Tests of how records are stored as lines, found again, and read.

use super::*;
use crate::vocab::in_pool;
use std::fs;

const BODY: &str = r#"{"identity":"ab12","replication":7,"series":[]}"#;

#[test]
fn a_seal_detects_every_change_of_a_record() {
    let line = line(3, BODY);
    let read = head(&line[..line.len() - 1]).unwrap();
    assert_eq!((read.cell, read.identity, read.replication, read.failed), (3, "ab12", 7, false));
    assert_eq!(read.body(), BODY);
    for index in 10..line.len() - 1 {
        let mut damaged = line[..line.len() - 1].to_vec();
        damaged[index] ^= 1;
        assert!(head(&damaged).is_none(), "byte {index}");
    }
    assert!(head(&line[..line.len() - 4]).is_none());
}

#[test]
fn a_cell_is_written_in_one_way_only() {
    let line = String::from_utf8(line(3, BODY)).unwrap();
    for other in ["+3", "03", "3 ", ""] {
        let changed = line.replacen("{\"cell\":3,", &format!("{{\"cell\":{other},"), 1);
        assert!(head(changed.trim_end().as_bytes()).is_none(), "{changed}");
    }
}

#[test]
fn incomplete_lines_are_missing_and_differing_records_are_conflicts() {
    let place = tempfile::TempDir::new().unwrap();
    let write = |name: &str, bytes: Vec<u8>| {
        let path = place.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let other = BODY.replace("[]", "[],\"more\":1");
    let torn = line(0, BODY);
    let one = write("one", [line(0, BODY), torn[..torn.len() - 9].to_vec()].concat());
    let two = write("two", [line(0, BODY), line(0, &other), line(5, BODY)].concat());
    let mut stored = StoredRecords::empty();
    let mine = |cell: usize, identity: &str| if identity == "ab12" && cell == 0 { vec![0] } else { vec![] };
    stored.add(&one, &mine).unwrap();
    assert_eq!((stored.finished(8), stored.damaged, stored.conflicts.len()), (1, 1, 0));
    stored.add(&two, &mine).unwrap();
    assert_eq!((stored.finished(8), stored.conflicts.len()), (1, 1), "one is equal, one is not");
    assert_eq!(stored.conflicts[0].files, [one, two]);
    assert_eq!(stored.line(0, 7).unwrap().unwrap(), line(0, BODY));
}

#[test]
fn records_are_taken_in_order_until_one_cannot_be_taken() {
    let place = tempfile::TempDir::new().unwrap();
    let body = |replication: u64| BODY.replace(":7,", &format!(":{replication},"));
    // Stored in another order than that of their numbers; more than are parsed together.
    let lines = (0..40_000).map(|k| line(0, &body(k * 17 % 40_000)));
    let path = place.path().join("records");
    fs::write(&path, lines.flatten().collect::<Vec<u8>>()).unwrap();
    let refused = || FolderError::Damaged { path: path.clone(), reason: "refused".to_owned() };
    for threads in [1, 2] {
        let (taken, stopped) = in_pool(threads, || {
            let mut stored = StoredRecords::empty();
            stored.add(&path, &|_, _| vec![0]).unwrap();
            let (mut taken, mut stopped) = (Vec::new(), Vec::new());
            let all = stored.each(0, 30_000, |record| {
                taken.push(record.replication);
                Ok(())
            });
            all.unwrap();
            let failed = stored.each(0, 30_000, |record| {
                stopped.push(record.replication);
                if record.replication < 25_011 { Ok(()) } else { Err(refused()) }
            });
            assert!(matches!(failed, Err(FolderError::Damaged { .. })));
            (taken, stopped)
        });
        assert!(taken.into_iter().eq(0..30_000) && stopped.into_iter().eq(0..25_012), "{threads} threads");
    }
}
