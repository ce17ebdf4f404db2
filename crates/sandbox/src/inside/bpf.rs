//! A system call filter as a program for the kernel: a search tree over the call's number.
//!
//! The kernel runs a new filter once for every call there is, to remember which ones always pass; a list of comparisons
//! makes that cost grow with the product of both. A tree keeps it small, which is felt in every start.

use libc::sock_filter;

/// What happens with one system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It passes.
    Allow,
    /// It fails and is told.
    Deny,
    /// It fails with this error and is not told: a program that gets it knows another way.
    Fail(u16),
    /// It passes if every one of these holds, else it fails and is told.
    When(Vec<Check>),
    /// It passes if every check of any of these lists holds, else it fails and is told.
    WhenAny(Vec<Vec<Check>>),
}

/// A question about one argument. The kernel reads all of these arguments as 32 bits, so no other looks at the upper half:
/// a filter that compares it too is passed by whoever sets a bit there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// None of these bits is set.
    NoneOf { argument: u32, bits: u32 },
    /// It is one of these.
    OneOf { argument: u32, mask: u32, values: Vec<u32> },
    /// It is none of these.
    Not { argument: u32, mask: u32, values: Vec<u32> },
    /// A bit of the upper half is set, which the kernel does not read. Only a mark between processes that could do without
    /// it: any process can set it.
    Marked { argument: u32 },
}

impl Check {
    /// The argument is one of these numbers.
    pub(super) fn is(argument: u32, values: &[i32]) -> Self {
        let values = values.iter().map(|value| value.cast_unsigned()).collect();
        Self::OneOf { argument, mask: u32::MAX, values }
    }

    /// The argument is any other number than these.
    pub(super) fn is_not(argument: u32, values: &[i32]) -> Self {
        let values = values.iter().map(|value| value.cast_unsigned()).collect();
        Self::Not { argument, mask: u32::MAX, values }
    }
}

/// How a denied call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// Whoever listens is told and answers.
    Told,
    /// It fails with this error.
    Silent(u16),
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

const OFFSET_OF_CALL: u32 = 0;
const OFFSET_OF_ARCHITECTURE: u32 = 4;
const OFFSET_OF_ARGUMENTS: u32 = 16;

/// Makes the program. `table` has the calls that do not simply pass, `last` is the highest number that is known; what
/// is above fails as if the kernel were older, since nobody has thought about it.
pub(crate) fn assemble(table: &[(u32, Action)], last: u32, denial: Denial) -> Vec<sock_filter> {
    let mut sorted: Vec<(u32, &Action)> = table.iter().map(|(call, action)| (*call, action)).collect();
    sorted.sort_by_key(|(call, _)| *call);
    let above = Action::Fail(errno(libc::ENOSYS));
    let mut ranges: Vec<(u32, &Action)> = Vec::with_capacity(2 * sorted.len() + 2);
    let mut next = 0;
    let mut push = |from: u32, action| {
        if ranges.last().is_none_or(|(_, before)| *before != action) {
            ranges.push((from, action));
        }
    };
    for (call, action) in sorted {
        if call > next {
            push(next, &Action::Allow);
        }
        push(call, action);
        next = call + 1;
    }
    if next <= last {
        push(next, &Action::Allow);
    }
    push(last.max(next.saturating_sub(1)) + 1, &above);
    // Two steps for each range is what most need.
    let mut program = Vec::with_capacity(3 * ranges.len());
    program.extend([
        load(OFFSET_OF_ARCHITECTURE),
        // A program for another architecture has other numbers for its calls; it is ended before it makes one.
        jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0),
        give(libc::SECCOMP_RET_KILL_PROCESS),
        load(OFFSET_OF_CALL),
    ]);
    tree(&ranges, denial, &mut program);
    program
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an error number fits into 16 bits"
)]
pub(super) const fn errno(number: i32) -> u16 {
    number as u16
}

fn tree(ranges: &[(u32, &Action)], denial: Denial, program: &mut Vec<sock_filter>) {
    if let [(_, action)] = ranges {
        program.extend(leaf(action, denial));
        return;
    }
    let (low, high) = ranges.split_at(ranges.len() / 2);
    let from = high.first().map_or(0, |(from, _)| *from);
    let at = program.len();
    program.push(jump(libc::BPF_JGE, from, 0, 0));
    tree(low, denial, program);
    // How far it is over the lower half is known now.
    let distance = program.len() - at - 1;
    if let Ok(distance) = u8::try_from(distance) {
        program[at].jt = distance;
    } else {
        // A jump reaches 255 steps; beyond that an unconditional one, which reaches further, has to help.
        program[at].jf = 1;
        let far = statement(libc::BPF_JMP | libc::BPF_JA, u32::try_from(distance).unwrap_or(u32::MAX));
        program.insert(at + 1, far);
    }
    tree(high, denial, program);
}

fn leaf(action: &Action, denial: Denial) -> Vec<sock_filter> {
    let deny = match denial {
        Denial::Told => give(libc::SECCOMP_RET_USER_NOTIF),
        Denial::Silent(errno) => give(libc::SECCOMP_RET_ERRNO | u32::from(errno)),
    };
    match action {
        Action::Allow => vec![give(libc::SECCOMP_RET_ALLOW)],
        Action::Deny => vec![deny],
        Action::Fail(errno) => vec![give(libc::SECCOMP_RET_ERRNO | u32::from(*errno))],
        Action::When(checks) => all(checks, |_| deny),
        Action::WhenAny(lists) => {
            let mut program = Vec::new();
            for checks in lists {
                // Whatever does not hold leads to the end of this list, where the next one begins.
                program.extend(all(checks, |left| statement(libc::BPF_JMP | libc::BPF_JA, left)));
            }
            program.push(deny);
            program
        }
    }
}

/// Lets a call pass if all checks hold. `otherwise` is what is done where one does not, by how many steps of this program
/// come after it.
fn all(checks: &[Check], otherwise: impl Fn(u32) -> sock_filter) -> Vec<sock_filter> {
    let mut program = Vec::new();
    let mut failing = Vec::new();
    for check in checks {
        match check {
            Check::NoneOf { argument, bits } => {
                program.push(load(OFFSET_OF_ARGUMENTS + 8 * argument));
                program.push(jump(libc::BPF_JSET, *bits, 0, 1));
            }
            Check::OneOf { argument, mask, values } => {
                program.extend(compare(*argument, *mask, values, 1));
            }
            Check::Not { argument, mask, values } => {
                program.extend(compare(*argument, *mask, values, 1));
                program.push(statement(libc::BPF_JMP | libc::BPF_JA, 1));
            }
            Check::Marked { argument } => {
                program.push(load(OFFSET_OF_ARGUMENTS + 8 * argument + 4));
                program.push(jump(libc::BPF_JEQ, 0, 0, 1));
            }
        }
        failing.push(program.len());
        program.push(otherwise(0));
    }
    program.push(give(libc::SECCOMP_RET_ALLOW));
    for at in failing {
        program[at] = otherwise(u32::try_from(program.len() - at - 1).unwrap_or(u32::MAX));
    }
    program
}

/// Compares one argument with values; the first that fits goes on `after` steps after the last comparison.
fn compare(argument: u32, mask: u32, values: &[u32], after: u8) -> Vec<sock_filter> {
    let mut program = vec![
        load(OFFSET_OF_ARGUMENTS + 8 * argument),
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask),
    ];
    for (at, value) in values.iter().enumerate() {
        let rest = u8::try_from(values.len() - at - 1).unwrap_or(u8::MAX);
        program.push(jump(libc::BPF_JEQ, *value, rest + after, 0));
    }
    program
}

fn load(offset: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn give(value: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, value)
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code_bits(code), jt: 0, jf: 0, k }
}

fn jump(condition: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code_bits(libc::BPF_JMP | condition | libc::BPF_K), jt, jf, k }
}

#[expect(clippy::cast_possible_truncation, reason = "every operation of this machine fits into 16 bits")]
fn code_bits(code: u32) -> u16 {
    code as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a program the way the kernel does.
    fn run(program: &[sock_filter], architecture: u32, call: u32, arguments: [u64; 6]) -> u32 {
        let mut data = [0_u8; 64];
        data[0..4].copy_from_slice(&call.to_le_bytes());
        data[4..8].copy_from_slice(&architecture.to_le_bytes());
        for (at, argument) in arguments.iter().enumerate() {
            data[16 + 8 * at..24 + 8 * at].copy_from_slice(&argument.to_le_bytes());
        }
        let (mut at, mut value) = (0, 0_u32);
        loop {
            let step = program[at];
            at += 1;
            let code = u32::from(step.code);
            let test = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS {
                let from = step.k as usize;
                value = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
            } else if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K {
                value &= step.k;
            } else if code == libc::BPF_RET | libc::BPF_K {
                return step.k;
            } else if code == libc::BPF_JMP | libc::BPF_JA {
                at += step.k as usize;
            } else if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K {
                at += test(value == step.k);
            } else if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K {
                at += test(value >= step.k);
            } else if code == libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K {
                at += test(value & step.k != 0);
            } else {
                panic!("unknown step {code:#x}");
            }
        }
    }

    fn holds(check: &Check, arguments: [u64; 6]) -> bool {
        let low = |argument: u32| (arguments[argument as usize] & 0xffff_ffff) as u32;
        match check {
            Check::NoneOf { argument, bits } => low(*argument) & bits == 0,
            Check::OneOf { argument, mask, values } => values.contains(&(low(*argument) & mask)),
            Check::Not { argument, mask, values } => !values.contains(&(low(*argument) & mask)),
            Check::Marked { argument } => arguments[*argument as usize] >> 32 != 0,
        }
    }

    fn expected(table: &[(u32, Action)], last: u32, call: u32, arguments: [u64; 6]) -> u32 {
        let deny = libc::SECCOMP_RET_USER_NOTIF;
        match table.iter().find(|(number, _)| *number == call).map(|(_, action)| action) {
            Some(Action::Deny) => deny,
            Some(Action::Fail(errno)) => libc::SECCOMP_RET_ERRNO | u32::from(*errno),
            Some(Action::When(checks)) if !checks.iter().all(|check| holds(check, arguments)) => deny,
            Some(Action::WhenAny(lists))
                if !lists.iter().any(|checks| checks.iter().all(|check| holds(check, arguments))) =>
            {
                deny
            }
            None if call > last => libc::SECCOMP_RET_ERRNO | u32::from(errno(libc::ENOSYS)),
            _ => libc::SECCOMP_RET_ALLOW,
        }
    }

    fn check() -> impl Strategy<Value = Check> {
        let values = prop::collection::vec(0_u32..6, 1..4);
        prop_oneof![
            (0_u32..6, 1_u32..8).prop_map(|(argument, bits)| Check::NoneOf { argument, bits }),
            (0_u32..6, values.clone()).prop_map(|(argument, values)| Check::OneOf {
                argument,
                mask: 7,
                values
            }),
            (0_u32..6, values).prop_map(|(argument, values)| Check::Not { argument, mask: 7, values }),
            (0_u32..6).prop_map(|argument| Check::Marked { argument }),
        ]
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            Just(Action::Deny),
            (1_u16..100).prop_map(Action::Fail),
            prop::collection::vec(check(), 1..3).prop_map(Action::When),
            prop::collection::vec(prop::collection::vec(check(), 1..3), 1..3).prop_map(Action::WhenAny),
        ]
    }

    proptest! {
        #[test]
        fn the_tree_says_the_same_as_the_table(
            table in prop::collection::btree_map(0_u32..400, action(), 0..150),
            call in 0_u32..520,
            arguments: [u64; 6],
        ) {
            let table: Vec<_> = table.into_iter().collect();
            let program = assemble(&table, 450, Denial::Told);
            prop_assert!(program.len() < 4096, "the kernel takes no longer program");
            prop_assert_eq!(run(&program, ARCHITECTURE, call, arguments), expected(&table, 450, call, arguments));
            prop_assert_eq!(run(&program, 3, call, arguments), libc::SECCOMP_RET_KILL_PROCESS);
        }
    }

    #[test]
    fn bits_above_the_lower_half_of_an_argument_do_not_matter() {
        let table = [(5, Action::When(vec![Check::Not { argument: 1, mask: u32::MAX, values: vec![7] }]))];
        let program = assemble(&table, 450, Denial::Silent(1));
        let denied = libc::SECCOMP_RET_ERRNO | 1;
        assert_eq!(run(&program, ARCHITECTURE, 5, [0, 7, 0, 0, 0, 0]), denied);
        assert_eq!(run(&program, ARCHITECTURE, 5, [0, 7 | 1 << 40, 0, 0, 0, 0]), denied);
        assert_eq!(run(&program, ARCHITECTURE, 5, [0, 8, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
    }
}
