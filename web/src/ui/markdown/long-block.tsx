// Draws a table, a long list or a long paragraph piece by piece: while it grows, only its last piece is parsed and drawn again.
import { Fragment, type ReactNode } from 'react'
import type { FootnoteNumbers } from '../../../../server/protocol/markdown/footnote-numbers.ts'
import {
  type LinkDefinitions,
  withDefinitions,
} from '../../../../server/protocol/markdown/link-definitions.ts'
import type { TreeNode } from '../../../../server/protocol/markdown/tree-node.ts'
import { numbersIn } from './footnotes.tsx'
import { drawMarkdown, type MarkdownSource, useSurroundings } from './markdown-block.tsx'
import type { Piece, Pieces } from './split-pieces.ts'
import { TableFrame } from './table-frame.tsx'
import { useGrown } from './use-grown.ts'

const childNamed = (node: TreeNode | undefined, name: string): TreeNode | undefined =>
  node?.children?.find(({ tagName }) => tagName === name)

/** The element around all pieces, as a piece shows it. */
interface Around {
  dir?: string | undefined
  /** The number of the first item of a list, unless it is 1. */
  start?: number | undefined
  /** Whether items of a list are tasks. */
  hasTasks?: boolean
}

/** A piece as it was last drawn, and from what. */
interface Drawn {
  lead: string
  source: MarkdownSource
  content: ReactNode
  around: Around
  /** Whether it is nothing but what the pieces of such a block are. */
  isPiece: boolean
}

/** Draws the content of a paragraph, without what was put before its text. */
function drawContent(source: MarkdownSource, lead: string): Drawn {
  const content = drawMarkdown(source, () => (tree) => {
    const children = childNamed(tree, 'p')?.children ?? []
    const [first] = children
    if (first?.type === 'text') first.value = (first.value ?? '').slice(lead.length)
    tree.children = children
  })
  return { lead, source, content, around: {}, isPiece: true }
}

/** Draws the head of a table, or its rows. */
function drawRows(source: MarkdownSource, part: 'thead' | 'tbody'): Drawn {
  let dir: string | undefined
  const content = drawMarkdown(source, () => (tree) => {
    const table = childNamed(tree, 'table')
    const direction = table?.properties?.dir
    dir = typeof direction === 'string' ? direction : undefined
    const found = childNamed(table, part)
    if (part === 'tbody')
      tree.children = (found?.children ?? []).filter(({ type }) => type === 'element')
    else tree.children = found === undefined ? [] : [found]
  })
  return { lead: '', source, content, around: { dir }, isPiece: true }
}

const LIST = /^[uo]l$/

/** Draws items of a list. */
function drawItems(
  source: MarkdownSource,
  { hasTail, isFirst }: Record<'hasTail' | 'isFirst', boolean>,
): Drawn {
  let around: Around = {}
  let isPiece = false
  const content = drawMarkdown(source, () => (tree) => {
    const elements = (tree.children ?? []).filter(({ type }) => type === 'element')
    const [list] = elements
    isPiece = elements.length === 1 && LIST.test(list?.tagName ?? '')
    if (!isPiece) return
    const { dir, start, className } = list?.properties ?? {}
    around = {
      dir: typeof dir === 'string' ? dir : undefined,
      start: typeof start === 'number' ? start : undefined,
      hasTasks: className !== undefined,
    }
    // Between items there are ends of lines.
    const children = list?.children ?? []
    tree.children = children.slice(isFirst ? 0 : 1, hasTail ? -2 : undefined)
  })
  return { lead: '', source, content, around, isPiece }
}

const isSame = (a: MarkdownSource, b: MarkdownSource): boolean =>
  a.text === b.text &&
  a.numbers === b.numbers &&
  a.growing === b.growing &&
  a.citations === b.citations &&
  a.quotes === b.quotes &&
  a.keepsLines === b.keepsLines &&
  a.inherits === b.inherits &&
  a.math === b.math

/** A block that `splitPieces` has split. */
export function LongBlock({
  block: { text, kind, head, tail, pieces },
  numbers,
  definitions,
  growing,
}: {
  block: Pieces
  numbers: FootnoteNumbers
  definitions: LinkDefinitions
  growing: boolean
}) {
  const surroundings = useSurroundings(text)
  const all: readonly Piece[] =
    kind === 'table' ? [{ start: 0, text: '', lead: '' }, ...pieces] : pieces
  const drawn = useGrown<readonly Drawn[]>((known) =>
    all.map((piece, index) => {
      const { lead } = piece
      const source = {
        ...surroundings,
        text: withDefinitions(
          kind === 'table' ? `${head}\n${piece.text}` : lead + piece.text + tail,
          definitions,
        ),
        numbers: numbersIn(head + piece.text, numbers),
        growing: growing && index === all.length - 1,
      }
      const before = known?.[index]
      if (before?.lead === lead && isSame(before.source, source)) return before
      if (kind === 'paragraph') return drawContent(source, lead)
      if (kind === 'list') return drawItems(source, { hasTail: tail !== '', isFirst: index === 0 })
      return drawRows(source, index === 0 ? 'thead' : 'tbody')
    }),
  )
  if (drawn.some(({ isPiece }) => !isPiece))
    return drawMarkdown({
      ...surroundings,
      text: withDefinitions(text, definitions),
      numbers: numbersIn(text, numbers),
      growing,
    })
  const contents = drawn.map(({ content }, index) => (
    <Fragment key={all[index]?.start}>{content}</Fragment>
  ))
  const around = drawn.map((piece) => piece.around)
  const dir = around.find((piece) => piece.dir !== undefined)?.dir
  if (kind === 'paragraph')
    return <p dir={surroundings.inherits ? undefined : 'auto'}>{contents}</p>
  if (kind === 'list') {
    const className = around.some(({ hasTasks }) => hasTasks) ? 'contains-task-list' : undefined
    if (/^\d/.test(text))
      return (
        <ol start={around[0]?.start} className={className} dir={dir}>
          {contents}
        </ol>
      )
    return (
      <ul className={className} dir={dir}>
        {contents}
      </ul>
    )
  }
  return (
    <TableFrame dir={dir} growing={growing}>
      {contents[0]}
      {drawn.slice(1).map(({ content }, index) => (
        <tbody key={pieces[index]?.start}>{content}</tbody>
      ))}
    </TableFrame>
  )
}
