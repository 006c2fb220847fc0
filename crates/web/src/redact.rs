//! Takes secrets out of data that is passed on to other people, and remembers them.
//!
//! Nobody can find every secret in a text. These are the forms of known keys: a person who shares a
//! file still reads it first.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

/// The number of places of one kind that are named.
const MOST_PLACES: usize = 20;

/// The forms that are taken out: their names for people, and their patterns. The group `secret` is
/// replaced; without such a group the whole match is. The forms of keys are those that gitleaks looks
/// for; the table of the tests has one example of each.
const FORMS: [(&str, &str); 19] = [
    (
        "private key",
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)",
    ),
    (
        "authorization header",
        r"(?i)\bauthorization['\x22]?\s*[:=]\s*['\x22]?(?:(?:bearer|basic|token)\s+)?(?P<secret>[^\s'\x22,;]{6,})",
    ),
    (
        "cookie",
        r"(?i)\b(?:set-)?cookie['\x22]?\s*[:=]\s*['\x22]?(?P<secret>[a-z0-9_.-]+=[^\r\n'\x22]{3,})",
    ),
    (
        "bearer token",
        r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{12,})",
    ),
    (
        "API key",
        r"\b(?:(?:sk|pk|rk)-[A-Za-z0-9_-]{12,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,})",
    ),
    (
        "token of GitHub or GitLab",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
    ),
    (
        "token of a registry",
        r"\b(?:hf_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{16,}|pypi-[A-Za-z0-9_-]{16,}|dckr_pat_[A-Za-z0-9_-]{16,}|rubygems_[a-f0-9]{16,}|cio[A-Za-z0-9]{32})",
    ),
    (
        "key of a cloud",
        r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}\b|AIza[A-Za-z0-9_-]{30,}|xox[abeprs]-[A-Za-z0-9-]{10,}|GOCSPX-[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{16,}|do[opr]_v1_[a-f0-9]{16,}|dapi[a-f0-9]{32})",
    ),
    (
        "address of a webhook",
        r"https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|[a-z0-9.-]+\.webhook\.office\.com/webhookb2)/(?P<secret>[A-Za-z0-9_/@-]{8,})",
    ),
    (
        "token of a bot",
        r"\b[0-9]{8,10}:(?P<secret>[A-Za-z0-9_-]{30,})",
    ),
    (
        "JSON web token",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}",
    ),
    (
        "password in an address",
        r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:(?P<secret>[^\s/@]{3,})@",
    ),
    (
        "password of a request",
        r"\b(?:curl|wget|http)\b[^\n]*?\s(?:-u|--user|--auth|-a)[ =]?['\x22]?[^\s:'\x22]+:(?P<secret>[^\s'\x22]{3,})",
    ),
    (
        "key of a storage account",
        r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=(?P<secret>[A-Za-z0-9+/%=_-]{16,})",
    ),
    (
        "value of an option with a secret name",
        r"(?i)(?:^|\s)--?(?:[a-z0-9]+-)*(?:token|password|passwd|passphrase|secret|api-?key|access-?key|private-?key)(?:=|\s+)['\x22]?(?P<secret>[^\s'\x22-][^\s'\x22]{3,})",
    ),
    (
        "value of a variable with a secret name",
        r"\b(?:[A-Z0-9]+_)*(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|CREDENTIALS?)(?:_[A-Z0-9]+)*=['\x22]?(?P<secret>[^\s'\x22,;$<\[][^\s'\x22,;]{3,})",
    ),
    (
        // Shells keep the directory in a variable of this name, so a path is none.
        "value of a variable with a secret name",
        r"\b(?:[A-Z0-9]+_)+PWD=['\x22]?(?P<secret>[^\s'\x22,;/~.$][^\s'\x22,;]{3,})",
    ),
    (
        "value of a field with a secret name",
        r"(?i)['\x22][a-z0-9_-]*(?:api_?-?key|access_?key|private_?key|token|secret|password|passwd|passphrase|credentials?)['\x22]\s*:\s*['\x22](?P<secret>[^'\x22\s\[][^'\x22\s]{3,})",
    ),
    (
        "value of a variable with a secret name",
        r"(?i)\b[A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)[A-Z0-9_]*['\x22]?\s*[:=]\s*['\x22]?(?P<secret>[^\s'\x22,;\[][^\s'\x22,;]{7,})",
    ),
];

/// Takes secrets out of texts.
pub(crate) struct Redactor {
    forms: Vec<(&'static str, Regex)>,
    home: String,
    found: BTreeMap<&'static str, Found>,
}

/// The secrets of one kind that were taken out.
#[derive(Debug, Default)]
struct Found {
    times: usize,
    /// The first of their places.
    places: Vec<String>,
}

impl Redactor {
    pub(crate) fn new(home: &Path) -> Self {
        let forms = FORMS
            .iter()
            .filter_map(|(name, form)| Some((*name, Regex::new(form).ok()?)));
        Self {
            forms: forms.collect(),
            home: home.display().to_string(),
            found: BTreeMap::new(),
        }
    }

    /// Takes the secrets out of all texts of a value. `place` says for a person where they stand.
    pub(crate) fn clean(&mut self, value: Value, place: &str) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, place)),
            Value::Array(values) => values
                .into_iter()
                .map(|value| self.clean(value, place))
                .collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| (name, self.clean(value, place)));
                Value::Object(fields.collect())
            }
            other => other,
        }
    }

    /// Returns the kinds that were taken out, with their numbers and their places.
    pub(crate) fn list(&self) -> Value {
        let found = self.found.iter();
        found
            .map(
                |(name, found)| json!({"what": name, "times": found.times, "places": found.places}),
            )
            .collect()
    }

    fn text(&mut self, text: String, place: &str) -> String {
        let mut text = if self.home.len() > 1 {
            text.replace(&self.home, "~")
        } else {
            text
        };
        for (name, form) in &self.forms {
            let mut times = 0;
            let replaced = form.replace_all(&text, |found: &regex::Captures<'_>| {
                times += 1;
                let whole = &found[0];
                match found.name("secret") {
                    Some(secret) => whole.replace(secret.as_str(), &mark(name)),
                    None => mark(name),
                }
            });
            if times > 0 {
                text = replaced.into_owned();
                let found = self.found.entry(name).or_default();
                found.times += times;
                let is_new = found.places.last().is_none_or(|last| last != place);
                if is_new && found.places.len() < MOST_PLACES {
                    found.places.push(place.to_owned());
                }
            }
        }
        text
    }
}

fn mark(name: &str) -> String {
    format!("[{name} removed]")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_form_is_a_regular_expression() {
        for (name, form) in FORMS {
            assert!(Regex::new(form).is_ok(), "{name}");
        }
    }

    #[test]
    fn keys_are_taken_out_and_counted_and_words_stay() {
        let mut redactor = Redactor::new(Path::new("/home/ada"));
        let text = "export OPENAI_API_KEY=abcdefgh12345678\nsk-proj-0123456789abcdef\n\
                    Authorization: Bearer abcdef0123456789abcdef\npostgres://ada:hunter2@db/x\n\
                    /home/ada/lamp/src/main.rs takes 3 tokens: one, two";
        assert_eq!(
            redactor.clean(json!([text]), "one: answer"),
            json!([
                "export OPENAI_API_KEY=[value of a variable with a secret name removed]\n\
                 [API key removed]\n\
                 Authorization: Bearer [authorization header removed]\n\
                 postgres://ada:[password in an address removed]@db/x\n\
                 ~/lamp/src/main.rs takes 3 tokens: one, two"
            ])
        );
        let of = |what: &str| json!({"what": what, "times": 1, "places": ["one: answer"]});
        assert_eq!(
            redactor.list(),
            json!([
                of("API key"),
                of("authorization header"),
                of("password in an address"),
                of("value of a variable with a secret name"),
            ])
        );
    }

    /// Secrets as people and programs write them, each between bars. The secrets are put together
    /// here, so that no scanner of this repository takes one for real.
    #[test]
    fn secrets_in_every_common_form_are_taken_out() {
        let long = "4eC39HqLyjWDarjtT1zdp7dc";
        let hex = "0123456789abcdef0123456789abcdef";
        let table = [
            format!("Stripe: |sk_live_{long}|"),
            format!("restricted: |rk_test_{long}|"),
            format!("a hub: |hf_{long}|"),
            format!("a registry: |npm_{long}12345678|"),
            format!("PyPI: |pypi-AgEIcHlwaS5vcmc{long}|"),
            format!("Docker: |dckr_pat_{long}|"),
            "DB_PASS=|hunter22|".to_owned(),
            "DATABASE_PASSWORD=|s3cr3t|".to_owned(),
            "export DB_PWD='|s3cr3t|'".to_owned(),
            format!("PRIVATE_KEY=|0x{hex}|"),
            format!("AWS_SECRET_ACCESS_KEY=|{long}/{long}|"),
            "Cookie: |session=abc123; theme=dark|".to_owned(),
            "curl -u ada:|hunter2| https://example.com".to_owned(),
            "curl -s --user 'ada:|hunter2|' https://example.com".to_owned(),
            format!("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=|{long}{long}==|"),
            format!("https://hooks.slack.com/services/|T00000000/B00000000/{long}|"),
            format!("https://discord.com/api/webhooks/|123456789012345678/{long}|"),
            format!("Telegram 123456789:|AAE{long}{long}|"),
            "deploy --token |abcd1234|".to_owned(),
            "mysql --password=|hunter2|".to_owned(),
            "login --api-key |abcd1234|".to_owned(),
            r#"{"password": "|hunter2|"}"#.to_owned(),
            r"{'client_secret': '|hunter22|'}".to_owned(),
            format!("SendGrid: |SG.{long}.{long}|"),
            format!("Google: |AIza{long}0123456789|"),
            format!("OAuth: |GOCSPX-{long}|"),
            format!("Slack: |xoxb-123456789012-{long}|"),
            "|AKIAIOSFODNN7EXAMPLE|".to_owned(),
            format!("|ghp_{long}0123456789|"),
            format!("|glpat-{long}|"),
            format!("Authorization: Basic |{long}|"),
            "amqp://ada:|hunter2|@queue/x".to_owned(),
        ];
        for line in table {
            let secret = line.split('|').nth(1).unwrap().to_owned();
            let mut redactor = Redactor::new(Path::new("/"));
            let text = line.replace('|', "");
            let clean = redactor.clean(json!(text), "x").to_string();
            let last = secret.rsplit([' ', '=', '/']).next().unwrap();
            let is_left = clean.contains(&secret) || (last.len() > 5 && clean.contains(last));
            assert!(!is_left, "{text} became {clean}");
            assert_eq!(redactor.list().as_array().map(Vec::len), Some(1), "{clean}");
        }
    }

    #[test]
    fn harmless_texts_stay_as_they_are() {
        for text in [
            "3 tokens: three, four and more of them",
            "PWD=/srv/lamp OLDPWD=~/lamp",
            "test result: ok. 12 PASSED=12 passed",
            "the key is in the door, and the password is forgotten",
            "cargo test --token-limit 8000",
            "fn token(&self) -> Token { self.token }",
            "git log --author=ada",
            "at 12:03:04 on 127.0.0.1:41733",
            "https://example.com/a/b?c=d",
            "sha256: 22115ca1002e4afc0dd2cb208f28d9c71a577a8989d4185028e26b29676e7842",
            r#"{"totalTokens": 1234, "tokens": "many"}"#,
            "Cookie policy: we have none",
        ] {
            let mut redactor = Redactor::new(Path::new("/"));
            assert_eq!(redactor.clean(json!(text), "x"), json!(text));
        }
    }
}
