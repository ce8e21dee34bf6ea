//! Which uses of memory come before which: what threads know of each other.
//!
//! Uses carry the time of their launch, which goes on whenever threads meet. A thread knows
//! another up to the time of the last meeting that led from that one to it: a barrier of the
//! block or of some of its warps, `__syncwarp` of the threads that its mask names, or a fence
//! and an atomic operation (or a volatile store) of one, whose word the other has read in the
//! same way; what the first has read so before its fence goes along. Shuffles, votes and matrix operations wait for each other, but order no memory
//! (CUDA C++ programming guide, warp shuffle and vote functions).

use super::warp::ALL;
use std::collections::HashMap;
use std::rc::Rc;

/// Bytes of what words pass on that are kept of all blocks of a launch.
const MOST_KEPT: usize = 256 << 20;

/// A thread of the block that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    pub(crate) lane: u32,
}

/// Threads that used something at one time, none of which is known to another: lanes of one
/// warp, or of several the lanes that any of them has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) warps: u32,
    pub(crate) lanes: u32,
    pub(crate) time: u32,
}

/// What a warp knows of the others of its block.
#[derive(Clone, Debug)]
struct Known {
    /// Until when it knows each warp.
    warps: [u32; 32],
    /// When all of its threads have met.
    whole: u32,
    /// Until when each of its threads knows each, if some have met.
    lanes: Option<Box<[[u32; 32]; 32]>>,
    /// What its threads knew at their last fences.
    fences: Vec<Fence>,
}

/// What threads of a warp knew at a fence.
#[derive(Clone, Debug)]
struct Fence {
    lanes: u32,
    /// Whether it stands for the fences of all threads before a barrier.
    is_joined: bool,
    what: Rc<Snapshot>,
}

#[derive(Clone, Debug)]
struct Snapshot {
    warp: u32,
    time: u32,
    of_all: u32,
    warps: [u32; 32],
    whole: u32,
    lanes: Option<Box<[[u32; 32]; 32]>>,
    /// What threads of the block had read that passes on what others knew.
    heard: Rc<[Acquired]>,
    /// Whether other blocks see what it orders.
    is_of_device: bool,
}

impl Snapshot {
    /// Returns whether the thread `by` of its warp knew what `of` did at `time`.
    fn covers(&self, by: u32, of: Who, time: u32) -> bool {
        if time <= self.of_all {
            return true;
        }
        if of.warp != self.warp {
            return time <= self.warps[of.warp as usize];
        }
        let known = self.lanes.as_ref();
        time <= self.whole
            || by == of.lane && time <= self.time
            || known.is_some_and(|it| time <= it[by as usize][of.lane as usize])
    }
}

/// Knowledge of a thread that a word of memory passes on.
#[derive(Clone, Debug)]
struct Release {
    block: u32,
    lane: u32,
    what: Rc<Snapshot>,
}

/// A thread has read a word that passes on what others knew.
#[derive(Clone, Copy, Debug)]
struct Acquired {
    by: Who,
    time: u32,
    word: u64,
    /// So many releases of the word come before.
    releases: usize,
}

/// What threads of the block that runs know of each other and of the blocks before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Precedence {
    time: u32,
    block: u32,
    /// What came until then is known to the whole block.
    of_all: u32,
    warps: Vec<Known>,
    /// Of each barrier: warps that arrived without waiting, what they knew, and when.
    arrivals: HashMap<u32, Vec<(u32, [u32; 32], u32)>>,
    releases: HashMap<u64, Vec<Release>>,
    /// Bytes that these take.
    kept: usize,
    acquired: Vec<Acquired>,
    /// The same at the last fence.
    heard: Rc<[Acquired]>,
}

impl Precedence {
    /// Begins a block of so many warps: nothing that a block of before knew holds for it.
    pub(crate) fn begin_block(&mut self, block: u32, warps: usize) {
        self.block = block;
        self.of_all = self.time;
        self.time += 1;
        self.arrivals.clear();
        self.acquired.clear();
        self.heard = Rc::default();
        let known = Known {
            warps: [0; 32],
            whole: 0,
            lanes: None,
            fences: Vec::new(),
        };
        self.warps.clear();
        self.warps.resize(warps, known);
    }

    /// Returns the mark of a use that happens now.
    #[inline(always)]
    pub(crate) fn mark(&self, by: Who) -> Mark {
        Mark {
            warps: 1 << by.warp,
            lanes: 1 << by.lane,
            time: self.time,
        }
    }

    /// Returns whether all threads of the block know what one of the block `block` did at `time`.
    #[inline(always)]
    pub(crate) fn is_known_to_all(&self, block: u32, time: u32) -> bool {
        let is_of_all = || match &self.warps[..] {
            [only] => time <= only.whole,
            _ => false,
        };
        block == self.block && (time <= self.of_all || is_of_all())
    }

    pub(crate) fn block(&self) -> u32 {
        self.block
    }

    /// Lets the threads `lanes` of a warp meet; `named` are those and others that have ended.
    pub(crate) fn meet(&mut self, warp: u32, lanes: u32, named: u32) {
        let time = self.time;
        let known = &mut self.warps[warp as usize];
        if named == ALL {
            known.whole = time;
        } else {
            let table = known.lanes.get_or_insert_with(|| Box::new([[0; 32]; 32]));
            let mut joined = [0; 32];
            for lane in (0..32).filter(|lane| named >> lane & 1 != 0) {
                for (to, from) in joined.iter_mut().zip(table[lane]) {
                    *to = from.max(*to);
                }
                joined[lane] = time;
            }
            for lane in (0..32).filter(|lane| lanes >> lane & 1 != 0) {
                table[lane] = joined;
            }
        }
        self.time += 1;
    }

    /// Lets a warp arrive at a barrier for which it does not wait.
    pub(crate) fn arrive(&mut self, number: u32, warp: u32) {
        let known = self.warps[warp as usize].warps;
        let arrivals = self.arrivals.entry(number).or_default();
        arrivals.push((warp, known, self.time));
        self.time += 1;
    }

    /// Lets the warps in `waiting` go on from the barrier `number`; `is_all` says that no
    /// other warp of the block is left.
    pub(crate) fn pass(&mut self, number: u32, waiting: u32, is_all: bool) {
        let time = self.time;
        self.time += 1;
        let arrivals = self.arrivals.remove(&number).unwrap_or_default();
        if is_all {
            self.join_fences();
            self.of_all = time;
            return;
        }
        let mut joined = [0; 32];
        let mut join = |row: &[u32; 32], warp: usize, until: u32| {
            for (to, from) in joined.iter_mut().zip(row) {
                *to = (*from).max(*to);
            }
            joined[warp] = joined[warp].max(until);
        };
        let members = |warp: &usize| waiting >> warp & 1 != 0;
        for warp in (0..self.warps.len()).filter(members) {
            join(&self.warps[warp].warps, warp, time);
        }
        for (warp, row, until) in arrivals {
            join(&row, warp as usize, until);
        }
        for warp in (0..self.warps.len()).filter(members) {
            self.warps[warp].warps = joined;
            self.warps[warp].whole = time;
        }
    }

    /// Lets each thread pass on what the fences of all threads before a barrier of the block have
    /// put before it: the next atomic operation of any of them says so to other blocks.
    fn join_fences(&mut self) {
        let mut fenced = [0; 32];
        let mut of_all = 0;
        for (until, known) in fenced.iter_mut().zip(&self.warps) {
            let own = known.fences.iter();
            let own = own.filter(|it| !it.is_joined && it.what.is_of_device);
            // A thread without a fence may have written without one, too.
            if own.clone().fold(0, |all, it| all | it.lanes) == ALL {
                *until = own.clone().map(|it| it.what.time).min().unwrap_or(0);
                of_all = own.map(|it| it.what.of_all).max().unwrap_or(0).max(of_all);
            }
        }
        if fenced == [0; 32] {
            return;
        }
        let heard = self.heard();
        for (warp, known) in self.warps.iter_mut().enumerate() {
            known.fences.retain(|it| !it.is_joined);
            let what = Rc::new(Snapshot {
                warp: warp as u32,
                time: fenced[warp],
                of_all,
                warps: fenced,
                whole: fenced[warp],
                lanes: None,
                heard: Rc::clone(&heard),
                is_of_device: true,
            });
            known.fences.push(Fence {
                lanes: ALL,
                is_joined: true,
                what,
            });
        }
    }

    /// Returns what threads of the block have read that passes on what others knew.
    fn heard(&mut self) -> Rc<[Acquired]> {
        if self.heard.len() != self.acquired.len() {
            self.heard = self.acquired.as_slice().into();
            self.kept += size_of_val(&*self.heard);
        }
        Rc::clone(&self.heard)
    }

    /// Notes a fence of threads of a warp: what they know goes out with their next atomic
    /// operations.
    pub(crate) fn fence(&mut self, warp: u32, lanes: u32, is_of_device: bool) {
        let (time, of_all, heard) = (self.time, self.of_all, self.heard());
        self.time += 1;
        let known = &mut self.warps[warp as usize];
        for fence in &mut known.fences {
            // A fence for the block does not take back one for the device.
            if !fence.is_joined && (is_of_device || !fence.what.is_of_device) {
                fence.lanes &= !lanes;
            }
        }
        known.fences.retain(|it| it.lanes != 0);
        let what = Rc::new(Snapshot {
            warp,
            time,
            of_all,
            warps: known.warps,
            whole: known.whole,
            lanes: known.lanes.clone(),
            heard,
            is_of_device,
        });
        known.fences.push(Fence {
            lanes,
            is_joined: false,
            what,
        });
    }

    /// Notes that a thread has read a word by an atomic operation or a volatile load.
    pub(crate) fn acquire(&mut self, by: Who, word: u64) {
        let Some(releases) = self.releases.get(&word).map(Vec::len) else {
            return;
        };
        let is_known = |it: &&Acquired| it.by == by && it.word == word;
        if self
            .acquired
            .iter()
            .rev()
            .take(64)
            .find(is_known)
            .map(|it| it.releases)
            == Some(releases)
        {
            return;
        }
        self.acquired.push(Acquired {
            by,
            time: self.time,
            word,
            releases,
        });
    }

    /// Notes that a thread has written a word by an atomic operation or a volatile store.
    pub(crate) fn release(&mut self, by: Who, word: u64) {
        let known = &self.warps[by.warp as usize];
        for fence in known
            .fences
            .iter()
            .filter(|it| it.lanes >> by.lane & 1 != 0)
        {
            let table = fence.what.lanes.as_ref().map_or(0, |it| size_of_val(&**it));
            self.kept += size_of::<Release>();
            if Rc::strong_count(&fence.what) == 1 {
                self.kept += size_of::<Snapshot>() + table;
            }
            self.releases.entry(word).or_default().push(Release {
                block: self.block,
                lane: by.lane,
                what: Rc::clone(&fence.what),
            });
        }
    }

    /// Returns whether words have more to pass on than is kept.
    pub(crate) fn is_full(&self) -> bool {
        MOST_KEPT < self.kept
    }

    /// Returns whether `by` knows what `of` did at `time`, by meetings of the block.
    fn has_met(&self, by: Who, of: Who, time: u32) -> bool {
        if time <= self.of_all || by == of {
            return true;
        }
        let known = &self.warps[by.warp as usize];
        if by.warp != of.warp {
            return time <= known.warps[of.warp as usize];
        }
        let lanes = known.lanes.as_ref();
        time <= known.whole
            || lanes.is_some_and(|it| time <= it[by.lane as usize][of.lane as usize])
    }

    /// Returns whether words that `by` knows to be read have passed on what `of`, a thread of
    /// the block `block`, did at `time`.
    fn has_heard(&self, by: Who, (block, of): (u32, Who), time: u32) -> bool {
        let told = |release: &Release| {
            release.block == block && release.what.covers(release.lane, of, time)
        };
        let read = self.acquired.iter().rev();
        let read = read.filter(|it| self.has_met(by, it.by, it.time));
        // Words that have been read, how far, by which block; those that are told at first hand
        // come first.
        let mut words: Vec<(u64, usize, u32)> =
            read.map(|it| (it.word, it.releases, self.block)).collect();
        if (words.iter()).any(|it| self.passed_on(*it).any(told)) {
            return true;
        }
        let mut followed: HashMap<u64, usize> = HashMap::new();
        while let Some(word) = words.pop() {
            for release in self.passed_on(word) {
                if told(release) {
                    return true;
                }
                let heard = release.what.heard.iter();
                for it in heard.filter(|it| release.what.covers(release.lane, it.by, it.time)) {
                    let far = followed.entry(it.word).or_default();
                    if *far < it.releases {
                        *far = it.releases;
                        words.push((it.word, it.releases, release.block));
                    }
                }
            }
        }
        false
    }

    /// Returns what a word passes on to a block that has read it, of so many releases.
    fn passed_on(&self, (word, releases, to): (u64, usize, u32)) -> impl Iterator<Item = &Release> {
        let all = self.releases.get(&word).map_or(&[][..], Vec::as_slice);
        let read = all[..releases.min(all.len())].iter();
        read.filter(move |it| it.block == to || it.what.is_of_device)
    }

    /// Returns whether `by` has heard of other blocks at all.
    pub(crate) fn has_heard_of_any(&self, by: Who) -> bool {
        self.acquired
            .iter()
            .any(|it| self.has_met(by, it.by, it.time))
    }

    /// Returns a thread that used something at a mark and that `by` does not know to have done
    /// so, if there is one.
    #[inline(always)]
    pub(crate) fn unknown(&self, by: Who, (block, mark): (u32, Mark)) -> Option<Who> {
        if block == self.block && mark.time <= self.of_all || mark.warps == 0 {
            return None;
        }
        if block == self.block && mark.warps == 1 << by.warp && mark.lanes == 1 << by.lane {
            return None;
        }
        self.unknown_of(by, (block, mark))
    }

    fn unknown_of(&self, by: Who, (block, mark): (u32, Mark)) -> Option<Who> {
        for warp in (0..32).filter(|warp| mark.warps >> warp & 1 != 0) {
            for lane in (0..32).filter(|lane| mark.lanes >> lane & 1 != 0) {
                let of = Who { warp, lane };
                let has_met = block == self.block && self.has_met(by, of, mark.time);
                if !has_met && !self.has_heard(by, (block, of), mark.time) {
                    return Some(of);
                }
            }
        }
        None
    }
}
