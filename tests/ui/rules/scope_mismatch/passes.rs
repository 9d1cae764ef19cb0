//! The owner of what has no namespace has none either, and a reference says in which namespace an object is.

mod owner {
    use lifecycle_runtime::lifecycle;
    use lifecycle_ui::*;

    lifecycle! {
        resource Thing;

        observe {
            node: Node by name spec.class;
            disk: owned PersistentVolume of node by name meta.name;
        }
        states {
            NoNode when !node => Error wakes node;
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
            class: ConfigMap by ref;
            parts: owned [Secret] by labels { NAME = meta.name };
        }
        states {
            NoClass when !class => Error wakes class;
            Taken when parts == Foreign => Error wakes parts;
            Busy when parts != Current => Pending;
            goal Ready when parts == Current => Ready;
        }
        effects {
            apply each parts;
            delete each parts;
        }
    }
}

fn main() {}
