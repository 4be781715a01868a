//! Two host threads write the same memory as one.

use super::{
    ANSWER, ANSWERS, STORE, batch, cre, descriptor, ime, moved, pattern, response, search,
    universal,
};
use genxml::eu;
use genxml::eu::gen8::eu_messages::MotionEstimationType as Type;
use genxml::eu::gen8::eu_vme::{
    CreFbrMessagePayload, CreSicMessagePayload, VmeUniversalMessagePayload as Universal,
};
use genxml_cases::paper::Tiling;
use genxml_cases::u;

/// Thread groups. Each has a macroblock of its own.
const GROUPS: u64 = 6;

/// Group n searches for the macroblock at (8n, 16): r2.4 is the source's X. It stores the response
/// 24 OWords after that of group n - 1.
const OWN: &[u32] = &eu! {
    (W) mov (1|M0)    a0.0<1>:ud  r1.0<0;1,0>:ud
    (W) shl (1|M0)    r2.4<1>:uw  r0.2<0;1,0>:uw  3:uw
    (W) mul (1|M0)    r13.7<1>:ud  r0.1<0;1,0>:ud  24:ud
    (W) add (1|M0)    r12.2<1>:ud  r12.2<0;1,0>:ud  r13.7<0;1,0>:ud
    (W) add (1|M0)    r14.2<1>:ud  r14.2<0;1,0>:ud  r13.7<0;1,0>:ud
    (W) add (1|M0)    r13.2<1>:ud  r13.2<0;1,0>:ud  r13.7<0;1,0>:ud
};

/// Sends to motion estimation.
const VME: &[u32] = &eu! {
    (W) send (8|M0)   r20  r2  0x8  a0.0
};

/// Sends to check and refinement.
const CRE: &[u32] = &eu! {
    (W) send (8|M0)   r20  r2  0xD  a0.0
};

/// IME, FBR and SIC in several thread groups.
#[test]
fn host_threads() {
    let intra =
        Universal { skip_centre_enable_mask: u(1), mb_intra_structure: u(0x7c), ..universal() };
    let with = |rest: &[u32]| [&intra.pack()[..], rest].concat();
    let messages = [
        (VME, ime(false, true, 1), search(&universal(), &[])),
        (CRE, cre(Type::FBR), with(&CreFbrMessagePayload::new().pack())),
        (CRE, cre(Type::SIC), with(&CreSicMessagePayload::new().pack())),
    ];
    for (send, kind, message) in messages {
        let run = |threads: usize| {
            let (mut model, pictures) = moved(Tiling::Y, [[0, 0], [0, 0]]);
            // The displacement changes with the position, so no vector fits exactly.
            let stretched = |x: i64, y: i64| pattern(x + x * x / 32 - 9, y + x / 20);
            pictures.write(&mut model, 1, stretched, |_, _| [128; 2]);
            model.gpu.set_threads(threads);
            let kernel = [OWN, send, STORE].concat();
            let descriptor = descriptor(kind, &message);
            let batch = batch(&mut model, &pictures, &kernel, descriptor, &message, GROUPS);
            let stats = model.render(&batch).unwrap();
            assert_eq!(stats.threads, GROUPS);
            model.get(ANSWERS, (GROUPS * ANSWER / 4) as usize)
        };
        let one = run(1);
        // Each group has another response, because the displacement changes with the position.
        let answers: Vec<_> = one.chunks_exact((ANSWER / 4) as usize).map(response).collect();
        for (n, answer) in answers.iter().enumerate() {
            assert!(answers[..n].iter().all(|other| other != answer), "{kind:?}: group {n}");
        }
        assert!(one == run(2), "{kind:?}");
    }
}
