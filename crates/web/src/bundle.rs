//! All modules of the page as one script.
//!
//! A browser that fetches thirty modules one by one needs a tenth of a second for it before it
//! draws anything. The modules stay as they are written, each in a scope of its own; only the lines
//! with which they import and export names are translated. They import names from one file in one
//! line, and export declarations.

use std::sync::LazyLock;

use crate::assets::{ASSETS, Asset};

/// The name under which the script is served.
pub(crate) const NAME: &str = "page.js";

/// The script.
pub(crate) static BUNDLE: LazyLock<String> = LazyLock::new(|| {
    // The types are read by the compiler and by nobody else.
    let is_used = |asset: &&Asset| asset.is_module() && asset.name != "types.js";
    let modules = ASSETS.iter().filter(is_used).map(in_scope);
    format!("const modules = {{}};\n{}", modules.collect::<String>())
});

/// Puts a module into a scope of its own, which returns the exported names.
fn in_scope(module: &Asset) -> String {
    let mut exported = Vec::new();
    let mut code = String::new();
    for line in module.content.lines() {
        code.push_str(&translated(line, &mut exported));
        code.push('\n');
    }
    let (name, exported) = (module.name, exported.join(", "));
    format!("modules[\"{name}\"] = (() => {{\n{code}return {{ {exported} }};\n}})();\n")
}

/// Translates a line if it imports or exports something, and notes the exported names.
fn translated(line: &str, exported: &mut Vec<String>) -> String {
    if let Some((names, file)) = imported(line) {
        return format!(
            "const {{{}}} = modules[\"{file}\"];",
            names.replace(" as ", ": ")
        );
    }
    if let Some(declaration) = line.strip_prefix("export ") {
        exported.extend(declared(declaration).map(str::to_owned));
        return declaration.to_owned();
    }
    // A library that was made smaller names its exports at the end.
    if let Some((code, names)) = line.split_once("export{") {
        let names = names.split('}').next().unwrap_or_default().split(',');
        let renamed = names.filter_map(|name| name.split_once(" as "));
        exported.extend(renamed.map(|(own, name)| format!("{name}: {own}")));
        return code.to_owned();
    }
    line.to_owned()
}

/// Returns the names that a line imports, and the file that has them.
fn imported(line: &str) -> Option<(&str, &str)> {
    let (names, file) = line.strip_prefix("import {")?.split_once("} from \"./")?;
    Some((names, file.strip_suffix("\";")?))
}

/// Returns the name that a line declares.
fn declared(declaration: &str) -> Option<&str> {
    let mut words = declaration.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.find(|word| !["async", "function", "class", "const", "let"].contains(word))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn names_are_taken_from_and_given_to_other_modules() {
        let module = Asset {
            name: "b.js",
            content: "import { one, two as three } from \"./a.js\";\n\
                      export const FOUR = 4;\nexport async function five() {}\nexport class Six {}\n",
        };
        assert_eq!(
            in_scope(&module),
            "modules[\"b.js\"] = (() => {\nconst { one, two: three } = modules[\"a.js\"];\n\
             const FOUR = 4;\nasync function five() {}\nclass Six {}\n\
             return { FOUR, five, Six };\n})();\n"
        );
        let small = Asset {
            name: "lib.js",
            content: "const a=1;export{a as html,b as svg};",
        };
        assert_eq!(
            in_scope(&small),
            "modules[\"lib.js\"] = (() => {\nconst a=1;\nreturn { html: a, svg: b };\n})();\n"
        );
    }

    #[test]
    fn every_module_comes_behind_those_that_it_uses_and_nothing_is_left_to_import() {
        let mut known = Vec::new();
        for asset in ASSETS.iter().filter(|asset| asset.is_module()) {
            for file in asset.content.lines().filter_map(imported) {
                assert!(known.contains(&file.1), "{} uses {}", asset.name, file.1);
            }
            known.push(asset.name);
        }
        for line in BUNDLE.lines() {
            let is_left = line.starts_with("import ") || line.starts_with("export ");
            assert!(!is_left && !line.contains("export{"), "{line}");
        }
    }
}
