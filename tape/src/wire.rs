//! Numbers of variable length: seven bits a byte, lowest first, the top bit says that more follow.

/// What is wrong with bytes that passed their checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Damage(pub(crate) &'static str);

const ENDS_EARLY: Damage = Damage("a block ends within a record");

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends bytes after their length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Small numbers for small differences in either direction.
#[inline]
pub(crate) fn zigzag(difference: u64) -> u64 {
    let signed = difference.cast_signed();
    (signed << 1 ^ signed >> 63).cast_unsigned()
}

/// Undoes [`zigzag`].
#[inline]
pub(crate) fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    left: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(crate) fn left(&self) -> usize {
        self.left.len()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Damage> {
        let (&first, left) = self.left.split_first().ok_or(ENDS_EARLY)?;
        self.left = left;
        Ok(first)
    }

    #[inline]
    pub(crate) fn get(&mut self) -> Result<u64, Damage> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damage("a number has more than 64 bits"))
    }

    pub(crate) fn small(&mut self) -> Result<u32, Damage> {
        u32::try_from(self.get()?).map_err(|_| Damage("a number has more than 32 bits"))
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let (taken, left) = self.left.split_at_checked(count).ok_or(ENDS_EARLY)?;
        self.left = left;
        Ok(taken)
    }

    pub(crate) fn bytes_with_length(&mut self) -> Result<&'a [u8], Damage> {
        let length = usize::try_from(self.get()?).map_err(|_| ENDS_EARLY)?;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Result<String, Damage> {
        Ok(String::from_utf8_lossy(self.bytes_with_length()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, u64::MAX - 1, u64::MAX, 1 << 63];
        let mut bytes = Vec::new();
        for number in numbers {
            put(&mut bytes, number);
            assert_eq!(unzigzag(zigzag(number)), number);
        }
        let mut cursor = Cursor::new(&bytes);
        for number in numbers {
            assert_eq!(cursor.get(), Ok(number));
        }
        assert!(cursor.is_empty());
        assert!(cursor.get().is_err());
        assert!(Cursor::new(&[0xFF; 11]).get().is_err());
    }

    #[test]
    fn small_differences_are_small_numbers() {
        for (difference, number) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (2, 4)] {
            assert_eq!(zigzag(i64::cast_unsigned(difference)), number);
        }
    }
}
