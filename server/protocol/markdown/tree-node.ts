// The nodes of Markdown and HTML trees.

/** A place in the source; `offset` in UTF-16 units from its beginning. */
type Point = { offset?: number | undefined }

/** A node of a Markdown or HTML tree, as far as these plugins look at it. */
export type TreeNode = {
  type: string
  value?: string
  url?: string
  /** The words for an image. */
  alt?: string | null | undefined
  /** Where it is in the source; a parser's extensions leave it out. */
  position?: { start: Point; end: Point } | undefined
  tagName?: string
  children?: TreeNode[]
  properties?: Record<string, unknown>
  /** For the translation to HTML: `hName` and `hProperties` of the element that the node becomes. */
  data?: object | undefined
}
