//! An object in a namespace owns one without, and an object without a namespace calls one in a namespace by its name.

mod owner {
    use lifecycle_runtime::lifecycle;
    use lifecycle_ui::*;

    lifecycle! {
        resource Thing;

        observe {
            disk: owned PersistentVolume by name meta.name;
        }
        states {
            Taken when disk == Foreign => Error wakes disk;
            Draining when disk == Terminating => Pending;
            Busy when disk != Current => Pending;
            goal Ready when disk == Current => Ready;
        }
        effects {
            apply disk;
        }
    }
}

mod name {
    use lifecycle_runtime::lifecycle;
    use lifecycle_ui::*;

    lifecycle! {
        resource Place;

        observe {
            class: ConfigMap by name meta.name;
        }
        states {
            NoClass when !class => Error wakes class;
            goal Ready when class => Ready;
        }
    }
}

fn main() {}
