//! One HTML file with some runs in it, which opens from disk without a server and without a network.
//! It holds the script and the style of the page, and the data that a server would send.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::bundle::BUNDLE;
use crate::files::content;

/// The rights of the page in a file: it may use the parts of the file itself, and send no request.
const POLICY: &str = "default-src 'none'; script-src data:; style-src 'unsafe-inline'; \
    img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
    trusted-types lit-html";

/// Makes the file. `data` is the JSON that the page would otherwise ask the server for.
pub fn export_file(data: &str) -> String {
    let style = content("style.css").unwrap_or_default();
    // An address with the content in it: no text of the script can end the element that holds it.
    let script = BASE64_STANDARD.encode(&*BUNDLE);
    let data = in_script(data);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>pi-subagents</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
         <script type=\"application/json\" id=\"recorded\">{data}</script>\n\
         <script type=\"module\" src=\"data:text/javascript;base64,{script}\"></script>\n</body>\n</html>\n"
    )
}

/// Writes JSON so that no text in it can end the script that holds it.
fn in_script(data: &str) -> String {
    data.replace('<', "\\u003c").replace("\u{2028}", "\\u2028")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_ends_the_script_that_holds_it() {
        let data = json!({"text": "</script><script>alert(1)</script><!--"});
        let file = export_file(&data.to_string());
        assert_eq!(file.matches("</script>").count(), 2);
        assert!(!file.contains("alert(1)</script>"), "{file}");
        assert!(file.contains(r"\u003c/script>\u003cscript>alert(1)"));
    }

    #[test]
    fn the_file_asks_nobody_for_anything() {
        let file = export_file("{}");
        for address in ["src=\"h", "src=\"/", "href=\"", "url(", "@import"] {
            assert!(!file.contains(address), "{address}");
        }
        assert_eq!(file.matches("src=\"data:").count(), 1);
    }
}
