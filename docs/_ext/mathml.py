"""Formulas as MathML, which browsers draw by themselves: no script, and nothing is fetched."""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def _markup(node, block):
    try:
        return latex2mathml.tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        LOGGER.warning("%s in the formula %r", error, node.astext(), location=node)
        return ""


def _inline(visitor, node):
    visitor.body.append(_markup(node, block=False))
    raise nodes.SkipNode


def _block(visitor, node):
    visitor.body.append(f'<div class="formula">{_markup(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
