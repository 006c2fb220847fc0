//! An order as it came out of the queue: read, and checked for who gave it.

use pi_subagents_fleet_queue::names::order_object;
use pi_subagents_fleet_queue::wire::{FORMAT, Order};
use pi_subagents_fleet_queue::{Delivery, Fleet, signer};
use serde_json::Value;

/// An order that is larger is not read.
const LARGEST_ORDER: u64 = 64 << 20;

/// Reads the order of a delivery, or returns the reason why this worker does not do it.
pub(super) async fn read(
    fleet: &Fleet,
    delivery: &Delivery,
    callers: &[String],
) -> Result<Order, String> {
    let payload = delivery.payload();
    let value: Value = serde_json::from_slice(payload)
        .map_err(|error| format!("its order is not JSON: {error}"))?;
    let content = if value.get("object").is_none() {
        payload.to_vec()
    } else {
        // Only its own: the name comes from the queue.
        let object = order_object(delivery.run());
        let read = fleet.blobs().read(&object, LARGEST_ORDER).await;
        read.map_err(|error| error.to_string())?
    };
    check_signature(delivery, &content, callers)?;
    let value: Value = serde_json::from_slice(&content).unwrap_or_default();
    let format = value.get("format").and_then(Value::as_u64);
    if format != Some(u64::from(FORMAT)) {
        let format = format.map_or("none".to_owned(), |format| format.to_string());
        return Err(format!(
            "its order has format {format}, and this worker reads format {FORMAT}; update pi-subagents on the worker or at the caller"
        ));
    }
    check_features(&value)?;
    let order: Order = serde_json::from_slice(&content).map_err(|error| {
        format!("this worker does not understand its order: {error}; update pi-subagents on it")
    })?;
    if order.run == delivery.run().as_str() {
        Ok(order)
    } else {
        Err("its order is that of another run".to_owned())
    }
}

/// Refuses an order that requires a feature which this worker does not know, by its name: the order
/// of a newer caller may have fields that cannot be read here.
fn check_features(order: &Value) -> Result<(), String> {
    let required = order.get("requires").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    match required.find(|name| !Order::FEATURES.contains(name)) {
        Some(unknown) => Err(format!(
            "this worker does not know \"{unknown}\", which the order requires; update pi-subagents on it"
        )),
        None => Ok(()),
    }
}

/// Refuses an order that none of these callers has signed. If there are no callers, all orders are
/// taken.
fn check_signature(delivery: &Delivery, content: &[u8], callers: &[String]) -> Result<(), String> {
    if callers.is_empty() {
        return Ok(());
    }
    match signer(content, delivery.headers()) {
        Some(key) if callers.contains(&key) => Ok(()),
        Some(_) => Err("its order is not signed by a caller whom this worker knows".to_owned()),
        None => Err("its order is not signed, and this worker takes signed orders only".to_owned()),
    }
}
