//! Colours that readers with red-green colour blindness can distinguish too, and dashes for greyscale prints.

use plotters::style::RGBColor;

/// The palette of Okabe and Ito (2008) in another order, and with a darker yellow, because the original yellow is faint on
/// white.
pub const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xA8, 0x9D, 0x00),
];

/// The colour of lines that show theoretical bounds.
pub const GREY: RGBColor = RGBColor(0x6B, 0x72, 0x7A);

/// The dashes of legend entry `key` as SVG's `stroke-dasharray`, in the units of a chart.
#[must_use]
pub fn dashes(key: usize) -> &'static str {
    const DASHES: [&str; 5] = ["none", "18 8", "5 7", "24 7 5 7", "11 6"];
    DASHES[key % DASHES.len()]
}
