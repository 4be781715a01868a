//! State that units own. The machine stores it without knowing its type.

use std::any::{Any, TypeId};
use std::fmt::Debug;

/// The state of a unit within a context: the URB, palettes of the sampler, media threads.
///
/// A context that has no value of the type yet uses the default one.
pub trait UnitState: Any + Clone + Debug + Default + Send + Sync {
    /// The value that a worker of [`super::parallel`] starts with.
    fn for_worker(&self) -> Self {
        self.clone()
    }
}

/// [`UnitState`] as a trait object.
trait Slot: Any + Debug + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn Slot>;
    fn boxed_for_worker(&self) -> Box<dyn Slot>;
}

impl<T: UnitState> Slot for T {
    fn boxed_clone(&self) -> Box<dyn Slot> {
        Box::new(self.clone())
    }

    fn boxed_for_worker(&self) -> Box<dyn Slot> {
        Box::new(self.for_worker())
    }
}

/// At most one value of each [`UnitState`] type. There are only a few types, so a lookup is a
/// linear scan. The type that was looked up last for a change is the first.
#[derive(Debug, Default)]
pub struct Slots(Vec<(TypeId, Box<dyn Slot>)>);

impl Slots {
    /// The value of type `T`, if [`get_mut`](Self::get_mut) has created it.
    #[inline]
    pub fn get<T: UnitState>(&self) -> Option<&T> {
        let (_, slot) = self.0.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        (&**slot as &dyn Any).downcast_ref()
    }

    /// Calls `read` with the value of type `T`; with the default one if there is none yet.
    #[inline]
    pub fn with<T: UnitState, R>(&self, read: impl FnOnce(&T) -> R) -> R {
        match self.get() {
            Some(value) => read(value),
            None => read(&T::default()),
        }
    }

    /// The value of type `T`; the default one if there is none yet.
    #[inline]
    pub fn get_mut<T: UnitState>(&mut self) -> &mut T {
        let id = TypeId::of::<T>();
        let index = match self.0.iter().position(|(other, _)| *other == id) {
            Some(index) => index,
            None => {
                self.0.push((id, Box::<T>::default()));
                self.0.len() - 1
            }
        };
        if index > 0 {
            self.0.swap(0, index);
        }
        match (&mut *self.0[0].1 as &mut dyn Any).downcast_mut() {
            Some(value) => value,
            None => unreachable!("a slot is stored beside the id of its type"),
        }
    }

    /// The values that a worker starts with.
    pub fn for_worker(&self) -> Slots {
        Slots(self.0.iter().map(|(id, slot)| (*id, slot.boxed_for_worker())).collect())
    }
}

impl Clone for Slots {
    fn clone(&self) -> Slots {
        Slots(self.0.iter().map(|(id, slot)| (*id, slot.boxed_clone())).collect())
    }
}
