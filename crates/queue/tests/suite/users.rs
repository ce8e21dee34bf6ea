//! What one user of a queue can do to another one, who have nothing but their keys.

use crate::lab::Lab;
use crate::nats::Nats;
use crate::searching::Search;
use crate::toy::{BEAT, Toy, Working, setup, until};
use async_nats::Client;
use autocomp_core::ContentHash;
use autocomp_eval::isolation::Request;
use autocomp_eval::{Bench, Setup};
use autocomp_queue::{Chosen, Demand, Job, Server, heard};
use futures::StreamExt;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Waits for a demand of `user`.
async fn demand_of(client: &Client, user: &str) -> Demand {
    let heard = client.subscribe("autocomp.demands.*.*").await.unwrap();
    client.publish("autocomp.hello", "".into()).await.unwrap();
    let mut demands = heard.filter_map(|it| {
        let demand = serde_json::from_slice::<Demand>(&it.payload).ok();
        std::future::ready(demand.filter(|it| it.user == user && it.chosen.is_some()))
    });
    demands.next().await.unwrap()
}

fn evaluation(source: &str) -> Request {
    Request::Evaluate {
        source: source.to_owned(),
        bound: None,
    }
}

async fn publish(client: &Client, subject: String, text: &impl serde::Serialize) {
    let text = serde_json::to_vec(text).unwrap();
    client.publish(subject, text.into()).await.unwrap();
    client.flush().await.unwrap();
}

async fn demand(client: &Client, demand: &Demand) {
    let subject = format!("autocomp.demands.{}.{}", demand.user, demand.queue);
    publish(client, subject, demand).await;
}

#[test]
fn a_user_who_is_added_can_work_at_once() {
    let lab = Lab::new(&["desk"], &["anna", "ben"]);
    let toy = Toy::new();
    let _desk = Working::with_access(lab.access("desk"), "desk", &toy);
    let anna = Search::with_access(&lab.access("anna"), "one", 0);
    anna.evaluate("kernel");
    lab.add("carl");
    let carl = Search::with_access(&lab.access("carl"), "two", 0);
    assert_eq!(carl.evaluate("another").worker.as_deref(), Some("desk"));
    anna.evaluate("a third");
}

/// Results are for everybody to throw away, which has them made again, and no more.
#[test]
fn results_that_are_thrown_away_are_made_again_at_once() {
    let lab = Lab::new(&["desk"], &["anna", "ben"]);
    let toy = Toy::new();
    let _desk = Working::with_access(lab.access("desk"), "desk", &toy);
    let anna = Search::with_access(&lab.access("anna"), "one", 0);
    let ben = Search::with_access(&lab.access("ben"), "two", 0);
    let runtime = Runtime::new().unwrap();
    for _ in 0..3 {
        for search in [&anna, &ben] {
            let evaluation = search.evaluate("kernel");
            assert_eq!(evaluation.worker.as_deref(), Some("desk"));
            runtime.block_on(async {
                let client = lab.client("anna").await;
                let purge = "autocomp.api.STREAM.PURGE.AUTOCOMP_RESULTS";
                client.request(purge, "".into()).await.unwrap();
            });
        }
    }
    assert_eq!(toy.done.lock().unwrap().len(), 6);
    // What a worker notes while it works on a job would keep others from it.
    let noted = || {
        let noted = runtime.block_on(async {
            let desk = async_nats::jetstream::new(lab.client("desk").await);
            let tries = desk.get_stream("AUTOCOMP_TRIES").await.unwrap();
            let noted = tries.get_last_raw_message_by_subject("autocomp.tries.*");
            noted.await.unwrap().payload
        });
        String::from_utf8(noted.to_vec()).unwrap()
    };
    until("nobody works on it", || {
        noted().contains("\\\"holder\\\":null")
    });
}

/// Whatever a user has the server answer, and wherever to, it stays with that user.
#[test]
fn a_user_cannot_have_the_server_speak_to_others() {
    let lab = Lab::new(&["desk"], &["anna", "ben"]);
    let search = Search::with_access(&lab.access("anna"), "one", 0);
    let toy = Toy::new();
    let _desk = Working::with_access(lab.access("desk"), "desk", &toy);
    let runtime = Runtime::new().unwrap();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("sleep 2000"));
        until("the job runs", || toy.running.load(Ordering::SeqCst) == 1);
        runtime.block_on(async {
            let (ben, desk) = (lab.client("ben").await, lab.client("desk").await);
            let jobs = async_nats::jetstream::new(desk.clone());
            let texts = jobs.get_stream("AUTOCOMP_TEXTS").await.unwrap();
            let jobs = jobs.get_stream("AUTOCOMP_JOBS").await.unwrap();
            let job = jobs.get_last_raw_message_by_subject("autocomp.jobs.anna.>");
            let job = job.await.unwrap().subject;
            let job = job.rsplit('.').next().unwrap();
            let (first, own) = ("autocomp.texts.ben.first.0", "autocomp.texts.ben.lie.0");
            let is_there = async |it: &str| texts.get_last_raw_message_by_subject(it).await.is_ok();
            ben.publish(first, "first".into()).await.unwrap();
            let last = format!("{{\"last_by_subj\":\"{own}\"}}");
            let delivered = format!(
                "{{\"stream_name\":\"AUTOCOMP_TEXTS\",\"config\":{{\"deliver_subject\":\
                 \"autocomp.results.desk.{job}\",\"deliver_policy\":\"all\",\"ack_policy\":\"none\"}}}}"
            );
            for reply in [
                format!("autocomp.results.desk.{job}"),
                format!("autocomp.tries.{job}"),
                "autocomp.texts.anna.forged.0".to_owned(),
                "$JS.API.STREAM.PURGE.AUTOCOMP_TEXTS".to_owned(),
                "$JS.API.STREAM.PURGE.AUTOCOMP_JOBS".to_owned(),
            ] {
                for api in ["$JS.API", "autocomp.api"] {
                    for (asked, body) in [
                        ("STREAM.MSG.GET.AUTOCOMP_TEXTS", last.as_str()),
                        ("DIRECT.GET.AUTOCOMP_TEXTS", &last),
                        ("CONSUMER.CREATE.AUTOCOMP_TEXTS", &delivered),
                        ("STREAM.INFO.AUTOCOMP_TEXTS", ""),
                        ("STREAM.PURGE.AUTOCOMP_TEXTS", ""),
                    ] {
                        let (asked, body) = (format!("{api}.{asked}"), body.to_owned().into());
                        let asked = ben.publish_with_reply(asked, reply.clone(), body);
                        asked.await.unwrap();
                    }
                }
                let lie = "{\"Here\":\"a lie\"}";
                let said = ben.publish_with_reply(own, reply.clone(), lie.into());
                said.await.unwrap();
            }
            ben.flush().await.unwrap();
            while !is_there(own).await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            assert!(is_there(first).await, "texts were purged");
            assert!(!is_there("autocomp.texts.anna.forged.0").await);
        });
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("desk"));
    });
    assert!(!search.has_told(&["worker desk"]));
}

/// The bench that answers under a content is one that was opened for it.
#[test]
fn a_demand_that_becomes_another_one_has_its_bench_opened_anew() {
    let nats = Nats::start();
    let toy = Toy::new();
    let worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let text = setup(1);
    let other = Setup::parse(&text).unwrap();
    Runtime::new().unwrap().block_on(async {
        let anna = async_nats::connect(nats.address()).await.unwrap();
        let honest = demand_of(&anna, "anybody").await;
        assert_ne!(other.content(), honest.content);
        let hash = ContentHash::of(text.as_bytes());
        for (at, piece) in text.as_bytes().chunks(256 << 10).enumerate() {
            let subject = format!("autocomp.texts.anna.{hash}.{at}");
            anna.publish(subject, piece.to_vec().into()).await.unwrap();
        }
        let mut own = Demand {
            user: "anna".to_owned(),
            queue: "q".to_owned(),
            setup: hash,
            content: other.content(),
            ..honest.clone()
        };
        demand(&anna, &own).await;
        // Its bench is open when it is worked for.
        let request = evaluation("own");
        let chosen = Chosen {
            facts: toy.facts(),
            worker: "desk".to_owned(),
        };
        let job = Job::new(own.content, &chosen, None, "one", request);
        let ask = |job: &Job| serde_json::json!({ "Here": serde_json::to_string(job).unwrap() });
        let subject = |job: &Job| format!("autocomp.jobs.anna.q.{}", job.id);
        publish(&anna, subject(&job), &ask(&job)).await;
        while !toy.done.lock().unwrap().contains(&"own".to_owned()) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        own.content = honest.content;
        let job = Job::new(own.content, &chosen, None, "one", evaluation("wanted"));
        for _ in 0..4 {
            demand(&anna, &own).await;
            publish(&anna, subject(&job), &ask(&job)).await;
            tokio::time::sleep(BEAT / 2).await;
        }
    });
    until("it is told", || {
        let told = worker.told.lock().unwrap();
        told.iter().any(|it| it.contains("another content"))
    });
    assert_eq!(toy.done.lock().unwrap().as_slice(), ["kernel", "own"]);
}

/// A job of somebody else who asks the same, and of whom nobody takes it, keeps nobody waiting.
#[test]
fn an_equal_job_that_nobody_takes_is_not_waited_for() {
    let nats = Nats::start();
    let toy = Toy::new();
    let _worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let anna = async_nats::connect(nats.address()).await.unwrap();
        let honest = demand_of(&anna, "anybody").await;
        let chosen = honest.chosen.clone().unwrap();
        let job = Job::new(honest.content, &chosen, None, "one", evaluation("wanted"));
        let nobody = Demand {
            user: "anna".to_owned(),
            queue: "nobody".to_owned(),
            setup: ContentHash::of(b"nothing"),
            ..honest
        };
        demand(&anna, &nobody).await;
        let text = serde_json::json!({ "Here": serde_json::to_string(&job).unwrap() });
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Nats-Msg-Id", job.id.to_string().as_str());
        let subject = format!("autocomp.jobs.anna.nobody.{}", job.id);
        let text = text.to_string().into();
        let published = anna.publish_with_headers(subject, headers, text);
        published.await.unwrap();
        anna.flush().await.unwrap();
    });
    assert_eq!(search.evaluate("wanted").worker.as_deref(), Some("desk"));
}

/// A bench that nobody asks for any more when it is open.
#[test]
fn what_is_opened_for_nobody_leaves_nothing() {
    let nats = Nats::start();
    let toy = Toy::new();
    let worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let anna = async_nats::connect(nats.address()).await.unwrap();
        let honest = demand_of(&anna, "anybody").await;
        let text = setup(0);
        let hash = ContentHash::of(text.as_bytes());
        for (at, piece) in text.as_bytes().chunks(256 << 10).enumerate() {
            let subject = format!("autocomp.texts.anna.{hash}.{at}");
            anna.publish(subject, piece.to_vec().into()).await.unwrap();
        }
        for it in 0..12 {
            let mut short = Demand {
                user: "anna".to_owned(),
                queue: format!("short{it}"),
                ..honest.clone()
            };
            demand(&anna, &short).await;
            tokio::time::sleep(Duration::from_millis(5 * it)).await;
            short.ended = true;
            demand(&anna, &short).await;
        }
    });
    until("one bench is left", || worker.leftovers() == 1);
    drop(search);
    until("nothing is left", || worker.leftovers() == 0);
}

/// Numbers and texts of a demand that no search has.
#[test]
fn demands_that_no_search_has_stop_no_worker_and_fill_no_log() {
    let nats = Nats::start();
    let toy = Toy::new();
    let worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let anna = async_nats::connect(nats.address()).await.unwrap();
        let honest = demand_of(&anna, "anybody").await;
        for (lease_ms, weight) in [(0, 1), (u64::MAX, 1), (1, 1), (1000, 0), (1000, u32::MAX)] {
            let odd = Demand {
                user: "anna".to_owned(),
                queue: format!("q{}-{weight}", lease_ms % 1000),
                lease_ms,
                weight,
                ..honest.clone()
            };
            demand(&anna, &odd).await;
        }
        for it in 0..10 {
            let mut long = Demand {
                user: "anna".to_owned(),
                queue: "long".to_owned(),
                ..honest.clone()
            };
            let facts = &mut long.chosen.as_mut().unwrap().facts;
            facts.engine = format!("{it}\nforged: a line{}", "a".repeat(100_000));
            demand(&anna, &long).await;
        }
    });
    assert_eq!(search.evaluate("another").worker.as_deref(), Some("desk"));
    let stands = runtime.block_on(async {
        let server = Server::connect(&nats.access(), "test").await.unwrap();
        let found = heard(&server, BEAT).await.unwrap();
        let stands = found.into_iter().flat_map(|(it, _)| it.stands.into_keys());
        stands.collect::<Vec<_>>()
    });
    // The last of Anna's is heard of, and none of the odd ones before it.
    let of_anna: Vec<_> = stands.iter().filter(|it| it.starts_with("anna.")).collect();
    assert_eq!(of_anna, ["anna.long"]);
    let told = worker.told.lock().unwrap();
    assert!(
        told.iter()
            .all(|it| it.chars().count() <= 301 && !it.contains('\n'))
    );
    let refusals = told.iter().filter(|it| it.contains("refusing"));
    assert!(refusals.count() <= 1, "{told:?}");
}
