//! The little of DER and PEM that nothing else writes for us.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const LINE: usize = 64;

/// A value of DER of this type.
pub(super) fn value(tag: u8, inside: &[u8]) -> Vec<u8> {
    let length = inside.len().to_be_bytes();
    let length: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
    let mut head = vec![tag];
    match length.as_slice() {
        [] => head.push(0),
        [short @ 0..=0x7f] => head.push(*short),
        long => {
            let count = u8::try_from(long.len()).expect("a length has eight bytes");
            head.push(0x80 | count);
            head.extend(long);
        }
    }
    head.extend(inside);
    head
}

/// PEM of a value.
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_short_as_they_can_be() {
        let head = |length: usize| {
            let all = value(4, &vec![0; length]);
            all[..all.len() - length].to_vec()
        };
        assert_eq!(head(0), [4, 0]);
        assert_eq!(head(127), [4, 127]);
        assert_eq!(head(128), [4, 0x81, 128]);
        assert_eq!(head(256), [4, 0x82, 1, 0]);
    }
}
