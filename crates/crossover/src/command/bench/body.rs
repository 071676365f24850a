//! Bodies of requests on the command line: texts, or files that hold them.

use std::path::Path;

use plan::Request;

/// Characters of bodies that names of files hardly have.
const OF_TEXTS: [char; 8] = ['{', '[', '"', '=', '<', '&', '\n', ' '];
/// Methods whose requests have a body.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// The content of the file of this name, otherwise the text itself.
pub fn read(text: &str) -> Result<String, String> {
    let path = Path::new(text);
    if path.is_file() {
        return std::fs::read_to_string(path).map_err(|error| format!("{text}: {error}"));
    }
    let is_name = !text.contains(OF_TEXTS) && text.contains(['/', '.']);
    match is_name {
        true => Err(format!(
            "there is no file {text}; name one, or write the text, such as '{{\"n\": 1}}'"
        )),
        false => Ok(text.to_owned()),
    }
}

/// Gives the requests that send something their bodies: each its own, or all of them one.
pub fn fill(requests: &mut [Request], bodies: &[String]) -> Result<(), String> {
    if bodies.is_empty() {
        return Ok(());
    }
    let with_body = |request: &&mut Request| WITH_BODY.contains(&request.method.as_str());
    let mut sending: Vec<&mut Request> = requests.iter_mut().filter(with_body).collect();
    let (given, wanted) = (bodies.len(), sending.len());
    if wanted == 0 {
        let text = "--body belongs to a request that sends something: --request 'POST /orders'";
        return Err(text.to_owned());
    }
    if given != 1 && given != wanted {
        return Err(format!(
            "{given} bodies for {} of POST, PUT or PATCH: give one for each in their order, or one \
             for all",
            notation::counted(wanted, "--request")
        ));
    }
    for (request, body) in sending.iter_mut().zip(bodies.iter().cycle()) {
        if !request.headers.contains("Content-Type") {
            let is_json = serde_json::from_str::<serde_json::Value>(body).is_ok();
            let form = "application/x-www-form-urlencoded";
            let kind = if is_json { "application/json" } else { form };
            request.headers.add("Content-Type".to_owned(), kind.to_owned());
        }
        request.body.clone_from(body);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(texts: &[&str]) -> Vec<Request> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn filled(texts: &[&str], bodies: &[&str]) -> Result<Vec<Request>, String> {
        let bodies: Result<Vec<String>, String> = bodies.iter().map(|body| read(body)).collect();
        let mut requests = requests(texts);
        fill(&mut requests, &bodies?).map(|()| requests)
    }

    #[test]
    fn bodies_go_to_the_requests_that_send_something() {
        let two = ["POST /a", "/b", "PUT /c 3"];
        let all = filled(&two, &["{\"n\": 1}", "n=2"]).unwrap();
        let bodies: Vec<&str> = all.iter().map(|one| one.body.as_str()).collect();
        assert_eq!(bodies, ["{\"n\": 1}", "", "n=2"]);
        let kinds: Vec<_> = all.iter().map(|one| one.headers.iter().next()).collect();
        let kind = |kind| Some(("Content-Type", kind));
        let form = kind("application/x-www-form-urlencoded");
        assert_eq!(kinds, [kind("application/json"), None, form]);
        let all = filled(&two, &["x"]).unwrap();
        assert_eq!((all[0].body.as_str(), all[2].body.as_str()), ("x", "x"));
    }

    #[test]
    fn a_file_is_read_and_one_that_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("order.json");
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(read(path.to_str().unwrap()), Ok("{}".to_owned()));
        let said = read(folder.path().join("oder.json").to_str().unwrap()).unwrap_err();
        assert!(said.starts_with("there is no file "), "{said}");
        let said = filled(&["/a"], &["x"]).unwrap_err();
        assert!(said.contains("--request 'POST /orders'"), "{said}");
        let said = filled(&["POST /a"], &["x", "y"]).unwrap_err();
        assert!(said.starts_with("2 bodies for 1 --request of POST"), "{said}");
    }
}
