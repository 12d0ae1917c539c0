// Markdown from a model, drawn block by block; nothing in it is trusted.
import { createContext, memo, useContext, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import ReactMarkdown, { type Components, defaultUrlTransform } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { mayCite } from '../../../../server/protocol/markdown/citation-marks.ts'
import {
  type FootnoteNumbers,
  numberFootnotes,
} from '../../../../server/protocol/markdown/footnote-numbers.ts'
import { mayHoldMath, prepareMath } from '../../../../server/protocol/markdown/math-text.ts'
import {
  ALERT_KINDS,
  rehypeShape,
  remarkPageSyntax,
} from '../../../../server/protocol/markdown/page-syntax.ts'
import {
  type Block,
  growBlocks,
  type SplitText,
} from '../../../../server/protocol/markdown/split-blocks.ts'
import { ZoomableImage } from '../overlays/zoomable-image.tsx'
import { lazyPart } from '../states/late.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import { Alert } from './alert.tsx'
import { CitationContext } from './citation-context.ts'
import { CitationMark, TextLink } from './citations.tsx'
import { CodeBlock } from './code-block.tsx'
import {
  EnclosingFootnotes,
  FootnoteList,
  FootnoteMark,
  numbersIn,
  readNumbers,
} from './footnotes.tsx'
import { splitParts } from './split-parts.ts'
import { TableFrame } from './table-frame.tsx'
import { useKeptSelection } from './use-kept-selection.ts'
import { useMath } from './use-math.ts'

const LateDiagram = lazyPart(() => import('./diagram.tsx').then((module) => module.Diagram))

/** Whether more of the block may arrive. */
const Growing = createContext(false)

/** A block of code; a diagram is drawn once its source is whole. */
function Code({ code, language, whole }: { code: string; language: string; whole: boolean }) {
  const block = <CodeBlock code={code} language={language} whole={whole} />
  if (language !== 'mermaid' || !whole || code.trim() === '') return block
  return (
    <PartBoundary fallback={block} instead={block} subject={code}>
      <LateDiagram source={code} />
    </PartBoundary>
  )
}

/** A fenced block within a list or quotation, where only the parser sees it. */
function InnerCode(props: { code: string; language: string }) {
  return <Code {...props} whole={!useContext(Growing)} />
}

const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,/i

const components: Components = {
  a: ({ href, children }) => <TextLink href={href}>{children}</TextLink>,
  cite: ({ node, children }) => {
    const number = node?.properties.dataCitation
    return typeof number === 'number' ? <CitationMark number={number} /> : <cite>{children}</cite>
  },
  // Loading a remote image would tell its server who reads what, so it becomes a link.
  img: ({ src, alt }) =>
    typeof src === 'string' && INLINE_IMAGE.test(src) ? (
      <ZoomableImage
        source={src}
        name={alt ?? ''}
        fileName={`image.${/^data:image\/(\w+)/.exec(src)?.[1] ?? 'png'}`}
      />
    ) : (
      <a
        href={typeof src === 'string' ? src : undefined}
        target="_blank"
        rel="noopener noreferrer nofollow"
      >
        {alt === undefined || alt === '' ? (src ?? '') : alt}
      </a>
    ),
  pre: ({ node }) => {
    const code = node?.children[0]
    if (code?.type !== 'element') return null
    const names = code.properties.className
    const language = Array.isArray(names)
      ? String(names.find((name) => String(name).startsWith('language-')) ?? '').slice(9)
      : ''
    const text = code.children.map((child) => (child.type === 'text' ? child.value : '')).join('')
    return <InnerCode code={text.replace(/\n$/, '')} language={language.toLowerCase()} />
  },
  table: ({ children, dir }) => <TableFrame dir={dir}>{children}</TableFrame>,
  aside: ({ node, children }) => {
    const kind = ALERT_KINDS.find((name) => name === node?.properties.dataAlert)
    return kind === undefined ? (
      <blockquote>{children}</blockquote>
    ) : (
      <Alert kind={kind}>{children}</Alert>
    )
  },
  sup: ({ node, children }) => {
    const number = node?.properties.dataFootnote
    return typeof number === 'number' ? (
      <FootnoteMark number={number} known={node?.properties.dataKnown === true} />
    ) : (
      <sup>{children}</sup>
    )
  },
  input: ({ checked, type, disabled }) => (
    <input
      type={type}
      checked={checked === true}
      disabled={disabled === true}
      readOnly
      aria-label={checked === true ? '✓' : '–'}
    />
  ),
  // The page's own title is the only first-level heading.
  h1: ({ children, dir }) => (
    <h2 dir={dir} className="text-[1.42em]">
      {children}
    </h2>
  ),
}

const urlTransform = (url: string): string =>
  INLINE_IMAGE.test(url) ? url : defaultUrlTransform(url)

const KATEX_OPTIONS = {
  throwOnError: false,
  strict: false,
  maxSize: 20,
  maxExpand: 200,
  // A formula that is invalid or incomplete is shown as written.
  errorColor: 'var(--muted)',
}

const MarkdownBlock = memo(function MarkdownBlock({
  text,
  numbers = '',
  growing = false,
}: {
  text: string
  /** The footnotes it refers to, from `numbersIn`. */
  numbers?: string
  growing?: boolean
}) {
  const math = useMath(mayHoldMath(text))
  const footnotes = useMemo(() => readNumbers(numbers), [numbers])
  const sources = useContext(CitationContext)
  const citations = sources !== null && mayCite(text) ? sources.count : 0
  const drawn = (
    <ReactMarkdown
      components={components}
      urlTransform={urlTransform}
      remarkPlugins={[
        remarkGfm,
        ...(math === null ? [] : [math.remarkMath]),
        [remarkPageSyntax, { numbers: footnotes, citations }],
      ]}
      rehypePlugins={[
        ...(math === null
          ? []
          : [
              [math.rehypeKatex, KATEX_OPTIONS] satisfies [unknown, object],
              math.rehypeFormulaStyles,
            ]),
        rehypeShape,
      ]}
    >
      {math === null ? text : prepareMath(text, growing)}
    </ReactMarkdown>
  )
  return <Growing value={growing}>{drawn}</Growing>
})

/** This many parts at the end are always laid out; earlier ones only in view. */
const LAID_OUT_PARTS = 4
/** How deep foldable sections may nest; deeper ones are shown as written. */
const MAX_DETAILS_DEPTH = 4

type BlockProps = { block: Block; numbers: FootnoteNumbers; growing: boolean; depth: number }

function OneBlock({ block, numbers, growing, depth }: BlockProps) {
  switch (block.kind) {
    case 'code':
      return <Code code={block.code} language={block.language} whole={block.closed || !growing} />
    case 'markdown':
      return (
        <MarkdownBlock
          text={block.text}
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
  /** Its last block may grow. */
  growing: boolean
  /** It is laid out and painted only in view. */
  lazy: boolean
  depth: number
}

const Part = memo(
  function Part({ blocks, numbers, growing, lazy, depth }: PartProps) {
    return (
      <div className={lazy ? 'prose-part prose-part-lazy' : 'prose-part'}>
        {blocks.map((block, index) => (
          <OneBlock
            // biome-ignore lint/suspicious/noArrayIndexKey: an answer only grows at its end
            key={index}
            block={block}
            numbers={numbers}
            growing={growing && index === blocks.length - 1}
            depth={depth}
          />
        ))}
      </div>
    )
  },
  (before, after) =>
    before.numbers === after.numbers &&
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
  useKeptSelection(root, text, growing && depth === 0)
  return (
    <div ref={root} data-footnotes={depth === 0 ? '' : undefined} className="prose">
      {parts.map((part, index) => (
        <Part
          // biome-ignore lint/suspicious/noArrayIndexKey: an answer only grows at its end
          key={index}
          blocks={part}
          numbers={numbers}
          growing={growing && index === parts.length - 1}
          lazy={index < parts.length - LAID_OUT_PARTS}
          depth={depth}
        />
      ))}
      <FootnoteList notes={own.list}>{(note) => <MarkdownBlock text={note.text} />}</FootnoteList>
    </div>
  )
})
