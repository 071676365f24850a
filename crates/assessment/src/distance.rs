//! Distances to PostgreSQL in a try: what the relay adds, and the trials at each.

use std::time::Duration;

use engine::EngineSpec;
use plan::Delay;

use crate::block_time::TimedStatement;
use crate::error::Result;

/// Refuses distances that this machine cannot make, before anything long begins.
pub fn check(delays: &[Delay], say: &dyn Fn(&str)) -> Result<()> {
    let far = delays.iter().map(|delay| delay.duration()).filter(|delay| !delay.is_zero());
    if let Some(shortest) = far.min() {
        lab::run::measure_relay(shortest, say)?;
    }
    Ok(())
}

/// The same statements with a row of times for each server at each distance, which has turns of its own.
/// A statement waits for one round trip.
pub fn multiplied(
    statements: &[TimedStatement],
    engines: &[EngineSpec],
    delays: &[Delay],
) -> Vec<TimedStatement> {
    let delays: Vec<Duration> = delays.iter().map(|delay| delay.duration()).collect();
    let all = statements.iter().map(|one| {
        let mut times = Vec::new();
        for (engine, of_engine) in engines.iter().zip(&one.times) {
            let is_near = delays.is_empty() || engine.source.kind().properties().is_embedded;
            let delays = if is_near { &[Duration::ZERO] } else { delays.as_slice() };
            let far = |delay: &Duration| {
                of_engine.iter().map(|time| time.map(|time| time + *delay)).collect()
            };
            times.extend(delays.iter().map(far));
        }
        TimedStatement { times, ..one.clone() }
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::MeasuredStatement;

    #[test]
    fn a_server_takes_its_time_at_each_distance() {
        let ms = |ms: u64| Some(Duration::from_millis(ms));
        let statement = TimedStatement {
            statement: MeasuredStatement::default(),
            times: vec![vec![ms(3), ms(2)], vec![ms(1), None]],
            steps: vec![true, true],
        };
        let engines = ["sqlite", "postgres:18"].map(|name| name.parse().unwrap());
        let delays = ["0", "5ms"].map(|delay| delay.parse().unwrap());
        let statements = [statement];
        let far = multiplied(&statements, &engines, &delays);
        assert_eq!(far[0].times, [[ms(3), ms(2)], [ms(1), None], [ms(6), None]]);
        let near = multiplied(&statements, &engines, &[]);
        assert_eq!(near[0].times, statements[0].times);
    }
}
