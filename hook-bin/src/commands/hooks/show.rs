//! `ruleline hooks show`: the review of a project's hooks, every file whole.
//!
//! With `--json`: `{"version", "root", "standing", "says", "digest", "text", "remarks": [{"path", "line", "text"}]}`. The
//! bytes are read once; what is said of their trust is asked afterwards and names its own digest.

use hooks::review::review;
use hooks::standing::Standing;
use hooks::{Tree, TreeDigest};
use serde_json::{Value, json};

use super::{Arguments, Place, Refusal, Said, json_head, no_hooks, shown, with};

/// Shows the hooks of the root that is meant.
pub fn show(place: &Place, arguments: &Arguments) -> Result<Said, Refusal> {
    let root = place.root();
    let tree = Tree::read(&root);
    let tree = tree.map_err(|refused| format!("the hooks in {} cannot be read whole: {refused}", shown(&root)))?;
    let standing = Standing::read(&place.store, &root);
    let Some(tree) = tree else {
        let value = || with(json!({"version": 1, "text": null, "remarks": []}), json_head(&root, &standing));
        return Ok(Said::in_form(arguments, 1, || no_hooks(&root), value));
    };
    let review = review(&root, &tree);
    let text = || {
        let trusted = matches!(&standing, Standing::Trusted { grant } if grant.digest == tree.digest);
        format!("{}{}", review.text, if trusted { "These bytes are trusted.\n" } else { "" })
    };
    let remark =
        |remark: &hooks::review::Remark| json!({"path": remark.path, "line": remark.line, "text": remark.text});
    let value = || {
        let remarks: Vec<Value> = review.remarks.iter().map(remark).collect();
        let own = json!({
            "version": 1, "digest": TreeDigest::hex(&tree.digest), "text": review.text, "remarks": remarks,
        });
        with(json_head(&root, &standing), own)
    };
    Ok(Said::in_form(arguments, 0, text, value))
}
