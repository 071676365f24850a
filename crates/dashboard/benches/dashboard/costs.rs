//! Costs of filling the database: the totals' room and time, and time and memory of importing the
//! whole reference dataset from plain CSV.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::servers::{Place, peak_megabytes};
use crate::thresholds::Thresholds;

const ROOM: &str = "room for totals";
const TIME: &str = "load time with totals";
const IMPORT_SECONDS: &str = "time of importing the traffic";
const IMPORT_MEMORY: &str = "memory of importing the traffic";

/// The time between two looks at the importing process's memory; the kernel keeps its peak.
const LOOK_UP: Duration = Duration::from_millis(20);

/// Measures all that is judged of filling.
pub fn judge(place: &Place, thresholds: &mut Thresholds) {
    if place.scale < 1.0 {
        for name in [ROOM, TIME, IMPORT_SECONDS, IMPORT_MEMORY] {
            thresholds.leave_out(name, "only the whole reference dataset tells (--scale 1)");
        }
        return;
    }
    totals(place, thresholds);
    imports(place, thresholds);
}

fn totals(place: &Place, thresholds: &mut Thresholds) {
    let (totals, others) = place.room();
    let share = totals / others;
    let verdict = thresholds.judge(ROOM, share <= 0.8);
    println!("totals need {:.0}% more room (at most 80%: {verdict})", share * 100.0);
    let (filled, totals) = place.load_times();
    let times = filled / (filled - totals).max(0.001);
    let verdict = thresholds.judge(TIME, times <= 3.0);
    println!(
        "generated in {filled:.1} s, of which totals {totals:.1} s: {times:.1} times the time \
         without (at most 3: {verdict})"
    );
}

/// Writes the reference dataset as two files of CSV and imports them into a new SQLite file, whose
/// totals are then proved.
fn imports(place: &Place, thresholds: &mut Thresholds) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (articles, traffic) =
        (folder.path().join("articles.csv"), folder.path().join("traffic.csv"));
    write(
        place,
        "SELECT a.uuid, a.url, a.slug, a.title, date(a.published * 86400, 'unixepoch') AS published,
            b.name AS blog, u.name AS author, t.name AS team, p.name AS product,
            l.name AS language, h.name AS human_language,
            coalesce((SELECT o.uuid FROM articles o WHERE o.id = a.original_id), '') AS original
         FROM articles a JOIN blogs b ON b.id = a.blog_id JOIN authors u ON u.id = a.author_id
            JOIN teams t ON t.id = a.team_id JOIN products p ON p.id = a.product_id
            JOIN languages l ON l.id = a.language_id
            JOIN human_languages h ON h.id = a.human_language_id",
        &articles,
    );
    let rows = write(
        place,
        "SELECT date(f.day * 86400, 'unixepoch') AS date, a.url, c.code AS country, f.pageviews,
            f.sessions, f.engagement_seconds
         FROM traffic f CROSS JOIN articles a ON a.id = f.article_id
            CROSS JOIN countries c ON c.id = f.country_id
         ORDER BY f.day",
        &traffic,
    );
    let database = format!("sqlite://{}", folder.path().join("imported.db").display());
    let dashboard = |arguments: &[&str]| {
        let mut command = Command::new(&place.crossover);
        command.arg("dashboard").args(arguments).args(["--database", &database]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let succeeds = |mut command: Command| {
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    succeeds(dashboard(&["init"]));
    succeeds(dashboard(&["import", "articles", articles.to_str().unwrap()]));
    let begin = Instant::now();
    let mut import = dashboard(&["import", "traffic", traffic.to_str().unwrap()]).spawn().unwrap();
    let mut megabytes: f64 = 0.0;
    let status = loop {
        if let Some(status) = import.try_wait().unwrap() {
            break status;
        }
        megabytes = peak_megabytes(import.id()).unwrap_or(0.0).max(megabytes);
        std::thread::sleep(LOOK_UP);
    };
    let seconds = begin.elapsed().as_secs_f64();
    assert!(status.success(), "the import ended with {status}");
    succeeds(dashboard(&["rollup", "verify"]));
    let in_time = thresholds.judge(IMPORT_SECONDS, seconds < 60.0);
    let in_memory = thresholds.judge(IMPORT_MEMORY, megabytes < 300.0);
    println!(
        "{rows} rows of plain CSV imported into SQLite, totals included and then proved, in \
         {seconds:.1} s (under 60: {in_time}) and {megabytes:.0} MB (under 300: {in_memory})"
    );
}

/// Writes the answer of a statement on the reference dataset as CSV; its rows.
fn write(place: &Place, sql: &str, to: &Path) -> usize {
    let connection = place.open();
    let mut statement = connection.prepare(sql).unwrap();
    let mut writer = csv::Writer::from_path(to).unwrap();
    writer.write_record(statement.column_names()).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let (mut count, mut field) = (0, Vec::new());
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            field.clear();
            match row.get_ref(column).unwrap() {
                rusqlite::types::ValueRef::Integer(number) => write!(field, "{number}").unwrap(),
                other => field.extend_from_slice(other.as_bytes().unwrap()),
            }
            writer.write_field(&field).unwrap();
        }
        writer.write_record(None::<&[u8]>).unwrap();
        count += 1;
    }
    writer.flush().unwrap();
    count
}
