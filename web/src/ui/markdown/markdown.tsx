// Markdown that a model wrote, drawn block by block; nothing in it is trusted.
import { memo, useEffect, useRef, useState } from 'react'
import ReactMarkdown, { type Components, defaultUrlTransform } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { CodeBlock } from './code-block.tsx'
import { mayHoldMath, prepareMath } from './math-text.ts'
import { growBlocks, type SplitText } from './split-blocks.ts'

type MathPlugins = typeof import('./math-plugins.ts').mathPlugins
let loadedMath: MathPlugins | null = null

/** The plugins for formulas, loaded when a text first needs them; null until they are there. */
function useMath(needed: boolean): MathPlugins | null {
  const [plugins, setPlugins] = useState(loadedMath)
  useEffect(() => {
    if (!needed || plugins !== null) return
    let gone = false
    void import('./math-plugins.ts').then((module) => {
      loadedMath = module.mathPlugins
      if (!gone) setPlugins(loadedMath)
    })
    return () => {
      gone = true
    }
  }, [needed, plugins])
  return needed ? plugins : null
}

const inlineImage = /^data:image\/(?:png|jpeg|gif|webp);base64,/i

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  // A picture from elsewhere would tell its server who reads what; it is offered as a link instead.
  img: ({ src, alt }) =>
    typeof src === 'string' && inlineImage.test(src) ? (
      <img src={src} alt={alt ?? ''} />
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
    return <CodeBlock code={text.replace(/\n$/, '')} language={language} />
  },
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <div className="overflow-x-auto rounded-xl border border-line" tabIndex={0}>
      <table className="w-full">{children}</table>
    </div>
  ),
  input: ({ checked, type, disabled }) => (
    <input
      type={type}
      checked={checked === true}
      disabled={disabled === true}
      readOnly
      aria-label={checked === true ? '✓' : '–'}
    />
  ),
  // The page's own title is the one first-level heading.
  h1: ({ children }) => <h2 className="text-[1.42em]">{children}</h2>,
}

const urlTransform = (url: string): string =>
  inlineImage.test(url) ? url : defaultUrlTransform(url)

const MarkdownBlock = memo(function MarkdownBlock({ text }: { text: string }) {
  const math = useMath(mayHoldMath(text))
  return (
    <ReactMarkdown
      components={components}
      urlTransform={urlTransform}
      remarkPlugins={math === null ? [remarkGfm] : [remarkGfm, math.remarkMath]}
      rehypePlugins={
        math === null
          ? []
          : [
              [
                math.rehypeKatex,
                { throwOnError: false, strict: false, maxSize: 20, maxExpand: 200 },
              ],
            ]
      }
    >
      {math === null ? text : prepareMath(text)}
    </ReactMarkdown>
  )
})

/** From this many blocks on, those out of view are neither laid out nor painted. */
const longAnswer = 60

/** The whole text. Blocks that did not change since the last time cost nothing. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const split = useRef<SplitText | null>(null)
  split.current = growBlocks(split.current, text)
  const { blocks } = split.current
  return (
    <div className={blocks.length > longAnswer ? 'prose prose-long' : 'prose'}>
      {blocks.map((block, index) =>
        block.kind === 'code' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: an answer only grows at its end
          <CodeBlock key={index} code={block.code} language={block.language} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: an answer only grows at its end
          <MarkdownBlock key={index} text={block.text} />
        ),
      )}
    </div>
  )
})
