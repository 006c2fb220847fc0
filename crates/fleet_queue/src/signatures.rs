//! Signatures of orders: a worker that knows its callers takes no orders from others, not even from
//! somebody whom the server lets in.

use async_nats::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::keys::is_signed;

const KEY: &str = "Pi-Key";
const SIGNATURE: &str = "Pi-Signature";

impl Fleet {
    /// Returns headers with our signature of an order; without a key they are empty.
    pub fn signature(&self, order: &[u8]) -> Result<HeaderMap, FleetError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = self.key() {
            headers.insert(KEY, key.public());
            headers.insert(SIGNATURE, URL_SAFE_NO_PAD.encode(key.sign(order)?));
        }
        Ok(headers)
    }
}

/// Returns the public key of the signer of an order, if the signature is valid.
pub fn signer(order: &[u8], headers: &HeaderMap) -> Option<String> {
    let key = headers.get(KEY)?.as_str();
    let signature = URL_SAFE_NO_PAD
        .decode(headers.get(SIGNATURE)?.as_str())
        .ok()?;
    is_signed(key, order, &signature).then(|| key.to_owned())
}
