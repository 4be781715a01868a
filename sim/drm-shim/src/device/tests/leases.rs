//! Leases of display objects. Oracle: IGT's kms_lease, and Linux drm_lease.c and drm_auth.c.

use super::*;

const CRTC: u32 = 31;
const ENCODER: u32 = 32;
const CONNECTOR: u32 = 33;
const PLANE: u32 = 34;

impl Client {
    /// Calls CREATE_LEASE. Returns the new file, its number, and the id of the file in the device.
    fn lease(&mut self, objects: &[u32], flags: u32) -> Result<(OwnedFd, u32, Id), Stop> {
        let mut lease = mode::CreateLease {
            object_ids: objects.as_ptr() as u64,
            object_count: objects.len() as u32,
            flags,
            ..Default::default()
        };
        self.core(mode::nr::CREATE_LEASE, &mut lease)?;
        // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
        let file = unsafe { OwnedFd::from_raw_fd(lease.fd) };
        let Some(Descriptor::Device { id, minor: PRIMARY }) = Descriptor::of(file.as_fd()) else {
            panic!("the lease is not a file of the primary node");
        };
        Ok((file, lease.lessee_id, id))
    }

    /// Calls LIST_LESSEES or GET_LEASE.
    fn list(&mut self, number: u32) -> Vec<u32> {
        let mut ids = [0u32; 64];
        let mut list =
            mode::LeaseList { count: 64, list_ptr: ids.as_mut_ptr() as u64, ..Default::default() };
        self.core(number, &mut list).unwrap();
        ids[..list.count as usize].to_vec()
    }

    fn universal_planes(&mut self, value: u64) {
        self.core(drm::nr::SET_CLIENT_CAP, &mut drm::Cap { capability: 2, value }).unwrap();
    }
}

#[test]
fn refused_leases() {
    let mut client = Client::open(PRIMARY);
    let mut lease = mode::CreateLease { object_count: 1, ..Default::default() };
    assert_eq!(client.core(mode::nr::CREATE_LEASE, &mut lease), errno(Errno::FAULT));
    lease.object_count = 1 << 30;
    assert_eq!(client.core(mode::nr::CREATE_LEASE, &mut lease), errno(Errno::NOMEM));
    let error = |client: &mut Client, objects: &[u32], flags| {
        client.lease(objects, flags).map(|(_, number, _)| number)
    };
    assert_eq!(error(&mut client, &[0], 0), errno(Errno::NOENT));
    for wrong in [&[CRTC][..], &[CONNECTOR], &[CRTC, CONNECTOR, ENCODER]] {
        assert_eq!(error(&mut client, wrong, 0), errno(Errno::INVAL), "{wrong:?}");
    }
    // Without universal planes, the plane belongs to the CRTC.
    assert_eq!(error(&mut client, &[CRTC, CONNECTOR], 0), Ok(1));
    assert_eq!(error(&mut client, &[CRTC, CONNECTOR, PLANE], 0), errno(Errno::NOSPC));
    client.universal_planes(1);
    assert_eq!(error(&mut client, &[CRTC, CONNECTOR], 0), errno(Errno::INVAL));
    let all = [CRTC, CONNECTOR, PLANE];
    let (nonblock, cloexec) = (0o4000, drm::CLOEXEC);
    assert_eq!(error(&mut client, &all, nonblock | cloexec), Ok(1));
    assert_eq!(error(&mut client, &all, u32::MAX), errno(Errno::INVAL));
    assert_eq!(error(&mut client, &[CRTC, CONNECTOR, PLANE, PLANE], 0), errno(Errno::NOSPC));
    // An object has one lessee, and a lessee cannot lease it again.
    let (file, number, id) = client.lease(&all, 0).unwrap();
    assert_eq!((number, error(&mut client, &all, 0)), (1, errno(Errno::BUSY)));
    assert_eq!(client.lease(&[], 0).map(|(_, number, _)| number), Ok(2));
    let lessor = std::mem::replace(&mut client.id, id);
    assert_eq!(error(&mut client, &all, 0), errno(Errno::INVAL));
    client.id = lessor;
    drop(file);
    assert_eq!(error(&mut client, &all, 0), Ok(1));
    // Only masters lease.
    let other = Id::new();
    client.device.open(other, PRIMARY, None);
    client.id = other;
    assert_eq!(error(&mut client, &all, 0), errno(Errno::ACCESS));
    client.id = lessor;
    let mut list = mode::LeaseList { pad: 1, ..Default::default() };
    assert_eq!(client.core(mode::nr::LIST_LESSEES, &mut list), errno(Errno::INVAL));
    assert_eq!(client.core(mode::nr::GET_LEASE, &mut list), errno(Errno::INVAL));
}

#[test]
fn objects_of_lessees() {
    let mut client = Client::open(PRIMARY);
    client.universal_planes(1);
    let lessor = client.id;
    let all = [CRTC, CONNECTOR, PLANE];
    assert!(client.list(mode::nr::LIST_LESSEES).is_empty());
    assert!(client.list(mode::nr::GET_LEASE).starts_with(&[CRTC, ENCODER, CONNECTOR, PLANE]));
    let (_file, number, lessee) = client.lease(&all, 0).unwrap();
    assert_eq!(client.list(mode::nr::LIST_LESSEES), [number]);

    // What the lessee sees: counts of CRTCs, connectors and planes, and what the encoder can use.
    let seen = |client: &mut Client, id: Id| {
        client.id = id;
        client.universal_planes(1);
        let mut resources = mode::CardRes::default();
        client.core(mode::nr::GETRESOURCES, &mut resources).unwrap();
        let mut planes = mode::PlaneRes::default();
        client.core(mode::nr::GETPLANERESOURCES, &mut planes).unwrap();
        let mut encoder = mode::GetEncoder { encoder_id: ENCODER, ..Default::default() };
        client.core(mode::nr::GETENCODER, &mut encoder).unwrap();
        client.id = lessor;
        let (crtcs, connectors) = (resources.count_crtcs, resources.count_connectors);
        [crtcs, connectors, planes.count_planes, encoder.possible_crtcs]
    };
    // Each ioctl that names an object.
    let uses = |client: &mut Client, id: Id| {
        client.id = id;
        let mut crtc = mode::Crtc { crtc_id: CRTC, ..Default::default() };
        let mut get = |obj_id| {
            let mut list = mode::ObjGetProperties { obj_id, ..Default::default() };
            client.core(mode::nr::OBJ_GETPROPERTIES, &mut list)
        };
        let mut results = all.map(&mut get).to_vec();
        results.push(client.core(mode::nr::GETCRTC, &mut crtc));
        results.push(client.core(mode::nr::SETCRTC, &mut crtc));
        let mut connector = mode::GetConnector { connector_id: CONNECTOR, ..Default::default() };
        results.push(client.core(mode::nr::GETCONNECTOR, &mut connector));
        let mut plane = mode::GetPlane { plane_id: PLANE, ..Default::default() };
        results.push(client.core(mode::nr::GETPLANE, &mut plane));
        let mut sequence = drm::CrtcGetSequence { crtc_id: CRTC, ..Default::default() };
        results.push(client.core(drm::nr::CRTC_GET_SEQUENCE, &mut sequence));
        client.id = lessor;
        results
    };
    assert_eq!(seen(&mut client, lessee), [1, 1, 1, 1]);
    assert_eq!(uses(&mut client, lessee), vec![Ok(()); 8]);
    client.id = lessee;
    assert_eq!(client.list(mode::nr::GET_LEASE), all);
    client.id = lessor;

    // A revoked lease has no objects. The lessor always sees them.
    let mut revoke = mode::RevokeLease { lessee_id: number + 1 };
    assert_eq!(client.core(mode::nr::REVOKE_LEASE, &mut revoke), errno(Errno::NOENT));
    revoke.lessee_id = number;
    client.core(mode::nr::REVOKE_LEASE, &mut revoke).unwrap();
    assert!(client.list(mode::nr::LIST_LESSEES).is_empty());
    assert_eq!((seen(&mut client, lessee), seen(&mut client, lessor)), ([0; 4], [1; 4]));
    assert_eq!(uses(&mut client, lessee), vec![errno(Errno::NOENT); 8]);
    assert_eq!(uses(&mut client, lessor), vec![Ok(()); 8]);
    let (_file, next, _) = client.lease(&all, 0).unwrap();
    assert_eq!(next, number + 1, "the revoked lease keeps its number until its file is closed");
}

/// Oracle: IGT's kms_lease@master-vs-lease and multimaster-lease: lessees are masters as long as
/// their lessor is.
#[test]
fn lessees_of_masters() {
    let mut client = Client::open(PRIMARY);
    client.universal_planes(1);
    let lessor = client.id;
    let (_file, _, lessee) = client.lease(&[CRTC, CONNECTOR, PLANE], 0).unwrap();
    let call = |client: &mut Client, id: Id, number| {
        client.id = id;
        client.core(number, &mut 0u32)
    };
    let (set, dropped) = (drm::nr::SET_MASTER, drm::nr::DROP_MASTER);
    let is_master = |client: &mut Client, id| {
        client.id = id;
        let auth = client.core(drm::nr::AUTH_MAGIC, &mut drm::Auth { magic: 0 });
        auth != errno(Errno::ACCESS)
    };
    assert_eq!(call(&mut client, lessee, dropped), errno(Errno::INVAL));
    assert_eq!([lessor, lessee].map(|id| is_master(&mut client, id)), [true; 2]);
    assert_eq!(call(&mut client, lessor, dropped), Ok(()));
    assert_eq!([lessor, lessee].map(|id| is_master(&mut client, id)), [false; 2]);
    assert_eq!(call(&mut client, lessee, set), errno(Errno::INVAL));
    let second = Id::new();
    let (end, channel) = Descriptor::Device { id: second, minor: PRIMARY }.create(true).unwrap();
    client.device.open(second, PRIMARY, Some(channel));
    assert_eq!([lessor, lessee, second].map(|id| is_master(&mut client, id)), [false, false, true]);
    assert_eq!(call(&mut client, lessor, set), errno(Errno::BUSY));
    client.id = second;
    client.universal_planes(1);
    let (_file, _, other) = client.lease(&[CRTC, CONNECTOR, PLANE], 0).unwrap();
    assert!(is_master(&mut client, other));
    // Closing the file drops the master, and ends its leases.
    drop(end);
    assert!(!is_master(&mut client, other));
    assert_eq!(call(&mut client, lessor, set), Ok(()));
    assert_eq!([lessor, lessee].map(|id| is_master(&mut client, id)), [true; 2]);
    // The lessor's leases end with its file.
    client.device.close(lessor);
    client.id = lessee;
    let mut connector = mode::GetConnector { connector_id: CONNECTOR, ..Default::default() };
    assert_eq!(client.core(mode::nr::GETCONNECTOR, &mut connector), errno(Errno::NOENT));
}
