use super::*;

#[test]
fn paths() {
    let tree = Tree::new(&Config::default());
    let here = |path: &str| match tree.find(path, true) {
        Some(Found::Here(path, _)) => path,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(here("/dev/dri/by-path/pci-0000:00:02.0-render"), "/dev/dri/renderD128");
    assert_eq!(here("/sys/dev/char/226:128/device/uevent"), format!("{PCI}/uevent"));
    assert_eq!(
        here("/sys/class/drm/card0/device/drm//renderD128/./dev"),
        format!("{PCI}/drm/renderD128/dev")
    );
    assert_eq!(here("/sys/bus/pci/devices/0000:00:02.0/drm"), format!("{PCI}/drm"));
    assert_eq!(here("/tmp/../dev/./dri/../dri/card0"), "/dev/dri/card0");
    assert_eq!(here("/../../dev/dri"), "/dev/dri");
    assert_eq!(tree.find("/dev/dri/../null", true), Some(Found::Elsewhere("/dev/null".into())));
    assert_eq!(tree.find("/tmp/dev/dri", true), None);
    assert_eq!(tree.find("/dev/null", true), None);
    assert_eq!(tree.find("/sys/class/net", true), None);
    assert_eq!(tree.find("/dev/drift", true), None);
    assert_eq!(tree.find("/dev/dri/card1", true), Some(Found::Missing));
    assert_eq!(tree.find("/dev/dri/card0/x", true), Some(Found::Missing));
    let subsystem = "/sys/dev/char/226:0/device/subsystem";
    assert_eq!(tree.find(subsystem, true), Some(Found::Elsewhere("/sys/bus/pci".into())));
    assert_eq!(here("/sys/kernel/debug/dri/128/name"), "/sys/kernel/debug/dri/128/name");
    // IGT opens this directory relative to that of the device (igt_params_open).
    assert_eq!(
        tree.find("/sys/kernel/debug/dri/0/i915_params/reset", true),
        Some(Found::Here(
            "/sys/kernel/debug/dri/0/i915_params/reset".into(),
            &Node::File(b"3\n".into())
        ))
    );
    let link = Node::Link("../../../bus/pci".into());
    assert_eq!(tree.find(subsystem, false), Some(Found::Here(format!("{PCI}/subsystem"), &link)));
    assert_eq!(tree.path(tree.number("/dev/dri/card0")), Some("/dev/dri/card0"));
    let names: Vec<&str> = tree.list("/dev/dri").iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["by-path", "card0", "renderD128"]);
}

#[test]
fn directories_above() {
    for path in ["/dev", "/sys", "/sys/class", "/sys/dev/char", "/sys/bus/pci", "/sys/kernel"] {
        assert!(Tree::is_above(path), "{path}");
    }
    for path in ["/sys/class/drm", "/sys/cl", "/sys/class/net", "/dev/dri", "/tmp", "/dev/char"] {
        assert!(!Tree::is_above(path), "{path}");
    }
    let tree = Tree::new(&Config::default());
    let names = |path: &str| -> Vec<String> {
        tree.list(path).iter().map(|(name, _)| (*name).to_owned()).collect()
    };
    assert_eq!(names("/sys/class"), ["drm"]);
    assert_eq!(names("/sys/dev/char"), ["226:0", "226:128"]);
}
