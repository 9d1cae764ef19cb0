//! A picture, laid out by a library that reads Graphviz's language.

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};

use super::{Error, Graph, dot};

pub(super) fn draw(graph: &Graph) -> Result<String, Error> {
    let written = dot::write(graph, dot::Regions::Labels);
    let mut parser = DotParser::new(&written);
    let read = parser.process().map_err(|reason| Error::Draw {
        lifecycle: graph.name,
        reason,
    })?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&read);
    let mut drawn = SVGWriter::new();
    builder.get().do_it(false, false, false, &mut drawn);
    Ok(drawn.finalize().trim_end().to_owned() + "\n")
}
