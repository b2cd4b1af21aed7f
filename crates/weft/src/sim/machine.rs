//! The facts about a machine that counting needs.

/// What the simulator must know of a machine to count wavefronts and sectors, and to decide which
/// blocks run together. It is plain data, filled in by whoever has the machine's description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Banks of shared memory, as loads see them.
    pub banks: u32,
    /// Banks of shared memory, as stores and atomics see them.
    pub store_banks: u32,
    /// Width of a bank in bytes.
    pub bank_bytes: u32,
    /// Bytes of a sector of global memory.
    pub sector_bytes: u32,
    /// For loads from shared memory, by bytes per lane: the groups of lanes that are served
    /// together. An access takes the first row that is at least as wide; without a row, and for
    /// lanes in no group, all lanes are one group.
    pub load_phases: Vec<Phases>,
    /// The same for stores and atomics.
    pub store_phases: Vec<Phases>,
    /// Masks of lane bits. When a load has more than one phase and for one of these masks every lane
    /// `i` has the address of lane `i ^ mask`, consecutive phases merge in pairs.
    pub load_merge_masks: Vec<u32>,
    /// How many blocks can run at the same time; the others start in order as these end. It decides
    /// whether blocks that wait for one another come to an end.
    pub resident_blocks: u32,
}

/// The groups of lanes that shared memory serves together, at one access width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phases {
    /// Up to how many bytes per lane.
    pub lane_bytes: u32,
    /// The lanes of each group, by number.
    pub groups: Vec<Vec<u32>>,
}

impl Machine {
    /// An NVIDIA GPU as measured on an H200: 32 banks of 4 bytes; 8-byte accesses in two halves,
    /// 16-byte accesses in four quarters; the phases of a load merge in pairs when lane bit 0 or lane
    /// bit 1 is a broadcast. 132 multiprocessors run 16 blocks of four warps each.
    pub fn nvidia() -> Self {
        let phases: Vec<Phases> = [(4, 32), (8, 16), (16, 8)]
            .into_iter()
            .map(|(lane_bytes, size)| Phases {
                lane_bytes,
                groups: (0..32 / size).map(|i| (i * size..(i + 1) * size).collect()).collect(),
            })
            .collect();
        Self {
            banks: 32,
            store_banks: 32,
            bank_bytes: 4,
            sector_bytes: 32,
            store_phases: phases.clone(),
            load_phases: phases,
            load_merge_masks: vec![1, 2],
            resident_blocks: 132 * 16,
        }
    }
}
