// Code as lines; colours arrive from the worker and are kept for every line that did not change.
import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { highlight, type Token } from './highlight.ts'

/** While code still grows, its colours are renewed at most this often. */
const renewEveryMs = 250

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

/** Asks for colours when the code changes, never more than one question at a time. */
function useColours(code: string, language: string): readonly Coloured[] {
  const [coloured, setColoured] = useState<readonly Coloured[]>([])
  const wanted = useRef(code)
  const busy = useRef(false)
  wanted.current = code

  useEffect(() => {
    if (busy.current || code === '') return
    let gone = false
    const ask = async (): Promise<void> => {
      busy.current = true
      for (;;) {
        const asked = wanted.current
        const lines = await highlight(asked, language)
        if (gone) break
        if (lines !== null) {
          setColoured((old) =>
            lines.map((tokens, index) => {
              const before = old[index]
              return before !== undefined && sameTokens(before.tokens, tokens)
                ? before
                : { text: tokens.map(([text]) => text).join(''), tokens }
            }),
          )
        }
        if (wanted.current === asked || lines === null) break
        await new Promise((resolve) => setTimeout(resolve, renewEveryMs))
      }
      busy.current = false
    }
    void ask()
    return () => {
      gone = false
    }
  }, [code, language])
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
  return (
    <code className="code-lines block min-w-fit whitespace-pre">
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
