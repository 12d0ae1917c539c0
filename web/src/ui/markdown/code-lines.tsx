// Code as lines; colours arrive from the worker and stay on every line that did not change.
import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { type Colouring, createColouring } from './colouring.ts'
import { highlight, type Token } from './highlight.ts'
import { useKeptSelection } from './use-kept-selection.ts'

/** While code streams in, its colours are updated at most this often. */
const UPDATE_EVERY_MS = 250

const Line = memo(function Line({ text, tokens }: { text: string; tokens: Token[] | undefined }) {
  if (tokens === undefined) return <span className="block min-h-[1lh]">{text}</span>
  return (
    <span className="block min-h-[1lh]">
      {tokens.map(([content, color], index) =>
        color === null ? (
          content
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: tokens of a line have no identity but their place
          <span key={index} style={{ color }}>
            {content}
          </span>
        ),
      )}
    </span>
  )
})

const sameTokens = (a: Token[] | undefined, b: Token[]): boolean =>
  a !== undefined &&
  a.length === b.length &&
  a.every((token, index) => token[0] === b[index]?.[0] && token[1] === b[index]?.[1])

type Coloured = { text: string; tokens: Token[] }

function useColours(code: string, language: string): readonly Coloured[] {
  const [coloured, setColoured] = useState<readonly Coloured[]>([])
  const colouring = useRef<Colouring | null>(null)
  useEffect(() => {
    const started = createColouring({
      highlight,
      pause: () => new Promise((resolve) => setTimeout(resolve, UPDATE_EVERY_MS)),
      onLines: (lines) =>
        setColoured((old) =>
          lines.map((tokens, index) => {
            const before = old[index]
            return before !== undefined && sameTokens(before.tokens, tokens)
              ? before
              : { text: tokens.map(([text]) => text).join(''), tokens }
          }),
        ),
    })
    colouring.current = started
    return started.cancel
  }, [])
  // Runs after the effect above, so that the colouring exists.
  useEffect(() => colouring.current?.want(code, language), [code, language])
  return coloured
}

export const CodeLines = memo(function CodeLines({
  code,
  language,
}: {
  code: string
  language: string
}) {
  const coloured = useColours(code, language)
  const lines = useMemo(() => code.split('\n'), [code])
  const root = useRef<HTMLElement>(null)
  useKeptSelection(root, coloured, true)
  return (
    <code ref={root} className="code-lines block min-w-fit whitespace-pre">
      {lines.map((text, index) => {
        const known = coloured[index]
        return (
          <Line
            // biome-ignore lint/suspicious/noArrayIndexKey: a line's place is its identity
            key={index}
            text={text}
            tokens={known !== undefined && known.text === text ? known.tokens : undefined}
          />
        )
      })}
    </code>
  )
})
