//! Text put together piece by piece in a buffer that is used again.
//!
//! A watched run puts every event into words: the standard library's formatting costs several times as
//! much per number as what is used here.

/// Puts pieces at the end of a text: `put!(out; "depth ", Dec(depth))`.
macro_rules! put {
    ($out:expr; $($piece:expr),+ $(,)?) => {{
        $($crate::text::Piece::put($piece, $out);)+
    }};
}

pub(crate) use put;

/// Something that can be put at the end of a text.
pub(crate) trait Piece {
    fn put(self, out: &mut String);
}

impl Piece for &str {
    #[inline]
    fn put(self, out: &mut String) {
        out.push_str(self);
    }
}

impl Piece for &String {
    #[inline]
    fn put(self, out: &mut String) {
        out.push_str(self);
    }
}

/// A number in decimal.
pub(crate) struct Dec<T>(pub(crate) T);

impl<T: Into<u64>> Piece for Dec<T> {
    fn put(self, out: &mut String) {
        out.push_str(itoa::Buffer::new().format(self.0.into()));
    }
}

/// A number in hexadecimal with `0x`, as short as it is.
pub(crate) struct Hex<T>(pub(crate) T);

impl<T: Into<u64>> Piece for Hex<T> {
    fn put(self, out: &mut String) {
        out.push_str("0x");
        hexadecimal(self.0.into(), out);
    }
}

/// A text in a column of that many characters, at its left.
pub(crate) struct Left<'a>(pub(crate) &'a str, pub(crate) usize);

impl Piece for Left<'_> {
    fn put(self, out: &mut String) {
        out.push_str(self.0);
        (self.0.len()..self.1).for_each(|_| out.push(' '));
    }
}

/// A decimal number in a column of that many characters, at its right.
pub(crate) struct Right(pub(crate) u64, pub(crate) usize);

impl Piece for Right {
    fn put(self, out: &mut String) {
        let digits = self.0.checked_ilog10().unwrap_or(0) as usize + 1;
        (digits..self.1).for_each(|_| out.push(' '));
        Dec(self.0).put(out);
    }
}

/// A text as a JSON string, with its quotes.
pub(crate) struct Json<'a>(pub(crate) &'a str);

impl Piece for Json<'_> {
    fn put(self, out: &mut String) {
        put!(out; "\"", Escaped(self.0), "\"");
    }
}

/// A text as a JSON string, without its quotes.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Piece for Escaped<'_> {
    fn put(self, out: &mut String) {
        if is_plain(self.0) {
            out.push_str(self.0);
        } else {
            self.0.chars().for_each(|c| escaped(c, out));
        }
    }
}

/// Whether a text is a JSON string as it is.
pub(crate) fn is_plain(text: &str) -> bool {
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // No early end: so it is done many bytes at a time.
    !text.bytes().fold(false, |found, byte| found | special(byte))
}

/// `[rfc8259: 7]`
fn escaped(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        c if c < ' ' => {
            out.push_str("\\u00");
            for digit in [c as u32 >> 4, c as u32 & 15] {
                out.extend(char::from_digit(digit, 16));
            }
        }
        c => out.push(c),
    }
}

fn hexadecimal(mut value: u64, out: &mut String) {
    let (mut text, mut at) = ([0; 16], 16);
    loop {
        at -= 1;
        text[at] = b"0123456789abcdef"[value as usize & 15];
        value >>= 4;
        if value == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&text[at..]).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(value: u64) {
            for value in [value, value >> 32, value >> 50, value >> 57, value >> 60] {
                let mut out = String::new();
                put!(&mut out; Dec(value), " ", Hex(value));
                prop_assert_eq!(out, format!("{value} {value:#x}"));
            }
        }

        #[test]
        fn json_strings_are_read_back(text: String) {
            let mut out = String::new();
            put!(&mut out; Json(&text));
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }

    #[test]
    fn columns_are_as_wide_as_they_should() {
        for value in [0, 9, 10, 999, 1000, 12345] {
            let mut out = String::new();
            put!(&mut out; Right(value, 4), "|", Left("ab", 4), "|", Left("abcde", 4));
            assert_eq!(out, format!("{value:>4}|{:<4}|{:<4}", "ab", "abcde"));
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        let mut out = String::new();
        put!(&mut out; Json("a\"\\\n\t\u{1}\u{1f}é"));
        assert_eq!(out, "\"a\\\"\\\\\\n\\t\\u0001\\u001fé\"");
    }
}
