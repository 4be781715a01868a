//! Leases: a client gets objects of the display while another client is the master.

use super::display::Kms;
use super::held::{Held, Lease};
use super::state::{CONNECTOR, CRTC, PLANE};
use crate::device::descriptor::Id;
use crate::device::host::Host;
use crate::uapi::mode;
use rustix::io::Errno;

impl Kms {
    /// The objects that a client may use.
    pub(crate) fn held(&self, client: Id) -> Held {
        self.leases.get(&client).map_or(Held::ALL, |lease| lease.held)
    }

    /// The client that gave a client its lease, if it has one.
    pub(crate) fn lessor(&self, client: Id) -> Option<Id> {
        self.leases.get(&client).map(|lease| lease.lessor)
    }

    /// The objects of a new lease, from a list of ids. Clients without universal planes lease the
    /// primary plane together with its CRTC. (Linux drm_lease.c, fill_object_idr)
    ///
    /// # Errors
    /// ENOENT for an id without object; EINVAL for an object that cannot be leased, or without a
    /// CRTC, a connector and a plane; ENOSPC for an object that is listed twice; EBUSY for an
    /// object that is leased already.
    pub(crate) fn leasable(
        &self,
        lessor: Id,
        objects: &[u32],
        universal_planes: bool,
    ) -> Result<Held, Errno> {
        let mut all = Held::ALL;
        for object in objects {
            self.find(*object, 0)?;
            all.of(*object).ok_or(Errno::INVAL)?;
        }
        let has = |object: u32| objects.contains(&object);
        // A lease without objects is allowed.
        let complete = has(CRTC) && has(CONNECTOR) && (!universal_planes || has(PLANE));
        if !objects.is_empty() && !complete {
            return Err(Errno::INVAL);
        }
        let mut held = Held::NONE;
        let implied = (has(CRTC) && !universal_planes).then_some(PLANE);
        for object in objects.iter().copied().chain(implied) {
            if held.of(object).is_some_and(|held| std::mem::replace(held, true)) {
                return Err(Errno::NOSPC);
            }
        }
        let mut others = self.leases.values().filter(|lease| lease.lessor == lessor);
        if others.any(|lease| lease.held.overlaps(held)) {
            return Err(Errno::BUSY);
        }
        Ok(held)
    }

    /// Adds the lease of a new client. Returns its number: the smallest free one.
    pub(crate) fn lease(&mut self, lessor: Id, lessee: Id, held: Held) -> u32 {
        let taken = |number: &u32| {
            let mut all = self.leases.values();
            all.any(|lease| (lease.lessor, lease.number) == (lessor, *number))
        };
        let number = (1..).find(|number| !taken(number)).unwrap_or(u32::MAX);
        self.leases.insert(lessee, Lease { lessor, number, held });
        number
    }

    /// LIST_LESSEES: the numbers of the leases that a client gave and did not revoke.
    pub(crate) fn lessees(
        &self,
        host: &dyn Host,
        lessor: Id,
        arg: &mut mode::LeaseList,
    ) -> Result<(), Errno> {
        if arg.pad != 0 {
            return Err(Errno::INVAL);
        }
        let own = |lease: &&Lease| lease.lessor == lessor && lease.held != Held::NONE;
        let mut numbers: Vec<u32> =
            self.leases.values().filter(own).map(|lease| lease.number).collect();
        numbers.sort_unstable();
        host.put_list(arg.list_ptr, &mut arg.count, &numbers)
    }

    /// GET_LEASE: the objects of a client's lease; without a lease, all objects.
    pub(crate) fn leased(
        &self,
        host: &dyn Host,
        client: Id,
        arg: &mut mode::LeaseList,
    ) -> Result<(), Errno> {
        if arg.pad != 0 {
            return Err(Errno::INVAL);
        }
        let objects = match self.leases.get(&client) {
            Some(lease) => lease.held.filter(&[CRTC, CONNECTOR, PLANE]),
            None => self.all_objects(),
        };
        host.put_list(arg.list_ptr, &mut arg.count, &objects)
    }

    /// REVOKE_LEASE: takes the objects of a lease back.
    ///
    /// # Errors
    /// ENOENT if the client gave no lease with this number.
    pub(crate) fn revoke(&mut self, lessor: Id, number: u32) -> Result<(), Errno> {
        let mut all = self.leases.values_mut();
        let lease = all.find(|lease| (lease.lessor, lease.number) == (lessor, number));
        lease.ok_or(Errno::NOENT)?.held = Held::NONE;
        Ok(())
    }

    /// Ends the lease of a client that is closed, and revokes the leases that it gave.
    pub(super) fn forget_leases(&mut self, client: Id) {
        self.leases.remove(&client);
        for lease in self.leases.values_mut().filter(|lease| lease.lessor == client) {
            lease.held = Held::NONE;
        }
    }
}
