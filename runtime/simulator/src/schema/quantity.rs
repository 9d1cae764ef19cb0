//! Quantities such as `1.5Gi`, in the canonical form in which Go writes them again. Knows no
//! schema: a caller names the values that are quantities.

use serde_json::Value;

const MALFORMED: &str = "quantities must match the regular expression \
    '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NO_NUMBER: &str = "unable to parse numeric part of quantity";
const NO_SUFFIX: &str = "unable to parse quantity's suffix";

/// Decimal suffixes, with the power of ten.
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
/// Binary suffixes, with the power of 1024 as the position. The first stands for none.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Quantities of a list of resources have no smaller unit than one thousandth.
const MILLI: i32 = -3;
const NANO: i32 = -9;

/// How many digits certainly fit into 64 bits.
const FAST_DIGITS: usize = 18;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Decimal,
    Binary,
    Exponent,
}

/// The value is `mantissa` times ten to the power of `exponent`.
struct Quantity {
    is_negative: bool,
    mantissa: u128,
    exponent: i32,
    form: Form,
    /// Go keeps the text of most quantities that are canonical already, and of some others.
    keeps_text: bool,
}

/// Parts of the text of a quantity.
struct Parts<'a> {
    whole: &'a str,
    fraction: &'a str,
    has_number: bool,
    suffix: &'a str,
}

/// Returns the error of Go for a value that is no quantity.
pub(super) fn error(value: &Value) -> Option<&'static str> {
    let text = text_of(value);
    let text = text.trim();
    if text.is_empty() {
        return Some(MALFORMED);
    }
    let parts = match split(text) {
        Ok(parts) => parts,
        Err(error) => return Some(error),
    };
    let Some((form, _)) = read_suffix(parts.suffix) else {
        return Some(NO_SUFFIX);
    };
    // A short number that lacks its digits counts as zero.
    let is_short = form != Form::Binary || parts.fraction.is_empty();
    (!parts.has_number && !is_short).then_some(NO_NUMBER)
}

/// Returns a quantity as Go writes it. In a list of resources it is rounded up to thousandths.
/// Returns `None` if it cannot be read, or is too large to be calculated here.
pub(super) fn canonical(value: &Value, in_resources: bool) -> Option<String> {
    let text = text_of(value);
    let text = text.trim();
    let mut quantity = read(text)?;
    if in_resources && quantity.exponent < MILLI {
        quantity.keeps_text = false;
        quantity.round_up(MILLI);
    }
    match quantity.keeps_text {
        true => Some(text.to_owned()),
        false => quantity.written(),
    }
}

/// Go reads the JSON of a value without its quotes.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn split(text: &str) -> Result<Parts<'_>, &'static str> {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let exponent = letters.strip_prefix(['-', '+']).unwrap_or(letters);
    if exponent.chars().any(|c| !c.is_ascii_digit()) {
        return Err(MALFORMED);
    }
    Ok(Parts {
        whole: whole.trim_start_matches('0'),
        fraction,
        has_number: !whole.is_empty() || !fraction.is_empty(),
        suffix,
    })
}

/// Returns the form that a suffix stands for, and its power of ten or of 1024.
fn read_suffix(suffix: &str) -> Option<(Form, i32)> {
    if let Some((_, power)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Some((Form::Decimal, *power));
    }
    if let Some(power) = BINARY.iter().position(|known| *known == suffix) {
        return Some((Form::Binary, i32::try_from(power).ok()?));
    }
    let power = suffix.strip_prefix(['e', 'E'])?;
    Some((Form::Exponent, power.parse().ok()?))
}

fn read(text: &str) -> Option<Quantity> {
    if text.is_empty() {
        return None;
    }
    let parts = split(text).ok()?;
    let (form, power) = read_suffix(parts.suffix)?;
    let whole = if parts.whole.is_empty() {
        "0"
    } else {
        parts.whole
    };
    let digits = format!("{whole}{}", parts.fraction);
    let number: u128 = digits.parse().ok()?;
    let places = i32::try_from(parts.fraction.len()).ok()?;
    let (mantissa, exponent) = match form {
        Form::Binary => (
            number.checked_mul(1024_u128.checked_pow(u32::try_from(power).ok()?)?)?,
            -places,
        ),
        Form::Decimal | Form::Exponent => (number, power.checked_sub(places)?),
    };
    let keeps_text = match form {
        Form::Binary => {
            // Go counts three digits for each binary prefix.
            let room = 14 - whole.len().min(20);
            let prefix = usize::try_from(power).ok()? * 3;
            places == 0 && whole.len() <= 14 && prefix <= room && !number.is_multiple_of(8)
        }
        Form::Decimal | Form::Exponent => {
            let is_fast = digits.len() <= FAST_DIGITS && exponent >= NANO;
            is_fast && exponent % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
        }
    };
    let mut quantity = Quantity {
        is_negative: text.starts_with('-'),
        mantissa,
        exponent,
        form,
        keeps_text,
    };
    quantity.limit();
    Some(quantity)
}

impl Quantity {
    /// Rounds to the smallest unit that Go knows. Binary quantities have a largest value.
    fn limit(&mut self) {
        self.round_up(NANO);
        if self.form != Form::Binary {
            return;
        }
        let most = u128::from(i64::MAX.unsigned_abs());
        let one = 10_u128.pow(self.exponent.unsigned_abs());
        if self.mantissa / one >= most && self.mantissa != most * one {
            (self.mantissa, self.exponent) = (most, 0);
        }
    }

    /// Rounds away from zero.
    fn round_up(&mut self, unit: i32) {
        let surplus = unit.saturating_sub(self.exponent);
        if surplus <= 0 {
            return;
        }
        let factor = 10_u128.checked_pow(surplus.unsigned_abs());
        self.mantissa = match factor {
            Some(factor) => self.mantissa.div_ceil(factor),
            None => u128::from(self.mantissa != 0),
        };
        self.exponent = unit;
    }

    fn written(&self) -> Option<String> {
        if self.mantissa == 0 {
            return Some("0".to_owned());
        }
        let sign = if self.is_negative { "-" } else { "" };
        if let Some((number, suffix)) = self.in_powers_of_1024() {
            return Some(format!("{sign}{number}{suffix}"));
        }
        let (mut number, mut exponent) = (self.mantissa, self.exponent);
        while number.is_multiple_of(10) {
            number /= 10;
            exponent += 1;
        }
        while exponent % 3 != 0 {
            number = number.checked_mul(10)?;
            exponent -= 1;
        }
        let suffix = match self.form {
            Form::Exponent if exponent == 0 => String::new(),
            Form::Exponent => format!("e{exponent}"),
            Form::Decimal | Form::Binary => {
                let known = DECIMAL.iter().find(|(_, power)| *power == exponent);
                known.map(|(suffix, _)| (*suffix).to_owned())?
            }
        };
        Some(format!("{sign}{number}{suffix}"))
    }

    /// Returns a binary quantity with the largest suffix, unless it is small or no whole number.
    fn in_powers_of_1024(&self) -> Option<(u128, &'static str)> {
        if self.form != Form::Binary {
            return None;
        }
        let one = 10_u128.checked_pow(self.exponent.unsigned_abs())?;
        if !self.mantissa.is_multiple_of(one) || self.mantissa / one < 1024 {
            return None;
        }
        let mut number = self.mantissa / one;
        let mut power = 0;
        while number.is_multiple_of(1024) && power + 1 < BINARY.len() {
            number /= 1024;
            power += 1;
        }
        Some((number, BINARY[power]))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Schema;
    use super::*;

    fn check(given: Value, in_resources: bool, expected: &str) {
        assert_eq!(error(&given), None, "{given}");
        let found = canonical(&given, in_resources);
        assert_eq!(found.as_deref(), Some(expected), "{given}");
    }

    #[test]
    fn quantities_are_written_as_the_real_server_writes_them() {
        for (given, expected) in [
            ("1.5Gi", "1536Mi"),
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1024Mi", "1Gi"),
            ("2048Ki", "2Mi"),
            ("1500m", "1500m"),
            ("128974848", "128974848"),
            ("129M", "129M"),
            ("129e6", "129e6"),
            ("1e4", "10e3"),
            ("1000", "1k"),
            ("10000k", "10M"),
            ("0.1Gi", "107374182400m"),
            ("0.5Ki", "512"),
            ("512Mi", "512Mi"),
            ("0", "0"),
            ("0m", "0"),
            ("0.0", "0"),
            ("00", "0"),
            ("-1500m", "-1500m"),
            ("-0.5", "-500m"),
            (" 100m ", "100m"),
            (".5", "500m"),
            ("100n", "100n"),
            ("0.1n", "1n"),
            ("8192Pi", "9223372036854775807"),
            ("16Ei", "9223372036854775807"),
            // The real server keeps these as they are written.
            ("1.234", "1.234"),
            ("1.", "1."),
            ("1500Mi", "1500Mi"),
        ] {
            check(given.into(), false, expected);
        }
        check(json!(2), false, "2");
        check(json!(0.5), false, "500m");
    }

    #[test]
    fn resources_are_counted_in_thousandths() {
        check("100u".into(), true, "1m");
        check("1.0001".into(), true, "1001m");
        check("100u".into(), false, "100u");
    }

    #[test]
    fn a_value_that_is_no_quantity_is_refused_in_the_words_of_the_real_server() {
        for (given, expected) in [
            (json!(""), MALFORMED),
            (json!("abc"), MALFORMED),
            (json!("1 Gi"), MALFORMED),
            (json!(true), MALFORMED),
            (json!("1mm"), NO_SUFFIX),
            (json!("1GB"), MALFORMED),
            (json!("1K"), NO_SUFFIX),
        ] {
            assert_eq!(error(&given), Some(expected), "{given}");
        }
        let pod = Schema::builtin("", "v1", "Pod").unwrap();
        let container = json!({"name": "c", "resources": {"limits": {"cpu": "1 core"}}});
        let object = json!({"spec": {"containers": [container]}});
        assert_eq!(pod.mismatch(&object).as_deref(), Some(MALFORMED));
        assert_eq!(pod.unrestorable(&object).as_deref(), Some(MALFORMED));
    }

    /// Returns an object of a built-in kind as the server stores it.
    fn stored(group: &str, version: &str, kind: &str, mut object: Value) -> Value {
        let schema = Schema::builtin(group, version, kind).unwrap();
        assert_eq!(schema.mismatch(&object), None);
        schema.prune(&mut object);
        object
    }

    #[test]
    fn quantities_of_built_in_kinds_are_canonical() {
        let volume = json!({"name": "v", "emptyDir": {"sizeLimit": "0.5Gi"}});
        let resources =
            json!({"requests": {"cpu": 1, "memory": "1.5Gi"}, "limits": {"cpu": "1000m"}});
        let container = json!({"name": "c", "resources": resources});
        let pod = stored(
            "",
            "v1",
            "Pod",
            json!({"spec": {"containers": [container], "volumes": [volume]}}),
        );
        let expected =
            json!({"requests": {"cpu": "1", "memory": "1536Mi"}, "limits": {"cpu": "1"}});
        assert_eq!(pod["spec"]["containers"][0]["resources"], expected);
        assert_eq!(pod["spec"]["volumes"][0]["emptyDir"]["sizeLimit"], "512Mi");
        let quota = json!({"spec": {"hard": {"pods": 10, "requests.cpu": "0.5"}}});
        let quota = stored("", "v1", "ResourceQuota", quota);
        assert_eq!(
            quota["spec"]["hard"],
            json!({"pods": "10", "requests.cpu": "500m"})
        );
        let target = json!({"type": "Value", "value": "2000m"});
        let metric =
            json!({"type": "External", "external": {"metric": {"name": "m"}, "target": target}});
        let scaler = json!({"spec": {"metrics": [metric]}});
        let scaler = stored("autoscaling", "v2", "HorizontalPodAutoscaler", scaler);
        assert_eq!(
            scaler["spec"]["metrics"][0]["external"]["target"]["value"],
            "2"
        );
    }

    #[test]
    fn quantities_of_custom_kinds_stay_as_they_are_written() {
        let size = json!({"x-kubernetes-int-or-string": true});
        let spec = json!({"type": "object", "properties": {"size": size}});
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let schema = Schema::of_crd(&schema).unwrap();
        let mut object = json!({"spec": {"size": "1000m"}});
        schema.prune(&mut object);
        assert_eq!(object["spec"]["size"], "1000m");
    }
}
