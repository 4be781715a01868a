//! Generates a container of fixed size: the struct, `pack`, `unpack` and its traits.

use super::common::fixed_dwords;
use super::emitter::Emit;
use super::field::{Place, ident, number};
use super::members::Packing;
use super::plan::Body;
use crate::model::{ContainerId, Kind};
use proc_macro2::TokenStream;
use quote::quote;

/// Largest size in bits of containers whose dwords are built as an array and copied. The dwords of
/// larger containers are written in place.
const LONG: u32 = 1024;

/// The code that packs a container.
struct Pack {
    /// Body of `pack`.
    pack: TokenStream,
    /// The function that writes all dwords of a long container in place.
    store: Option<TokenStream>,
    /// The method `put` of `Fixed`, if the container does not use the default method.
    put: Option<TokenStream>,
}

impl Emit<'_> {
    /// Generates a container of fixed size. `eq` and `fmt` use the packed dwords, because code for
    /// each field would cost the most compile time. So two values are equal if their dwords are.
    pub(super) fn fixed(&self, id: ContainerId, body: &Body) -> TokenStream {
        let name = ident(&body.block.name);
        let head = self.head(body);
        let members = self.members(&body.block, false);
        let dwords = number(body.container.bits.div_ceil(32));
        let new = self.new_fn(id, &body.block, &[]);
        let Pack { pack, store, put } = self.fixed_pack(body);
        let (checks, refuse) = self.checks(body);
        let (lossy_before, lossy) = self.reads(&body.block, &Place::array(), 0);
        let unused = if lossy.is_empty() { quote!(_dwords) } else { quote!(dwords) };
        let constants = self.constants(body);
        let packed = self.packed(id, body, &TokenStream::new());
        let traits = self.fixed_traits(body, put);
        let entry = self.plan.is_entry(id).then(|| self.container_entry(body));
        quote! {
            #head
            #[derive(Copy)]
            pub struct #name { #members }
            impl #name {
                /// The manual's name.
                pub const NAME: &'static str = <Self as Packed>::NAME;
                /// Size in dwords.
                pub const DWORDS: usize = #dwords;
                #constants
                #new
                /// The packed dwords in order.
                #[inline(always)]
                pub const fn pack(&self) -> [u32; #dwords] {
                    #pack
                }
                #store
                /// Reads the dwords. Checks ranges, and every bit that has a single legal value.
                ///
                /// # Errors
                /// The first check that fails, with the field and its value.
                #[inline]
                pub const fn unpack(dwords: &[u32; #dwords]) -> Result<Self, UnpackError> {
                    #refuse
                    Ok(Self::unpack_lossy(dwords))
                }
                /// Reads the dwords as hardware does: opcode, length and reserved bits are
                /// ignored.
                #[inline(always)]
                pub const fn unpack_lossy(#unused: &[u32; #dwords]) -> Self {
                    #lossy_before
                    Self { #lossy }
                }
                /// The checks of [`unpack`](Self::unpack).
                #[doc(hidden)]
                pub const CHECKS: &'static [Check] = #checks;
            }
            #packed
            #traits
            #entry
        }
    }

    fn fixed_pack(&self, body: &Body) -> Pack {
        let (container, block) = (body.container, &body.block);
        let words = fixed_dwords(container);
        let Packing { array, rest } = self.dwords(block, &quote!(self), &words, &[]);
        if rest.is_empty() {
            return Pack { pack: array, store: None, put: None };
        }
        if container.bits <= LONG {
            let pack = quote!(let mut dwords = #array; #rest dwords);
            return Pack { pack, store: None, put: None };
        }
        let dwords = number(container.bits.div_ceil(32));
        let stores = self.stores(block, &quote!(self), &words);
        Pack {
            pack: quote!(let mut dwords = [0; #dwords]; self.store(&mut dwords); dwords),
            store: Some(quote! {
                /// Writes all dwords.
                #[inline(always)]
                const fn store(&self, dwords: &mut [u32; #dwords]) {
                    #stores
                }
            }),
            put: Some(quote! {
                #[inline(always)]
                fn put(&self, dwords: &mut Self::Dwords) {
                    self.store(dwords);
                }
            }),
        }
    }

    /// The implementations of traits, which call the container's own functions.
    fn fixed_traits(&self, body: &Body, put: Option<TokenStream>) -> TokenStream {
        let name = ident(&body.block.name);
        let dwords = number(body.container.bits.div_ceil(32));
        let instruction = matches!(body.container.kind, Kind::Instruction { .. }).then(|| {
            quote! {
                impl Instruction for #name {
                    #[inline(always)]
                    fn dwords(&self) -> usize {
                        Self::DWORDS
                    }
                    #[inline(always)]
                    fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
                        Fixed::write(self, out)
                    }
                }
            }
        });
        quote! {
            impl Fixed for #name {
                type Dwords = [u32; #dwords];
                #[inline(always)]
                fn to_dwords(&self) -> Self::Dwords {
                    self.pack()
                }
                #put
                #[inline(always)]
                fn from_dwords(dwords: &Self::Dwords) -> Result<Self, UnpackError> {
                    Self::unpack(dwords)
                }
                #[inline(always)]
                fn from_dwords_lossy(dwords: &Self::Dwords) -> Self {
                    Self::unpack_lossy(dwords)
                }
            }
            impl Clone for #name {
                #[inline(always)]
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl PartialEq for #name {
                #[inline]
                fn eq(&self, other: &Self) -> bool {
                    alike(&self.pack(), &other.pack())
                }
            }
            impl Eq for #name {}
            impl fmt::Debug for #name {
                #[inline]
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    debug::<Self>(&self.pack(), f)
                }
            }
            #instruction
        }
    }
}
