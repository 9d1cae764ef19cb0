//! Under which names an operator writes and reports: field managers, finalizer, events. Knows no objects.

/// Under which names a lifecycle writes and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    /// Field manager of owned objects. For `shared` and `part`, several objects contribute, so the
    /// object's uid is appended.
    pub manager: String,
    /// Field manager of statuses.
    pub status_manager: String,
    /// Field managers of a replaced operator. Their fields count as ours.
    pub replaced: Vec<String>,
    /// The finalizer of lifecycles that hold something.
    pub finalizer: String,
    /// Prefix of the annotation keys that hold records; a dot and the record's name follow.
    pub records: String,
    /// `reportingController` of events.
    pub reporter: String,
    /// `action` of events.
    pub action: String,
}

/// Field managers have at most this many characters.
const LONGEST_MANAGER: usize = 128;

impl Naming {
    /// The names of a lifecycle of an operator: `example.com/bucket` for all.
    pub fn new(operator: &str, lifecycle: &str) -> Self {
        let name = format!("{operator}/{}", lifecycle.to_lowercase());
        Self {
            manager: name.clone(),
            status_manager: name.clone(),
            replaced: Vec::new(),
            finalizer: name.clone(),
            records: name.clone(),
            reporter: name,
            action: "Reconcile".to_owned(),
        }
    }

    /// The annotation that holds a record.
    pub(crate) fn annotation(&self, record: &str) -> String {
        format!("{}.{record}", self.records)
    }

    /// The manager of one contributing object.
    pub(crate) fn manager_of(&self, uid: &str) -> String {
        let room = LONGEST_MANAGER.saturating_sub(uid.len() + 1);
        let stem: String = self.manager.chars().take(room).collect();
        format!("{stem}-{uid}")
    }
}
