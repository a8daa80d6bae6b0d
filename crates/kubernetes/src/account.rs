//! The service account, as far as its token tells.

use std::fs;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// How users that are service accounts are named: this, the namespace, a colon, the name.
const PREFIX: &str = "system:serviceaccount:";

/// The token in a file.
pub(crate) fn token(path: &Path) -> io::Result<String> {
    // A line break at the end makes no valid header.
    fs::read_to_string(path).map(|text| text.trim().into())
}

/// How to call the user whom the API names in its `message`, or else the one of the `token`.
pub(crate) fn title(message: &str, token: Option<&str>) -> String {
    let user = quoted_user(message)
        .map(String::from)
        .or_else(|| token.and_then(subject));
    match user {
        Some(user) => match user
            .strip_prefix(PREFIX)
            .map(|rest| rest.replacen(':', "/", 1))
        {
            Some(account) => format!("service account {account}"),
            None => format!("user {user}"),
        },
        None => "the service account".into(),
    }
}

/// The API says: `pods is forbidden: User "system:serviceaccount:prod:redis" cannot list ...`
fn quoted_user(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("User \"")?;
    let (user, _) = rest.split_once('"')?;
    Some(user)
}

/// Whom a token, which nobody has verified here, was made for.
fn subject(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Claims {
        sub: String,
    }
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    Some(claims.sub)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_that_the_api_names_comes_first() {
        let message = "pods is forbidden: User \"system:serviceaccount:prod:redis\" cannot list \
                       resource \"pods\" in API group \"\" in the namespace \"prod\"";
        assert_eq!(title(message, None), "service account prod/redis");
        assert_eq!(title("User \"jane\" cannot list", None), "user jane");
    }

    #[test]
    fn else_the_token_tells() {
        let token = |payload: &str| format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(payload));
        let redis = token(r#"{"sub":"system:serviceaccount:prod:redis","exp":1}"#);
        assert_eq!(
            title("Unauthorized", Some(&redis)),
            "service account prod/redis"
        );
        for useless in ["", "opaque", "a.b.c", &token("[]"), &token("{}")] {
            assert_eq!(title("Unauthorized", Some(useless)), "the service account");
        }
    }
}
