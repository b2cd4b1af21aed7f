//! Plans in pictures.

use super::full;
use expect_test::expect;
use weft_api::request::Picture;
use weft_api::view::{self, Cell, Colours, Fill, Movement, Panel, Scene, View, Window};
use weft_layout::interop::parse_layout;
use weft_layout::space::REGISTER;
use weft_layout::{Layout, Machine, plan, step::Plan};

/// A conversion of a warp, and its plan.
struct Moved {
    from: Layout,
    to: Layout,
    plan: Plan,
    machine: &'static Machine,
}

fn moved(from: &str, to: &str, bits: u32, target: &str) -> Moved {
    let (from, to) = (parse_layout(from).unwrap(), parse_layout(to).unwrap());
    let machine = Machine::by_name(target).unwrap();
    let plan = plan::convert(&from, &to, bits, machine).unwrap();
    Moved { from, to, plan, machine }
}

impl Moved {
    fn scene(&self) -> Scene {
        let Moved { from, to, plan, machine } = self;
        view::movement(&Movement { plan, from, to, machine }, &full(Picture::Grid)).unwrap()
    }

    /// The wavefronts that the panels of memory show.
    fn wavefronts(&self) -> u64 {
        let shown = |panel: &Panel| {
            let (_, count) = panel.heading.rsplit_once(": ")?;
            count.strip_suffix(" instructions")?;
            count.split_once(" wavefronts of ")?.0.parse::<u64>().ok()
        };
        self.scene().panels.iter().filter_map(shown).sum()
    }
}

const ROWS: &str = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
                    -> [dim0: 16, dim1: 32]";
const PAIRS: &str = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] \
                     -> [dim0: 16, dim1: 32]";
const ROW_OF_LANE: &str = "[register: (0,1) (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) \
                           (16,0)] -> [dim0: 32, dim1: 32]";
const COLUMN_OF_LANE: &str = "[register: (1,0) (2,0) (4,0) (8,0) (16,0), lane: (0,1) (0,2) (0,4) \
                              (0,8) (0,16)] -> [dim0: 32, dim1: 32]";

#[test]
fn a_round_of_exchanges_is_a_panel() {
    let from = "[register: (0,1), lane: (0,2) (1,0) (2,0) (0,0) (0,0)] -> [dim0: 4, dim1: 4]";
    let to = "[register: (1,0), lane: (2,0) (0,1) (0,2) (0,0) (0,0)] -> [dim0: 4, dim1: 4]";
    let Moved { from, to, plan, machine } = moved(from, to, 32, "sm_90");
    let window = Window::First { rows: 8, columns: 8, panels: 1 };
    let view = View { window, ..View::default() };
    let movement = Movement { plan: &plan, from: &from, to: &to, machine };
    let scene = view::movement(&movement, &view).unwrap();
    expect![[r#"
        before
                    lane
                    0   1   2   3   4   5   6   7
        register 0  0   2   4   6   8   10  12  14  …
        register 1  1   3   5   7   9   11  13  15  …

        step 4, 1 register from another lane
                    lane
                    0   1   2   3   4   5   6   7
        register 0  0   8   5   13  2   10  7   15  …

        step 6, 1 register from another lane
                    lane
                    0   1   2   3   4   5   6   7
        register 0  4   12  1   9   6   14  3   11  …

        after
                    lane
                    0   1   2   3   4   5   6   7
        register 0  0   8   1   9   2   10  3   11  …
        register 1  4   12  5   13  6   14  7   15  …

        … left out: 24 of 32 columns.
        In registers an element has the colour of the lane that held it first; in memory, of the wavefront that moves it.
    "#]].assert_eq(&view::terminal(&scene, Colours::Off));
}

/// A round moves one register of each lane: each element that moves is in one panel of exchanges.
#[test]
fn s1_21_every_round_takes_one_register_of_each_lane() {
    let from = "[register: (0,1), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] -> [dim0: 8, dim1: 8]";
    let to = "[register: (1,0), lane: (2,0) (4,0) (0,1) (0,2) (0,4)] -> [dim0: 8, dim1: 8]";
    let scene = moved(from, to, 32, "sm_90").scene();
    let rounds: Vec<&Panel> =
        scene.panels.iter().filter(|panel| panel.heading.contains(" from another lane")).collect();
    assert_eq!(rounds.len(), 2);
    let mut moved: Vec<&str> =
        rounds.iter().flat_map(|panel| &panel.cells).map(|cell| &*cell.text).collect();
    assert_eq!(moved.len(), 64);
    moved.sort_unstable();
    moved.dedup();
    assert_eq!(moved.len(), 64);
}

/// 16 bytes a lane, 32 lanes: four wavefronts, each of which has every bank once.
#[test]
fn s4_10_each_part_of_a_wide_access_has_every_bank_once() {
    let scene = moved(ROW_OF_LANE, COLUMN_OF_LANE, 32, "gfx1100").scene();
    let memory: Vec<&Panel> =
        scene.panels.iter().filter(|panel| panel.heading.contains("wavefronts")).collect();
    assert_eq!(memory.len(), 2);
    for panel in memory {
        let wave = |cell: &Cell| -> usize {
            cell.label.rsplit_once("wavefront ").unwrap().1.parse().unwrap()
        };
        let mut banks = vec![0_u64; 32];
        for row in 0..panel.height() {
            for (bank, cell) in panel.row(row).iter().enumerate() {
                assert_eq!(banks[wave(cell)] >> bank & 1, 0, "{}", cell.label);
                banks[wave(cell)] |= 1 << bank;
            }
        }
        assert!(banks.iter().all(|&served| served == 0xffff_ffff));
    }
}

#[test]
fn pictures_count_what_plans_cost() {
    let pairs = [(ROWS, PAIRS), (ROW_OF_LANE, COLUMN_OF_LANE), (COLUMN_OF_LANE, ROW_OF_LANE)];
    let mut through_memory = 0;
    for (from, to) in pairs {
        for bits in [8, 16, 32, 64] {
            for target in ["sm_80", "sm_90", "sm_120", "gfx1100", "gfx1200"] {
                let moved = moved(from, to, bits, target);
                assert_eq!(moved.wavefronts(), moved.plan.cost.wavefronts, "{bits} {target}");
                through_memory += u32::from(moved.plan.cost.wavefronts > 0);
            }
        }
    }
    assert!(through_memory > 30);
}

#[test]
fn the_last_panel_is_the_layout_asked_for() {
    for bits in [8, 16, 32] {
        let moved = moved(ROWS, PAIRS, bits, "sm_90");
        let scene = moved.scene();
        let last = scene.panels.last().unwrap();
        let (ins, width) = (moved.to.ins(), last.width());
        for (index, cell) in last.cells.iter().enumerate() {
            let place = ins.bits(REGISTER);
            let element =
                moved.to.matrix().apply(((index / width) | ((index % width) << place)) as u64);
            let outs = moved.to.outs();
            let order = outs.coordinate_order();
            let at: Vec<u64> = order.iter().map(|&dim| outs.coordinate(dim, element)).collect();
            assert_eq!(cell.text, (at[0] * 32 + at[1]).to_string());
            assert!(matches!(cell.fill, Fill::Colour(_)));
        }
    }
}

#[test]
fn a_plan_for_other_layouts_has_no_picture() {
    let Moved { from, plan, machine, .. } = moved(ROWS, PAIRS, 32, "sm_90");
    let movement = Movement { plan: &plan, from: &from, to: &from, machine };
    let refused = view::movement(&movement, &full(Picture::Grid)).unwrap_err();
    assert_eq!(refused.kind(), "defect");
}
