//! Shell texts and the commands read from them, written short.

use super::*;

fn read(text: &str) -> Commands {
    commands(text, &Limits::default()).unwrap()
}

/// Each command with its words (`?` for one that is not static), redirections, inputs, and what it is piped from.
fn show(text: &str) -> String {
    let commands = read(text);
    let value = |word: &Word| word.value.as_ref().map_or("?".to_owned(), |value| value.escape_debug().to_string());
    let mut shown = Vec::new();
    for command in &commands.simple {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(command.assignments.iter().map(|given| format!("{}:={}", given.name, value(&given.value))));
        parts.extend(command.words.iter().map(value));
        for redirection in &command.redirections {
            let target = redirection.target.as_ref().map_or(String::new(), value);
            let descriptor = redirection.descriptor.map_or(String::new(), |number| number.to_string());
            parts.push(format!("[{descriptor}{:?} {target}]", redirection.operator));
        }
        for input in &command.inputs {
            parts.push(format!("<{}>", input.text().map_or("?".to_owned(), |text| text.escape_debug().to_string())));
        }
        parts.extend(command.piped_from.map(|from| format!("|{from}")));
        parts.extend(command.script_of.map(|from| format!("@{from}")));
        shown.push(parts.join(" "));
    }
    if commands.opaque {
        shown.push("OPAQUE".to_owned());
    }
    shown.join(" ; ")
}

fn check(table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let found = show(text);
        if found != *expected {
            wrong.push(format!("{text}\n  expected {expected}\n  found    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn words_have_their_quotes_and_escapes_removed() {
    check(&[
        ("git init", "git init"),
        (r#"echo 'a b'"c \" \$ d"\e\ f"#, r#"echo a bc \" $ de f"#),
        ("\"gi\"\\t in\\\nit", "git init"),
        ("A=\"x\"\\y ls > \"b\"\\c", "A:=xy ls [Write bc]"),
        (r"echo $'a\tb\x41\101\u00e9\''", r"echo a\tbAAé\'"),
        ("g''it \"in\"it", "git init"),
        ("'git' \\init", "git init"),
        ("/usr/bin/git init", "/usr/bin/git init"),
        ("echo $x \"a$y\" $(ls) `ls` ${z} $((1)) '$x' \"\\$x\" a$", "echo ? ? ? ? ? ? $x $x a$ ; ls ; ls"),
        ("echo *.py a?b [x] ~/x {a,b} {1..3} '*' \"?\" \\*", "echo ? ? ? ? ? ? * ? *"),
        ("echo \"multi\nline\" a\\\nb", "echo multi\\nline ab"),
        ("echo 1 -n --x=y a=b", "echo 1 -n --x=y a=b"),
        ("git commit -m 'rm -rf / > x'", "git commit -m rm -rf / > x"),
        ("ls # rm -rf x", "ls"),
    ]);
}

#[test]
fn redirections_belong_to_their_command() {
    check(&[
        ("echo bad > a.txt", "echo bad [Write a.txt]"),
        ("> a.txt echo bad 2>&1", "echo bad [Write a.txt] [2DuplicateOutput 1]"),
        ("echo a && echo b >> c", "echo a ; echo b [Append c]"),
        ("echo a | tee b > c", "echo a ; tee b [Write c] |0"),
        ("! echo a >| b", "echo a [Clobber b]"),
        ("ls &> a &>> b", "ls [WriteBoth a] [AppendBoth b]"),
        ("cat > out in", "cat in [Write out]"),
        ("> empty", "[Write empty]"),
        ("(echo a; echo b) > c", "echo a ; echo b ; [Write c]"),
        ("{ echo a; } > c", "echo a ; [Write c]"),
        ("if a; then b; fi > c", "a ; b ; [Write c]"),
        ("while read x; do echo y; done < in > out", "read x ; echo y ; [Read in] [Write out]"),
        ("f() { ls; } > log", "ls ; [Write log]"),
        ("echo a > \"$x\" 2> 'a b'", "echo a [Write ?] [2Write a b]"),
        ("exec 3>&-", "exec [3Close ]"),
    ]);
}

#[test]
fn every_place_where_a_command_stands_is_walked() {
    check(&[
        ("a; b & c || d && e", "a ; b ; c ; d ; e"),
        ("a | b |& c", "a ; b |0 ; c |1"),
        ("a | (b; c) | d", "a ; b |0 ; c |0 ; d |2"),
        ("if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e"),
        ("for x in $(a); do b $x; done", "a ; b ?"),
        ("while a; do b; done; until c; do d; done", "a ; b ; c ; d"),
        ("case $(a) in x) b;; y) c;; esac", "a ; b ; c"),
        ("function f { a; }; g() { b; }", "a ; b"),
        ("x=$(a) b \"$(c `d`)\"", "x:=? b ? ; a ; c ? ; d"),
        ("diff <(a) >(b)", "diff ? ? ; a ; b"),
        ("x=1 y='a b'", "x:=1 y:=a b"),
        ("export A=1 B=\"$(a)\"", "export A=1 ? ; a"),
        ("[[ -n $(a) ]] && [ -f $(b) ]", "a ; b"),
        ("cat <<EOF\n$(a)\nEOF", "cat <?> ; a"),
        ("echo ${x:-$(a)}", "echo ? ; a"),
    ]);
}

#[test]
fn heredocs_are_read_line_by_line() {
    check(&[
        ("cat > a.py <<'EOF'\nbad $x\nEOF", "cat [Write a.py] <bad $x\\n>"),
        ("cat <<'EOF' > a.py\n  indented\n\n\ttab\nEOF\nls", "cat [Write a.py] <  indented\\n\\n\\ttab\\n> ; ls"),
        ("cat <<\"E F\" >> x\na\nE F", "cat [Append x] <a\\n>"),
        ("cat <<\\EOF\n$x\nEOF", "cat <$x\\n>"),
        ("cat <<EOF\nplain \\$x \\a\nEOF", "cat <plain $x \\\\a\\n>"),
        ("cat <<EOF\n$x\nEOF", "cat <?>"),
        ("cat <<-'EOF'\n\t\ta\n\t b\n\tEOF", "cat <a\\n b\\n>"),
        ("cat <<EOF\nEOF", "cat <>"),
        ("cat <<'EOF' && ls\n EOF\nEOF \nEOF", "cat < EOF\\nEOF \\n> ; ls"),
        ("cat <<'E'\nE x\nEE\n  E\nE\nls", "cat <E x\\nEE\\n  E\\n> ; ls"),
        ("cat <<< 'a b'", "cat <a b\\n>"),
        ("cat <<< $x > y", "cat [Write y] <?>"),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF",
            "apply_patch <*** Begin Patch\\n*** End Patch\\n>",
        ),
        ("cat <<EOF | apply_patch\nx\nEOF", "cat <x\\n> ; apply_patch |0"),
        ("cat <<EOF | (cd x && apply_patch)\nx\nEOF", "cat <x\\n> ; cd x |0 ; apply_patch |0"),
        ("cd x && apply_patch <<'EOF'\nx\nEOF", "cd x ; apply_patch <x\\n>"),
        ("(cat) <<EOF\nx\nEOF", "cat ; <x\\n>"),
    ]);
}

#[test]
fn scripts_within_commands_are_read() {
    check(&[
        ("bash -c 'echo bad > a.txt'", "bash -c echo bad > a.txt ; echo bad [Write a.txt] @0"),
        ("/bin/sh -euxc \"git init\" x", "/bin/sh -euxc git init x ; git init @0"),
        ("bash -o pipefail -c 'a | b'", "bash -o pipefail -c a | b ; a @0 ; b |1 @0"),
        ("eval git 'init x'", "eval git init x ; git init x @0"),
        ("sh -c 'sh -c \"a\"' && b", "sh -c sh -c \\\"a\\\" ; sh -c a @0 ; a @1 ; b"),
        ("bash <<'EOF'\nrm x\nEOF", "bash <rm x\\n> ; rm x @0"),
        ("bash <<< 'rm x'", "bash <rm x\\n> ; rm x @0"),
        ("echo a | cat | b; sh -c 'c'; d | e", "echo a ; cat |0 ; b |1 ; sh -c c ; c @3 ; d ; e |5"),
        ("bash script.sh -c x", "bash script.sh -c x"),
        ("bash -c \"$x\"", "bash -c ? ; OPAQUE"),
        ("eval \"rm $x\"", "eval ? ; OPAQUE"),
        ("curl x | sh", "curl x ; sh |0 ; OPAQUE"),
        ("cat <<'EOF' | sh\nrm x\nEOF", "cat <rm x\\n> ; sh |0 ; rm x @1"),
    ]);
}

#[test]
fn what_cannot_be_read_is_opaque() {
    for text in ["$x y", "\"$(a)\" b", "echo \"unterminated", "if then", "cat <<EOF\nx", "a )", "{ a"] {
        assert!(read(text).opaque, "{text}");
    }
    for text in ["", "# only", "ls $x", "git commit -m \"$(date)\"", "x=$y", "\n\n"] {
        assert!(!read(text).opaque, "{text}");
    }
    let mut nested = "a".to_owned();
    for _ in 0..=DEEPEST_SCRIPT {
        nested = format!("eval {nested}");
    }
    assert!(read(&nested).opaque);
}

#[test]
fn standard_input_is_followed_to_its_text() {
    let table = [
        ("apply_patch <<'EOF'\nx\nEOF", 0, Some("x\n")),
        ("cat <<'EOF' | apply_patch\nx\nEOF", 1, Some("x\n")),
        ("cat - <<'EOF' | cat | apply_patch\nx\nEOF", 2, Some("x\n")),
        ("bash -c apply_patch <<'EOF'\nx\nEOF", 1, Some("x\n")),
        ("cat <<'EOF' | bash -c 'cd y && apply_patch'\nx\nEOF", 3, Some("x\n")),
        ("bash -c \"apply_patch <<'EOF'\nx\nEOF\"", 1, Some("x\n")),
        ("cat file | apply_patch", 1, None),
        ("sed s/a/b/ <<'EOF' | apply_patch\nx\nEOF", 1, None),
        ("apply_patch < file", 0, None),
        ("cat <<EOF | apply_patch\n$x\nEOF", 1, None),
        ("bash <<'EOF'\napply_patch\nEOF", 1, None),
    ];
    for (text, index, expected) in table {
        let found = read(text).stdin(index);
        let expected = expected.map_or(Stdin::Unknown, |text| Stdin::Static(text.to_owned()));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn redirections_say_which_file_they_write() {
    let table = [
        ("a > x", Some(Some("x"))),
        ("a >& x", Some(Some("x"))),
        ("a 2>&1", None),
        ("a < x", None),
        ("a > $x", Some(None)),
    ];
    for (text, expected) in table {
        let commands = read(text);
        assert_eq!(commands.simple[0].redirections[0].writes(), expected, "{text}");
    }
}
