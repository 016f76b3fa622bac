//! Rust text without comments and without what stands inside literals.
//!
//! Not a parser: it knows comments, strings, raw strings, characters and lifetimes, which is
//! enough to tell code from text.

/// Replaces comments and the insides of literals by spaces; line breaks stay.
pub(crate) fn strip(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = token_end(bytes, at);
        if let Some(end) = end {
            blank(&bytes[at..end], &mut out);
            at = end;
        } else {
            // Bytes of a multi-byte character in code can only be part of an identifier.
            out.push(if bytes[at].is_ascii() { char::from(bytes[at]) } else { '_' });
            at += 1;
        }
    }
    out
}

fn blank(bytes: &[u8], out: &mut String) {
    out.extend(bytes.iter().map(|&byte| if byte == b'\n' { '\n' } else { ' ' }));
}

/// Where the comment or literal that begins at `at` ends; `None` if none begins there.
fn token_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return Some(at + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()));
    }
    if rest.starts_with(b"/*") {
        return Some(block_comment_end(bytes, at));
    }
    match rest[0] {
        b'"' => Some(quoted_end(bytes, at)),
        b'\'' => character_end(bytes, at),
        b'r' if at == 0 || !is_word(bytes[at - 1]) || bytes[at - 1] == b'b' => {
            let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
            let raw = rest.get(1 + hashes) == Some(&b'"');
            raw.then(|| raw_end(bytes, at + 2 + hashes, hashes))
        }
        _ => None,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn block_comment_end(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut end) = (0, at);
    while end < bytes.len() {
        if bytes[end..].starts_with(b"/*") {
            (depth, end) = (depth + 1, end + 2);
        } else if bytes[end..].starts_with(b"*/") {
            (depth, end) = (depth - 1, end + 2);
            if depth == 0 {
                break;
            }
        } else {
            end += 1;
        }
    }
    end.min(bytes.len())
}

fn quoted_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(bytes.len())
}

/// A character literal; a lifetime is none.
fn character_end(bytes: &[u8], at: usize) -> Option<usize> {
    let first = *bytes.get(at + 1)?;
    if first == b'\\' {
        let close = bytes[at + 3..].iter().position(|&byte| byte == b'\'')?;
        return Some(at + 3 + close + 1);
    }
    let length = match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    (bytes.get(at + 1 + length) == Some(&b'\'')).then_some(at + 2 + length)
}

fn raw_end(bytes: &[u8], from: usize, hashes: usize) -> usize {
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let found = bytes[from..].windows(close.len()).position(|window| window == close);
    found.map_or(bytes.len(), |found| from + found + close.len())
}

#[cfg(test)]
mod tests {
    use super::strip;

    fn words(text: &str) -> Vec<String> {
        strip(text).split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn comment_of_either_kind_is_blank() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
    }

    #[test]
    fn literal_of_every_kind_is_blank() {
        assert_eq!(
            words(r##"a "b\"c" d r#"e"f"# g b"h" 'i' '\'' '→' j"##),
            ["a", "d", "g", "b", "j"]
        );
    }

    #[test]
    fn lifetime_is_code() {
        assert_eq!(words("fn f<'a>(x: &'a str)"), ["fn", "f<'a>(x:", "&'a", "str)"]);
    }

    #[test]
    fn line_count_stays() {
        let text = "a\n/* b\nc */\n\"d\ne\"\nf";
        assert_eq!(strip(text).lines().count(), text.lines().count());
    }
}
