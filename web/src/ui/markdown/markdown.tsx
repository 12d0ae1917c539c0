// Markdown from a model, drawn block by block; nothing in it is trusted.
import { createContext, memo, useContext, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
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
import {
  type Block,
  growBlocks,
  type SplitText,
} from '../../../../server/protocol/markdown/split-blocks.ts'
import { EnclosingFootnotes, FootnoteList, numbersIn } from './footnotes.tsx'
import { Code, MarkdownBlock } from './markdown-block.tsx'
import { splitParts } from './split-parts.ts'
import { useKeptSelection } from './use-kept-selection.ts'

/** The links that the whole text defines, whatever block it is drawn in. */
const Definitions = createContext<LinkDefinitions | undefined>(undefined)

/** This many parts at the end are always laid out; earlier ones only in view. */
const LAID_OUT_PARTS = 4
/** How deep foldable sections may nest; deeper ones are shown as written. */
const MAX_DETAILS_DEPTH = 4

type BlockProps = {
  block: Block
  numbers: FootnoteNumbers
  definitions: LinkDefinitions
  growing: boolean
  depth: number
}

function OneBlock({ block, numbers, definitions, growing, depth }: BlockProps) {
  switch (block.kind) {
    case 'code':
      return <Code code={block.code} language={block.language} whole={block.closed || !growing} />
    case 'markdown':
      return (
        <MarkdownBlock
          text={withDefinitions(block.text, definitions)}
          numbers={numbersIn(block.text, numbers)}
          growing={growing}
        />
      )
    case 'details':
      return (
        <details open={block.open}>
          <summary dir="auto">
            {block.summary === '' ? <Untitled /> : <MarkdownBlock text={block.summary} />}
          </summary>
          <EnclosingFootnotes value={numbers}>
            {depth < MAX_DETAILS_DEPTH ? (
              <Markdown text={block.text} growing={growing} depth={depth + 1} />
            ) : (
              <p className="whitespace-pre-wrap">{block.text}</p>
            )}
          </EnclosingFootnotes>
        </details>
      )
    case 'footnote':
      return null // listed at the end
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
  /** Its last block may grow. */
  growing: boolean
  /** It is laid out and painted only in view. */
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

/** A whole text. Parts and blocks that did not change since the last render cost nothing. */
export const Markdown = memo(function Markdown({
  text,
  growing = false,
  depth = 0,
}: {
  text: string
  /** The text is still streaming: what is open at its end is drawn as if it were closed. */
  growing?: boolean
  depth?: number
}) {
  const split = useRef<SplitText | null>(null)
  const root = useRef<HTMLDivElement>(null)
  split.current = growBlocks(split.current, text)
  const { blocks } = split.current
  const parts = useMemo(() => splitParts(blocks), [blocks])
  const enclosing = useContext(EnclosingFootnotes)
  const own = useMemo(() => numberFootnotes(text, blocks, growing), [text, blocks, growing])
  const numbers = enclosing ?? own.numbers
  const outer = useContext(Definitions)
  const lines = definitionLines(blocks)
  const definitions = useMemo(() => readDefinitions(lines, outer), [lines, outer])
  useKeptSelection(root, text, growing && depth === 0)
  return (
    <div ref={root} data-footnotes={depth === 0 ? '' : undefined} className="prose">
      <Definitions value={definitions}>
        {parts.map((part, index) => (
          <Part
            key={part[0]?.start}
            blocks={part}
            numbers={numbers}
            definitions={definitions}
            growing={growing && index === parts.length - 1}
            lazy={index < parts.length - LAID_OUT_PARTS}
            depth={depth}
          />
        ))}
      </Definitions>
      <FootnoteList notes={own.list}>
        {(note) => <MarkdownBlock text={withDefinitions(note.text, definitions)} />}
      </FootnoteList>
    </div>
  )
})
