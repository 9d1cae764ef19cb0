//! The common name in the subject of a certificate.

/// The object identifier 2.5.4.3.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT: u8 = 0x06;
const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];

/// Returns the last common name of a subject, with or without its own head.
pub(super) fn common_name(subject: &[u8]) -> Option<&str> {
    let mut rest = match value(subject)? {
        (SEQUENCE, inside, []) => inside,
        _ => subject,
    };
    let mut found = None;
    while !rest.is_empty() {
        let (SET, mut set, after) = value(rest)? else {
            return None;
        };
        rest = after;
        while !set.is_empty() {
            let (SEQUENCE, pair, after) = value(set)? else {
                return None;
            };
            set = after;
            let (OBJECT, object, text) = value(pair)? else {
                return None;
            };
            let (kind, text, _) = value(text)?;
            if object == COMMON_NAME && TEXTS.contains(&kind) {
                found = std::str::from_utf8(text).ok();
            }
        }
    }
    found
}

/// Returns the type of the first value, its content, and the bytes after it.
fn value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let ([kind, length], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match *length {
        length @ 0..=0x7f => (usize::from(length), rest),
        0x81 => {
            let (length, rest) = rest.split_first()?;
            (usize::from(*length), rest)
        }
        0x82 => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        _ => return None,
    };
    let (inside, after) = rest.split_at_checked(length)?;
    Some((*kind, inside, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, DnType, KeyPair};
    use webpki::EndEntityCert;

    use super::*;

    fn check(names: &[(DnType, &str)], expected: Option<&str>) {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, name) in names {
            params.distinguished_name.push(kind.clone(), *name);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let certificate = EndEntityCert::try_from(certificate.der()).unwrap();
        assert_eq!(common_name(certificate.subject()), expected);
    }

    #[test]
    fn the_common_name_is_found_among_others() {
        let long = "x".repeat(300);
        check(&[(DnType::CommonName, "west")], Some("west"));
        let names = [
            (DnType::OrganizationName, long.as_str()),
            (DnType::CommonName, "west"),
            (DnType::CountryName, "DE"),
        ];
        check(&names, Some("west"));
        check(&[(DnType::OrganizationName, "west")], None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _any = common_name(&bytes);
            let _set = common_name(&[&[SET, 8, SEQUENCE, 6], &bytes[..]].concat());
        }
    }
}
