//! Random edits of a text in one of the languages that subrosa reads: limits of numbers, syntax, pieces of other texts.
//! The mutators of the fuzz targets make them, and so does a test of the main package with a fixed seed.

use subrosa::rng::Stream;

/// What is put into texts: limits of numbers, syntax, and words of the languages.
const PIECES: [&str; 40] = [
    "NaN",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e308",
    "-1e-320",
    "4294967296",
    "18446744073709551616",
    "0.1",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "\\",
    "/*",
    "//",
    "\n",
    "\r\n",
    "\0",
    "\u{202e}",
    "\u{1b}[2J",
    "é",
    "None",
    "Some(1)",
    "()",
    "Each(\"a\", [1, 2])",
    "Each(\"a\", [])",
    "name: \"x\",",
    "count: 1000000000,",
    "\"-5ms\"",
    "\"9999999999h\"",
    "true",
    "null",
    "=1+1",
];

/// One to four edits of a text, at boundaries of characters.
pub fn mutated(text: &str, others: &[String], stream: &mut Stream) -> String {
    let mut text = text.to_owned();
    // Two of three texts have one edit alone, which has the best chance to be accepted.
    let edits = if stream.below(3) > 0 { 1 } else { 2 + stream.below(3) };
    for _ in 0..edits {
        let at = |stream: &mut Stream, text: &str| {
            let mut place = stream.below(text.len() as u64 + 1) as usize;
            while !text.is_char_boundary(place) {
                place -= 1;
            }
            place
        };
        let (a, b) = (at(stream, &text), at(stream, &text));
        let (from, to) = (a.min(b), a.max(b));
        // Most edits are small: a whole half of the file is cut now and then.
        let near = text[from..to].char_indices().nth(12).map_or(to, |(offset, _)| from + offset);
        match stream.below(10) {
            0 => text.replace_range(from..near, ""),
            1 => text.insert_str(from, PIECES[stream.below(PIECES.len() as u64) as usize]),
            2 => text.replace_range(from..near, PIECES[stream.below(PIECES.len() as u64) as usize]),
            3 => {
                let copy = text[from..near].to_owned();
                text.insert_str(to, &copy);
            }
            // The next run of digits is replaced by another number.
            4..8 => {
                if let Some(digit) =
                    text[from..].find(|c: char| c.is_ascii_digit()).map(|offset| from + offset)
                {
                    let end =
                        text[digit..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |o| digit + o);
                    text.replace_range(digit..end, PIECES[stream.below(10) as usize]);
                }
            }
            8 => text.truncate(to),
            _ => {
                let other = &others[stream.below(others.len() as u64) as usize];
                let start = at(stream, other);
                let piece: String = other[start..].chars().take(60).collect();
                text.insert_str(from, &piece);
            }
        }
    }
    text
}
