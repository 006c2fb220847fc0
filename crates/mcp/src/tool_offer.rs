//! Tools that are not offered from the beginning, and how clients learn that the list has changed.

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::tools::{Client, Tools};

/// The number of tools that are offered now; subscribers are told when it changes.
pub(crate) struct Offering {
    count: watch::Sender<usize>,
}

impl Offering {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            count: watch::Sender::new(count),
        }
    }

    /// Looks at what is offered after a call. Returns whether there is something new.
    pub(crate) fn look(&self, names: &[String], tools: &dyn Tools, client: &Client) -> bool {
        let is_offered = |name: &&String| tools.is_offered(name, client);
        let now = names.iter().filter(is_offered).count();
        self.count.send_if_modified(|known| {
            let is_new = *known != now;
            *known = now;
            is_new
        })
    }

    /// Tells a subscription of every change, until its client has enough of it.
    pub(crate) async fn notify_changes(
        &self,
        subscription: SubscriptionContext,
        ended: CancellationToken,
    ) {
        let mut count = self.count.subscribe();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return,
                () = ended.cancelled() => return,
                changed = count.changed() => if changed.is_err() { return },
            }
            if let Err(error) = subscription.sink().notify_tool_list_changed().await {
                debug!(%error, "a client was not told of a new tool");
            }
        }
    }
}

/// Returns the client of a call, if it is told of new tools without having asked: since 2026-07-28
/// clients subscribe to that.
pub(crate) fn notified_client(context: &RequestContext<RoleServer>) -> Option<Peer<RoleServer>> {
    let version = context.protocol_version();
    let is_older = version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
    is_older.then(|| context.peer.clone())
}

/// Tells a client that the list of tools has changed.
pub(crate) async fn notify_changed(peer: Option<Peer<RoleServer>>) {
    let Some(peer) = peer else { return };
    if let Err(error) = peer.notify_tool_list_changed().await {
        debug!(%error, "the client was not told of a new tool");
    }
}
