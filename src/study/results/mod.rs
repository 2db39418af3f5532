//! Results that are computed from the records: the summary, tables and comparisons. They can be made again at any time from
//! the folder alone.

pub(in crate::study) mod bounds;
pub(in crate::study) mod columns;
pub(in crate::study) mod comparable;
pub(in crate::study) mod compare;
pub(in crate::study) mod branch_comparison;
pub(in crate::study) mod gather;
pub(in crate::study) mod holm;
pub(in crate::study) mod integrity;
pub(in crate::study) mod ledger;
pub(in crate::study) mod ledger_table;
#[cfg(feature = "parquet")]
pub(in crate::study) mod parquet;
pub(in crate::study) mod persons;
pub(in crate::study) mod group_metric;
pub(in crate::study) mod metric;
pub(in crate::study) mod points;
pub(in crate::study) mod power;
pub(in crate::study) mod privacy_report;
pub(in crate::study) mod privacy_table;
pub(in crate::study) mod published;
pub(in crate::study) mod rounds;
pub(in crate::study) mod rows;
pub(in crate::study) mod series;
mod outcome_sums;
mod series_sums;
mod estimator;
mod results_table;
pub(in crate::study) mod statistics;
pub(in crate::study) mod summary;
pub(in crate::study) mod summary_table;
pub(in crate::study) mod table;
pub(in crate::study) mod tables;
