//! Hosts that fork: parent and child go on by themselves, with whatever threads.

use super::host::{command, good, ways};
use super::{played, tapes};

/// What both come to is what hosts come to that do the same without a fork.
#[test]
fn parent_and_child_go_on_alone_and_have_a_tape_each() {
    for threads in ["1", "2", "4"] {
        let folder = tempfile::tempdir().unwrap();
        let run = |act: &str, name: &str| {
            let dir = folder.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            (ways(command(act, &dir).env("TILESCOPE_THREADS", threads)), tapes(&dir))
        };
        let (forked, both) = run("fork", "forked");
        let (first, _) = run("way 0", "0");
        let (second, _) = run("way 1", "1");
        assert_eq!(forked, [first, second].concat(), "{threads} threads");
        assert_eq!(both.len(), 2, "{both:?}");
        let sessions: Vec<_> = both.iter().map(|tape| played(tape, 3)).collect();
        assert_eq!(sessions.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
        assert_ne!(sessions[0][0].hash, sessions[1][0].hash);
    }
}

#[test]
fn child_of_a_child_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let forked = ways(command("forks", folder.path()).env("TILESCOPE_THREADS", "2"));
    let tapes = tapes(folder.path());
    assert_eq!(tapes.len(), 3, "{tapes:?}");
    tapes.iter().for_each(|tape| assert_eq!(played(tape, 1).len(), 1));
    assert_eq!(forked, ways(&mut command("way 1 later", folder.path())));
}

#[test]
fn fork_while_other_threads_call_leaves_no_lock_behind() {
    let folder = tempfile::tempdir().unwrap();
    for threads in ["1", "3"] {
        let output = command("busy forks", folder.path())
            .env("TILESCOPE_THREADS", threads)
            .env_remove("TILESCOPE_TAPE")
            .output();
        good(&output.unwrap());
    }
}
