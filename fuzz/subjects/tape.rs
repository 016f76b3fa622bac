//! Any bytes as a tape: refused in one line, or calls until it ends; never a panic, and never more memory than the
//! file accounts for.

use tape::Tape;

/// One input.
pub(crate) fn feed(bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("written");
    match Tape::open(file.path()) {
        Ok(tape) => {
            let mut calls = tape.calls();
            // What is damaged behind the last whole block is an end; an error is said in one line.
            loop {
                match calls.next() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(error) => {
                        assert!(!error.to_string().contains('\n'));
                        break;
                    }
                }
            }
            let _ = (tape.ending(), tape.is_explained(), tape.attachments().count());
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}
