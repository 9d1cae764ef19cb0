//! The lifecycle that keeps a promise has kept it in any of its states, except in those of another controller. This includes states where somebody must act.

mod error {
    use lifecycle_runtime::lifecycle;
    use lifecycle_ui::*;

    lifecycle! {
        resource Thing;

        observe {
            service: owned Service by name meta.name;
        }
        facts {
            started: bool from service given service == Current else false;
        }
        states {
            Taken when service == Foreign => Error wakes service, self;
            Leaving when service == Terminating => Pending;
            Making when service in { Absent, Stale } => Pending;
            Starting when !started => Pending;
            goal Ready when started => Ready;
        }
        effects {
            apply service;
        }
        promises {
            starts claimed by Keeper in NoClass | Ready: service == Current && !started sets { started = true };
        }
    }
}

mod by_path {
    use lifecycle_runtime::lifecycle;
    use lifecycle_ui::*;

    lifecycle! {
        resource Thing;

        observe {
            service: owned Service by name meta.name;
        }
        facts {
            started: bool from service given service == Current else false;
        }
        states {
            Taken when service == Foreign => Error wakes service, self;
            Leaving when service == Terminating => Pending;
            Making when service in { Absent, Stale } => Pending;
            Starting when !started => Pending;
            goal Ready when started => Ready;
        }
        effects {
            apply service;
        }
        promises {
            starts claimed by lifecycle_ui::Keeper in Serving: service == Current && !started sets { started = true };
        }
    }
}

fn main() {}
