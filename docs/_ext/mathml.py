"""Formulas as MathML, which browsers draw by themselves: no script, and nothing is fetched."""

from docutils import nodes
from docutils.utils.math import latex2mathml


def _markup(source, block):
    tree = latex2mathml.tex2mathml(source, as_block=block)
    return tree if isinstance(tree, str) else tree.toprettyxml()


def _inline(visitor, node):
    visitor.body.append(_markup(node.astext(), block=False))
    raise nodes.SkipNode


def _block(visitor, node):
    visitor.body.append(f'<div class="formula">{_markup(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
