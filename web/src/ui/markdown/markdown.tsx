// Renders Markdown from a model block by block. Nothing in it is trusted.
import { createContext, memo, useContext, useEffect, useMemo, useRef, useState } from 'react'
import {
  type FootnoteNumbers,
  numberFootnotes,
} from '../../../../server/protocol/markdown/footnote-numbers.ts'
import {
  definitionLines,
  type LinkDefinitions,
  readDefinitions,
  withDefinitions,
} from '../../../../server/protocol/markdown/link-definitions.ts'
import { directionOfText } from '../../../../server/protocol/markdown/page-syntax.ts'
import {
  type Block,
  growBlocks,
  type SplitText,
} from '../../../../server/protocol/markdown/split-blocks.ts'
import { foreignLanguageOf } from '../../lib/browser/language-of.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EnclosingFootnotes, FootnoteList, numbersIn } from './footnotes.tsx'
import { LongBlock } from './long-block.tsx'
import {
  Code,
  EnclosingDirection,
  FormulaFence,
  LinesKept,
  MarkdownBlock,
} from './markdown-block.tsx'
import { splitParts } from './split-parts.ts'
import { type Pieces, splitPieces } from './split-pieces.ts'
import { useGrown } from './use-grown.ts'
import { usePreservedSelection } from './use-preserved-selection.ts'

/** The link definitions of the surrounding text, which apply in all of its blocks. */
const Definitions = createContext<LinkDefinitions | undefined>(undefined)

/** The last parts are always laid out, earlier ones only in view. */
const LAID_OUT_PARTS = 4
/** Foldable sections that are nested deeper are shown as written. */
const MAX_DETAILS_DEPTH = 4
/** The beginning that decides about fonts and line breaks of the text's language. */
const LANGUAGE_CHARACTERS = 300

type TextProps = {
  text: string
  numbers: FootnoteNumbers
  definitions: LinkDefinitions
  growing: boolean
}

/** A block that the Markdown parser reads: in pieces if it may grow long. */
function TextBlock({ text, numbers, definitions, growing }: TextProps) {
  const pieces = useGrown<Pieces | null>((before) => splitPieces(text, before))
  if (pieces !== null)
    return (
      <LongBlock block={pieces} numbers={numbers} definitions={definitions} growing={growing} />
    )
  return (
    <MarkdownBlock
      text={withDefinitions(text, definitions)}
      numbers={numbersIn(text, numbers)}
      growing={growing}
    />
  )
}

type BlockProps = {
  block: Block
  numbers: FootnoteNumbers
  definitions: LinkDefinitions
  growing: boolean
  depth: number
}

function OneBlock({ block, numbers, definitions, growing, depth }: BlockProps) {
  const enclosing = useContext(EnclosingDirection)
  switch (block.kind) {
    case 'code': {
      const whole = block.closed || !growing
      if (block.language === 'math') return <FormulaFence tex={block.code} whole={whole} />
      return <Code code={block.code} language={block.language} whole={whole} />
    }
    case 'table':
      return <MarkdownBlock text={block.text} growing={growing} />
    case 'markdown':
      return (
        <TextBlock
          text={block.text}
          numbers={numbers}
          definitions={definitions}
          growing={growing}
        />
      )
    case 'details': {
      const direction = directionOfText(block.summary) ?? directionOfText(block.text)
      return (
        <details open={block.open} dir={direction}>
          <EnclosingDirection value={direction ?? enclosing}>
            <summary>
              {block.summary === '' ? <Untitled /> : <MarkdownBlock text={block.summary} />}
            </summary>
            <EnclosingFootnotes value={numbers}>
              {depth < MAX_DETAILS_DEPTH ? (
                <Markdown text={block.text} growing={growing} depth={depth + 1} />
              ) : (
                <p className="whitespace-pre-wrap">{block.text}</p>
              )}
            </EnclosingFootnotes>
          </EnclosingDirection>
        </details>
      )
    }
    case 'footnote':
      return null // `FootnoteList` shows it
  }
}

function Untitled() {
  const { t } = useTranslation()
  return t('prose.details')
}

type PartProps = {
  blocks: readonly Block[]
  numbers: FootnoteNumbers
  definitions: LinkDefinitions
  /** Whether its last block may grow. */
  growing: boolean
  /** Whether it is laid out and painted only in view. */
  lazy: boolean
  depth: number
}

const Part = memo(
  function Part({ blocks, numbers, definitions, growing, lazy, depth }: PartProps) {
    return (
      <div className={lazy ? 'prose-part prose-part-lazy' : 'prose-part'}>
        {blocks.map((block, index) => (
          <OneBlock
            key={block.start}
            block={block}
            numbers={numbers}
            definitions={definitions}
            growing={growing && index === blocks.length - 1}
            depth={depth}
          />
        ))}
      </div>
    )
  },
  (before, after) =>
    before.numbers === after.numbers &&
    before.definitions === after.definitions &&
    before.growing === after.growing &&
    before.lazy === after.lazy &&
    before.blocks.length === after.blocks.length &&
    before.blocks.every((block, index) => block === after.blocks[index]),
)

/**
 * How many of the parts may be laid out only in view. While a text grows, each part is laid out once, wherever it is, because
 * the browser then remembers its height: it would shrink or grow by hundreds of pixels when the reader comes to it. Of a text
 * that was there at once, the heights are estimated: laying out all of a long conversation would take too long.
 */
function useLazyParts(count: number, growing: boolean): number {
  const [known, setKnown] = useState(growing ? 0 : Number.POSITIVE_INFINITY)
  const wanted = Math.max(0, count - LAID_OUT_PARTS)
  useEffect(() => {
    if (wanted <= known) return
    // The first frame lays the parts out; at its end, their heights are remembered.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setKnown(wanted))
    })
    return () => cancelAnimationFrame(frame)
  }, [wanted, known])
  return Math.min(wanted, known)
}

/** Renders a Markdown text. Parts and blocks that have not changed are not rendered again. */
export const Markdown = memo(function Markdown({
  text,
  growing = false,
  depth = 0,
  isFile = false,
}: {
  text: string
  /** Whether the text is still streaming. Syntax that is open at its end is then rendered as if closed. */
  growing?: boolean
  depth?: number
  /** Whether it is the text of a file, whose lines may be wrapped at a width and are joined. */
  isFile?: boolean
}) {
  const keepsLines = useContext(LinesKept) && !isFile
  const root = useRef<HTMLDivElement>(null)
  const { blocks } = useGrown<SplitText>((before) => growBlocks(before, text, growing))
  const parts = useMemo(() => splitParts(blocks), [blocks])
  const lazyParts = useLazyParts(parts.length, growing)
  const enclosing = useContext(EnclosingFootnotes)
  const own = useMemo(() => numberFootnotes(text, blocks, growing), [text, blocks, growing])
  const numbers = enclosing ?? own.numbers
  const outer = useContext(Definitions)
  const lines = definitionLines(blocks)
  const definitions = useMemo(() => readDefinitions(lines, outer), [lines, outer])
  usePreservedSelection(root, text, growing && depth === 0)
  const { i18n } = useTranslation()
  // The beginning is enough, and does not change with each part of a growing text.
  const beginning = depth === 0 ? text.slice(0, LANGUAGE_CHARACTERS) : ''
  const lang = useMemo(
    () => foreignLanguageOf(beginning, i18n.language),
    [beginning, i18n.language],
  )
  return (
    <div ref={root} lang={lang} data-footnotes={depth === 0 ? '' : undefined} className="prose">
      <LinesKept value={keepsLines}>
        <Definitions value={definitions}>
          {parts.map((part, index) => (
            <Part
              key={part[0]?.start}
              blocks={part}
              numbers={numbers}
              definitions={definitions}
              growing={growing && index === parts.length - 1}
              lazy={index < lazyParts}
              depth={depth}
            />
          ))}
        </Definitions>
        <FootnoteList notes={own.list}>
          {(note) => (
            <EnclosingDirection value={directionOfText(own.list[0]?.text ?? '') ?? 'ltr'}>
              <MarkdownBlock text={withDefinitions(note.text, definitions)} />
            </EnclosingDirection>
          )}
        </FootnoteList>
      </LinesKept>
    </div>
  )
})
