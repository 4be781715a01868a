//! Tests of `packet`.

use super::*;

fn text(input: &str) -> std::result::Result<String, String> {
    let tokens = input.parse().map_err(|error| format!("{error}"))?;
    expand(tokens).map(plain).map_err(|error| error.to_string())
}

fn plain(tokens: TokenStream) -> String {
    tokens.to_string().replace(" , }", " }")
}

fn at(path: TokenStream) -> TokenStream {
    quote!(const {
        #[allow(unused_imports)]
        use ::genxml::core::fit::NoTables as _;
        &::genxml::core::At::new(::genxml::core::fit::Probe::<A>::TABLES, "A", &[#path])
    })
}

/// What `..` becomes in a literal of `ty`.
fn defaults(ty: TokenStream) -> TokenStream {
    quote! {
        ..{
            #[allow(unused_imports)]
            use ::genxml::core::fit::NoneRequired as _;
            ::genxml::core::fit::complete::<#ty, _>(::genxml::core::fit::Probe::<#ty>::LACK);
            #ty::new()
        }
    }
}

fn integer(number: TokenStream, path: TokenStream, field: TokenStream) -> TokenStream {
    constant(quote!(::genxml::core::literal::integer_for::<{ #number }, _>), path, field)
}

fn constant(number: TokenStream, path: TokenStream, field: TokenStream) -> TokenStream {
    let at = at(path);
    quote!(const {
        const AT: &::genxml::core::At = #at;
        #[allow(unused, clippy::all)]
        const _: () = {
            let value = #number(AT);
            let _ = #field;
        };
        #number(AT)
    })
}

#[test]
fn numbers_become_checked() {
    let b = integer(quote!(3), quote!("b"), quote!(|base| A { b: value, ..base }));
    let c = integer(quote!(-4), quote!("c"), quote!(|base| A { c: value, ..base }));
    let defaults_of_a = defaults(quote!(A));
    let expected = quote! {
        match () { #[allow(clippy::needless_update)] () => A { b: #b, c: #c, #defaults_of_a } }
    };
    assert_eq!(text("A { b: 3, c: -4, .. }"), Ok(plain(expected)));
    let b = integer(quote!(1), quote!("b"), quote!(|base| A { b: [value; _], ..base }));
    let float = quote!(::genxml::core::literal::float_for::<{ f64::to_bits(0.5) }, _>);
    let d = constant(float, quote!("c", "B", "d"), quote!(|base| B { d: value, ..base }));
    let expected = quote!(A { b: [#b, x], c: B { d: #d } });
    assert_eq!(text("A { b: [1, x], c: B { d: 0.5 } }"), Ok(plain(expected)));
}

/// A field of an alternative, and a literal of `Self`, which an item cannot name.
#[test]
fn numbers_of_alternatives_and_of_self() {
    let field = quote! {
        |set| match set {
            Set::One { b: mut field, .. } => field = value,
            _ => {}
        }
    };
    let b = integer(quote!(3), quote!("s", "One", "b"), field);
    let expected = quote!(A { s: Set::One { b: #b } });
    assert_eq!(text("A { s: Set::One { b: 3 } }"), Ok(plain(expected)));
    let own = text("Self { b: 3 }").expect("a packet");
    assert!(own.contains("integer_for :: < { 3 } , _ >") && !own.contains("AT"), "{own}");
}

#[test]
fn questions_convert() {
    let (b, d) = (at(quote!("b")), at(quote!("c", "D", "d")));
    let (b, d) =
        (quote!(::genxml::core::fit::fit(#b, n)?), quote!(::genxml::core::fit::fit(#d, f(3))?));
    let expected = quote!(A { b: #b, c: [C::D { d: #d }], e: (x?) });
    assert_eq!(text("A { b: n?, c: [C::D { d: f(3)? }], e: (x?) }"), Ok(plain(expected)));
    let literal = syn::parse_str("A { b: n? }").expect("a literal");
    let left = structure(&literal, &Question::Break(quote!(break Err(error)))).expect("a packet");
    assert!(left.to_string().contains("Err (error) => break Err (error)"), "{left}");
}

/// Values that may borrow are evaluated outside of the match arm.
#[test]
fn values_are_in_the_scrutinee() {
    let defaults_of_b = defaults(quote!(B));
    let expected = quote! {
        match (f(&g()), h()?, i,) {
            #[allow(clippy::needless_update)]
            (value0, value1, value2,) => A { b: value0, c: B { d: [value1, x.y], #defaults_of_b }, ..value2 }
        }
    };
    let expected = plain(expected).replace("h () ?", "FIT ?").replace(", i ,", ", i () ,");
    let at = at(quote!("c", "B", "d"));
    let fit = quote!(::genxml::core::fit::fit(#at, h())).to_string();
    let text = text("A { b: f(&g()), c: B { d: [h()?, x.y], .. }, ..i() }").expect("a packet");
    assert_eq!(text.replace(&fit, "FIT"), expected);
}

#[test]
fn types() {
    for (path, ty, name) in [
        ("A", "A", "A"),
        ("a::b::C", "a::b::C", "C"),
        ("a::Set::One", "a::Set", "Set"),
        ("Set::One", "Set", "Set"),
    ] {
        let (found, text) = container(&syn::parse_str(path).expect("a path"));
        let ty: Path = syn::parse_str(ty).expect("a path");
        assert_eq!((quote!(#found).to_string(), text.as_str()), (quote!(#ty).to_string(), name));
    }
}

#[test]
fn others_stay() {
    let expected = quote!(A { on: true, e: E::X, f: f(3), g: (1), h, ..base });
    assert_eq!(text("A { on: true, e: E::X, f: f(3), g: (1), h, ..base }"), Ok(plain(expected)));
}

#[test]
fn errors() {
    for (input, message) in [
        ("", "expected a packet: `packet! { Type { field: value, .. } }`"),
        ("f(3)", "expected a packet: a type's name and its fields in braces"),
        ("A { b: 3u32 }", "write the number without `u32`: its type is that of the field"),
        ("A { b: 3? }", "a literal needs no `?`: it is checked when the program is compiled"),
        ("A { b: C::D { .. } }", "an alternative has no defaults: give all its fields"),
        ("A { 0: 3 }", "fields of packets have names"),
    ] {
        assert_eq!(text(input), Err(message.to_string()));
    }
    assert!(text("A { b 3 }").is_err());
}
