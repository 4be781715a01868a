use super::*;

#[test]
fn names() {
    let token = Descriptor::DmaBuf {
        id: Id::new(),
        file: 9,
        offset: 4096,
        size: 1 << 33,
        tiling: (2, 512),
        object: 77,
    };
    let (client, device) = token.create(true).unwrap();
    assert_eq!(Descriptor::of(client.as_fd()), Some(token));
    let copy = rustix::io::dup(&client).unwrap();
    drop(client);
    assert!(!hung_up(&device));
    assert_eq!(Descriptor::of(copy.as_fd()), Some(token));
    drop(copy);
    assert!(hung_up(&device));
    // The name remains when the device's end is closed.
    let directory = Descriptor::Directory { id: Id::new(), number: 3 };
    let (client, device) = directory.create(true).unwrap();
    drop(device);
    assert_eq!(Descriptor::of(client.as_fd()), Some(directory));
    let past = signaled_fence().unwrap();
    assert!(is_fence(past.as_fd()) && is_signaled(&past) && status(&past) == 1);
    assert!(!is_fence(client.as_fd()));
}
