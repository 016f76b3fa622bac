//! What a program leaves behind: words in mailboxes, held mutexes, banks that nobody has given back.
//! It is done all the same; the next one finds them.

use std::collections::{BTreeMap, VecDeque};

use sim_core::{CoreId, Event, Stamp};

use super::hazards::{self as h, Hazard};
use crate::describe::mutex_name;

/// What is there now and was not when the launch began, with who put it there.
#[derive(Clone, Debug, Default)]
pub(super) struct Leftovers {
    mailboxes: BTreeMap<(CoreId, CoreId), VecDeque<Stamp>>,
    mutexes: BTreeMap<u8, Stamp>,
    /// Who filled bank 0 and 1 of SrcA and SrcB, as long as it is the matrix unit's.
    banks: [[Option<Stamp>; 2]; 2],
}

impl Leftovers {
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) {
        match *event {
            Event::MailboxPush { from, to, .. } => {
                self.mailboxes.entry((from, to)).or_default().push_back(stamp);
            }
            Event::MailboxPop { from, to, .. } => {
                self.mailboxes.entry((from, to)).or_default().pop_front();
            }
            Event::Mutex { index, acquired: true } => {
                self.mutexes.insert(index, stamp);
            }
            Event::Mutex { index, acquired: false } => {
                self.mutexes.remove(&index);
            }
            Event::SrcBanks { operand, before, after } => {
                let banks = self.banks[usize::from(operand & 1)].iter_mut();
                for (bit, bank) in banks.enumerate() {
                    match (before >> bit & 1, after >> bit & 1) {
                        (0, 1) => *bank = Some(stamp),
                        (_, 0) => *bank = None,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// The program is over, and what it pushed has been executed: tells what is left, once.
    pub(super) fn take(&mut self) -> Vec<(Stamp, Hazard, String)> {
        let mut told = Vec::new();
        for ((from, to), queue) in &mut self.mailboxes {
            if let Some(&first) = queue.front() {
                let text = format!(
                    "the program is done and mailbox {from} -> {to} holds {} that {to} has not \
                     read: from here on it is that far behind",
                    match queue.len() {
                        1 => "a word".to_owned(),
                        count => format!("{count} words"),
                    }
                );
                told.push((first, h::A11, text));
            }
        }
        for (index, stamp) in std::mem::take(&mut self.mutexes) {
            let text = format!("the program is done and mutex {} is still held", mutex_name(index));
            told.push((stamp, h::A10, text));
        }
        for (operand, banks) in self.banks.iter_mut().enumerate() {
            let name = if operand == 0 { "SrcA" } else { "SrcB" };
            for (bank, stamp) in banks.iter_mut().enumerate() {
                if let Some(stamp) = stamp.take() {
                    let text = format!(
                        "the program is done and bank {bank} of {name} is full: nobody has cleared \
                         what was filled here"
                    );
                    told.push((stamp, h::A7, text));
                }
            }
        }
        told
    }
}
