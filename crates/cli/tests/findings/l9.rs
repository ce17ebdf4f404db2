//! L9: `WebFetch` leaves out text that a reader would not see.

use crate::binary::{metier, workspace};
use crate::model_server::{ModelServer, Says};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

/// A page with text that nobody sees, each piece in another way.
const PAGE: &str =
    "<!doctype html><html><head><title>T</title><style>.q{display:none} #off{left:-9999px} .w{color:#fff}
</style></head><body><p>seen before</p>
<p style='opacity:0'>BURIED-1</p>
<p style='position:absolute; left:-9999px'>BURIED-2</p>
<p style='color:#fff'>BURIED-3</p>
<p style='color: rgb(255,255,255); background: white'>BURIED-4</p>
<p class='a q'>BURIED-5</p>
<p id=off>BURIED-6</p>
<p class=w>BURIED-7</p>
<p style='font-size:1px'>BURIED-8</p>
<p style='text-indent:-9999px'>BURIED-9</p>
<p style='width:0;height:0;overflow:hidden'>BURIED-10</p>
<p style='clip:rect(0 0 0 0)'>BURIED-11</p>
<p hidden>BURIED-12</p><template>BURIED-13</template><noscript>BURIED-14</noscript><!-- BURIED-15 -->
<p style='transform:scale(0)'>BURIED-16</p>
<img width=1 height=1 alt='BURIED-17'>
<p>seen\u{200b}\u{e0042}\u{e0055} after</p></body></html>";

#[test]
fn hidden_text_of_a_page_does_not_reach_the_model() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n";
            let _ = (&stream).write_all(format!("{head}{PAGE}").as_bytes());
        }
    });
    let url = format!("http://127.0.0.1:{port}/");
    let model =
        ModelServer::saying(vec![Says::Calls("WebFetch", json!({ "url": url })), Says::Words("done")]);
    let workspace = workspace().file("home/.config/metier/config.toml", model.config());
    let rule = format!("WebFetch(domain:127.0.0.1:{port})");
    let run = metier(&workspace, &["run", "--no-input", "--allow", &rule, "read the page"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    model.request();
    let told = model.request().to_string();
    // The control: the page came.
    assert!(told.contains("seen before") && told.contains("after"), "{told}");
    assert!(!told.contains("BURIED"), "{told}");
    assert!(!told.contains('\u{e0042}') && !told.contains("\\udb40"), "{told}");
    assert!(told.contains("left out: the page hides it"), "{told}");
    assert!(told.contains("invisible characters were left out"), "{told}");
}
