//! Files that are built into the program.
//!
//! A build script packs them ([`pack`]), the program takes in what it wrote and unpacks it when
//! it is asked for ([`unpack`]): texts are a sixth as long then.

use std::io;

/// How hard is tried to make the pack small. More takes seconds of a build for a twentieth.
const LEVEL: i32 = 12;

/// Returns files, each a name with its content, as one pack. Equal files make equal bytes.
///
/// # Errors
/// If a name or content has 4 GiB or more, or the library that compresses fails.
pub fn pack<N: AsRef<str>, C: AsRef<[u8]>>(
    files: impl IntoIterator<Item = (N, C)>,
) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    for (name, content) in files {
        for part in [name.as_ref().as_bytes(), content.as_ref()] {
            let length = u32::try_from(part.len()).map_err(io::Error::other)?;
            plain.extend(length.to_le_bytes());
            plain.extend(part);
        }
    }
    zstd::encode_all(&plain[..], LEVEL)
}

/// Returns the files of a pack in the order in which they were packed.
///
/// # Errors
/// If `packed` is not what [`pack`] returned.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
    let plain = zstd::decode_all(packed)?;
    let mut rest = &plain[..];
    let mut files = Vec::new();
    while !rest.is_empty() {
        let name = String::from_utf8(part(&mut rest)?.to_vec()).map_err(io::Error::other)?;
        files.push((name, part(&mut rest)?.to_vec()));
    }
    Ok(files)
}

/// Takes a part, which stands behind its length, off the beginning of `rest`.
fn part<'a>(rest: &mut &'a [u8]) -> io::Result<&'a [u8]> {
    let cut_off = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let (length, behind) = rest.split_first_chunk().ok_or_else(cut_off)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (part, behind) = behind.split_at_checked(length).ok_or_else(cut_off)?;
    *rest = behind;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_as_they_were() {
        let repeated = "a line\n".repeat(1000);
        let files = [
            ("b/empty", &b""[..]),
            ("a.bin", &[0, 255, 128]),
            ("text", repeated.as_bytes()),
            ("größe", b"\xff"),
        ];
        let packed = pack(files).unwrap();
        assert!(packed.len() < 200, "{}", packed.len());
        let files = files.map(|(name, content)| (name.to_owned(), content.to_vec()));
        assert_eq!(unpack(&packed).unwrap(), files);
        assert_eq!(unpack(&pack::<&str, &[u8]>([]).unwrap()).unwrap(), []);
    }

    #[test]
    fn what_is_no_pack_is_an_error() {
        assert!(unpack(b"no pack").is_err());
        for plain in [
            &b"\x01\0\0"[..],
            b"\x02\0\0\0a",
            b"\x01\0\0\0a",
            b"\x01\0\0\0\xff\0\0\0\0",
        ] {
            assert!(
                unpack(&zstd::encode_all(plain, 1).unwrap()).is_err(),
                "{plain:?}"
            );
        }
    }
}
