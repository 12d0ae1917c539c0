// The plugins that render formulas, loaded with the first formula.
import 'katex/contrib/mhchem' // chemical formulas: \ce and \pu
import 'katex/dist/katex.min.css'
import rehypeKatex from 'rehype-katex'
import remarkMath from 'remark-math'

interface TreeNode {
  tagName?: string
  properties?: Record<string, unknown>
  children?: TreeNode[]
}

function restoreStyle(node: TreeNode): void {
  const { properties, children = [] } = node
  // A name of its own, so that only these of the hundreds of elements of a formula are components.
  const names = properties?.className
  if (Array.isArray(names) && names.includes('katex-display')) node.tagName = 'data'
  if (properties?.dataStyle !== undefined) {
    properties.style = properties.dataStyle
    delete properties.dataStyle
  }
  for (const child of children) restoreStyle(child)
}

/**
 * Restores the sizes and positions of formulas. The content security policy makes the browser refuse the `style` attributes
 * in KaTeX's HTML, so the build renames them to `data-style`; React then sets each as a property.
 */
const rehypeFormulaStyles =
  () =>
  (tree: TreeNode): void =>
    restoreStyle(tree)

/** The remark and rehype plugins, for `react-markdown`. */
export const mathPlugins = { remarkMath, rehypeKatex, rehypeFormulaStyles }
