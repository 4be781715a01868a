//! Generates a container with a variable tail: the struct, `pack_into`, `unpack` and its traits.

use super::common::{fixed_dwords, tail_doc};
use super::docs;
use super::emitter::Emit;
use super::field::{Place, ident, number, pattern};
use super::members::Packing;
use super::plan::{Array, Body, length_field};
use crate::model::{ContainerId, Kind};
use proc_macro2::TokenStream;
use quote::quote;

/// The code that handles the length of a packet.
struct Length {
    /// The dword that holds the length field, and the value to write there.
    write: Option<(u32, TokenStream)>,
    /// Returns an error if the length field cannot express the length of the packet.
    pack_check: Option<TokenStream>,
    /// Returns an error if the tail does not consist of whole elements.
    unpack_check: Option<TokenStream>,
    /// Length in dwords according to the header.
    total: TokenStream,
}

impl Emit<'_> {
    /// Generates a container with a variable tail.
    pub(super) fn variable(&self, id: ContainerId, body: &Body, tail: &Array) -> TokenStream {
        let name = ident(&body.block.name);
        let head = self.head(body);
        let members = self.members(&body.block, false);
        let tail_name = ident(&tail.member);
        let tail_ty = self.element_ty(&tail.element);
        let tail_doc = docs::doc(&tail_doc(tail));
        let derives = self.derives();
        let fixed = number(tail.group.start / 32);
        let new = self.new_fn(id, &body.block, &[quote!(#tail_name: Entries::EMPTY)]);
        let packed = self.packed(id, body, &quote!(<'_>));
        let constants = self.constants(body);
        let length = variable_length(body);
        let pack = self.variable_pack(body, tail, &length);
        let unpack = self.variable_unpack(body, tail, &length);
        let traits = variable_traits(body);
        quote! {
            #head
            #derives
            pub struct #name<'a> {
                #members
                #tail_doc
                pub #tail_name: Entries<'a, #tail_ty>,
            }
            impl<'a> #name<'a> {
                /// The manual's name.
                pub const NAME: &'static str = <Self as Packed>::NAME;
                /// Dwords before the tail.
                pub const FIXED_DWORDS: usize = #fixed;
                #constants
                #new
                /// Length in dwords, tail included.
                #[inline]
                pub const fn dwords(&self) -> usize {
                    #fixed + self.#tail_name.dwords()
                }
                #pack
                #unpack
            }
            #packed
            #traits
        }
    }

    fn variable_pack(&self, body: &Body, tail: &Array, length: &Length) -> TokenStream {
        let tail_name = ident(&tail.member);
        let mut words = fixed_dwords(body.container);
        words.resize(tail.group.start as usize / 32, 0);
        let write = Vec::from_iter(length.write.clone());
        let Packing { array, rest } = self.dwords(&body.block, &quote!(self), &words, &write);
        let pack = match rest.is_empty() {
            true => quote!(*head = #array;),
            false => quote!(let mut dwords = #array; #rest *head = dwords;),
        };
        let check = &length.pack_check;
        quote! {
            /// Writes the dwords to the start of `out` and returns their number.
            ///
            /// # Errors
            /// [`PackError::Space`] if `out` is too short, [`PackError::Length`] if the length field
            /// cannot express the length.
            #[inline]
            pub fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
                let length = self.dwords();
                #check
                let available = out.len();
                let out = out.get_mut(..length).and_then(<[u32]>::split_first_chunk_mut);
                let Some((head, tail)) = out else {
                    return Err(PackError::Space { packet: Self::NAME, needed: length, available });
                };
                #pack
                self.#tail_name.put(tail);
                Ok(length)
            }
        }
    }

    fn variable_unpack(&self, body: &Body, tail: &Array, length: &Length) -> TokenStream {
        let tail_name = ident(&tail.member);
        let fixed = number(tail.group.start / 32);
        let needed = number((tail.group.start / 32).max(1));
        let place = Place { array: false, ..Place::array() };
        let (lossy_before, lossy) = self.reads(&body.block, &place, 0);
        let (checks, refuse) = self.checks(body);
        let Length { unpack_check, total, .. } = length;
        quote! {
            /// Length in dwords according to the header.
            fn length(dwords: &[u32]) -> usize {
                #total
            }
            /// Reads the packet at the start of `dwords`. Checks ranges, and every bit that has a
            /// single legal value.
            ///
            /// # Errors
            /// [`UnpackError::Truncated`] if `dwords` ends before the packet, else the first check
            /// that fails.
            pub fn unpack(dwords: &'a [u32]) -> Result<Self, UnpackError> {
                let needed = Self::length(dwords).max(#needed);
                let available = dwords.len();
                let Some(dwords) = dwords.get(..needed) else {
                    return Err(UnpackError::Truncated { container: Self::NAME, needed, available });
                };
                #refuse
                let value = Self::unpack_lossy(dwords);
                #unpack_check
                Ok(value)
            }
            /// Reads the packet at the start of `dwords` as hardware does: opcode and reserved bits
            /// are ignored. Dwords after the end of `dwords` read as zero, and the tail ends there.
            pub fn unpack_lossy(dwords: &'a [u32]) -> Self {
                let end = dwords.len().min(Self::length(dwords));
                let tail = dwords.get(#fixed..end).unwrap_or(&[]);
                #lossy_before
                Self { #lossy #tail_name: Entries::Dwords(tail) }
            }
            /// The checks of [`unpack`](Self::unpack).
            #[doc(hidden)]
            pub const CHECKS: &'static [Check] = #checks;
        }
    }
}

fn variable_length(body: &Body) -> Length {
    let Some(field) = length_field(body.container) else {
        let total = quote!(dwords.len());
        return Length { write: None, pack_check: None, unpack_check: None, total };
    };
    let bias = match body.container.kind {
        Kind::Instruction { bias, .. } => bias,
        _ => 0,
    };
    let (start, end, bias) = (number(field.start), number(field.end), number(bias));
    let max = pattern(u64::MAX >> (64 - (field.end - field.start + 1)));
    let name = &field.name;
    let write = match field.start % 32 {
        0 => quote!((length - #bias) as u32),
        shift => {
            let shift = number(shift);
            quote!(((length - #bias) as u32) << #shift)
        }
    };
    Length {
        write: Some((field.start / 32, write)),
        pack_check: Some(quote! {
            if length < #bias || length - #bias > #max {
                return Err(PackError::Length { packet: Self::NAME, dwords: length, max: #max + #bias });
            }
        }),
        unpack_check: Some(quote! {
            let whole = value.dwords();
            if whole != dwords.len() {
                return Err(UnpackError::Fixed {
                    container: Self::NAME,
                    field: #name,
                    start: #start,
                    expected: (whole as u64).saturating_sub(#bias),
                    found: get(dwords, #start, #end),
                });
            }
        }),
        total: quote!(get(dwords, #start, #end) as usize + #bias),
    }
}

/// The implementations of traits, which call the container's own functions.
fn variable_traits(body: &Body) -> TokenStream {
    let name = ident(&body.block.name);
    let instruction = matches!(body.container.kind, Kind::Instruction { .. }).then(|| {
        quote! {
            impl Instruction for #name<'_> {
                #[inline]
                fn dwords(&self) -> usize {
                    self.dwords()
                }
                #[inline]
                fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
                    self.pack_into(out)
                }
            }
        }
    });
    quote! {
        impl<'a> genxml_core::read::Codec<'a> for #name<'a> {
            #[inline]
            fn decode(dwords: &'a [u32]) -> Result<Self, UnpackError> {
                Self::unpack(dwords)
            }
            #[inline]
            fn decode_lossy(dwords: &'a [u32]) -> Self {
                Self::unpack_lossy(dwords)
            }
            #[inline]
            fn encoded_dwords(&self) -> usize {
                self.dwords()
            }
            #[inline]
            fn encode(&self, out: &mut [u32]) -> Result<usize, PackError> {
                self.pack_into(out)
            }
        }
        #instruction
    }
}
