//! Warps that run bodies of their own.

use super::Program;

/// Warps of a block that run one body: a region of [`Op::Roles`](super::Op::Roles).
///
/// The warps of a role come to its operations together as those of a block do outside of roles: loops, breaks
/// and named barriers in it concern them alone. What they have for others they say through memory, named
/// barriers and mbarriers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Role {
    /// The first of its warps.
    pub first: u32,
    /// How many warps it has.
    pub warps: u32,
    /// The registers that each of its threads has, where that is said: a multiple of 8 from 24 to 240
    /// (PTX ISA, `setmaxnreg`). Whole warpgroups only, and all roles of a block or none.
    pub registers: Option<u32>,
}

impl Role {
    /// Whether a warp has it.
    pub fn has(self, warp: u32) -> bool {
        (self.first..self.first.saturating_add(self.warps)).contains(&warp)
    }

    /// The rules that roles side by side break in a block.
    pub(super) fn errors(roles: &[Role], program: &Program) -> Vec<String> {
        let mut errors = Vec::new();
        let mut end = 0;
        for role in roles {
            let Role { first, warps, registers } = *role;
            if first < end || warps == 0 {
                errors.push("roles take warps in ascending order, each at least one".into());
            }
            end = first.saturating_add(warps);
            let groups = first.is_multiple_of(4) && warps.is_multiple_of(4);
            let known =
                |count: u32| (24..=240).contains(&count) && count.is_multiple_of(8) && groups;
            if registers.is_some_and(|count| !known(count)) {
                errors.push(
                    "registers are given to whole warpgroups, a multiple of 8 from 24 to 240"
                        .into(),
                );
            }
        }
        if end > program.warps {
            errors.push(format!("roles up to warp {end} in a block of {} warps", program.warps));
        }
        let given = roles.iter().filter(|role| role.registers.is_some()).count();
        if given != 0 && given != roles.len() {
            errors.push("registers are given to all roles of a block or to none".into());
        }
        let wanted = roles.iter().map(|role| {
            (u64::from(role.warps) * u64::from(role.registers.unwrap_or(0))) << program.lanes_log2
        });
        let wanted: u64 = wanted.sum();
        if let Some(multiprocessor) = program.multiprocessor
            && wanted > u64::from(multiprocessor.registers)
        {
            let registers = multiprocessor.registers;
            errors.push(format!("roles ask for {wanted} registers, and there are {registers}"));
        }
        errors
    }
}
