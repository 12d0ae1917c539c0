// Code as lines; colours arrive from the worker and stay on every line that did not change.

import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { atPlaces } from '../../lib/list-keys.ts'
import { type Colouring, createColouring } from './colouring.ts'
import { createHighlighting, type Token } from './highlight.ts'
import { useKeptSelection } from './use-kept-selection.ts'

/** While code streams in, its colours are updated at most this often. */
const UPDATE_EVERY_MS = 250

const Line = memo(function Line({ text, tokens }: { text: string; tokens: Token[] | undefined }) {
  if (tokens === undefined) return <span className="block min-h-[1lh]">{text}</span>
  return (
    <span className="block min-h-[1lh]">
      {atPlaces(tokens).map(({ place, item: [content, color] }) =>
        color === null ? (
          content
        ) : (
          <span key={place} style={{ color }}>
            {content}
          </span>
        ),
      )}
    </span>
  )
})

const sameTokens = (a: Token[] | undefined, b: Token[]): boolean =>
  a === b ||
  (a !== undefined &&
    a.length === b.length &&
    a.every((token, index) => token[0] === b[index]?.[0] && token[1] === b[index]?.[1]))

type Coloured = { text: string; tokens: Token[] }

function useColours(code: string, language: string): readonly Coloured[] {
  const [coloured, setColoured] = useState<readonly Coloured[]>([])
  const colouring = useRef<Colouring | null>(null)
  useEffect(() => {
    const highlighting = createHighlighting()
    const started = createColouring({
      highlight: highlighting.highlight,
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

/** Long code is drawn in groups, so that a line that is added costs the same in all of it. */
const GROUP_LINES = 50

type GroupProps = { lines: readonly string[]; coloured: readonly Coloured[]; before: number }

const Group = memo(
  function Group({ lines, coloured, before }: GroupProps) {
    return (
      <span className="code-group block" style={{ counterReset: `line ${before}` }}>
        {atPlaces(lines).map(({ place, item: text }) => {
          const known = coloured[place]
          return (
            <Line
              key={place}
              text={text}
              tokens={known !== undefined && known.text === text ? known.tokens : undefined}
            />
          )
        })}
      </span>
    )
  },
  (old, now) =>
    old.lines.length === now.lines.length &&
    old.coloured.length === now.coloured.length &&
    old.lines.every((line, index) => line === now.lines[index]) &&
    old.coloured.every((line, index) => line === now.coloured[index]),
)

/** Draws plain text until the colours arrive, and where the language is not known. */
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
  const groups = Array.from({ length: Math.ceil(lines.length / GROUP_LINES) }, (_, group) => {
    const before = group * GROUP_LINES
    const end = before + GROUP_LINES
    return (
      <Group
        key={before}
        lines={lines.slice(before, end)}
        coloured={coloured.slice(before, end)}
        before={before}
      />
    )
  })
  return (
    <code ref={root} className="code-lines">
      {groups}
    </code>
  )
})
