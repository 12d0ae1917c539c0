// Renders blocks of Markdown and code from a model. Nothing in them is trusted.
import { createContext, memo, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import ReactMarkdown, { type Components, defaultUrlTransform } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { mayCite, mayQuote } from '../../../../server/protocol/markdown/citation-marks.ts'
import { cjkEmphasis, GFM_OPTIONS } from '../../../../server/protocol/markdown/dialect.ts'
import {
  closeFormula,
  mayHoldMath,
  prepareMath,
} from '../../../../server/protocol/markdown/math-text.ts'
import { lengthenMarks } from '../../../../server/protocol/markdown/nested-fences.ts'
import {
  ALERT_KINDS,
  mayRunRightToLeft,
  rehypeShape,
  remarkPageSyntax,
} from '../../../../server/protocol/markdown/page-syntax.ts'
import type { TreeNode } from '../../../../server/protocol/markdown/tree-node.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ZoomableImage } from '../overlays/zoomable-image.tsx'
import { lazyPart } from '../states/late.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import { Alert } from './alert.tsx'
import { CitationContext, QuoteContext } from './citation-context.ts'
import { CitationMark, QuoteMark, TextLink } from './citations.tsx'
import { CodeBlock } from './code-block.tsx'
import { FootnoteMark, readNumbers } from './footnotes.tsx'
import { TableFrame } from './table-frame.tsx'
import { useMath } from './use-math.ts'

const LateDiagram = lazyPart(() => import('./diagram.tsx').then((module) => module.Diagram))

/** The settings of a processor, as far as this concerns them. */
type ParserData = { settings?: unknown; micromarkExtensions?: unknown[] }

/** A remark plugin: tells the parser of the extension. */
function remarkCjkEmphasis(this: { data(): ParserData }): void {
  const data = this.data()
  data.micromarkExtensions ??= []
  data.micromarkExtensions.push(cjkEmphasis)
}

/** Whether the ends of lines are kept in the surrounding text. */
export const LinesKept = createContext(true)

/** The direction of the section or list that encloses a text. */
export const EnclosingDirection = createContext<'ltr' | 'rtl'>('ltr')

/** Whether the surrounding block may still grow. */
const Growing = createContext(false)

/** A block of code, or a diagram for Mermaid once its source is complete (`whole`). */
export function Code({
  code,
  language,
  whole,
}: {
  code: string
  language: string
  whole: boolean
}) {
  const block = <CodeBlock code={code} language={language} whole={whole} />
  if (language !== 'mermaid' || !whole || code.trim() === '') return block
  return (
    <PartBoundary fallback={block} instead={block} subject={code}>
      <LateDiagram source={code} />
    </PartBoundary>
  )
}

/** A fenced block inside a list or quotation, which only the Markdown parser finds. */
function InnerCode(props: { code: string; language: string }) {
  return <Code {...props} whole={!useContext(Growing)} />
}

/** A formula of its own line: the keyboard scrolls it while it is wider than the page. */
function WideFormula({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const formula = useRef<HTMLSpanElement>(null)
  const [isWide, setIsWide] = useState(false)
  useEffect(() => {
    const element = formula.current
    if (element === null) return
    const observer = new ResizeObserver(() =>
      setIsWide(element.scrollWidth > element.clientWidth + 1),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const reach = isWide ? { tabIndex: 0, role: 'group', 'aria-label': t('prose.formula') } : {}
  return (
    <span ref={formula} className="katex-display" {...reach}>
      {children}
    </span>
  )
}

const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,/i

const components: Components = {
  a: ({ href, children }) => <TextLink href={href}>{children}</TextLink>,
  cite: ({ node, children }) => {
    const { dataCitation: number, dataQuote: quote } = node?.properties ?? {}
    if (typeof quote === 'string') return <QuoteMark id={quote} />
    return typeof number === 'number' ? <CitationMark number={number} /> : <cite>{children}</cite>
  },
  // Loading a remote image would reveal the reader to its server and send it what its address carries, so it becomes a link.
  img: ({ src, alt }) =>
    typeof src === 'string' && INLINE_IMAGE.test(src) ? (
      <ZoomableImage
        source={src}
        name={alt ?? ''}
        fileName={`image.${/^data:image\/(\w+)/.exec(src)?.[1] ?? 'png'}`}
      />
    ) : (
      <TextLink href={typeof src === 'string' ? src : undefined}>
        {alt === undefined || alt === '' ? String(src ?? '') : alt}
      </TextLink>
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
  data: ({ children }) => <WideFormula>{children}</WideFormula>,
  table: ({ children, dir }) => <TableFrame dir={dir}>{children}</TableFrame>,
  aside: ({ node, dir, children }) => {
    const kind = ALERT_KINDS.find((name) => name === node?.properties.dataAlert)
    return kind === undefined ? (
      <blockquote dir={dir}>{children}</blockquote>
    ) : (
      <Alert kind={kind} dir={dir}>
        {children}
      </Alert>
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
  // Invalid or incomplete formulas are shown as written.
  errorColor: 'var(--muted)',
}

/** What is drawn, and what else decides how. */
export interface MarkdownSource {
  readonly text: string
  /** The footnotes that it refers to, from `numbersIn`. */
  readonly numbers: string
  /** Whether it may still grow. */
  readonly growing: boolean
  /** How many numbered sources may be cited in it. */
  readonly citations: number
  /** Whether marks of quotes become links. */
  readonly quotes: boolean
  readonly keepsLines: boolean
  /** Whether its paragraphs run as what encloses them. */
  readonly inherits: boolean
  /** The plugins for formulas, if they have loaded. */
  readonly math: ReturnType<typeof useMath>
}

/** Parses and renders Markdown. `finish` is a rehype plugin that runs last. */
export function drawMarkdown(source: MarkdownSource, finish?: () => (tree: TreeNode) => void) {
  const { growing, math, inherits, keepsLines, citations, quotes } = source
  const text = lengthenMarks(source.text, growing)
  return ReactMarkdown({
    components,
    urlTransform,
    remarkPlugins: [
      [remarkGfm, GFM_OPTIONS],
      remarkCjkEmphasis,
      ...(math === null ? [] : [math.remarkMath]),
      [remarkPageSyntax, { numbers: readNumbers(source.numbers), citations, quotes, keepsLines }],
    ],
    rehypePlugins: [
      ...(math === null
        ? []
        : [
            [math.rehypeKatex, KATEX_OPTIONS] satisfies [unknown, object],
            math.rehypeFormulaStyles,
          ]),
      [rehypeShape, { inherits }],
      ...(finish === undefined ? [] : [finish]),
    ],
    children: math === null ? text : prepareMath(text, growing),
  })
}

/** What the surroundings of a text decide about it, as far as the text concerns it. */
export function useSurroundings(
  text: string,
): Omit<MarkdownSource, 'text' | 'numbers' | 'growing'> {
  const math = useMath(mayHoldMath(text))
  const sources = useContext(CitationContext)
  const keepsLines = useContext(LinesKept)
  const inherits = useContext(EnclosingDirection) === 'ltr' && !mayRunRightToLeft(text)
  const citations = sources !== null && mayCite(text) ? sources.count : 0
  const quotes = useContext(QuoteContext) !== null && mayQuote(text)
  return { math, citations, quotes, keepsLines, inherits }
}

/** Renders one block of Markdown. Footnotes from other blocks are passed as `numbers`. */
export const MarkdownBlock = memo(function MarkdownBlock({
  text,
  numbers = '',
  growing = false,
}: {
  text: string
  /** The footnotes that it refers to, from `numbersIn`. */
  numbers?: string
  growing?: boolean
}) {
  const surroundings = useSurroundings(text)
  return (
    <Growing value={growing}>{drawMarkdown({ text, numbers, growing, ...surroundings })}</Growing>
  )
})

const LONGEST_TILDES = /~{3,}/g

/** A formula in a fence of the language `math`, as on GitHub. */
export function FormulaFence({ tex, whole }: { tex: string; whole: boolean }) {
  const longest = Math.max(2, ...(tex.match(LONGEST_TILDES) ?? []).map((run) => run.length))
  const mark = '~'.repeat(longest + 1)
  return <MarkdownBlock text={`${mark}math\n${whole ? tex : closeFormula(tex)}\n${mark}`} />
}
