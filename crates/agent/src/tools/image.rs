//! Knows images by their first bytes.

/// Returns the MIME type of an image that models accept, if `head` is its beginning.
pub(crate) fn mime_type(head: &[u8]) -> Option<&'static str> {
    let webp = head.len() >= 12 && head.starts_with(b"RIFF") && &head[8..12] == b"WEBP";
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if head.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if webp {
        Some("image/webp")
    } else {
        None
    }
}
