use super::*;

#[test]
fn options() {
    let set = [
        ("GENX_SHIM_DEVICE", "gt3"),
        ("GENX_SHIM_THREADS", "none"),
        ("GENX_SHIM_WORK_LIMIT", "77"),
        ("GENX_SHIM_CHECK", "0"),
        ("GENX_SHIM_STATS", "1"),
        ("GENX_SHIM_CLOCK", "wall"),
    ];
    let find = |name: &str| Some(set.iter().find(|(known, _)| *known == name)?.1.to_owned());
    let (config, wrong) = Config::new(find);
    assert_eq!((config.device, config.work_limit), (0x1626, 77));
    assert_eq!((config.check, config.stats), (false, true));
    assert_eq!(wrong, ["GENX_SHIM_THREADS=none is not a number: use 1 or more"]);
    assert!(config.wall_clock);
    let (config, wrong) =
        Config::new(|name| (name == "GENX_SHIM_CLOCK").then(|| "sundial".to_owned()));
    assert!(!config.wall_clock);
    assert_eq!(wrong, ["GENX_SHIM_CLOCK=sundial is not a clock: use work or wall"]);
    let (config, wrong) =
        Config::new(|name| (name == "GENX_SHIM_SANITIZE").then(|| "flush,rays".to_owned()));
    assert_eq!(config.sanitize, ["flush"]);
    assert!(config.reports_at_end());
    let names = sanitize::names();
    let expected = format!("GENX_SHIM_SANITIZE: there is no sanitizer \"rays\": use {names}");
    assert_eq!(wrong, [expected]);
    let (config, wrong) = Config::new(|name| match name {
        "GENX_SHIM_DEVICE" => Some("g45".to_owned()),
        "GENX_SHIM_SANITIZE" => Some("flush".to_owned()),
        _ => None,
    });
    assert!(config.sanitize.is_empty());
    assert_eq!(wrong, ["GENX_SHIM_SANITIZE=flush: the sanitizer has no rules for this device"]);
    let (config, wrong) = Config::new(|name| match name {
        "GENX_SHIM_DEVICE" => Some("g45".to_owned()),
        "GENX_SHIM_TRACE_COUNTERS" => Some("lines,overdraw,cows".to_owned()),
        "GENX_SHIM_TRACE_HOST" => Some("1".to_owned()),
        _ => None,
    });
    assert_eq!((config.trace_counters, config.trace_host), (vec![Counter::Lines], true));
    assert_eq!(
        wrong,
        [
            "GENX_SHIM_TRACE_COUNTERS=overdraw: the counter does not exist for this device",
            "GENX_SHIM_TRACE_COUNTERS: there is no counter \"cows\": use overdraw, lines, occupancy, \
             messages"
        ]
    );
    assert_eq!("320x240".parse(), Ok(Mode { width: 320, height: 240, hz: 60 }));
    assert_eq!("8192x1@144".parse(), Ok(Mode { width: 8192, height: 1, hz: 144 }));
    for wrong in
        ["", "320", "320x", "0x240", "320x240@", "320x240@0", "8193x1", "1x70000", "-1x1", "1x1x1"]
    {
        assert_eq!(wrong.parse::<Mode>(), Err(NoMode), "{wrong}");
    }
    assert_eq!(
        (device("G45"), device("gm45"), device("2e32")),
        (Some(0x2e22), Some(0x2a42), Some(0x2e32))
    );
    assert_eq!((device("0x1606"), device("0x9a49"), device("x")), (Some(0x1606), None, None));
}
