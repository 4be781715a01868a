//! Files of the corpus.

use super::{front, reference};
use crate::support;

/// Oracle: FFmpeg's software decoder, within the limits for pictures whose transform the standard
/// leaves open. Damaged files must end. Files that the engine cannot decode are refused.
#[test]
fn files_of_the_corpus() {
    let mut near = 0;
    for stream in support::streams("jpeg") {
        let file = std::fs::read(&stream.path).unwrap();
        let picture = front::read(&file);
        match stream.class.as_str() {
            "refused" => assert!(picture.is_err(), "{}", stream.file),
            "robust" => {
                let outcomes = picture.map(|picture| picture.decode(&file).1);
                println!("{}: {outcomes:?}", stream.file);
            }
            class => {
                assert_eq!(class, "near", "{}", stream.file);
                near += 1;
                let picture = picture.unwrap();
                let (frame, outcomes) = picture.decode(&file);
                for ((_, scan, _), outcome) in picture.scans.iter().zip(&outcomes) {
                    let report = outcome.report;
                    assert_eq!(report.macroblocks, scan.mcu_count, "{}", stream.file);
                    assert_eq!((report.concealed, report.errors), (0, 0), "{}", stream.file);
                }
                let (width, height, _) = stream.frames[0];
                assert_eq!(picture.size, (width, height), "{}", stream.file);
                if let Some(want) = reference::decode(&file) {
                    reference::compare(&stream.file, &frame, &want);
                }
            }
        }
    }
    println!("{near} files");
}
