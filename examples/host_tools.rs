//! Gives a sub-agent a function of this program as a tool. The first argument is the model.
//! The binary `pi-subagents` must be on `PATH`, or `PI_SUBAGENTS_BIN` name it.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use pi_subagents::{HostTools, Task, Team, TeamOptions, schemars};

#[derive(schemars::JsonSchema, serde::Deserialize)]
struct Order {
    /// The number on the receipt.
    number: u32,
}

async fn find_order(order: Order) -> Result<String, String> {
    match order.number {
        7 => Ok("It left the warehouse this morning.".to_owned()),
        number => Err(format!("There is no order {number}.")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shop = HostTools::new("shop").tool("find_order", "Says where an order is.", find_order);
    let model = std::env::args().nth(1).ok_or("name a model")?;
    let options = TeamOptions::new().model(model).host_tools(shop);
    let team = Team::open(options).await?;
    let task = Task::new("order", "Where is order 7? Answer in one sentence.");
    for outcome in team.delegate([task], Vec::new()).await?.outcomes {
        println!("{}", outcome.report.output.unwrap_or_default());
    }
    team.close().await;
    Ok(())
}
