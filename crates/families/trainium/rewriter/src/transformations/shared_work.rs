//! A share of the operations on two tiles goes to the gpsimd engine, in the second dialect: those of
//! every second, third or fourth iteration of a loop.
//!
//! Facts: the gpsimd engine runs operations on two tiles, at less than the rate of the vector engine,
//! and does not reach PSUM; loops are unrolled, so that which engine runs an instruction may depend
//! on the number of the iteration.

use ruff_python_ast::{Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument};
use super::super::shapes::Memory;
use super::super::source::Edits;
use super::{Change, each_place, keyword_edit};

/// One in so many iterations is moved.
const SHARES: [i64; 3] = [2, 3, 4];

/// An operation on two tiles in SBUF that the vector engine runs.
struct Site<'t> {
    statement: &'t Stmt,
    loops: Vec<&'t StmtFor>,
}

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if view.source.first_dialect() {
        return Vec::new();
    }
    let mut sites: Vec<Site<'_>> = Vec::new();
    let mut around: Vec<&StmtFor> = Vec::new();
    each_place(view, |place, loops| {
        if let Stmt::For(it) = place.statement() {
            around.push(it);
        }
        if is_movable(view, place.statement()) {
            sites.push(Site {
                statement: place.statement(),
                loops: loops.to_vec(),
            });
        }
    });
    let mut found = Vec::new();
    for it in around {
        let inside: Vec<&Site<'_>> = sites
            .iter()
            .filter(|site| site.loops.iter().any(|one| one.range() == it.range()))
            .collect();
        for share in SHARES {
            for site in &inside {
                found.extend(moved(view, it, share, &[*site]));
            }
            if 1 < inside.len() {
                found.extend(moved(view, it, share, &inside));
            }
        }
    }
    found
}

/// Whether a statement is an operation on two tiles that the gpsimd engine could run.
fn is_movable(view: &View<'_>, statement: &Stmt) -> bool {
    let Some(written) = view
        .written(statement)
        .filter(|it| it.name == "tensor_tensor")
    else {
        return false;
    };
    let operand = |name| argument(written.call, usize::MAX, name);
    let in_sbuf = |it| {
        let tile = view.shapes.tile(it);
        tile.is_some_and(|it| it.memory == Memory::Sbuf && !it.is_column())
    };
    let by_vector = operand("engine").is_none_or(|it| view.text(it).ends_with(".vector_engine"));
    let tiles = [Some(written.dst), operand("data1"), operand("data2")];
    by_vector && tiles.into_iter().all(|it| it.is_some_and(in_sbuf))
}

/// The file with the operations of one in `share` iterations on the gpsimd engine.
fn moved(view: &View<'_>, around: &StmtFor, share: i64, sites: &[&Site<'_>]) -> Option<Change> {
    let known = view.shapes.get_loop(around)?;
    if known.trips < share {
        return None;
    }
    let (nisa, variable) = (&view.nisa, &known.variable);
    let engine = format!(
        "{nisa}.gpsimd_engine if {variable} % {share} == {} else {nisa}.vector_engine",
        share - 1
    );
    let mut edits = Edits::default();
    for site in sites {
        let call = view.written(site.statement)?.call;
        let (at, text) = keyword_edit(call, "engine", &engine);
        edits.replace(at, text);
    }
    let line = view.line(sites.first()?.statement);
    let what = match sites {
        [_] => format!("the operation of line {line}"),
        _ => format!("all {} operations on two tiles", sites.len()),
    };
    Some(Change {
        line,
        variant: format!(
            "{} of {} by {variable} / {share}",
            sites.len(),
            view.line(around)
        ),
        sentence: format!(
            "Run {what} on the gpsimd engine in one of {share} iterations of the loop at line {}.",
            view.line(around)
        ),
        source: view.source.finish(edits)?,
    })
}
