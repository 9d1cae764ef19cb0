//! The keeper of a promise has no such state, or does nothing in it, or has no lifecycle at all.

mod misspelt {
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
            starts claimed by Keeper in Serving | Raedy: service == Current && !started sets { started = true };
        }
    }
}

mod idle {
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
            starts claimed by Keeper in Elsewhere: service == Current && !started sets { started = true };
        }
    }
}

mod nobody {
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
            starts claimed by ConfigMap in Ready: service == Current && !started sets { started = true };
        }
    }
}

fn main() {}
