//! One HTML file with some runs in it, which opens from disk without a server and without a network.
//! It holds the modules of the page as they are, as addresses with their content.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::assets::{ASSETS, Asset};

/// The rights of the page in a file: it may use the parts of the file itself, and send no request.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; \
    img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
    trusted-types lit-html";

/// Makes the file. `data` is the data that the page would otherwise ask the server for.
pub fn export_file(data: &Value) -> String {
    let modules = ASSETS.iter().filter(|asset| asset.is_module());
    let imports: serde_json::Map<String, Value> = modules
        .map(|module| (module.name.to_owned(), json!(address_of(module))))
        .collect();
    let style = content_of("style.css");
    let imports = json!({ "imports": imports });
    let data = in_script(data);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>pi-subagents</title>\n<style>\n{style}</style>\n\
         <script type=\"importmap\">{imports}</script>\n</head>\n<body>\n\
         <script type=\"application/json\" id=\"recorded\">{data}</script>\n\
         <script type=\"module\">import \"main.js\";</script>\n</body>\n</html>\n"
    )
}

/// Returns a module as an address that holds it. Its imports are named without a path, so that the
/// map of the file leads to them.
fn address_of(module: &Asset) -> String {
    let content = module.content.replace("from \"./", "from \"");
    let content = BASE64_STANDARD.encode(content);
    format!("data:text/javascript;base64,{content}")
}

fn content_of(name: &str) -> &'static str {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map_or("", |asset| asset.content)
}

/// Writes JSON so that no text in it can end the script that holds it.
fn in_script(data: &Value) -> String {
    let text = data.to_string();
    text.replace('<', "\\u003c").replace("\u{2028}", "\\u2028")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_script_that_holds_it() {
        let data = json!({"text": "</script><script>alert(1)</script><!--"});
        let file = export_file(&data);
        assert_eq!(file.matches("</script>").count(), 3);
        assert!(!file.contains("alert(1)</script>"), "{file}");
        assert!(file.contains(r"\u003c/script>\u003cscript>alert(1)"));
    }

    /// Leaves out comments, in which types are imported.
    fn without_comments(code: &str) -> String {
        let mut parts = code.split("/*");
        let first = parts.next().unwrap_or_default().to_owned();
        let behind = parts.filter_map(|part| part.split_once("*/"));
        behind.fold(first, |code, (_, rest)| code + rest)
    }

    #[test]
    fn the_file_asks_nobody_for_anything() {
        let file = export_file(&json!({}));
        for address in ["src=\"", "href=\"", "url(", "@import"] {
            assert!(!file.contains(address), "{address}");
        }
        for module in ASSETS.iter().filter(|asset| asset.is_module()) {
            let code = without_comments(module.content);
            assert!(!code.contains("import("), "{}", module.name);
            assert!(file.contains(&format!("\"{}\":\"data:", module.name)));
        }
    }
}
