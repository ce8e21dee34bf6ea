//! How many requests per second the layer completes against a server that
//! answers at once: retry, limits, metering, budget and record included.

use autocomp_llm::{
    Amount, Budget, Caps, ConnectSettings, Connector, PriceTable, Request, Secrets,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Requests per measured batch.
const BATCH: u64 = 500;
/// Bytes of a prompt: about that of a plan for a mid-sized kernel.
const PROMPT_BYTES: usize = 24 << 10;

const REPLY: &str = r#"{"model":"m","choices":[{"message":{"role":"assistant","content":"CHOICE: unroll\nUnroll it by four."},"finish_reason":"stop"}],"usage":{"prompt_tokens":7000,"completion_tokens":12}}"#;

/// Answers every request on a kept-alive connection with the same reply.
async fn serve(mut stream: TcpStream) {
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{REPLY}",
        REPLY.len()
    );
    let mut buffer = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        let (head, length) = loop {
            if let Some(head) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
                let length = text
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length:"))
                    .and_then(|value| value.trim().parse::<usize>().ok());
                break (head + 4, length.unwrap_or(0));
            }
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(count) => buffer.extend_from_slice(&chunk[..count]),
            }
        };
        while buffer.len() < head + length {
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(count) => buffer.extend_from_slice(&chunk[..count]),
            }
        }
        buffer.drain(..head + length);
        if stream.write_all(response.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn throughput(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let address = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address");
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        address
    });
    let model = format!("openai@http://{address}/v1::m");
    let prices = PriceTable::parse(&format!(
        "version = 1\n[[price]]\nmodel = \"{model}\"\ninput = 1.0\noutput = 4.0\n\
         as_of = \"2026-01-01\"\nsource = \"benchmark\"\n"
    ))
    .expect("prices");
    let caps = Caps {
        requests: Some(u64::MAX / 2),
        ..Caps::default()
    };
    let settings = ConnectSettings {
        prices,
        concurrency: 32,
        ..ConnectSettings::standard()
    };
    let connector = Connector::new(
        settings,
        Arc::new(Secrets::default()),
        Budget::new(caps, Amount::default()),
    );
    let member = Arc::clone(&connector.connect(&[&model]).expect("connect").members()[0]);
    let request = Arc::new(Request::new(
        "x ".repeat(PROMPT_BYTES / 2),
        "Write one.",
        1000,
    ));

    let mut group = criterion.benchmark_group("llm");
    group.throughput(Throughput::Elements(BATCH));
    group.sample_size(10);
    group.bench_function("instant_server", |bencher| {
        bencher.to_async(&runtime).iter(|| {
            let (member, request) = (Arc::clone(&member), Arc::clone(&request));
            async move {
                let calls: Vec<_> = (0..BATCH)
                    .map(|_| {
                        let (member, request) = (Arc::clone(&member), Arc::clone(&request));
                        tokio::spawn(async move { member.complete(&request).await.is_ok() })
                    })
                    .collect();
                for call in calls {
                    assert!(call.await.expect("joined"), "every request is answered");
                }
            }
        });
    });
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
