// Migrations only add, so that instances of the previous version keep working while an upgrade replaces them one by one.
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const folder = resolve(import.meta.dirname, '../../../migrations/postgres')
/** What the version before could not live with. */
const BREAKING =
  /\bdrop (?:table|column|default|constraint)\b|\brename\b|\bset data type\b|\bset not null\b|\badd column (?!.*\bdefault\b).*\bnot null\b/i
/** From before there were several instances. */
const EARLIER = [
  '0001_sub_agent_events.sql',
  '0005_checkpoint_pages.sql',
  '0007_failures_and_iterations.sql',
]

test('no migration removes or renames anything that the previous version reads or writes', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  const breaking = files.filter((name) =>
    readFileSync(resolve(folder, name), 'utf8')
      .split('--> statement-breakpoint')
      .some((statement) => BREAKING.test(statement.replaceAll(/\s+/g, ' '))),
  )
  expect(files.length).toBeGreaterThan(30)
  expect(breaking).toEqual(EARLIER)
})
