//! The files through which drivers find a device: `/dev/dri`, the device's directory in `/sys`, and
//! the directories in `/sys` that lead to it. They exist only in memory.

use crate::device::config::{Chip, Config};
use crate::device::{PRIMARY, RENDER};
use std::collections::BTreeMap;

/// Paths that the tree replaces. The machine's own files at these paths are hidden. The path that
/// ends in a colon covers all names that start with it.
const OURS: [&str; 7] = [
    "/dev/dri",
    "/sys/class/drm",
    "/sys/dev/char/226:",
    "/sys/bus/pci/devices",
    "/sys/bus/pci/drivers/i915",
    "/sys/devices/pci0000:00/0000:00:02.0",
    "/sys/kernel/debug",
];

/// The device's directory in `/sys`.
const PCI: &str = "/sys/devices/pci0000:00/0000:00:02.0";

/// Largest number of links that are followed for one path.
const MOST_LINKS: usize = 40;

/// A file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A directory.
    Directory,
    /// A file with these contents.
    File(Vec<u8>),
    /// A link to this path.
    Link(String),
    /// The device with this minor number.
    Device(u32),
}

/// Result of a path lookup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found<'a> {
    /// A file of the tree, with its path after following links.
    Here(String, &'a Node),
    /// The path belongs to the tree, but leads to no file, or follows too many links.
    Missing,
    /// A path outside the tree, to which a link led.
    Elsewhere(String),
}

/// All files of the tree by path.
#[derive(Debug)]
pub struct Tree(BTreeMap<String, Node>);

impl Tree {
    /// The files for the device that the options name.
    pub fn new(config: &Config) -> Tree {
        let mut tree = Tree(BTreeMap::new());
        let id = config.device;
        let chip = config.chip();
        let (subsystem, revision) = (u32::from(chip.subsystem), chip.revision);
        let text = |text: String| Node::File((text + "\n").into_bytes());
        let link = |target: &str| Node::Link(target.to_owned());
        for path in OURS {
            if !path.ends_with(':') {
                tree.add(path, Node::Directory);
            }
        }
        for (name, value) in [
            ("vendor", 0x8086),
            ("device", id),
            ("subsystem_vendor", 0x8086),
            ("subsystem_device", subsystem),
        ] {
            tree.add(&format!("{PCI}/{name}"), text(format!("{value:#06x}")));
        }
        tree.add(&format!("{PCI}/class"), text("0x030000".into()));
        tree.add(&format!("{PCI}/revision"), text(format!("{revision:#04x}")));
        tree.add(&format!("{PCI}/boot_vga"), text("1".into()));
        tree.add(&format!("{PCI}/enable"), text("1".into()));
        tree.add(&format!("{PCI}/irq"), text("16".into()));
        tree.add(&format!("{PCI}/numa_node"), text("-1".into()));
        tree.add(&format!("{PCI}/local_cpulist"), text("0".into()));
        tree.add(&format!("{PCI}/config"), Node::File(pci_config(id, &chip)));
        tree.add(&format!("{PCI}/resource"), Node::File(pci_resources()));
        tree.add(
            &format!("{PCI}/uevent"),
            text(format!(
                "DRIVER=i915\nPCI_CLASS=30000\nPCI_ID=8086:{id:04X}\nPCI_SUBSYS_ID=8086:{subsystem:04X}\n\
                 PCI_SLOT_NAME=0000:00:02.0\nMODALIAS=pci:v00008086d{id:08X}sv00008086sd{subsystem:08X}bc03sc00i00"
            )),
        );
        tree.add(&format!("{PCI}/subsystem"), link("../../../bus/pci"));
        tree.add(&format!("{PCI}/driver"), link("../../../bus/pci/drivers/i915"));
        for (node, minor) in [("card0", PRIMARY), ("renderD128", RENDER)] {
            let here = format!("{PCI}/drm/{node}");
            tree.add(&format!("/dev/dri/{node}"), Node::Device(minor));
            tree.add(&format!("{here}/dev"), text(format!("226:{minor}")));
            tree.add(&format!("{here}/device"), link("../../../0000:00:02.0"));
            tree.add(&format!("{here}/subsystem"), link("../../../../../class/drm"));
            tree.add(
                &format!("{here}/uevent"),
                text(format!("MAJOR=226\nMINOR={minor}\nDEVNAME=dri/{node}\nDEVTYPE=drm_minor")),
            );
            let relative = format!("../../devices/pci0000:00/0000:00:02.0/drm/{node}");
            tree.add(&format!("/sys/class/drm/{node}"), link(&relative));
            tree.add(&format!("/sys/dev/char/226:{minor}"), link(&relative));
            let short = if minor == PRIMARY { "card" } else { "render" };
            tree.add(
                &format!("/dev/dri/by-path/pci-0000:00:02.0-{short}"),
                link(&format!("../{node}")),
            );
        }
        let card = format!("{PCI}/drm/card0");
        for (name, megahertz) in [
            ("gt_max_freq_mhz", 950),
            ("gt_boost_freq_mhz", 950),
            ("gt_RP0_freq_mhz", 950),
            ("gt_RP1_freq_mhz", 300),
            ("gt_RPn_freq_mhz", 300),
            ("gt_min_freq_mhz", 300),
            ("gt_cur_freq_mhz", 950),
            ("gt_act_freq_mhz", 950),
        ] {
            tree.add(&format!("{card}/{name}"), text(megahertz.to_string()));
        }
        let connector = format!("{card}/card0-HDMI-A-1");
        tree.add(&format!("{connector}/status"), text("connected".into()));
        tree.add(&format!("{connector}/enabled"), text("enabled".into()));
        tree.add("/sys/class/drm/version", text("drm 1.1.0 20060810".into()));
        tree.add(
            "/sys/bus/pci/devices/0000:00:02.0",
            link("../../../devices/pci0000:00/0000:00:02.0"),
        );
        tree.add(
            "/sys/bus/pci/drivers/i915/0000:00:02.0",
            link("../../../../devices/pci0000:00/0000:00:02.0"),
        );
        for minor in [PRIMARY, RENDER] {
            tree.add(
                &format!("/sys/kernel/debug/dri/{minor}/name"),
                text("i915 dev=0000:00:02.0 unique=0000:00:02.0".into()),
            );
        }
        tree.add("/sys/kernel/debug/dri/0/i915_gem_drop_caches", text("0".into()));
        // Parameters of i915. IGT reads and writes `reset` before it submits. What clients write is
        // lost. (Linux i915_params.h: the default of 3 resets single engines)
        tree.add("/sys/kernel/debug/dri/0/i915_params/reset", text("3".into()));
        debug_assert!(Chip::of(id).is_some());
        tree
    }

    /// Adds a file and its parent directories.
    fn add(&mut self, path: &str, node: Node) {
        for (at, _) in path.match_indices('/').skip(1) {
            self.0.entry(path[..at].to_owned()).or_insert(Node::Directory);
        }
        self.0.insert(path.to_owned(), node);
    }

    /// True if a path may lead to a file of the tree. The check does not create the tree. `..` is
    /// taken as if no directory before it were a link, as long as the path is outside the tree.
    pub fn covers(path: &str) -> bool {
        let mut here = String::new();
        path.starts_with('/')
            && parts(path).into_iter().any(|part| {
                match part {
                    ".." => here.truncate(here.rfind('/').unwrap_or(0)),
                    _ => here.extend(["/", part]),
                }
                is_ours(&here)
            })
    }

    /// True for a directory outside the tree with a path of the tree below it. The check does not
    /// create the tree. `directory` has no links and no `..`.
    pub fn is_above(directory: &str) -> bool {
        !is_ours(directory)
            && OURS
                .iter()
                .any(|ours| ours.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')))
    }

    /// What a path leads to. A link at the end of the path is followed only if `follow`. Returns
    /// `None` for paths outside the tree, and for relative paths.
    pub fn find(&self, path: &str, follow: bool) -> Option<Found<'_>> {
        if !Tree::covers(path) {
            return None;
        }
        let mut rest: Vec<String> =
            parts(path).iter().rev().map(|part| (*part).to_owned()).collect();
        let mut here = String::new();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                here.truncate(here.rfind('/').unwrap_or(0));
                continue;
            }
            let next = format!("{here}/{part}");
            match self.0.get(&next) {
                Some(Node::Link(target)) if follow || !rest.is_empty() => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Some(Found::Missing);
                    }
                    if target.starts_with('/') {
                        here.clear();
                    }
                    rest.extend(parts(target).iter().rev().map(|part| (*part).to_owned()));
                }
                Some(Node::File(_) | Node::Device(_)) if !rest.is_empty() => {
                    return Some(Found::Missing);
                }
                _ => here = next,
            }
        }
        match self.0.get(&here) {
            Some(node) if is_ours(&here) => Some(Found::Here(here, node)),
            _ if is_ours(&here) => Some(Found::Missing),
            _ => Some(Found::Elsewhere(if here.is_empty() { "/".to_owned() } else { here })),
        }
    }

    /// A number for a path of the tree. It is the same in all processes with the same device.
    pub fn number(&self, path: &str) -> u64 {
        self.0.range(..path.to_owned()).count() as u64
    }

    /// The path with this number.
    pub fn path(&self, number: u64) -> Option<&str> {
        self.0.keys().nth(usize::try_from(number).ok()?).map(String::as_str)
    }

    /// Names and files in a directory. `directory` is a path that [`find`](Self::find) returned.
    pub fn list(&self, directory: &str) -> Vec<(&str, &Node)> {
        let inside = format!("{directory}/");
        let below =
            self.0.range(inside.clone()..).take_while(|(path, _)| path.starts_with(&inside));
        let names = below.map(|(path, node)| (&path[inside.len()..], node));
        names.filter(|(name, _)| !name.contains('/')).collect()
    }
}

/// The names that a path consists of.
fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// True for the paths of [`OURS`] and everything below them.
fn is_ours(path: &str) -> bool {
    OURS.iter().any(|ours| {
        path.strip_prefix(ours)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || ours.ends_with(':'))
    })
}

/// The first 256 bytes of the PCI configuration space.
fn pci_config(device: u32, chip: &Chip) -> Vec<u8> {
    let mut bytes = vec![0; 256];
    bytes[..2].copy_from_slice(&0x8086u16.to_le_bytes());
    bytes[2..4].copy_from_slice(&(device as u16).to_le_bytes());
    // I/O, memory and bus mastering are enabled.
    bytes[4] = 7;
    // Bytes 8 to 11: revision, programming interface 0, subclass 0 (VGA), class 3 (display).
    bytes[8..12].copy_from_slice(&[chip.revision, 0, 0, 3]);
    // The base addresses of the registers (0xf6000000) and the aperture (0xe0000000), 64 bits
    // each; then the ids of the subsystem.
    bytes[0x10..0x14].copy_from_slice(&0xf600_0004u32.to_le_bytes());
    bytes[0x18..0x1c].copy_from_slice(&0xe000_000cu32.to_le_bytes());
    bytes[0x2c..0x2e].copy_from_slice(&0x8086u16.to_le_bytes());
    bytes[0x2e..0x30].copy_from_slice(&chip.subsystem.to_le_bytes());
    bytes
}

/// The file `resource`: a line with start, end and flags of each PCI resource.
fn pci_resources() -> Vec<u8> {
    let mut text = String::new();
    for (start, end, flags) in [
        (0xf600_0000u64, 0xf6ff_ffffu64, 0x14_0204u64),
        (0, 0, 0),
        (0xe000_0000, 0xefff_ffff, 0x14_220c),
        (0, 0, 0),
        (0xf000, 0xf03f, 0x4_0101),
        (0, 0, 0),
        (0xc_0000, 0xd_ffff, 0x212),
    ] {
        text += &format!("{start:#018x} {end:#018x} {flags:#018x}\n");
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests;
