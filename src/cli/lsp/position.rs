//! Positions in a text, and addresses (URIs) of files, as the Language Server Protocol states them: lines are counted from
//! 0, columns in UTF-16 code units.

use serde_json::{Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The byte offset of a position; the end of the line or of the text if the position is beyond that end.
pub(super) fn byte_of(text: &str, position: &Value) -> usize {
    let number = |key: &str| position[key].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let (line, column) = (number("line"), number("character"));
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let content = text[start..].split('\n').next().unwrap_or_default();
    let mut units = 0;
    let inside = content.char_indices().find(|(_, letter)| {
        units += letter.len_utf16();
        units > column
    });
    start + inside.map_or(content.len(), |(byte, _)| byte)
}

fn position_of(text: &str, byte: usize) -> Value {
    let before = &text[..text.floor_char_boundary(byte)];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column: usize = before[start..].chars().map(char::len_utf16).sum();
    json!({ "line": before.matches('\n').count(), "character": column })
}

/// A range of bytes of a text as a range of the protocol, from the position of its start to that of its end.
pub(super) fn range_of(text: &str, bytes: &Range<usize>) -> Value {
    json!({ "start": position_of(text, bytes.start), "end": position_of(text, bytes.end) })
}

/// The path of a file's address; `None` for any other address, such as that of a text that has no file.
pub(super) fn path_of(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut left = path.as_bytes();
    while let Some((&byte, rest)) = left.split_first() {
        let code = rest.get(..2).filter(|_| byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        let digits = code.filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(value) => {
                bytes.push(value);
                left = &rest[2..];
            }
            None => {
                bytes.push(byte);
                left = rest;
            }
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    // On Windows, the path in an address begins with a slash before the drive: /c:/folder/file.
    let drive = path.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if drive { &path[1..] } else { &path }))
}

/// The address of a file.
pub(super) fn address_of(path: &Path) -> String {
    let path = path.display().to_string().replace('\\', "/");
    let root = if path.starts_with('/') { "" } else { "/" };
    let mut address = format!("file://{root}");
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf_16_units() {
        // The accented letter has 1 unit and 2 bytes, the emoji 2 units and 4 bytes.
        let text = "aé😀b\r\nc";
        for (byte, line, column) in
            [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5), (10, 1, 0), (11, 1, 1)]
        {
            let place = json!({ "line": line, "character": column });
            assert_eq!(position_of(text, byte), place, "{byte}");
            assert_eq!(byte_of(text, &place), byte, "{place}");
        }
        assert_eq!(byte_of(text, &json!({ "line": 7, "character": 0 })), text.len());
        assert_eq!(byte_of(text, &json!({ "line": 1, "character": 90 })), text.len());
        // A position in the middle of a character is moved to the beginning of the character.
        assert_eq!(byte_of(text, &json!({ "line": 0, "character": 3 })), 3);
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let path = Path::new("/home/an other/ä%20#.ron");
        let address = address_of(path);
        assert_eq!(address, "file:///home/an%20other/%C3%A4%2520%23.ron");
        assert_eq!(path_of(&address).as_deref(), Some(path));
        // Only two hexadecimal digits are a code.
        assert_eq!(path_of("file:///a%+f%2b%4").as_deref(), Some(Path::new("/a%+f+%4")));
        assert_eq!(path_of("untitled:Untitled-1"), None);
    }
}
