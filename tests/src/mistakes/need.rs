//! Requirements on a lifecycle for it to show a seeded bug.

use lifecycle_runtime::machine::ir::{Effect, FieldOf, Lifecycle, Mode, Node, Verb};

use super::declared;

/// Something that a lifecycle has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    Object,
    SharedValue,
    TwoBuilders,
    Held,
    HeldInSeveralWays,
    Undo,
    Creation,
    UndoByCall,
    Condition,
    Permission,
    Deletion,
    Watched,
    Field,
    Retired,
}

impl Need {
    pub(super) fn is_met(self, ir: &Lifecycle) -> bool {
        let any = |is: &dyn Fn(&Effect) -> bool| ir.effects.iter().any(is);
        match self {
            Self::Nothing => true,
            // A record is no object.
            Self::Object => any(&|effect| {
                effect.verb == Verb::Apply && ir.inputs[effect.target].mode != Mode::Record
            }),
            Self::SharedValue => ir.order.iter().any(|node| matches!(node, Node::Value(_))),
            Self::TwoBuilders => any(&|effect| {
                effect.verb == Verb::Apply && declared::last_like(ir, effect) != effect.name
            }),
            Self::Held => ir.vars.iter().any(|var| var.free.is_some()),
            Self::HeldInSeveralWays => ir.vars.iter().any(declared::has_more_to_free),
            Self::Undo => any(&|effect| effect.undo.is_some()),
            Self::Creation => any(&|effect| effect.verb == Verb::Create),
            Self::UndoByCall => any(&|effect| effect.is_undo && effect.verb == Verb::Call),
            Self::Condition => !ir.conditions.is_empty(),
            Self::Permission => any(&|effect| !effect.is_undo && effect.when.is_some()),
            Self::Deletion => any(&|effect| effect.verb == Verb::Delete),
            Self::Watched => ir.inputs.iter().any(|input| input.mode == Mode::Watched),
            Self::Retired => ir.retires(),
            Self::Field => {
                let mut fields = ir.fields.iter();
                fields.any(|field| matches!(field.what, FieldOf::Method { .. }))
            }
        }
    }

    /// Returns the description of a lifecycle without this feature.
    pub(super) fn absence(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Object => "no object is written",
            Self::SharedValue => "no shared value",
            Self::TwoBuilders => "no two effects build one object",
            Self::Held | Self::HeldInSeveralWays => "nothing is held",
            Self::Undo | Self::UndoByCall => "nothing is given back",
            Self::Creation => "nothing is created once",
            Self::Condition => "no condition",
            Self::Permission => "no permission",
            Self::Deletion => "nothing is deleted",
            Self::Watched => "nothing is only watched",
            Self::Field => "no field of the author",
            Self::Retired => "nothing is retired",
        }
    }
}
