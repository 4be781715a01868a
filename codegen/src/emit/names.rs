//! Converts the manual's names to Rust names, by mechanical rules.
//!
//! * Words are split at everything that is not a letter or digit.
//! * Types: each word starts with a capital. A word in capitals becomes lower case after its first
//!   letter (`XY_COLOR_BLT` is `XyColorBlt`); a word in mixed case is unchanged. A leading `3D`
//!   becomes `ThreeD`.
//! * Fields: words in lower case, joined by `_`. A capital after a small letter starts a word
//!   (`ChannelMask` is `channel_mask`).
//! * Values of enumerations: as fields, in capitals.
//! * A name that starts with a digit gets a leading `_`. A keyword gets a trailing `_`.

use std::collections::HashSet;

/// The name of a type: `XY_COLOR_BLT` -> `XyColorBlt`.
pub fn type_name(name: &str) -> String {
    let mut text = String::new();
    for (index, word) in words(name).enumerate() {
        let mut rest = word;
        if index == 0
            && let Some(after) = word.strip_prefix("3D").or(word.strip_prefix("3d"))
        {
            text.push_str("ThreeD");
            rest = after;
        }
        let mixed = rest.chars().any(char::is_lowercase);
        let mut chars = rest.chars();
        text.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        text.extend(chars.map(|c| if mixed { c } else { c.to_ascii_lowercase() }));
    }
    legal(text, "Unnamed")
}

/// The name of a field: `Surface Base Address` -> `surface_base_address`.
pub fn field_name(name: &str) -> String {
    legal(humps(name).to_ascii_lowercase(), "unnamed")
}

/// The name of a value: `SURFTYPE_1D` is unchanged, `Tile Y` -> `TILE_Y`.
pub fn value_name(name: &str) -> String {
    legal(humps(name).to_ascii_uppercase(), "UNNAMED")
}

/// Joins the words of a name by `_`. A capital after a small letter starts a word.
fn humps(name: &str) -> String {
    let mut text = String::new();
    for word in words(name) {
        if !text.is_empty() {
            text.push('_');
        }
        let mut lower = false;
        for c in word.chars() {
            if lower && c.is_ascii_uppercase() {
                text.push('_');
            }
            lower = c.is_ascii_lowercase();
            text.push(c);
        }
    }
    text
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn legal(mut text: String, empty: &str) -> String {
    if text.is_empty() {
        text.push_str(empty);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    if syn::parse_str::<syn::Ident>(&text).is_err() {
        text.push('_');
    }
    text
}

/// The names that are in use in one scope.
#[derive(Default)]
pub struct Scope(HashSet<String>);

impl Scope {
    /// A scope in which `names` are taken.
    pub fn with(names: &[&str]) -> Self {
        Scope(names.iter().map(|name| name.to_string()).collect())
    }

    /// Takes `name`. If it is in use, takes it with the first free number from 2 on as a suffix.
    pub fn take(&mut self, name: String) -> String {
        let mut unique = name.clone();
        let mut number = 2;
        while !self.0.insert(unique.clone()) {
            let separator =
                if name.contains('_') || name.starts_with(char::is_lowercase) { "_" } else { "" };
            unique = format!("{name}{separator}{number}");
            number += 1;
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping() {
        for (manual, rust) in [
            ("XY_COLOR_BLT", "XyColorBlt"),
            ("3DSTATE_VS", "ThreeDStateVs"),
            ("3DPRIMITIVE", "ThreeDPrimitive"),
            ("RENDER_SURFACE_STATE", "RenderSurfaceState"),
            ("Media Block Read Header", "MediaBlockReadHeader"),
            ("XY_COLOR_BLT Color Depth", "XyColorBltColorDepth"),
            ("2D Thing", "_2dThing"),
            ("-", "Unnamed"),
        ] {
            assert_eq!(type_name(manual), rust);
        }
        for (manual, rust) in [
            ("Surface Base Address", "surface_base_address"),
            ("DWord Length", "dword_length"),
            ("ChannelMask", "channel_mask"),
            ("Type", "type_"),
            ("Address [47:12]", "address_47_12"),
            ("3D Pipeline", "_3d_pipeline"),
        ] {
            assert_eq!(field_name(manual), rust);
        }
        for (manual, rust) in [("SURFTYPE_1D", "SURFTYPE_1D"), ("TileY", "TILE_Y"), ("8x8", "_8X8")]
        {
            assert_eq!(value_name(manual), rust);
        }
    }

    #[test]
    fn scopes_number() {
        let mut scope = Scope::default();
        assert_eq!(scope.take("a".into()), "a");
        assert_eq!(scope.take("a".into()), "a_2");
        assert_eq!(scope.take("Ab".into()), "Ab");
        assert_eq!(scope.take("Ab".into()), "Ab2");
    }
}
