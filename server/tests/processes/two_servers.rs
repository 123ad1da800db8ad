//! Two servers on one database. SQLite takes one process, so these are of PostgreSQL alone.

mod two_servers_on_one_postgres {
    use tokio::task::JoinSet;

    use crate::bench::{Bench, Client, run, top_up};
    use crate::place::Engine;

    const TOP_UPS: usize = 40;

    async fn body(bench: &Bench) {
        let (first, second) = tokio::join!(bench.serve(), bench.serve());
        let client = bench.client(&first).await;
        client.welcome("c-1").await;
        bench.partner.loses_answers().await;
        let beside = Client { address: bench.client(&second).await.address, token: client.token.clone() };
        let mut asking = JoinSet::new();
        for number in 0..TOP_UPS {
            let client = if number % 2 == 0 { client.clone() } else { beside.clone() };
            asking.spawn(async move {
                let params = top_up("c-1", &format!("p-{number}"), "10.00");
                client.admit(&format!("k-{number}"), "top_up_credit", &params).await
            });
        }
        for made in asking.join_all().await {
            assert_eq!(made.status, 201, "{made:?}");
            // Either server tells of what the other one admitted.
            beside.stands(&made.id(), "succeeded").await;
            client.stands(&made.id(), "succeeded").await;
        }
        bench.partner.count("credit").await.are_effects(40);
        first.stop().await;
        second.stop().await;
    }

    /// Three of ten answers are lost; no top-up is made twice, and all are known in the end.
    #[test]
    fn postgres() {
        run(Engine::Postgres, async |bench| body(bench).await);
    }
}
