//! What a tape survives: the end of its host, a disk without room, others who want its name.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tape::{Ending, Tape};

use super::host::{command, good, library};
use super::{played, tapes};

/// Bytes by which the tape of a hang may grow in a second: a megabyte in ten minutes.
const PER_SECOND: u64 = (1 << 20) / 600;

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

fn until(what: &str, mut look: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !look() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn spawned(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Number of calls of a tape, all of which can be read.
fn calls(path: &Path) -> u64 {
    let tape = Tape::open(path).unwrap();
    let (mut calls, mut count) = (tape.calls(), 0);
    while calls.next().unwrap().is_some() {
        count += 1;
    }
    count
}

#[test]
fn killed_host_leaves_a_tape_to_the_last_flush() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut host = spawned(command("works", folder.path()));
    // The header, and some flushes.
    let mut sizes = Vec::new();
    until("no tape", || {
        let now = size(&path);
        if sizes.last() != Some(&now) {
            sizes.push(now);
        }
        sizes.len() > 4
    });
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(matches!(Tape::open(&path).unwrap().ending(), Ending::Cut { .. }));
    assert!(calls(&path) > 30);
    assert_eq!(played(&path, 2).len(), 1);
    // It can be packed: nobody writes it any more.
    session::pack::pack(&path, &[]).unwrap();
    assert!(Tape::open(&path).unwrap().is_explained());
}

#[test]
fn tape_that_is_being_written_is_not_packed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut host = spawned(command("works", folder.path()));
    until("no tape", || size(&path) > 1000);
    let error = session::pack::pack(&path, &[]).unwrap_err().to_string();
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(error.ends_with("it is still being written"), "{error}");
}

/// A shell's `ulimit -f`, and a disk that is full from the start: the host lives on.
#[test]
fn host_without_room_for_a_tape_lives_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str, act: &str| {
        let inner = command(act, folder.path());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{script} exec \"$@\"")).arg("sh").arg(inner.get_program());
        shell.args(inner.get_args());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let output = shell.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {errors}", output.status);
        errors
    };
    let said = run("ulimit -f 1000;", "writes");
    assert!(said.contains("has as many bytes as it may have"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let path = folder.path().join("a.tape");
    // In blocks of 512 bytes.
    assert!(size(&path) > 200_000 && size(&path) <= 512_000, "{}", size(&path));
    assert_eq!(Tape::open(&path).unwrap().ending(), Ending::Limit);
    played(&path, 1);
    let said = run("export TILESCOPE_TAPE=/dev/full;", "works a while");
    assert!(
        said.contains("no tape: cannot write /dev/full") && said.lines().count() == 1,
        "{said}"
    );
    let said = run("export TILESCOPE_TAPE=/no/such/dir/a;", "works a while");
    assert!(said.contains("no tape: cannot write /no/such/dir/a"), "{said}");
}

#[test]
fn two_processes_with_one_name_have_a_tape_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut first = spawned(command("works", folder.path()));
    until("no tape", || size(&path) > 1000);
    good(&command("works a while", folder.path()).output().unwrap());
    let before = size(&path);
    until("the first one goes on", || size(&path) > before);
    first.kill().unwrap();
    first.wait().unwrap();
    let tapes = tapes(folder.path());
    assert_eq!(tapes.len(), 2, "{tapes:?}");
    tapes.iter().for_each(|tape| assert_eq!(played(tape, 1).len(), 1));
    // When nobody is there any more the name is free.
    good(&command("works a while", folder.path()).output().unwrap());
    assert_eq!(Tape::open(&path).unwrap().ending(), Ending::Whole);
}

#[test]
fn device_opened_again_goes_on_with_its_tape_and_another_library_has_another() {
    let folder = tempfile::tempdir().unwrap();
    good(&command("sessions", folder.path()).output().unwrap());
    let path = folder.path().join("a.tape");
    assert_eq!(tapes(folder.path()), std::slice::from_ref(&path));
    assert_eq!(played(&path, 1).len(), 3);
    let copy = folder.path().join("copy.so");
    fs::copy(library(), &copy).unwrap();
    good(&command("copies", folder.path()).env("COPY", &copy).output().unwrap());
    fs::remove_file(copy).unwrap();
    let tapes = tapes(folder.path());
    assert_eq!(tapes.len(), 2, "{tapes:?}");
    let cycles: Vec<_> = tapes.iter().map(|tape| played(tape, 1)[0].cycle).collect();
    // 780 clocks and twice as many, of 64 cycles.
    assert_eq!(cycles, [780 * 64, 1560 * 64]);
}

/// What the session did before the limit is played as it was; then nothing more grows.
#[test]
fn session_that_is_longer_than_its_tape_leaves_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let (path, all) = (folder.path().join("a.tape"), folder.path().join("all.tape"));
    good(&command("writes", folder.path()).env("TILESCOPE_TAPE", &all).output().unwrap());
    let limit = size(&all) / 2;
    let output =
        command("writes", folder.path()).env("TILESCOPE_TAPE_BYTES", limit.to_string()).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("what the session does from now on is not on it").count(), 1, "{said}");
    assert!(size(&path) <= limit && size(&path) > limit / 2, "{} of {limit}", size(&path));
    assert_eq!(Tape::open(&path).unwrap().ending(), Ending::Limit);
    let (whole, part) = (calls(&all), calls(&path));
    assert!(part > whole / 4 && part < whole, "{part} of {whole}");
    assert_eq!(played(&path, 1).len(), 1);
}

/// Under a limit the newest sessions are on the tape, and end as they do on a tape with all of them.
#[test]
fn sessions_that_are_over_make_room_for_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (path, all) = (folder.path().join("a.tape"), folder.path().join("all.tape"));
    let mut unbounded = command("sessions that fill", folder.path());
    good(&unbounded.env("TILESCOPE_TAPE", &all).output().unwrap());
    let mut bounded = command("sessions that fill", folder.path());
    good(&bounded.env("TILESCOPE_TAPE_BYTES", "600000").output().unwrap());
    assert!(size(&all) > 1_200_000 && size(&path) <= 600_000, "{} {}", size(&all), size(&path));
    let (all, tape) = (played(&all, 1), Tape::open(&path).unwrap());
    let kept = played(&path, 1);
    assert_eq!((all.len(), tape.ending()), (6, Ending::Whole));
    assert!(kept.len() < 6 && tape.dropped() == 6 - kept.len() as u64, "{}", kept.len());
    for (one, other) in all[6 - kept.len()..].iter().zip(&kept) {
        assert_eq!((one.cycle, one.hash), (other.cycle, other.hash));
    }
}

#[test]
fn tape_cut_anywhere_is_a_shorter_tape() {
    let folder = tempfile::tempdir().unwrap();
    good(&command("works a while", folder.path()).output().unwrap());
    let path = folder.path().join("a.tape");
    let bytes = fs::read(&path).unwrap();
    let whole = calls(&path);
    let cut = folder.path().join("cut.tape");
    let mut last = 0;
    for length in 8..bytes.len() {
        fs::write(&cut, &bytes[..length]).unwrap();
        let count = calls(&cut);
        assert!(count >= last && count <= whole);
        if count != last {
            played(&cut, 1);
        }
        last = count;
        assert_ne!(Tape::open(&cut).unwrap().ending(), Ending::Whole, "{length}");
    }
}

/// Whatever loop the host waits in.
#[test]
fn hang_costs_less_than_a_megabyte_in_ten_minutes() {
    for act in ["hangs", "hangs in clocks"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        let mut host = spawned(command(act, folder.path()));
        until("no tape", || size(&path) > 0);
        std::thread::sleep(Duration::from_millis(1500));
        let (before, begun) = (size(&path), Instant::now());
        std::thread::sleep(Duration::from_secs(4));
        let (grown, passed) = (size(&path) - before, begun.elapsed());
        host.kill().unwrap();
        host.wait().unwrap();
        assert!(grown < PER_SECOND * passed.as_secs(), "{act}: {grown} bytes in {passed:?}");
    }
}

/// Nobody waits on an idle chip: no verdict, and no time spent.
#[test]
fn idle_clocks_are_fast_and_no_hang() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    good(&command("idle", folder.path()).env("CLOCKS", "1000000000").output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!(played(&folder.path().join("a.tape"), 1)[0].cycle, 1_001_000_000 * 64);
}
