// Lines of code. Colours arrive from the worker and stay on every line that does not change.

import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { atPlaces } from '../../lib/list-keys.ts'
import { type Colouring, createColouring } from './colouring.ts'
import { createHighlighting, type Token } from './highlight.ts'
import { usePreservedSelection } from './use-preserved-selection.ts'

/** The shortest time between two colour updates while code streams in. */
const UPDATE_INTERVAL_MS = 250

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
      pause: () => new Promise((resolve) => setTimeout(resolve, UPDATE_INTERVAL_MS)),
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
  // Runs after the effect above, which creates the colouring.
  useEffect(() => colouring.current?.update(code, language), [code, language])
  return coloured
}

/** Long code is rendered in groups, so that the cost of adding a line does not grow with the code. */
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

/** Renders code line by line: as plain text until the colours arrive, and if the language is unknown. */
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
  usePreservedSelection(root, coloured, true)
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
