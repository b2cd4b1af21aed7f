//! One definition of a wavefront: the same thousand questions to whoever counts.

use arbtest::arbitrary::{Result, Unstructured};
use serde_json::{Value, json};
use weft_api::invoke;

/// The questions.
const COUNT: u64 = 1000;
/// The machine whose code is printed and simulated.
const TARGET: &str = "sm_90";

/// Two layouts of threads over one tensor, a memory, and the bits of an element.
struct Question {
    elements: u64,
    bits: u64,
    warps: usize,
    stored: [Vec<u64>; 3],
    loaded: [Vec<u64>; 3],
    memory: Vec<u64>,
}

impl Question {
    /// The question of a number. Threads hold all elements, and some bits of theirs make copies.
    fn new(number: u64) -> Question {
        let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bytes: Vec<u8> = (0..512)
            .map(|_| {
                state =
                    state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                (state >> 56) as u8
            })
            .collect();
        Question::arbitrary(&mut Unstructured::new(&bytes)).unwrap()
    }

    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Question> {
        let log2 = u.int_in_range(6..=9)?;
        let (elements, warps) = (1 << log2, u.int_in_range(0..=2)?);
        let memory = basis(u, log2)?;
        // Registers, lanes and warps, of which together there are enough.
        let threads = |u: &mut Unstructured<'_>| -> Result<[Vec<u64>; 3]> {
            let more = u.int_in_range(0..=2)?;
            let registers = (log2 as usize + more).saturating_sub(5 + warps).max(1);
            let mut all = basis(u, log2)?;
            all.resize(registers + 5 + warps, 0);
            for place in 0..all.len() {
                all.swap(place, u.choose_index(registers + 5 + warps)?);
            }
            let warps = all.split_off(registers + 5);
            let lanes = all.split_off(registers);
            Ok([all, lanes, warps])
        };
        let (stored, loaded) = (threads(u)?, threads(u)?);
        Ok(Question { elements, bits: *u.choose(&[8, 16, 32])?, warps, stored, loaded, memory })
    }

    fn registers(&self, [registers, lanes, warps]: &[Vec<u64>; 3]) -> String {
        let list = |columns: &[u64]| {
            columns.iter().map(|column| format!("({column})")).collect::<Vec<_>>().join(" ")
        };
        let (registers, lanes, warps) = (list(registers), list(lanes), list(warps));
        format!(
            "[register: {registers}, lane: {lanes}, warp: {warps}, block:] -> [dim0: {}]",
            self.elements
        )
    }

    fn memory(&self) -> String {
        let columns: Vec<String> = self.memory.iter().map(|column| format!("({column})")).collect();
        format!("[offset: {}] -> [dim0: {}]", columns.join(" "), self.elements)
    }

    /// A kernel that stores into the memory in one layout and loads in the other.
    fn kernel(&self) -> String {
        let list = |columns: &[u64]| {
            columns.iter().map(|column| format!("[{column}]")).collect::<Vec<_>>().join(", ")
        };
        let threads = |[registers, lanes, warps]: &[Vec<u64>; 3]| {
            let [registers, lanes, warps] = [registers, lanes, warps].map(|columns| list(columns));
            format!(
                "#ttg.generic_linear<{{register = [{registers}], lane = [{lanes}], warp = [{warps}], block = []}}>"
            )
        };
        let (element, count) = (format!("i{}", self.bits), self.elements);
        let narrow = if self.bits == 32 {
            "%v = arith.addi %r, %r : tensor<COUNTxi32, #from>".to_owned()
        } else {
            "%v = arith.trunci %r : tensor<COUNTxi32, #from> to tensor<COUNTxELEMENT, #from>".into()
        };
        let text = format!(
            "#from = {}
#to = {}
#memory = #ttg.shared_linear<{{offset = [{}], block = []}}, alignment = 16>
#smem = #ttg.shared_memory
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = {} : i32, ttg.target = \"cuda:90\", \"ttg.threads-per-warp\" = 32 : i32}} {{
  tt.func public @moved(%out: !tt.ptr<ELEMENT>) {{
    %r = tt.make_range {{end = COUNT : i32, start = 0 : i32}} : tensor<COUNTxi32, #from>
    {narrow}
    %m = ttg.local_alloc %v : (tensor<COUNTxELEMENT, #from>) -> !ttg.memdesc<COUNTxELEMENT, #memory, #smem>
    %w = ttg.local_load %m : !ttg.memdesc<COUNTxELEMENT, #memory, #smem> -> tensor<COUNTxELEMENT, #to>
    %s = tt.make_range {{end = COUNT : i32, start = 0 : i32}} : tensor<COUNTxi32, #to>
    %p = tt.splat %out : !tt.ptr<ELEMENT> -> tensor<COUNTx!tt.ptr<ELEMENT>, #to>
    %a = tt.addptr %p, %s : tensor<COUNTx!tt.ptr<ELEMENT>, #to>, tensor<COUNTxi32, #to>
    tt.store %a, %w : tensor<COUNTx!tt.ptr<ELEMENT>, #to>
    tt.return
  }}
}}
",
            threads(&self.stored),
            threads(&self.loaded),
            list(&self.memory),
            1 << self.warps,
        );
        text.replace("COUNT", &count.to_string()).replace("ELEMENT", &element)
    }
}

/// `log2` independent columns.
fn basis(u: &mut Unstructured<'_>, log2: u32) -> Result<Vec<u64>> {
    let mut columns: Vec<u64> = (0..log2).map(|bit| 1 << bit).collect();
    for _ in 0..4 * log2 {
        let (one, other) = (u.choose_index(columns.len())?, u.choose_index(columns.len())?);
        if one != other {
            columns[one] ^= columns[other];
        }
    }
    Ok(columns)
}

fn ask(request: &Value) -> Value {
    let answer: Value = serde_json::from_str(&invoke(&request.to_string())).unwrap();
    assert!(answer["error"].is_null(), "{answer}\n{request}");
    answer
}

/// What `conflicts` says of an access, after the page's `wavefronts` said the same, warp by warp.
fn counted(question: &Question, registers: &str, memory: &Value, kind: &str) -> u64 {
    let access = json!({
        "registers": registers, "memory": memory, "shape": [question.elements],
        "element_bits": question.bits, "target": TARGET, "kind": kind,
    });
    let asked = |request: &str, warp: u64| {
        let mut access = access.clone();
        access["request"] = request.into();
        if request == "wavefronts" {
            access["warp"] = warp.into();
        }
        ask(&access)
    };
    let conflicts = asked("conflicts", 0);
    let warps = asked("wavefronts", 0)["warps"].as_u64().unwrap();
    let each = (0..warps).map(|warp| asked("wavefronts", warp));
    let sums = each.fold([0, 0, 0], |[wavefronts, ideal, instructions], warp| {
        let number = |key: &str| warp[key].as_u64().unwrap();
        // The rank law beside the count.
        let law = warp["algebra"]["wavefronts"].as_u64().unwrap() * number("instructions");
        assert_eq!(law, number("wavefronts"), "{access}");
        [wavefronts + law, ideal + number("ideal"), instructions + number("instructions")]
    });
    let said = ["wavefronts", "ideal", "instructions"].map(|key| conflicts[key].as_u64().unwrap());
    assert_eq!(said, sums, "{access}");
    said[0]
}

#[test]
fn whoever_counts_wavefronts_counts_the_same() {
    for number in 0..COUNT {
        let question = Question::new(number);
        let [from, to] = [&question.stored, &question.loaded].map(|it| question.registers(it));
        let memory = question.memory().into();
        let store = counted(&question, &from, &memory, "store");
        let load = counted(&question, &to, &memory, "load");
        let ttir = question.kernel();
        // What is planned may be better than plain vectors; then it is counted as planned.
        let explained = ask(&json!({"request": "explain", "ttir": ttir, "target": TARGET}));
        let shared = explained["shared"].as_array().unwrap();
        let of = |kind: &str| shared.iter().find(|access| access["kind"] == kind).unwrap();
        assert_eq!(of("store")["wavefronts"], store, "{number}: {ttir}");
        let planned = of("load")["wavefronts"].as_u64().unwrap();
        if of("load")["matrix_moves"] == false {
            assert_eq!(planned, load, "{number}: {ttir}");
        }
        let out = format!("empty:i{}[{}]", question.bits, question.elements);
        let run = ask(&json!({"request": "run", "ttir": ttir, "target": TARGET, "grid": 1,
                              "args": {"out": out}}));
        assert_eq!(run["passed"], true, "{number}: {run}");
        assert_eq!(run["counts"]["shared_wavefronts"], store + planned, "{number}: {ttir}");
        // What is chosen is counted as what is given.
        let chosen = ask(&json!({
            "request": "swizzle", "store": from, "loads": [to], "shape": [question.elements],
            "element_bits": question.bits, "target": TARGET, "matrix_moves": false,
        }));
        let memory = json!({"bases": chosen["bases"], "shape": chosen["shape"]});
        for (access, registers) in [("store", &from), ("load", &to)] {
            let uses = chosen["accesses"].as_array().unwrap();
            let said = uses.iter().find(|it| it["access"] == access).unwrap();
            let warps = ask(&json!({
                "request": "wavefronts", "registers": registers, "memory": memory, "kind": access,
                "shape": [question.elements], "element_bits": question.bits, "target": TARGET,
            }));
            let said = said["wavefronts"].as_u64().unwrap() * warps["warps"].as_u64().unwrap();
            assert_eq!(said, counted(&question, registers, &memory, access), "{number}: {chosen}");
        }
    }
}
