//! Homes chosen by hand.

use weft_api::explain::explain;
use weft_api::kernels::CompiledKernel;
use weft_api::request::{CompileRequest, ExplainRequest};

const KERNEL: &str = include_str!("../../../../examples/tiled_transpose.ttir");
const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], \
                    warpsPerCTA = [4, 1], order = [1, 0]}>";

fn request(pins: &[String]) -> ExplainRequest {
    ExplainRequest {
        ttir: KERNEL.into(),
        kernel: None,
        target: "sm_90".into(),
        warps: None,
        stages: None,
        fp_fusion: None,
        pins: pins.to_vec(),
        text_places: false,
    }
}

#[test]
fn a_pinned_value_lives_where_the_pin_says_and_the_rest_is_chosen_around_it() {
    let free = explain(&request(&[])).unwrap();
    for name in ["%loaded_22", "loaded_22"] {
        let pinned = explain(&request(&[format!("{name}={ROWS}")])).unwrap();
        let home = &pinned.homes[0];
        assert_eq!((home.value.as_str(), home.reason.as_str()), ("%loaded_22", "pinned"));
        let layout = "[register: (0,32) (4,0) (8,0) (16,0) (32,0), lane: (0,1) (0,2) (0,4) (0,8) \
                      (0,16), warp: (1,0) (2,0), block:] -> [dim0: 64, dim1: 64]";
        assert_eq!(home.layout, layout);
        assert_eq!(home.next, None);
        // Accesses may still run elsewhere; all together costs more than without the pin.
        let cost = |answer: &weft_api::answer::ExplainAnswer| answer.choice.unwrap().cost;
        assert!(cost(&pinned) > cost(&free));
    }
}

#[test]
fn a_pin_that_does_not_fit_is_told_what_would() {
    let refused = |pin: &str| {
        let error = explain(&request(&[pin.into()])).unwrap_err();
        (error.to_string(), error.hint().unwrap_or_default())
    };
    let (message, hint) = refused("%loaded_22");
    assert_eq!(message, "the pin `%loaded_22` has no `=`");
    assert!(hint.starts_with("a pin is a value and a layout"));
    let (message, hint) = refused(&format!("%nobody={ROWS}"));
    assert_eq!(message, "there is no value `%nobody` to pin");
    assert_eq!(hint, "`weft explain` names the values");
    let (message, _) = refused(&format!("%m={ROWS}"));
    assert_eq!(message, "`%m` is no tensor: every thread holds it");
    let (message, _) = refused("%loaded_22=#ttg.blocked");
    assert!(message.starts_with("`pin`, column "), "{message}");
    let two_warps = ROWS.replace("[4, 1]", "[2, 1]");
    let (message, _) = refused(&format!("%loaded_22={two_warps}"));
    assert!(message.ends_with("the layout is for 2 warps, and there are 4"), "{message}");
    let other_shape = "[register: 1, lane: 2 4 8 16 32, warp: 64 128] -> [dim0: 256]";
    let (message, _) = refused(&format!("%loaded_22={other_shape}"));
    assert!(message.contains("of shape [256], not [64, 64]"), "{message}");
    // What is made wherever it is needed has no home; what has one is told.
    let module = weft::ttir::parse(KERNEL).unwrap();
    let kernel = &module.kernels[0];
    let shaped = |shape: &[u64]| {
        let found = kernel.values.keys().find(|&value| kernel.ty(value).shape[..] == *shape);
        kernel.value_name(found.unwrap())
    };
    let name = shaped(&[64]);
    let line = "[register:, lane: 1 2 4 8 16, warp: 32 0] -> [dim0: 64]";
    let (message, _) = refused(&format!("{name}={line}"));
    assert!(
        message.ends_with("it is made wherever it is needed; pin one of %loaded_22"),
        "{message}"
    );
    // A value has one home, and so do values that share it.
    let columns = ROWS.replace("[1, 32]", "[32, 1]");
    let pins = [format!("%loaded_22={ROWS}"), format!("%loaded_22={columns}")];
    let error = explain(&request(&pins)).unwrap_err().to_string();
    assert!(error.contains("is pinned to another layout than %loaded_22"), "{error}");
}

#[test]
fn where_the_text_says_where_values_live_nothing_is_pinned() {
    let compiled = |ttir: &str, pins: Vec<String>| {
        CompiledKernel::new(&CompileRequest {
            ttir: ttir.into(),
            kernel: None,
            target: "sm_90".into(),
            warps: None,
            stages: None,
            fp_fusion: None,
            pins,
            emit: Vec::new(),
            dump_after: None,
            max_registers: None,
            line_info: false,
            text_places: false,
        })
    };
    let given = compiled(KERNEL, Vec::new()).unwrap().ttgir().unwrap();
    let error = compiled(&given, vec![format!("%loaded_22={ROWS}")]).unwrap_err().to_string();
    assert!(error.contains("than its type in the text"), "{error}");
}

#[test]
fn places_in_the_text_are_the_lines_of_the_operations_and_change_nothing_else() {
    let source = explain(&request(&[])).unwrap();
    let text = explain(&ExplainRequest { text_places: true, ..request(&[]) }).unwrap();
    let lines: Vec<&str> = KERNEL.lines().collect();
    let begins = |place: &Option<String>, what: &str| {
        let place = place.as_deref().unwrap();
        let (line, column) = place.strip_prefix("text:").unwrap().split_once(':').unwrap();
        let line = lines[line.parse::<usize>().unwrap() - 1];
        assert!(line[column.parse::<usize>().unwrap() - 1..].starts_with(what), "{place}: {line}");
    };
    for home in &text.homes {
        begins(&home.place, &format!("{} = ", home.value));
    }
    let stores: Vec<_> =
        text.accesses.iter().filter(|access| access.operation == "store").collect();
    assert!(!stores.is_empty());
    for store in stores {
        begins(&store.place, "tt.store ");
    }
    assert_eq!(
        (source.spent, source.greedy, source.choice),
        (text.spent, text.greedy, text.choice)
    );
    let layouts = |answer: &weft_api::answer::ExplainAnswer| -> Vec<(String, String)> {
        answer.homes.iter().map(|home| (home.value.clone(), home.layout.clone())).collect()
    };
    assert_eq!(layouts(&source), layouts(&text));
    // What enters a loop stands where the loop does.
    let ttir: String = include_str!("../../../../examples/matmul.ttir").into();
    let product = explain(&ExplainRequest { ttir, text_places: true, ..request(&[]) }).unwrap();
    let place = |name| product.homes.iter().find(|home| home.value == name).unwrap().place.clone();
    assert!(place("%total_11").is_some());
    assert_eq!(place("%total_11"), place("%total_10"));
    assert!(source.homes[0].place.as_deref().unwrap().contains("tiled_transpose.py"));
}
