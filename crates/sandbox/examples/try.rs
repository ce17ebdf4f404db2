use metier_sandbox::*;
fn main() {
    helper();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = std::env::current_dir().unwrap();
    let mut profile = Profile::new(dir);
    profile.environment.push(("PATH".into(), "/usr/bin:/bin".into()));
    let mut setup = Setup::new(std::env::temp_dir());
    setup.bubblewrap = Some("/usr/bin/bwrap".into());
    let mut once = false;
    match args[0].as_str() {
        "ns" => setup.choice = Choice::Only(Tier::Namespaces),
        "bw" => setup.choice = Choice::Only(Tier::Bubblewrap),
        "ll" => setup.choice = Choice::Only(Tier::Landlock),
        "once" => once = true,
        _ => {}
    }
    let n: usize = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let sandbox = Sandbox::new(setup);
    let command = Command::new("/bin/sh").argument("-c").argument(args[1].clone());
    for _ in 0..n {
        let report = if once {
            sandbox.run_once(&profile, &command, None, &mut |_, _| {})
        } else {
            sandbox.run(&profile, &command)
        };
        match report {
            Ok(r) => {
                print!("{}", r.stdout.text());
                eprint!("{}", r.stderr.text());
                println!(
                    "-- {:?} {:?} {:?} denied {:?} outputs {:?} notes {:?}",
                    r.ended, r.usage, r.containment.tier, r.denied, r.outputs.entries, r.containment.notes
                )
            }
            Err(e) => println!("ERR {e}"),
        }
    }
}
