//! Accesses of buffers on other machines.

use weft_api::port::port;
use weft_api::request::{EmitPort, PortRequest};

const SWIZZLED: &str =
    "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], \
                    warpsPerCTA = [4, 1], order = [1, 0]}>";

fn operand(operand: u32) -> String {
    format!(
        "#ttg.dot_op<{{opIdx = {operand}, parent = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, \
         warpsPerCTA = [2, 2], instrShape = [16, 8]}}>, kWidth = 2}}>"
    )
}

fn asked(target: &str) -> PortRequest {
    PortRequest {
        store: Some(ROWS.into()),
        loads: vec![operand(0).into()],
        memory: Some(SWIZZLED.into()),
        shape: vec![64, 64],
        element: Some("f16".into()),
        from: "sm_80".into(),
        target: Some(target.into()),
        ..PortRequest::default()
    }
}

#[test]
fn a_fragment_becomes_that_of_the_other_machine() {
    for (target, instruction) in [
        ("gfx90a", "mfma"),
        ("gfx942", "mfma"),
        ("gfx950", "mfma"),
        ("gfx1100", "wmma"),
        ("gfx1200", "wmma"),
    ] {
        let answer = port(&asked(target)).unwrap();
        let buffer = answer.buffer.unwrap();
        let [store, load] = &buffer.accesses[..] else { panic!("{buffer:?}") };
        assert_eq!((&*store.how, &*store.access), ("waves", "store"));
        assert!(load.how.starts_with(instruction), "{target}: {}", load.how);
        assert!(load.name.as_ref().unwrap().starts_with("#ttg.dot_op"), "{load:?}");
        assert_eq!(store.before, Some([64, 64]), "{target}");
        assert!(store.kept.is_some() && load.kept.is_some());
        assert!(buffer.swizzle.certificate.optimal, "{target}: {buffer:?}");
        // The copies of these machines alone.
        let copies: Vec<u32> = buffer.swizzle.direct.iter().map(|copy| copy.bytes).collect();
        let known: &[u32] = match target {
            "gfx90a" | "gfx942" => &[4],
            "gfx950" => &[4, 16],
            _ => &[],
        };
        assert_eq!(copies, known, "{target}");
        for copy in &buffer.swizzle.direct {
            let best = copy.best.as_ref().unwrap();
            assert!(best.wavefronts >= best.bound && best.sectors >= best.ideal_sectors);
            // Rows of 128 bytes lie in whole sectors.
            assert_eq!(best.sectors, best.ideal_sectors, "{target}");
        }
    }
}

#[test]
fn a_buffer_has_code() {
    let request = PortRequest { emit: Some(EmitPort::Hip), ..asked("gfx942") };
    let text = port(&request).unwrap().text.unwrap();
    assert!(text.contains("unsigned element_offset(unsigned dim0, unsigned dim1)"), "{text}");
    let request = PortRequest { emit: Some(EmitPort::Report), ..asked("gfx942") };
    let text = port(&request).unwrap().text.unwrap();
    assert!(text.contains("the fewest possible") && text.contains("copies of 4 bytes"), "{text}");
}

#[test]
fn what_is_no_port_is_refused() {
    let nothing = PortRequest { store: None, loads: Vec::new(), ..asked("gfx942") };
    assert_eq!(port(&nothing).unwrap_err().kind(), "argument");
    let both = PortRequest { ttir: Some(String::new()), ..asked("gfx942") };
    assert_eq!(port(&both).unwrap_err().kind(), "argument");
    let few = PortRequest {
        loads: vec!["[register: 1, lane: 2 4 8 16 32] -> [dim0: 64]".into()],
        store: None,
        memory: None,
        shape: vec![64],
        ..asked("gfx942")
    };
    // A warp of 32 lanes is no wave of 64.
    assert!(port(&few).unwrap_err().to_string().contains("threads"));
}
