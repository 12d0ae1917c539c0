// The plugins that draw formulas; loaded with the first formula.
import 'katex/dist/katex.min.css'
import rehypeKatex from 'rehype-katex'
import remarkMath from 'remark-math'

interface TreeNode {
  properties?: Record<string, unknown>
  children?: TreeNode[]
}

function restoreStyle({ properties, children = [] }: TreeNode): void {
  if (properties?.dataStyle !== undefined) {
    properties.style = properties.dataStyle
    delete properties.dataStyle
  }
  for (const child of children) restoreStyle(child)
}

/**
 * Gives formulas their sizes and positions back. The browser refuses `style` attributes in the HTML that KaTeX writes, because
 * of the content security policy, so the build has them parsed under another name; React then sets each as a property.
 */
const rehypeFormulaStyles =
  () =>
  (tree: TreeNode): void =>
    restoreStyle(tree)

export const mathPlugins = { remarkMath, rehypeKatex, rehypeFormulaStyles }
