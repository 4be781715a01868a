//! Messages of the gateway. Oracle: G45 vol 4, 7.1.

use super::DATA;
use genxml::eu;
use genxml::gen8::media::{
    MediaObject, MediaVfeState, MediaVfeStateBypassGatewayControl as Bypass,
    MediaVfeStateResetGatewayTimer as Timer,
};
use genxml_cases::{Media, Model, push, raw_buffer, u};
use genxml_sim::Fault;

/// One thread of a kernel, with a page at [`DATA`] as its first surface.
fn one_thread(media: Media<'_>) -> Model {
    let mut model = Model::new();
    model.map(DATA, 4096);
    let mut batch = Media { surfaces: vec![raw_buffer(DATA, 4096)], ..media }.state(&mut model);
    push(&mut batch, &MediaObject::new());
    model.render(&batch).unwrap();
    model
}

/// A thread writes to itself through the gateway: the result codes of refused messages, and the
/// bytes that arrive.
#[test]
fn open_forward_close() {
    // Responses go to r60 and the following registers. At the end their low dwords are collected in
    // r100.
    const KERNEL: &[u32] = &eu! {
        (W) and (1|M0)   r50.0<1>:ud  sr0.0<0;1,0>:ud  0xffff:ud
        (W) shl (1|M0)   r50.0<1>:ud  r50.0<0;1,0>:ud  16:ud
        (W) mov (8|M0)   r40.0<1>:ud  0x11111111:ud
        (W) mov (8|M0)   r41.0<1>:ud  0x11111111:ud
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) mov (8|M0)   r11.0<1>:ud  0:ud                     // a dword to byte 8 with key 0x77
        (W) mov (1|M0)   r11.0<1>:ud  0xabcdef01:ud
        (W) mov (1|M0)   r11.1<1>:ud  0x22222222:ud
        (W) or (1|M0)    r11.4<1>:ud  r50.0<0;1,0>:ud  0x77:ud
        (W) mov (1|M0)   r11.5<1>:ud  0x00080200:ud
        (W) send (8|M0)  r60  r11  0x3  0x02104002             // gateway closed: result 2
        (W) mov (1|M0)   r10.5<1>:ud  0x05000600:ud
        (W) send (8|M0)  r61  r10  0x3  0x02104000             // open 64 registers: result 1
        (W) mov (1|M0)   r10.4<1>:ud  0x78:ud
        (W) mov (1|M0)   r10.5<1>:ud  0x05000100:ud            // r40, two registers, key 0x78
        (W) send (8|M0)  r62  r10  0x3  0x02104000             // open: result 0
        (W) send (8|M0)  r63  r11  0x3  0x02104002             // wrong key: result 3
        (W) or (1|M0)    r11.4<1>:ud  r50.0<0;1,0>:ud  0x78:ud
        (W) send (8|M0)  r64  r11  0x3  0x0210c002             // arrives and notifies: result 0
        (W) wait         n0.0<0;1,0>:ud
        (W) mov (1|M0)   r11.5<1>:ud  0x00230000:ud            // a byte to byte 0x23
        (W) send (8|M0)  r65  r11  0x3  0x0211c002             // the same with Notify = 3: result 0
        (W) wait         n0.0<0;1,0>:ud
        (W) mov (1|M0)   r11.5<1>:ud  0x00400200:ud
        (W) send (8|M0)  r66  r11  0x3  0x02104002             // beyond two registers: result 4
        (W) mov (1|M0)   r11.5<1>:ud  0x00080500:ud
        (W) send (8|M0)  r67  r11  0x3  0x02114002             // bad length, Notify = 2: result 6
        (W) mov (1|M0)   r11.5<1>:ud  0x00300300:ud            // two dwords to byte 0x30
        (W) send (8|M0)  null  r11  0x3  0x02008002
        (W) wait         n0.0<0;1,0>:ud
        (W) send (8|M0)  r68  r10  0x3  0x02104001             // close: result 0
        (W) send (8|M0)  r69  r11  0x3  0x02104002             // gateway closed: result 2
        (W) send (8|M0)  r70  r10  0x3  0x02104007             // no such message: result 5
        (W) mov (8|M0)   r100.0<1>:ud  0:ud
        (W) mov (8|M0)   r101.0<1>:ud  0:ud
        (W) mov (1|M0)   r100.0<1>:ud  r60.0<0;1,0>:ud
        (W) mov (1|M0)   r100.1<1>:ud  r61.0<0;1,0>:ud
        (W) mov (1|M0)   r100.2<1>:ud  r62.0<0;1,0>:ud
        (W) mov (1|M0)   r100.3<1>:ud  r63.0<0;1,0>:ud
        (W) mov (1|M0)   r100.4<1>:ud  r64.0<0;1,0>:ud
        (W) mov (1|M0)   r100.5<1>:ud  r65.0<0;1,0>:ud
        (W) mov (1|M0)   r100.6<1>:ud  r66.0<0;1,0>:ud
        (W) mov (1|M0)   r100.7<1>:ud  r67.0<0;1,0>:ud
        (W) mov (1|M0)   r101.0<1>:ud  r68.0<0;1,0>:ud
        (W) mov (1|M0)   r101.1<1>:ud  r69.0<0;1,0>:ud
        (W) mov (1|M0)   r101.2<1>:ud  r70.0<0;1,0>:ud
        (W) mov (8|M0)   r99.0<1>:ud  0:ud
        (W) mov (8|M0)   r102.0<1>:ud  r40.0<8;8,1>:ud
        (W) mov (8|M0)   r103.0<1>:ud  r41.0<8;8,1>:ud
        (W) send (8|M0)  null  r99  0xA  0x0a0a0400            // eight owords
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = one_thread(Media::new(KERNEL));
    let answers = model.get(DATA, 11);
    // Bits 19:16 hold the function's number, 3 (7.1.2.2).
    assert_eq!(answers, [2, 1, 0, 3, 0, 0, 4, 6, 0, 2, 5].map(|code| 0x3_0000 | code));
    let mut registers = [0x11u8; 64];
    registers[8..12].copy_from_slice(&0xabcd_ef01u32.to_le_bytes());
    registers[0x23] = 0x01;
    registers[0x30..0x34].copy_from_slice(&0xabcd_ef01u32.to_le_bytes());
    registers[0x34..0x38].copy_from_slice(&0x2222_2222u32.to_le_bytes());
    assert_eq!(model.read(DATA + 64, 64), registers);
}

/// Time advances, and the half of the register that is not requested is unchanged.
#[test]
fn time_stamps() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) mov (8|M0)   r127.0<1>:ud  0x55555555:ud
        (W) mov (1|M0)   r10.5<1>:ud  0x80000000:ud
        (W) send (8|M0)  r127  r10  0x3  0x02104003
        (W) send (8|M0)  null  r126  0xA  0x040a0200
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) send (8|M0)  r127  r10  0x3  0x02104003
        (W) mov (1|M0)   r126.2<1>:ud  2:ud
        (W) send (8|M0)  null  r126  0xA  0x040a0200
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = one_thread(Media::new(KERNEL));
    let told = model.get(DATA, 16);
    assert_eq!(told[..4], [0x5555_5555; 4]);
    // Two values of 64 bits. Only the upper 12 bits of a low dword are valid (7.1.5.2).
    let time = |low: u32, high: u32| u64::from(high) << 12 | u64::from(low >> 20);
    let first = (time(told[4], told[5]), time(told[6], told[7]));
    let second = (time(told[8], told[9]), time(told[10], told[11]));
    assert!(second.0 > first.0 && second.0 - first.0 == second.1 - first.1);
    assert!(told[4..12].iter().step_by(2).all(|low| low & 0xf_ffff == 0));
}

/// MEDIA_VFE_STATE can reset the relative time (2a p.511). The absolute time goes on.
#[test]
fn the_relative_time_is_reset() {
    // Both kernels store the time: the first one after a loop, the second one 32 bytes later.
    const FIRST: &[u32] = &eu! {
        (W) mov (1|M0)   r20.0<1>:d  20000:d
      loop:
        (W) add (1|M0) (ne)f0.0  r20.0<1>:d  r20.0<0;1,0>:d  -1:d
        (W&f0.0) jmpi    loop
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) send (8|M0)  r127  r10  0x3  0x02104003
        (W) send (8|M0)  null  r126  0xA  0x040a0200
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    const SECOND: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) mov (1|M0)   r126.2<1>:ud  2:ud
        (W) send (8|M0)  r127  r10  0x3  0x02104003
        (W) send (8|M0)  null  r126  0xA  0x040a0200
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    // The relative and the absolute time of both threads.
    let times = |reset_gateway_timer| {
        let mut model = Model::new();
        model.map(DATA, 4096);
        let first = Media {
            kernels: vec![FIRST, SECOND],
            descriptors: vec![Default::default(); 2],
            surfaces: vec![raw_buffer(DATA, 4096)],
            ..Media::new(FIRST)
        };
        let second =
            Media { vfe: MediaVfeState { reset_gateway_timer, ..first.vfe }, ..first.clone() };
        let mut batch = first.state(&mut model);
        push(&mut batch, &MediaObject::new());
        batch.extend(second.state(&mut model));
        let object = MediaObject { interface_descriptor_offset: u(1), ..MediaObject::new() };
        push(&mut batch, &object);
        model.render(&batch).unwrap();
        let told = model.get(DATA, 16);
        [2, 0, 10, 8].map(|n: usize| u64::from(told[n + 1]) << 12 | u64::from(told[n] >> 20))
    };
    let [first, all_first, second, all_second] =
        times(Timer::MAINTAINING_THE_EXISTING_TIMESTAMP_STATE);
    assert!(first > 0);
    assert_eq!(second - first, all_second - all_first);
    let [first, all_first, second, all_second] =
        times(Timer::RESETTING_RELATIVE_TIMER_AND_LATCHING_THE_GLOBAL_TIMESTAMP);
    assert!(second < first && second <= all_second - all_first, "{first} {second}");
}

/// With the open/close protocol bypassed, a message reaches any running thread, and no other. A
/// sender that requests no response gets no error (7.1.1).
#[test]
fn threads_that_are_not_there() {
    const KERNEL: &[u32] = &eu! {
        (W) and (1|M0)   r50.0<1>:ud  sr0.0<0;1,0>:ud  0xffff:ud
        (W) shl (1|M0)   r50.0<1>:ud  r50.0<0;1,0>:ud  16:ud
        (W) mov (8|M0)   r99.0<1>:ud  0:ud
        (W) mov (8|M0)   r100.0<1>:ud  0:ud
        (W) mov (8|M0)   r101.0<1>:ud  0:ud
        (W) mov (8|M0)   r11.0<1>:ud  0x55:ud
        (W) mov (1|M0)   r11.5<1>:ud  0x0c840200:ud           // a dword to r100.1
        (W) mov (1|M0)   r11.4<1>:ud  r50.0<0;1,0>:ud         // to itself
        (W) send (8|M0)  r60  r11  0x3  0x0210c002
        (W) wait         n0.0<0;1,0>:ud
        (W) xor (1|M0)   r11.4<1>:ud  r50.0<0;1,0>:ud  0x10000:ud
        (W) send (8|M0)  r61  r11  0x3  0x0210c002             // to a thread that does not exist
        (W) send (8|M0)  null  r11  0x3  0x02008002
        (W) mov (1|M0)   r101.0<1>:ud  r60.0<0;1,0>:ud
        (W) mov (1|M0)   r101.1<1>:ud  r61.0<0;1,0>:ud
        (W) send (8|M0)  null  r99  0xA  0x060a0300            // four owords
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let media = Media::new(KERNEL);
    let vfe = MediaVfeState {
        bypass_gateway_control: Bypass::BYPASSING_OPEN_GATEWAY_CLOSE_GATEWAY_PROTOCOL,
        ..media.vfe
    };
    let mut model = one_thread(Media { vfe, ..media });
    assert_eq!(model.get(DATA, 4), [0, 0x55, 0, 0]);
    assert_eq!(model.get(DATA + 32, 2), [0x3_0000, 0x3_0002]);
}

/// A response needs AckReq, a response length of one register and a destination; otherwise none of
/// them may be present (7.1.1). A time stamp is a response (7.1.5.2). Each message has a payload.
#[test]
fn answers_that_do_not_fit() {
    const ANSWERED: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) send (8|M0)  r60  r10  0x3  0x02104000
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    const UNHEARD: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) send (8|M0)  null  r10  0x3  0x02000000
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    // The assembler refuses some of these, so the descriptor is replaced in the instruction words.
    let run = |kernel: &[u32], descriptor: u32| {
        let mut kernel = kernel.to_vec();
        kernel[7] = descriptor;
        let mut model = Model::new();
        let mut batch = Media::new(&kernel).state(&mut model);
        push(&mut batch, &MediaObject::new());
        model.render(&batch)
    };
    for (kernel, descriptor) in [
        (UNHEARD, 0x0210_4000),
        (ANSWERED, 0x0200_4000),
        (ANSWERED, 0x0210_0000),
        (ANSWERED, 0x0220_4000),
        (ANSWERED, 0x0010_4000),
        (ANSWERED, 0x0210_0003),
        (UNHEARD, 0x0200_0003),
    ] {
        let fault = run(kernel, descriptor).unwrap_err();
        let Fault::IllegalInstruction { at, .. } = &fault else {
            panic!("{descriptor:#x}: {fault}")
        };
        assert_eq!(at.thread.map(|thread| thread.ip), Some(0x10), "{descriptor:#x}");
    }
    for (kernel, descriptor) in
        [(UNHEARD, 0x0200_0000), (ANSWERED, 0x0210_4000), (ANSWERED, 0x0210_4003)]
    {
        run(kernel, descriptor).unwrap();
    }
}
