//! Columns of a file of traffic that the import does not want. Some divide the page views among rows,
//! whose counts are then added up; some count something else; any other may repeat each view in
//! several rows, and is refused by its name.

use std::collections::HashMap;
use std::path::Path;

use crate::import::table::plain;
use crate::import::{Error, quote};

/// Columns of sessions and users, each of which has one value: a page view is in one row.
const DIVIDING: [&str; 50] = [
    "browser",
    "browserversion",
    "campaign",
    "channel",
    "city",
    "cityid",
    "continent",
    "continentid",
    "device",
    "devicebrand",
    "devicecategory",
    "devicemodel",
    "firstusercampaign",
    "firstuserdefaultchannelgroup",
    "firstuserdefaultchannelgrouping",
    "firstusermedium",
    "firstusersource",
    "firstusersource/medium",
    "firstusersourcemedium",
    "landingpage",
    "landingpage+querystring",
    "landingpageplusquerystring",
    "language",
    "languagecode",
    "medium",
    "mobiledevicebranding",
    "mobiledevicemodel",
    "new/returning",
    "newvsreturning",
    "operatingsystem",
    "operatingsystemversion",
    "operatingsystemwithversion",
    "osversion",
    "oswithversion",
    "platform",
    "platform/devicecategory",
    "platformdevicecategory",
    "region",
    "screenresolution",
    "sessioncampaign",
    "sessioncampaignname",
    "sessiondefaultchannelgroup",
    "sessiondefaultchannelgrouping",
    "sessionmedium",
    "sessionsource",
    "sessionsource/medium",
    "sessionsourcemedium",
    "source",
    "source/medium",
    "subcontinent",
];

/// Columns that count something else, so that rows do not differ by them.
const COUNTING: [&str; 34] = [
    "activeusers",
    "averageengagementtime",
    "averageengagementtimeperactiveuser",
    "averageengagementtimepersession",
    "averagesessionduration",
    "bouncerate",
    "bounces",
    "conversions",
    "engagedsessions",
    "engagedsessionsperactiveuser",
    "engagedsessionsperuser",
    "engagementrate",
    "entrances",
    "eventcount",
    "eventcountperactiveuser",
    "eventcountperuser",
    "eventspersession",
    "exits",
    "keyevents",
    "newusers",
    "purchaserevenue",
    "returningusers",
    "scrolledusers",
    "sessionkeyeventrate",
    "sessionsperactiveuser",
    "sessionsperuser",
    "totalrevenue",
    "totalusers",
    "userkeyeventrate",
    "users",
    "viewsperactiveuser",
    "viewspersession",
    "viewsperuser",
    "visitors",
];

/// Columns that repeat each view: names, what a row stands for, the way out.
const REPEATING: [(&[&str], &str, &str); 3] = [
    (
        &["segment", "segments", "segmentname"],
        "segment",
        "remove the segments from the exploration",
    ),
    (&["comparison", "comparisons"], "comparison", "remove the comparisons from the report"),
    (&["audience", "audiencename", "audienceid", "cohort"], "group of users", "remove the column"),
];

const DATE_RANGE: &str = "daterange";

/// The places of columns that are not wanted.
#[derive(Debug, Default)]
pub(super) struct OtherColumns {
    /// Rows that differ in these are added up.
    pub dividing: Vec<usize>,
    /// Columns without a name, as totals rows have.
    pub unnamed: Vec<usize>,
    /// The periods of a report on several.
    pub date_range: Option<usize>,
}

impl OtherColumns {
    /// Of the columns at these places, which are all that are neither wanted nor known to count.
    /// `adds_up` are those of which the user says so.
    ///
    /// # Errors
    /// A column that repeats page views, or may.
    pub fn find(
        path: &Path,
        header: &[String],
        places: impl Iterator<Item = usize>,
        adds_up: &[String],
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        for place in places {
            let column = header.get(place).map_or("", String::as_str);
            let known = plain(column);
            let known = known.as_str();
            if let Some((_, of, remedy)) = REPEATING.iter().find(|it| it.0.contains(&known)) {
                let problem = format!(
                    "its column {} repeats page views: a view is in a row of each {of} that it \
                     belongs to; {remedy} and export it again",
                    quote::name(column)
                );
                return Err(Error::file(path, problem));
            }
            if known.is_empty() {
                found.unnamed.push(place);
            } else if known == DATE_RANGE {
                found.date_range = Some(place);
            } else if DIVIDING.contains(&known) || adds_up.iter().any(|it| plain(it) == known) {
                found.dividing.push(place);
            } else if !COUNTING.contains(&known) {
                let column = quote::name(column);
                let problem = format!(
                    "its column {column} is neither wanted nor known to add up: leave it out of \
                     the export, or, if every page view is in one row only, add --adds-up \
                     '{column}'"
                );
                return Err(Error::file(path, problem));
            }
        }
        Ok(found)
    }
}

/// The days of each period of a file that has several: those of a day are in one of them.
#[derive(Debug, Default)]
pub(super) struct DateRanges(HashMap<String, String>);

impl DateRanges {
    /// Takes a row's day and period, as written.
    pub fn take(&mut self, day: &str, range: &str) -> Result<(), String> {
        match self.0.get(day) {
            None => {
                self.0.insert(day.to_owned(), range.to_owned());
                Ok(())
            }
            Some(known) if known == range => Ok(()),
            Some(known) => Err(format!(
                "the periods {} and {} overlap: both have {}, whose page views are repeated; ask \
                 for one period",
                quote::name(known),
                quote::name(range),
                quote::name(day)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(column: &str, adds_up: &[&str]) -> Result<OtherColumns, String> {
        let adds_up: Vec<String> = adds_up.iter().map(|it| (*it).to_owned()).collect();
        OtherColumns::find(Path::new("t.csv"), &[column.to_owned()], 0..1, &adds_up)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn columns_that_may_repeat_views_are_refused_by_name() {
        for (column, remedy) in [
            ("Segment", "remove the segments"),
            ("Comparison", "remove the comparisons"),
            ("Audience name", "remove the column"),
            ("Event name", "--adds-up 'Event name'"),
            ("Page title", "--adds-up 'Page title'"),
        ] {
            let error = find(column, &[]).unwrap_err();
            assert!(error.contains(column) && error.contains(remedy), "{error}");
        }
        assert!(find("Segment", &["Segment"]).is_err());
        assert_eq!(find("Page title", &["page title"]).unwrap().dividing, [0]);
        assert_eq!(find("Device category", &[]).unwrap().dividing, [0]);
        assert_eq!(find("Session source / medium", &[]).unwrap().dividing, [0]);
        assert!(find("Active users", &[]).unwrap().dividing.is_empty());
        assert_eq!(find(" ", &[]).unwrap().unnamed, [0]);
    }

    #[test]
    fn known_columns_are_written_as_they_are_compared() {
        let all = DIVIDING.iter().chain(&COUNTING).chain(REPEATING.iter().flat_map(|it| it.0));
        for name in all {
            assert_eq!(plain(name), *name);
        }
        assert!(DIVIDING.is_sorted() && COUNTING.is_sorted());
    }

    #[test]
    fn periods_may_follow_each_other_and_not_overlap() {
        let mut ranges = DateRanges::default();
        for (day, range) in [("20240301", "one"), ("20240302", "two"), ("20240301", "one")] {
            ranges.take(day, range).unwrap();
        }
        let error = ranges.take("20240302", "one").unwrap_err();
        assert!(error.contains("two and one overlap: both have 20240302"), "{error}");
    }
}
