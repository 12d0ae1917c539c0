// Measures components that are compiled beside other work, and what a catalogue of 200 skills adds to each request.
import { performance } from 'node:perf_hooks'
import { createComponents } from '../server/apps/components.ts'
import type { UserId } from '../server/protocol/ids.ts'
import { estimateTokens } from '../server/protocol/models/token-estimate.ts'
import { builtInSkills } from '../server/skills/built-in.ts'
import { createSkillFolders } from '../server/skills/skill-folders.ts'
import { createUseSkillTool, offerSkills } from '../server/tools/builtin/agents/use-skill.ts'
import { createWorkerPool } from '../server/workspace/worker/worker-pool.ts'
import { ofRounds, type Row } from './row.ts'

const LINES = 500
const ROUNDS = 30
const COMPILE_LIMIT_MS = 150
const BUSY_LIMIT_MS = 10
const SKILLS = 200
const TOKENS_PER_SKILL = 60

/** A component of 500 lines as models write them: typed state, handlers, nested elements. Differs by `seed`. */
function component(seed: number): Buffer {
  const lines = [
    "import { useMemo, useState } from 'react'",
    'type Entry = { id: number; name: string; price: number; done?: boolean }',
    'export default function App() {',
    `  const [entries, setEntries] = useState<Entry[]>([{ id: ${seed}, name: 'first', price: 1 }])`,
  ]
  for (let at = 0; lines.length < LINES / 2; at += 1)
    lines.push(
      `  const total${at} = useMemo(() => entries.filter((one: Entry) => one.id % ${at + 2} === 0)`,
      `    .reduce((sum, { price }) => sum + price * ${at}, 0), [entries])`,
      `  const add${at} = (name: string): void =>`,
      `    setEntries((old) => [...old, { id: old.length, name: \`\${name} ${at}\`, price: ${at} }])`,
    )
  lines.push('  return (', '    <main>')
  for (let at = 0; lines.length < LINES - 4; at += 1)
    lines.push(
      `      <section key="${at}" style={{ padding: ${at % 9} }}>`,
      `        <h2>Part ${at}: {entries.length > ${at} ? total${at % 50} : 'none'}</h2>`,
      `        <button type="button" onClick={() => add${at % 50}('entry')}>Add</button>`,
      '      </section>',
    )
  lines.push('    </main>', '  )', '}')
  return Buffer.from(lines.join('\n'))
}

async function measureCompiling(): Promise<Row[]> {
  const pool = createWorkerPool(2)
  const components = createComponents({ pool, libraries: NO_LIBRARIES })
  const owner = 'bench' as UserId // of no row: it only shares the threads fairly
  const compile = async (seed: number): Promise<number> => {
    const source = component(seed)
    const began = performance.now()
    const result = await components.compile(owner, 'app.tsx', source)
    if (!result.ok) throw new Error(result.message)
    return performance.now() - began
  }
  try {
    // Starts the thread and loads the compiler.
    await compile(0)
    const before = performance.eventLoopUtilization()
    const times: number[] = []
    for (let round = 1; round <= ROUNDS; round += 1) times.push(await compile(round))
    const measured = ofRounds(times)
    const busy = performance.eventLoopUtilization(before).active / ROUNDS
    return [
      {
        suite: 'apps',
        figure: `component of ${LINES} lines compiled`,
        target: `≤ ${COMPILE_LIMIT_MS} ms`,
        unit: 'ms',
        ok: measured.value <= COMPILE_LIMIT_MS,
        ...measured,
      },
      {
        suite: 'apps',
        figure: 'of it on the event loop',
        target: `≤ ${BUSY_LIMIT_MS} ms`,
        value: busy,
        unit: 'ms',
        ok: busy <= BUSY_LIMIT_MS,
      },
    ]
  } finally {
    await pool.close()
  }
}

/** Compiling alone asks for none. */
const NO_LIBRARIES: Parameters<typeof createComponents>[0]['libraries'] = {
  list: () => Promise.resolve([]),
  modules: () => Promise.resolve(new Map()),
  find: () => Promise.resolve(null),
}

/** A catalogue whose descriptions are as long as those of the skills that come with the server. */
async function measureCatalogue(): Promise<Row[]> {
  const found = await createSkillFolders().list(builtInSkills(), '')
  const samples = found.flatMap(({ read }) => (read.ok ? [read] : []))
  const tool = createUseSkillTool({
    active: () => Promise.resolve([]),
    activeFile: () => Promise.resolve(null),
  })
  const tokensOf = (count: number): number => {
    const skills = Array.from({ length: count }, (_none, at) => {
      const { name, description } = samples[at % samples.length] ?? { name: '', description: '' }
      return { name: `${name}-${at}`, description }
    })
    const { name, description, parameters } = offerSkills(tool, skills)
    return estimateTokens(
      JSON.stringify({ type: 'function', function: { name, description, parameters } }),
    )
  }
  const value = (tokensOf(SKILLS) - tokensOf(0)) / SKILLS
  return [
    {
      suite: 'apps',
      figure: `tokens per skill in a catalogue of ${SKILLS}`,
      target: `≤ ${TOKENS_PER_SKILL}`,
      value,
      unit: '',
      ok: value <= TOKENS_PER_SKILL,
    },
  ]
}

/** Runs the suite. */
export const run = async (): Promise<Row[]> => [
  ...(await measureCompiling()),
  ...(await measureCatalogue()),
]
